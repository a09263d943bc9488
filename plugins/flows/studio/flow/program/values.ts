/** A value of a program in one box: a text as it is, anything else as JSON; a text that would read as JSON in quotes. Pure. */
import { parseJson } from "studio/exact";

export function shownValue(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "string") return readValue(value) === value ? value : JSON.stringify(value);
  return JSON.stringify(value, null, 2);
}

export function readValue(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "" || /^\{[{%]/.test(trimmed)) return text;
  try {
    return parseJson(trimmed);
  } catch {
    return text;
  }
}

export function sameValue(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** A map with a value under another name, in the same place; a name that is taken is left. */
export function renamed(map: Readonly<Record<string, unknown>>, from: string, to: string): Record<string, unknown> {
  if (from !== to && Object.hasOwn(map, to)) return { ...map };
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name === from ? to : name, value]));
}

/** `value2`, if there is a `value` already. */
export function freeName(map: Readonly<Record<string, unknown>>, wanted: string): string {
  if (!Object.hasOwn(map, wanted)) return wanted;
  for (let number = 2; ; number++) if (!Object.hasOwn(map, `${wanted}${number}`)) return `${wanted}${number}`;
}
