/** Which events a webhook's filter lets through: exact values that the record must have (behaviour B.8). */
import type { ExactNumber } from "platform";

export type Filter = Readonly<Record<string, unknown>>;
type Data = Readonly<Record<string, unknown>>;

/** Whether the record has every value of the filter. `data` is JSON. */
export function matches(filter: Filter | null, data: Data): boolean {
  return Object.entries(filter ?? {}).every(([key, value]) => Object.hasOwn(data, key) && same(data[key], value));
}

/**
 * Whether a record may have every value of the filter, if only this part of it is known: false only if the part rules
 * it out. A key that is missing or undefined may still get any value.
 */
export function mayMatch(filter: Filter | null, part: Data): boolean {
  return Object.entries(filter ?? {}).every(([key, value]) => {
    const known = Object.hasOwn(part, key) ? part[key] : undefined;
    return known === undefined || same(asJson(known), value);
  });
}

/** Whether one of the wanted fields has changed; yes where either is not known. */
export function isChanged(wanted: readonly string[] | null, changed: readonly string[] | undefined): boolean {
  return wanted === null || changed === undefined || wanted.some((name) => changed.includes(name.normalize("NFC")));
}

function asJson(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  // Records hold composed letters, whoever has typed the filter.
  if (typeof a === "string" && typeof b === "string") return a.normalize("NFC") === b.normalize("NFC");
  if (isExact(a) || isExact(b)) return isExact(a) && a.equals(b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, at) => same(item, b[at]));
  const [left, right] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return left.size === right.size && [...left].every(([key, value]) => right.has(key) && same(value, right.get(key)));
}

/** JSON has no functions. By its shape, because the Studio shows what a filter lets through, and has no platform. */
function isExact(value: unknown): value is ExactNumber {
  return typeof value === "object" && value !== null && "equals" in value && typeof value.equals === "function";
}
