/** Which events a webhook's filter lets through: exact values that the record must have (behaviour B.8). */

export type Filter = Readonly<Record<string, unknown>>;
type Data = Readonly<Record<string, unknown>>;

/** Whether the record has every value of the filter. `data` is JSON. */
export function matches(filter: Filter | null, data: Data): boolean {
  return Object.entries(filter ?? {}).every(([key, value]) => Object.hasOwn(data, key) && same(data[key], value));
}

/** What a change may not know yet when it is asked whether anyone wants its event. */
const settledLater = new Set(["created_at", "updated_at"]);

/** False only where a part of the record is known already and rules the filter out. */
export function mayMatch(filter: Filter | null, part: Data): boolean {
  if (!filter) return true;
  for (const key of Object.keys(filter)) {
    if (settledLater.has(key) || !Object.hasOwn(part, key)) continue;
    if (!same(asJson(part[key]), filter[key])) return false;
  }
  return true;
}

function asJson(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, at) => same(item, b[at]));
  const [left, right] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return left.size === right.size && [...left].every(([key, value]) => right.has(key) && same(value, right.get(key)));
}
