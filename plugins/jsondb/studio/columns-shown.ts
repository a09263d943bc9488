/** Which columns the grid has, and which of them it shows. Pure. */
import type { Row } from "./cells.ts";
import type { Column } from "./paste.ts";

const mostColumns = 12;

/** The columns of a grid: those of the schema, then what the records have beside, then the record's own. */
export function columnsOf(
  fields: readonly Column[],
  rows: readonly Row[],
  chosen: string | null,
  hasTables: boolean,
): { readonly all: readonly Column[]; readonly shown: readonly Column[] } {
  const known = new Set(fields.map(({ name }) => name));
  const found = rows.slice(0, 200).flatMap(({ data }) => Object.keys(data));
  const own = ["id", ...(hasTables ? ["table_name"] : []), "created_at", "updated_at"].filter(
    (name) => !known.has(name),
  );
  const others = [...new Set(found)].filter((name) => !known.has(name) && !own.includes(name)).slice(0, 200);
  const untyped = (name: string): Column => ({ name, type: undefined });
  const all = [...fields, ...others.map(untyped), ...own.map(untyped)];
  const wanted = chosen?.split(",").flatMap((name) => all.find((column) => column.name === name) ?? []) ?? [];
  if (wanted.length > 0) return { all, shown: wanted };
  const first = [...fields, ...others.map(untyped)].slice(0, mostColumns);
  return { all, shown: [...first, ...(hasTables ? [untyped("table_name")] : []), untyped("created_at")] };
}

/** In rem: numbers and flags need little room, times much. */
export function widthOf({ name, type }: Column): number {
  if (name === "created_at" || name === "updated_at" || type === "datetime") return 13;
  if (name === "id") return 21;
  if (type === "date") return 8;
  return type === "integer" || type === "number" || type === "boolean" || type === "time" ? 6 : 10;
}
