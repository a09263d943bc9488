/** Links and rollups in the JSON of schemas: they go on meaning the same databases and fields. behaviour B.7.31. Pure. */
import { isObject, isUuid } from "platform";

type Definition = Readonly<Record<string, unknown>>;

/** The schema with each field in full as `change` makes it; the same object where nothing changes. */
export function eachDefinition(schema: unknown, change: (definition: Definition) => unknown): unknown {
  const table = (one: unknown) =>
    within(one, "fields", (fields) => mapped(fields, (field) => (isObject(field) ? change(field) : field)));
  const hasTables = isObject(schema) && isObject(schema["tables"]);
  return hasTables ? within(schema, "tables", (tables) => mapped(tables, table)) : table(schema);
}

/** What is under a key of an object as `change` makes it. */
export function within(value: unknown, name: string, change: (part: unknown) => unknown): unknown {
  return mapped(value, (part, key) => (key === name ? change(part) : part));
}

/** The schema whose links and rollups name the database `to` instead of `from`, codes or ids. */
export function relinked(schema: unknown, from: string, to: string): unknown {
  const path = (text: unknown) => {
    if (typeof text !== "string") return text;
    const [db = ""] = text.split(".", 1);
    return (isUuid(db) ? db.toLowerCase() : db) === from ? to + text.slice(db.length) : text;
  };
  return eachDefinition(schema, (field) =>
    within(within(field, "link", path), "rollup", (rollup) => within(rollup, "of", path)),
  );
}

function mapped(value: unknown, change: (one: unknown, key: string) => unknown): unknown {
  if (!isObject(value)) return value;
  const pairs = Object.entries(value).map(([key, one]) => [key, change(one, key)] as const);
  return pairs.every(([key, one]) => value[key] === one) ? value : Object.fromEntries(pairs);
}
