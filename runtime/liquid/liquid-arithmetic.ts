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
  return calculated(x, y, x + y, (left, right) => {
    const [one, other, places] = inSamePlaces(left, right);
    return [one + other, places];
  });
}

export function minus(a: unknown, b: unknown): Result {
  return plus(a, -operand(b));
}

export function times(a: unknown, b: unknown): Result {
  const [x, y] = [operand(a), operand(b)];
  return calculated(x, y, x * y, (left, right) => [left.units * right.units, left.places + right.places]);
}

/** To as many digits as a double has; with `integers` to the whole number below. */
export function dividedBy(a: unknown, b: unknown, integers: unknown = false): Result {
  const [x, y] = [operand(a), operand(b)];
  if (integers) return Math.floor(x / y);
  return calculated(x, y, x / y, (left, right) => {
    if (right.units === 0n) return undefined;
    const [above, below] = inSamePlaces(left, right);
    return [(above * 10n ** BigInt(quotientDigits)) / below, quotientDigits];
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
/** The result in units, and in how many places. */
type Exact = (left: Scaled, right: Scaled) => readonly [bigint, number] | undefined;

function inSamePlaces(a: Scaled, b: Scaled): [bigint, bigint, number] {
  const places = Math.max(a.places, b.places);
  return [a.units * 10n ** BigInt(places - a.places), b.units * 10n ** BigInt(places - b.places), places];
}

function calculated(a: number, b: number, plain: number, exact: Exact): Result {
  const areWhole = Number.isInteger(a) && Number.isInteger(b);
  // Nearly always: whole numbers, whose result a double holds.
  if (areWhole && Number.isSafeInteger(plain)) return plain;
  const [left, right] = [scaled(a), scaled(b)];
  const found = left && right && exact(left, right);
  if (!found) return plain;
  const text = printed(...found);
  return areWhole && !text.includes(".") ? exactly(text) : Number(text);
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
