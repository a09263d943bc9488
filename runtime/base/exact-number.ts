/**
 * JSON whose numbers keep all their digits. JavaScript rounds a number of more than about 16 digits; here it becomes an
 * `ExactNumber`, and every other one a number as usual. Pure.
 *
 *     const order = parseExactly('{"id":7615917337495251231,"total":9.5}');
 *     JSON.stringify(order); // '{"id":7615917337495251231,"total":9.5}'
 */
declare global {
  // TypeScript does not know it yet.
  interface JSON {
    rawJSON(text: string): object;
  }
}

/**
 * A number that a double cannot hold. It prints its digits, in JSON and as text, and compares by its value (LiquidJS
 * asks the five methods); arithmetic would round it, and throws.
 */
export class ExactNumber {
  readonly #decimal: Decimal;
  readonly #text: string;

  constructor(decimal: Decimal, text: string) {
    this.#decimal = decimal;
    this.#text = text;
  }

  /** Less than, equal to or greater than 0, as `this` is to `other`. */
  compare(other: ExactNumber | number): number {
    return compareDecimals(this.#decimal, other instanceof ExactNumber ? other.#decimal : decimalOf(String(other)));
  }
  equals(other: unknown): boolean {
    return other instanceof ExactNumber && other.#text === this.#text;
  }
  gt(other: unknown): boolean {
    return this.#to(other) > 0;
  }
  geq(other: unknown): boolean {
    return this.#to(other) >= 0;
  }
  lt(other: unknown): boolean {
    return this.#to(other) < 0;
  }
  leq(other: unknown): boolean {
    return this.#to(other) <= 0;
  }
  toString(): string {
    return this.#text;
  }
  toJSON(): object {
    return JSON.rawJSON(this.#text);
  }
  [Symbol.toPrimitive](hint: string): string {
    if (hint === "number") throw new TypeError(`${this.#text.slice(0, 60)} has too many digits to calculate with`);
    return this.#text;
  }

  /** NaN, of which no comparison holds, if the other one is no number. */
  #to(other: unknown): number {
    const value = typeof other === "string" && numberForm.test(other) ? exactly(other) : other;
    return isNumber(value) ? this.compare(value) : Number.NaN;
  }
}

/** A finite number, of whatever length. */
export function isNumber(value: unknown): value is number | ExactNumber {
  return value instanceof ExactNumber || (typeof value === "number" && Number.isFinite(value));
}

/** As JSON.parse, with every number exact. One beyond the range of a double is infinite, one too long is NaN. */
export function parseExactly(source: string): unknown {
  return parseScanned(source, scanNumbers(source));
}

/** The value of a number as JSON writes it: see `parseExactly`. */
export function exactly(literal: string): number | ExactNumber {
  const number = Number(literal);
  const printed = String(number);
  if (printed === literal || !Number.isFinite(number)) return number;
  const decimal = decimalOf(literal);
  if (compareDecimals(decimal, decimalOf(printed)) === 0) return number;
  const text = digitsOf(decimal);
  return text === undefined ? Number.NaN : new ExactNumber(decimal, text);
}

/** Whether a JSON value has a number in it that a double does not hold. */
export function hasExact(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasExact);
  return value instanceof ExactNumber || Object.values(value).some(hasExact);
}

/** A copy in which every number is one of JavaScript's: for checks of types, which know no others. */
export function rounded(value: unknown): unknown {
  if (value instanceof ExactNumber) return Number(value.toString());
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, rounded(inner)]));
}

/** What one pass over a JSON text finds. */
export interface NumberScan {
  /** How deep it nests. */
  readonly depth: number;
  /** The numbers that a double does not hold. */
  readonly inexact: readonly NumberSpan[];
}

interface NumberSpan {
  readonly from: number;
  readonly to: number;
  readonly value: ExactNumber | number;
}

/** Numbers with fewer characters than these, and without an exponent, are exact. */
const exactLength = 15;

export function scanNumbers(source: string): NumberScan {
  const inexact: NumberSpan[] = [];
  const known = new Map<string, ExactNumber | number>();
  let deepest = 0;
  let depth = 0;
  for (let at = 0; at < source.length; at++) {
    const code = source.charCodeAt(at);
    if (code === 0x22) at = endOfString(source, at);
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > deepest) deepest = depth;
    } else if (code === 0x7d || code === 0x5d) depth--;
    else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const from = at;
      let isPower = false;
      for (let next = source.charCodeAt(at + 1); ; next = source.charCodeAt(at + 1)) {
        if (next === 0x65 || next === 0x45) isPower = true;
        // A digit, a point or a sign.
        else if (!(next >= 0x30 && next <= 0x39) && next !== 0x2e && next !== 0x2d && next !== 0x2b) break;
        at++;
      }
      if (at - from < exactLength && !isPower) continue;
      const span = inexactAt(source, from, at + 1, known);
      if (span) inexact.push(span);
    }
  }
  return { depth: deepest, inexact };
}

