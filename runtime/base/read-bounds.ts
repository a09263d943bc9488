/**
 * How much one read brings into memory, in bytes, wherever rows become an answer, an event or a part of a file
 * (behaviour B.3.21). Counts of rows do not bound that: a single record may have megabytes.
 */
export const readBounds = {
  /** An answer that lists rows ends after the row that reaches it. */
  answerBytes: 8_000_000,
  /** The answer to up to 1,000 changes, which shows each changed record whole. */
  batchBytes: 32_000_000,
  /** What a process reads ahead for itself: changes to be told, deliveries to be sent, a part of an export. */
  pageBytes: 2_000_000,
  /** The JSON of a body as it will be read again, with its numbers written out. */
  bodyCharacters: 10_000_000,
} as const;

/** SQL: the bytes of the rows before this one, whose own are `size`, in the order that the rows come in or in `order`. */
export const bytesBefore = (size: string, order = "") =>
  `coalesce(sum(${size}) over (${order && `order by ${order}`} rows between unbounded preceding and 1 preceding), 0)`;

/**
 * How many characters a JSON text has where PostgreSQL prints it, which writes no exponents: `1e300` has 301. Without the
 * spaces that it puts between values.
 */
export function printedLength(json: string): number {
  if (!maybeExponent.test(json)) return json.length;
  let length = json.length;
  for (let at = 0; at < json.length;) {
    const quote = json.indexOf('"', at);
    const end = quote < 0 ? json.length : quote;
    if (end - at > 2) length += writtenOut(json.slice(at, end));
    at = quote < 0 ? end : afterString(json, quote);
  }
  return length;
}

/** How many characters its numbers gain. */
function writtenOut(text: string): number {
  if (!maybeExponent.test(text)) return 0;
  let gained = 0;
  for (const { 0: literal, 1: whole = "", 2: fraction = "", 3: exponent } of text.matchAll(numbers)) {
    if (exponent === undefined) continue;
    const power = Number(exponent);
    const digits = Math.max(1, whole.length + power);
    const decimals = Math.max(0, fraction.length - power);
    gained += digits + decimals + (decimals > 0 ? 1 : 0) + (literal.startsWith("-") ? 1 : 0) - literal.length;
  }
  return gained;
}

/** Where the string that begins here has ended: at a quote that no backslash stands for. */
function afterString(json: string, start: number): number {
  for (let at = start; ;) {
    at = json.indexOf('"', at + 1);
    if (at < 0) return json.length;
    let before = at;
    while (json[before - 1] === "\\") before -= 1;
    if ((at - before) % 2 === 0) return at + 1;
  }
}

const maybeExponent = /\de[+-]?\d/i;
const numbers = /-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?/gi;
