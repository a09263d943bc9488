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
  for (const { 0: literal, 1: whole, 2: fraction = "", 3: exponent } of json.matchAll(stringsAndNumbers)) {
    if (whole === undefined || exponent === undefined) continue;
    const power = Number(exponent);
    const digits = Math.max(1, whole.length + power);
    const decimals = Math.max(0, fraction.length - power);
    length += digits + decimals + (decimals > 0 ? 1 : 0) + (literal.startsWith("-") ? 1 : 0) - literal.length;
  }
  return length;
}

const maybeExponent = /\de[+-]?\d/i;
/** Strings are matched, so that what is in them is not. */
const stringsAndNumbers = /"(?:[^"\\]|\\.)*"|-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?/gi;
