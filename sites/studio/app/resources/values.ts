/** JSON values as a form or a table shows them. */
import { isMap } from "../server/exact.ts";

export { isMap, ownOf } from "../server/exact.ts";

/** The objects of a list; none of what is no list. */
export function mapsIn(json: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(json) ? json.filter(isMap) : [];
}

/** A text as it is, nothing for null, anything else as JSON. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What one can see of a text, and type: without characters of no width, and a space for any run of them. */
export function visible(text: string): string {
  return text
    .replaceAll(/\p{Cf}/gu, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** Values are cut: one of a megabyte must not freeze the page. */
const mostChars = 2000;

export function cut(value: string, most = mostChars): string {
  return value.length > most ? `${value.slice(0, most)}…` : value;
}
