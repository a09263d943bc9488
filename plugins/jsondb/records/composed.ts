/** Texts as they are stored: composed (NFC), so that what looks the same is the same. Pure. */
import { isObject } from "platform";

/** The value with composed strings and names; the same one where nothing changes. */
export function composed<T>(value: T): T;
export function composed(value: unknown): unknown {
  if (typeof value === "string") return value.normalize("NFC");
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => composed(item));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (!isObject(value)) return value;
  let changed: Map<string, unknown> | undefined;
  for (const name in value) {
    const one = composed(value[name]);
    if (one !== value[name] || name !== name.normalize("NFC")) (changed ??= new Map()).set(name, one);
  }
  if (!changed) return value;
  const made = Object.entries(value).map(
    ([name, one]) => [name.normalize("NFC"), changed.has(name) ? changed.get(name) : one] as const,
  );
  // It makes a name like `__proto__` an own property.
  return Object.fromEntries(made);
}
