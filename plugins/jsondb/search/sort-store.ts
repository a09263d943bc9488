/** The order of a list as SQL: nulls last, `id` as the last key, so that pages never overlap. behaviour B.7. */
import { collate } from "../databases/columns-store.ts";
import { columnKindOf } from "../databases/columns.ts";
import type { Cursor, Sort } from "./query.ts";
import { columnOf, type Args, type Source } from "./filter-store.ts";

/** The sort key of records, before their id. */
export interface SortKey {
  /** Expressions in order; the last one is null if the record has no value. */
  readonly keys: readonly string[];
  /** The index column that is null exactly when the key is null. */
  readonly column: string | undefined;
  /** The condition on the index column that bounds the scan at a cursor's value, given as text. */
  readonly bound: ((value: string, comparison: ">=" | "<=") => string) | undefined;
  /** The value as the type of the deciding key. */
  readonly cast: (value: string) => string;
  /** The condition on what comes after a value, where the deciding key does not decide alone. */
  readonly after?: (value: string, isString: boolean, comparison: ">" | "<", id: string) => string;
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
    case "str":
      // The order of beginnings says nothing about that of the whole: an accent counts less than any later letter.
      return at && !longStrings
        ? simple(`${at} ${collate(source.collation)}`, at, "text")
        : simple(`(${text()}) ${collate(source.collation)}`, undefined, "text");
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
    default: {
      const present = `nullif(${value()}, 'null')`;
      return type === "boolean" ? simple(present, undefined, "jsonb") : ofAnyType(present, source.collation);
    }
  }
}

/** Strings first, and then the others in PostgreSQL's order of JSON values. `value` is an expression of jsonb. */
function ofAnyType(value: string, collation: string): SortKey {
  const isOther = `jsonb_typeof(${value}) <> 'string'`;
  const text = `(case when jsonb_typeof(${value}) = 'string' then ${value} #>> '{}' end) ${collate(collation)}`;
  const after: SortKey["after"] = (given, isString, comparison, id) => {
    const same = isString
      ? `(${text}, r.id) ${comparison} (${given}::jsonb #>> '{}', ${id})`
      : `${isOther} and (${value}, r.id) ${comparison} (${given}::jsonb, ${id})`;
    const beyond = comparison === ">" ? isString && isOther : !isString && `not ${isOther}`;
    return beyond ? `(${beyond} or ${same})` : same;
  };
  return { ...simple(value, undefined, "jsonb"), keys: [isOther, text, value], after };
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
  const after =
    key.after?.(value, cursor.value.startsWith('"'), comparison, id) ??
    `${bound}(${last}, r.id) ${comparison} (${key.cast(value)}, ${id})`;
  return part === "values" ? after : `(${after} or ${last} is null)`;
}
