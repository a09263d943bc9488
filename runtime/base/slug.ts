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
