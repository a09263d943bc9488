/** What a person calls a record. Pure. */
import { isMap, visible } from "./resources/values.ts";

const naming = ["name", "title", "login", "code", "host", "url_code"];

/** The words by which a person knows a record; its number if it has none. */
export function nameOf(record: unknown): string {
  return firstOf(record, naming) || firstOf(record, ["id", "n"]);
}

/** What has no name is told apart by its kind and its number: `Delivery 2`. */
export function titleOf(record: unknown, singular: string, id: string): string {
  const kind = `${singular.charAt(0).toUpperCase()}${singular.slice(1)}`;
  return firstOf(record, naming) || `${kind} ${id || firstOf(record, ["id", "n"])}`.trim();
}

function firstOf(record: unknown, fields: readonly string[]): string {
  if (!isMap(record)) return "";
  for (const field of fields) {
    const value = record[field];
    if ((typeof value === "string" && visible(value) !== "") || typeof value === "number") return String(value);
  }
  return "";
}
