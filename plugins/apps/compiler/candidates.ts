/** Finds in a source what may be a class of Tailwind's: it knows nothing of the language around it. */

const maxCandidates = 50_000;
const maxLength = 300;

/** What ends a word outside of brackets. */
const boundary = /[\s"'`<>{}()=;,|?\\]/;
const closers: Readonly<Record<string, string>> = { "[": "]", "(": ")" };

/** Too many does no harm but time: each is asked for once, and what is no class makes nothing. */
export function candidatesOf(source: string): string[] {
  const found = new Set<string>();
  let start = -1;
  const end = (at: number): void => {
    if (start >= 0 && at - start <= maxLength && found.size < maxCandidates) add(found, source.slice(start, at));
    start = -1;
  };
  for (let at = 0; at < source.length; at++) {
    const character = source[at] ?? "";
    const closer = closers[character];
    // `bg-[url('x')]`, `w-(--size)`, `[&>p]:mt-0`: a group belongs to the word before it, whatever it holds.
    if (closer !== undefined && (character === "[" || (start >= 0 && source[at - 1] === "-"))) {
      const last = groupEnd(source, at, closer);
      if (last > 0) {
        if (start < 0) start = at;
        at = last;
        continue;
      }
    }
    if (boundary.test(character)) end(at);
    else if (start < 0) start = at;
  }
  end(source.length);
  return [...found];
}

/** Where the group that opens at `at` ends; 0 where it is none: a class has no spaces. */
function groupEnd(source: string, at: number, closer: string): number {
  const opener = source[at];
  let depth = 0;
  for (let next = at; next < source.length && next - at < maxLength; next++) {
    const character = source[next] ?? "";
    if (character <= " ") return 0;
    if (character === opener) depth++;
    else if (character === closer && --depth === 0) return next;
  }
  return 0;
}

function add(found: Set<string>, word: string): void {
  // `class:font-bold={on}` of Svelte, `{ flex: on }` of Vue, `["flex", …]` of anyone.
  const plain = word.replace(/^class:/, "").replace(/:$/, "");
  if (/[a-z]/i.test(plain)) found.add(plain);
  // An array or a key of JavaScript's, written without spaces.
  if (!/["'`]/.test(plain)) return;
  for (const inner of plain.split(/[[\]"'`,]/)) if (/^[a-z!@*-]/i.test(inner)) found.add(inner);
}
