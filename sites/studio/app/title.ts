/** What a person calls a record. Pure. */
import { isMap, visible } from "./resources/values.ts";

const naming = ["name", "title", "login", "code", "host", "url_code"];

const mostChars = 80;
/** Ids, times, addresses, and words that many records have in common. */
const shared = /(?:^|_)(?:id|at|on|url|status|state|kind|type|event|role|locale|language|hash|version)$/;

/** The words by which a person knows a record; its number if it has none. */
export function nameOf(record: unknown): string {
  return firstOf(record, naming) || firstOf(record, [speakingField(record) ?? "id", "n"]);
}

/** Of a record with a UUID, which says nothing, the first short text that may tell it from the others. */
export function speakingField(record: unknown): string | undefined {
  if (!isMap(record) || !isUuid(record["id"])) return undefined;
  return Object.keys(record).find((name) => {
    const value = record[name];
    return (
      typeof value === "string" &&
      value.length <= mostChars &&
      visible(value) !== "" &&
      !isUuid(value) &&
      !shared.test(name)
    );
  });
}

function isUuid(value: unknown): boolean {
  return typeof value === "string" && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value);
}

/** An item without a name gets its kind and number: `Delivery 2`. */
export function titleOf(record: unknown, singular: string, id: string): string {
  const kind = `${singular.charAt(0).toUpperCase()}${singular.slice(1)}`;
  const speaking = speakingField(record);
  return (
    firstOf(record, speaking === undefined ? naming : [...naming, speaking]) ||
    `${kind} ${id || firstOf(record, ["id", "n"])}`.trim()
  );
}

/** Two letters for a person. */
export function initialsOf(name: string | null): string {
  const words = (name ?? "").split(" ", 2).map((word) => /^./u.exec(word)?.[0] ?? "");
  return words.join("").toUpperCase() || "?";
}

function firstOf(record: unknown, fields: readonly string[]): string {
  if (!isMap(record)) return "";
  for (const field of fields) {
    const value = record[field];
    if ((typeof value === "string" && visible(value) !== "") || typeof value === "number") return String(value);
  }
  return "";
}
