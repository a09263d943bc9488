/** Finds words in a source that may be Tailwind classes, whatever language the source is in. */

const maxCandidates = 50_000;
const maxLength = 300;

const [space, backslash, doubleQuote, singleQuote] = [0x20, 0x5c, 0x22, 0x27];
const white = " \t\n\r\f\v\u00a0";
/** Characters that end a word, except inside its groups. */
const ends = tableOf(`${white}"'\`<>{}()]=;,|?\\$`);
/** A word begins after one of these, even inside another word's group: `['p-4']` may be a group or an array. */
const begins = tableOf(`${white}"'\`<>{}()[]=;,|?\\$`);

/**
 * Extra candidates only cost time: Tailwind is asked once for each, and a word that is not a class produces nothing.
 */
export function candidatesOf(source: string): string[] {
  const found = new Set<string>();
  for (let at = 0; at < source.length && found.size < maxCandidates; at++) {
    if (at > 0 && begins[source.charCodeAt(at - 1)] !== 1) continue;
    const end = wordEnd(source, at);
    if (end > at && end - at <= maxLength) add(found, source.slice(at, end));
  }
  return [...found];
}

/** `bg-[url('x')]`, `w-(--size)`, `[&>p]:mt-0`: a group belongs to its word, whatever it contains. */
function wordEnd(source: string, start: number): number {
  let at = start;
  for (; at < source.length && at - start <= maxLength; at++) {
    const character = source[at];
    if (character === "[" || (character === "(" && at > start && source[at - 1] === "-")) {
      const last = groupEnd(source, at, character);
      if (last === 0) break;
      at = last;
    } else if (ends[source.charCodeAt(at)] === 1) break;
  }
  return at;
}

/** The end of the group that opens at `start`; 0 if it contains a space and so is not a group. */
function groupEnd(source: string, start: number, opener: "[" | "("): number {
  const open = opener.charCodeAt(0);
  const close = (opener === "[" ? "]" : ")").charCodeAt(0);
  const most = Math.min(source.length, start + maxLength);
  let depth = 0;
  /** The quote of the string that this place is in; 0 = not in a string. */
  let quote = 0;
  for (let at = start; at < most; at++) {
    const code = source.charCodeAt(at);
    if (code <= space) return 0;
    if (code === backslash) at++;
    else if (quote !== 0) quote = code === quote ? 0 : quote;
    else if (code === doubleQuote || code === singleQuote) quote = code;
    else if (code === open) depth++;
    else if (code === close && --depth === 0) return at;
  }
  return 0;
}

function add(found: Set<string>, word: string): void {
  if (!/[a-z]/i.test(word)) return;
  // `class:font-bold={on}` of Svelte.
  const plain = word.startsWith("class:") ? word.slice("class:".length) : word;
  found.add(plain);
  // A key of an object: `{ flex: on }`, `{flex:on}`.
  const colon = plain.indexOf(":");
  if (colon > 0) found.add(plain.slice(0, colon));
}

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}
