/** The shape of a search is what it needs of an index: which columns it compares by equality, and which one orders it. Pure. */
import { indexColumns, type IndexColumn } from "../databases/columns.ts";
import type { Database } from "../databases/database.ts";
import type { Schema, Table } from "../databases/schema.ts";
import { columnOf, sourceOf } from "../search/filter-store.ts";
import type { Query } from "../search/query.ts";
import { isWholeDay } from "../search/time-store.ts";

export interface Shape {
  /** One or two, in the order of the columns. */
  readonly equal: readonly IndexColumn[];
  /** Undefined: by id. */
  readonly order: IndexColumn | undefined;
}

/**
 * `idx_str_2>idx_int_1`; undefined where no index of its own would help: the indexes that every database has serve a
 * single filter in the order of creation, and an order without a filter.
 */
export function shapeOf(db: Database, query: Query): string | undefined {
  const { filters, any, phrase, sort, ends = [] } = query;
  if (ends.length > 0 || filters.length === 0 || filters.length > 2 || any.length > 0 || phrase) return undefined;
  const source = sourceOf(db, query);
  const equal: IndexColumn[] = [];
  for (const filter of filters) {
    const column = columnOf(source, filter.field);
    if (!column || filter.op !== "eq" || filter.isPattern || filter.value === "" || equal.includes(column))
      return undefined;
    if (isWholeDay(query.table.fields.get(filter.field)?.type, filter.value)) return undefined;
    equal.push(column);
  }
  if (sort.field === "id") return equal.length === 2 ? printShape({ equal, order: undefined }) : undefined;
  const order = columnOf(source, sort.field);
  return order && !equal.includes(order) ? printShape({ equal, order }) : undefined;
}

export function printShape({ equal, order }: Shape): string {
  return `${equal.toSorted().join(",")}>${order ?? ""}`;
}

/** The shapes of the sorts that a schema declares. */
export function declaredShapes({ tables }: Schema): string[] {
  const sorts = [...tables.values()].flatMap((table) => table.sorts);
  return [...new Set(sorts.map(({ filter, order }) => printShape({ equal: [filter], order })))];
}

/** Throws for a text that `printShape` cannot have made. */
export function parseShape(text: string): Shape {
  const [equal = "", order = ""] = text.split(">");
  const columns = equal.split(",").map(columnNamed);
  return { equal: columns, order: order === "" ? undefined : columnNamed(order) };
}

function columnNamed(text: string): IndexColumn {
  const column = indexColumns.find((name) => name === text);
  if (!column) throw new Error(`${text} is no index column`);
  return column;
}

/** The filters and the order of a table that have this shape; undefined if the table has no such fields. */
export function fieldsOfShape({ indexes }: Table, { equal, order }: Shape) {
  const byColumn = new Map([...indexes].map(([field, column]) => [column, field]));
  const filters = equal.map((column) => byColumn.get(column));
  const sort = order === undefined ? "created_at" : byColumn.get(order);
  if (sort === undefined || !filters.every((field) => field !== undefined)) return undefined;
  return { filters, sort };
}