/** A JSON text that `scanNumbers` has read. Throws a SyntaxError. */
export function parseScanned(source: string, { inexact }: NumberScan): unknown {
  if (inexact.length === 0) return JSON.parse(source);
  // Nobody else can know the text that stands for such a number until the text is parsed.
  const mark = `${crypto.randomUUID()} `;
  let marked = "";
  let end = 0;
  for (const [index, { from, to }] of inexact.entries()) {
    marked += `${source.slice(end, from)}"${mark}${index}"`;
    end = to;
  }
  return unmarked(JSON.parse(marked + source.slice(end)), mark, inexact);
}

function unmarked(value: unknown, mark: string, inexact: readonly NumberSpan[]): unknown {
  if (typeof value === "string")
    return value.startsWith(mark) ? inexact[Number(value.slice(mark.length))]?.value : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) value[at] = unmarked(value[at], mark, inexact);
    return value;
  }
  for (const key of Object.keys(value)) Reflect.set(value, key, unmarked(Reflect.get(value, key), mark, inexact));
  return value;
}

/** The quotation mark that ends a string, or the end of the text. */
function endOfString(source: string, start: number): number {
  let end = source.indexOf('"', start + 1);
  while (end > 0) {
    let before = end - 1;
    while (source.charCodeAt(before) === 0x5c) before--;
    if ((end - before) % 2 === 1) return end;
    end = source.indexOf('"', end + 1);
  }
  return source.length;
}

const numberForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/**
 * Undefined for a number that a double holds, and where JSON has no number: JSON.parse then says so. Equal numbers of a
 * text are one object, as `known` has them.
 */
function inexactAt(
  source: string,
  from: number,
  to: number,
  known: Map<string, ExactNumber | number>,
): NumberSpan | undefined {
  const literal = source.slice(from, to);
  if (!numberForm.test(literal)) return undefined;
  const made = exactly(literal);
  if (typeof made === "number" && !Number.isNaN(made)) return undefined;
  const value = known.get(String(made)) ?? made;
  known.set(String(made), value);
  let next = to;
  while (/\s/.test(source.charAt(next))) next++;
  return source.charAt(next) === ":" ? undefined : { from, to, value };
}

/** 0.`digits` times ten to the `power`; the digits neither begin nor end with a zero, and there are none for 0. */
interface Decimal {
  readonly negative: boolean;
  readonly digits: string;
  readonly power: number;
}

function decimalOf(literal: string): Decimal {
  const negative = literal.startsWith("-");
  const [mantissa = "", exponent = "0"] = literal.slice(negative ? 1 : 0).split(/e/i);
  const [whole = "", fraction = ""] = mantissa.split(".");
  const all = whole + fraction;
  let first = 0;
  while (all.charCodeAt(first) === 0x30) first++;
  let last = all.length;
  while (last > first && all.charCodeAt(last - 1) === 0x30) last--;
  const digits = all.slice(first, last);
  if (digits === "") return { negative: false, digits, power: 0 };
  return { negative, digits, power: whole.length - first + Number(exponent) };
}

function compareDecimals(a: Decimal, b: Decimal): number {
  if (a.negative !== b.negative) return a.negative ? -1 : 1;
  const sign = a.negative ? -1 : 1;
  if (a.digits === "" || b.digits === "") return sign * (Number(a.digits !== "") - Number(b.digits !== ""));
  if (a.power !== b.power) return a.power < b.power ? -sign : sign;
  if (a.digits === b.digits) return 0;
  return a.digits < b.digits ? -sign : sign;
}

/** A few characters make a number of any length: `1e-9999`. */
const maxLength = 1_000;

/** Without an exponent, as PostgreSQL prints it. Undefined if it is too long. */
function digitsOf({ negative, digits, power }: Decimal): string | undefined {
  if (Math.abs(power) + digits.length > maxLength) return undefined;
  const sign = negative ? "-" : "";
  if (power <= 0) return `${sign}0.${"0".repeat(-power)}${digits}`;
  if (power >= digits.length) return `${sign}${digits.padEnd(power, "0")}`;
  return `${sign}${digits.slice(0, power)}.${digits.slice(power)}`;
}
