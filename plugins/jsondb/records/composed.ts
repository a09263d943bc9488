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
  const entries = Object.entries(value);
  const made = entries.map(([name, one]) => [name.normalize("NFC"), composed(one)] as const);
  const isSame = made.every(([name, one], at) => name === entries[at]?.[0] && one === entries[at]?.[1]);
  // `fromEntries` makes a name like `__proto__` an own property.
  return isSame ? value : Object.fromEntries(made);
}
