/**
 * Names in the middle of a sentence, where no element can hold them apart: in titles, toasts, labels and choices. A
 * character that turns the direction of writing around would otherwise turn our own words around too.
 */

const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const [firstStrong, popIsolate, popEmbedding] = ["\u2068", "\u2069", "\u202c"];
const isolates = "\u2066\u2067\u2068";
const embeddings = "\u202a\u202b\u202d\u202e";

/** The text between isolating characters, with every one that it opens closed; as it is where nothing turns. */
export function isolated(text: string): string {
  if (!turning.test(text) && !rightToLeft.test(text)) return text;
  return `${firstStrong}${balanced(text)}${popIsolate}`;
}

/** Without the closing characters that close nothing of its own, which would end the isolation around it. */
export function balanced(text: string): string {
  const open: string[] = [];
  let kept = "";
  for (const character of text) {
    if (character === popIsolate) {
      const from = open.lastIndexOf(popIsolate);
      if (from < 0) continue;
      open.length = from;
    } else if (character === popEmbedding) {
      if (open.at(-1) !== popEmbedding) continue;
      open.pop();
    } else if (isolates.includes(character)) open.push(popIsolate);
    else if (embeddings.includes(character)) open.push(popEmbedding);
    kept += character;
  }
  return kept + open.toReversed().join("");
}
