/** Names in the letters of an address: codes and paths that are made from them. */

/** "Zażółć Gęślą!" -> "zazolc-gesla": lower-case words of ASCII letters and digits, at most 60 characters. */
export function slugOf(name: string): string {
  return asciiOf(name)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replaceAll(/^-|-$/g, "");
}

/**
 * "Новини" -> "Novyny": letters of Cyrillic (as Ukraine writes its names, with those that Russian has besides), of Greek
 * and of Latin in ASCII. Others stay.
 */
export function asciiOf(text: string): string {
  const plain = text.normalize("NFC").replaceAll(/[\u0400-\u052føœæđłßıðþħŋĸŧ]/gi, spelled);
  return plain
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .replaceAll(/[α-ως]/gi, spelled);
}

function spelled(letter: string): string {
  const lower = letter.toLowerCase();
  const ascii = letters.get(lower) ?? letter;
  return letter === lower ? ascii : ascii.charAt(0).toUpperCase() + ascii.slice(1);
}

const letters: ReadonlyMap<string, string> = new Map(
  `а:a б:b в:v г:h ґ:g д:d е:e є:ie ж:zh з:z и:y і:i ї:i й:i к:k л:l м:m н:n о:o п:p р:r с:s т:t у:u ф:f х:kh ц:ts ч:ch
  ш:sh щ:shch ь: ю:iu я:ia ы:y э:e ё:e ъ: ў:u ј:j љ:lj њ:nj ђ:dj ћ:c џ:dz ѓ:g ќ:k ѕ:dz
  ø:o œ:oe æ:ae đ:d ł:l ß:ss ı:i ð:d þ:th ħ:h ŋ:n ĸ:k ŧ:t
  α:a β:v γ:g δ:d ε:e ζ:z η:i θ:th ι:i κ:k λ:l μ:m ν:n ξ:x ο:o π:p ρ:r σ:s ς:s τ:t υ:y φ:f χ:ch ψ:ps ω:o`
    .split(/\s+/)
    .map((pair) => [pair.slice(0, 1), pair.slice(2)]),
);

/** Escapes text for HTML, attributes included. */
export function escapeHtml(text: string): string {
  if (!/[&<>"']/.test(text)) return text; // most texts need no escaping, and five searches cost more than one
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** The known names that a wrong one may mean. Pure. */

const mostNear = 3;

/** The known names that this one may be a misspelling or a part of: all that are equally near. */
export function nearest(name: string, known: readonly string[]): string[] {
  if (name.length > 60) return [];
  const given = bare(name);
  let found: string[] = [];
  let least = Infinity;
  for (const candidate of known) {
    const other = bare(candidate);
    const isPart = Math.min(given.length, other.length) >= 3 && (given.includes(other) || other.includes(given));
    const slips = isPart ? Math.min(distance(given, other), 2) : distance(given, other);
    const most = isPart ? 2 : Math.floor(Math.max(given.length, other.length) / 3);
    if (slips > most || slips > least) continue;
    found = slips < least ? [candidate] : [...found, candidate];
    least = slips;
  }
  return found.slice(0, mostNear);
}

/** `tableName`, `table-name` and `table_name` count as the same name. */
function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[_\- ]/g, "");
}

/** How many letters are wrong, missing, extra or swapped (optimal string alignment distance). */
export function distance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let at = 1; at <= b.length; at++) {
      const isSame = a[row - 1] === b[at - 1];
      const isSwapped = row > 1 && at > 1 && a[row - 1] === b[at - 2] && a[row - 2] === b[at - 1];
      current[at] = Math.min(
        (above[at] ?? 0) + 1,
        (current[at - 1] ?? 0) + 1,
        (above[at - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[at - 2] ?? 0) + 1 : Infinity,
      );
    }
    [before, above] = [above, current];
  }
  return above[b.length] ?? 0;
}
