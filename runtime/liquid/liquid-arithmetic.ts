/**
 * `plus`, `minus`, `times`, `divided_by` and `sum` as people reckon, in decimals: 0.1 and 0.2 are 0.3, and whole numbers
 * beyond 2^53 keep their digits. Pure. An `ExactNumber` that is given throws, as in JavaScript's own arithmetic.
 */
import { toValue } from "liquidjs";
import { exactly, type ExactNumber } from "../base/exact-number.ts";
import { trimmedEnd } from "../base/values.ts";

type Result = number | ExactNumber;

/** As LiquidJS takes it: what is no number is 0. */
function operand(value: unknown): number {
  return Number(toValue(value)) || 0;
}

export function plus(a: unknown, b: unknown): Result {
  const [x, y] = [operand(a), operand(b)];
  return calculated(x, y, x + y, {
    short(left, right) {
      const places = Math.max(left.places, right.places);
      const power = (of: Short) => powerOf10(places - of.places);
      return rational(left.units * power(left) + right.units * power(right), powerOf10(places));
    },
    exact(left, right) {
      const [one, other, places] = inSamePlaces(left, right);
      return [one + other, places];
    },
  });
}

export function minus(a: unknown, b: unknown): Result {
  return plus(a, -operand(b));
}

export function times(a: unknown, b: unknown): Result {
  const [x, y] = [operand(a), operand(b)];
  return calculated(x, y, x * y, {
    short: (left, right) => rational(left.units * right.units, powerOf10(left.places + right.places)),
    exact: (left, right) => [left.units * right.units, left.places + right.places],
  });
}

/** To as many digits as a double has; with `integers` to the whole number below. */
export function dividedBy(a: unknown, b: unknown, integers: unknown = false): Result {
  const [x, y] = [operand(a), operand(b)];
  if (integers) return Math.floor(x / y);
  return calculated(x, y, x / y, {
    short: (left, right) => rational(left.units * powerOf10(right.places), right.units * powerOf10(left.places)),
    exact(left, right) {
      if (right.units === 0n) return undefined;
      const [above, below] = inSamePlaces(left, right);
      return [(above * 10n ** BigInt(quotientDigits)) / below, quotientDigits];
    },
  });
}

export function sum(values: readonly unknown[]): Result {
  return values.reduce<Result>((total, value) => plus(total, value), 0);
}

const quotientDigits = 25;
/** Beyond this many places a double's own arithmetic is as good. */
const mostPlaces = 60;

interface Scaled {
  readonly units: bigint;
  /** The value is `units` divided by ten to this. */
  readonly places: number;
}
/** As `Scaled`, where a double holds the units. */
interface Short {
  readonly units: number;
  readonly places: number;
}

interface Ways {
  /** Undefined where a double does not hold what is reckoned with. */
  readonly short: (left: Short, right: Short) => number | undefined;
  /** The result in units, and in how many places. */
  readonly exact: (left: Scaled, right: Scaled) => readonly [bigint, number] | undefined;
}

function inSamePlaces(a: Scaled, b: Scaled): [bigint, bigint, number] {
  const places = Math.max(a.places, b.places);
  return [a.units * 10n ** BigInt(places - a.places), b.units * 10n ** BigInt(places - b.places), places];
}

function calculated(a: number, b: number, plain: number, { short, exact }: Ways): Result {
  const areWhole = Number.isInteger(a) && Number.isInteger(b);
  // Nearly always: whole numbers, whose result a double holds, or numbers of a few places.
  if (areWhole && Number.isSafeInteger(plain)) return plain;
  const [shortLeft, shortRight] = [shortened(a), shortened(b)];
  const soon = shortLeft && shortRight && short(shortLeft, shortRight);
  if (soon !== undefined) return soon;
  const [left, right] = [scaled(a), scaled(b)];
  const found = left && right && exact(left, right);
  if (!found) return plain;
  const text = printed(...found);
  return areWhole && !text.includes(".") ? exactly(text) : Number(text);
}

const shortPlaces = 6;

function powerOf10(places: number): number {
  return 10 ** places;
}

/** Two whole numbers divided are rounded once: `units` through its power is `value` where that is its decimal. */
function shortened(value: number): Short | undefined {
  for (let places = 0; places <= shortPlaces; places++) {
    const power = powerOf10(places);
    const units = Math.round(value * power);
    if (units / power === value) return Number.isSafeInteger(units) ? { units, places } : undefined;
  }
  return undefined;
}

function rational(above: number, below: number): number | undefined {
  if (!Number.isSafeInteger(above) || !Number.isSafeInteger(below) || below === 0) return undefined;
  return above / below || 0;
}

function scaled(value: number): Scaled | undefined {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const places = fraction.length - Number(exponent);
  if (!Number.isFinite(value) || Math.abs(places) > mostPlaces) return undefined;
  const units = BigInt(whole + fraction);
  return places < 0 ? { units: units * 10n ** BigInt(-places), places: 0 } : { units, places };
}

function printed(units: bigint, places: number): string {
  const sign = units < 0n ? "-" : "";
  const digits = `${units < 0n ? -units : units}`.padStart(places + 1, "0");
  const at = digits.length - places;
  const fraction = trimmedEnd(digits.slice(at), "0");
  return `${sign}${digits.slice(0, at)}${fraction === "" ? "" : `.${fraction}`}`;
}
