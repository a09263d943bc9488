/** The order of a list as SQL: nulls last, `id` as the last key, so that pages never overlap. behaviour B.7. */
import { columnKindOf } from "../databases/columns.ts";
import type { Cursor } from "./cursor.ts";
import { columnOf, type Args, type Source } from "./filter-store.ts";
import type { Sort } from "./query.ts";

/** The sort key of records, before their id. */
export interface SortKey {
  /** Expressions in order; the last one alone decides, and those before it help the index. */
  readonly keys: readonly string[];
  /** The index column that is null exactly when the key is null. */
  readonly column: string | undefined;
  /** The condition on the index column that bounds the scan at a cursor's value, given as text. */
  readonly bound: ((value: string, comparison: ">=" | "<=") => string) | undefined;
  /** The value as the type of the deciding key. */
  readonly cast: (value: string) => string;
}

/** Undefined if records are sorted by id alone. `longStrings`: some value is longer than the column. */
export function sortKey(args: Args, source: Source, { field }: Sort, longStrings: boolean): SortKey | undefined {
  if (field === "id") return undefined;
  if (field === "updated_at") return simple("r.updated_at", undefined, "timestamptz");
  const type = source.table.fields.get(field)?.type;
  const column = columnOf(source, field);
  // Bound only when used: PostgreSQL refuses an argument that no expression mentions.
  const value = () => `r.data -> ${args.bind(field, "text")}`;
  const text = () => `r.data ->> ${args.bind(field, "text")}`;
  const at = column && `r.${column}`;
  switch (columnKindOf(type)) {
    case "str": {
      if (at && !longStrings) return simple(at, at, "text");
      const whole = `(${text()}) collate "C"`;
      if (!at) return simple(whole, undefined, "text");
      const bound = (given: string, comparison: string) => `${at} ${comparison} left(${given}, 255)`;
      return { keys: [at, whole], column: at, bound, cast: (given) => given };
    }
    case "int": {
      if (at && type === "integer") return simple(at, at, "bigint");
      const number = `record_number(${value()})`;
      if (type === "integer") return simple(`record_int(${number})`, undefined, "bigint");
      if (!at) return simple(number, undefined, "numeric");
      const cast = (given: string) => `${given}::numeric`;
      const bound = (given: string, comparison: string) => `${at} ${comparison} record_int(${cast(given)})`;
      return { keys: [at, number], column: at, bound, cast };
    }
    case "time":
      return simple(at ?? `record_instant(${text()})`, at, "timestamptz");
    default:
      // Booleans and fields without a type, in PostgreSQL's order of JSON values.
      return simple(`nullif(${value()}, 'null')`, undefined, "jsonb");
  }
}

function simple(key: string, column: string | undefined, type: string): SortKey {
  const cast = (value: string) => `${value}::${type}`;
  return { keys: [key], column, bound: undefined, cast };
}

/** The key that decides alone; null if records are sorted by id. */
export function decidingKey(key: SortKey | undefined): string {
  return key?.keys.at(-1) ?? "null";
}

/** `order by` for rows whose key may be null, or cannot be. */
export function orderBy(key: SortKey | undefined, { descending }: Sort, mayBeNull: boolean): string {
  const direction = descending ? " desc" : "";
  // Without "nulls last" a descending order is that of the index read backwards.
  const keys = (key?.keys ?? []).map((expression) => `${expression}${direction}${mayBeNull ? " nulls last" : ""}`);
  return [...keys, `r.id${direction}`].join(", ");
}

/** The records after the cursor; `part` says which ones, if nulls are read separately. */
export function afterCursor(
  args: Args,
  key: SortKey | undefined,
  { descending }: Sort,
  cursor: Required<Cursor>,
  part: "all" | "values" | "nulls",
): string {
  const comparison = descending ? "<" : ">";
  const id = args.bind(cursor.id, "uuid");
  const afterId = `r.id ${comparison} ${id}`;
  if (!key || part === "nulls") return cursor.value === null || !key ? afterId : "true";
  const last = key.keys.at(-1) ?? "";
  if (cursor.value === null) return part === "values" ? "false" : `${last} is null and ${afterId}`;
  const value = args.bind(cursor.value, "text");
  const bound = key.bound ? `${key.bound(value, descending ? "<=" : ">=")} and ` : "";
  const after = `${bound}(${last}, r.id) ${comparison} (${key.cast(value)}, ${id})`;
  return part === "values" ? after : `(${after} or ${last} is null)`;
}
