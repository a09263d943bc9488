/** The query parameters of a resource's list, each with its SQL. */
import type { TSchema } from "@sinclair/typebox";
import type { Fragment, Sql } from "../db/db.ts";
import type { Caller } from "../http/auth.ts";
import { invalid } from "../base/errors.ts";
import { flagOf, wildcardPattern } from "../base/values.ts";

export interface Filter<By = Caller> {
  readonly doc: string | TSchema;
  /** Undefined: it narrows nothing. Its name is in the query that it reads. */
  readonly where: (sql: Sql, query: URLSearchParams, name: string, caller: By) => Fragment | undefined;
}

export type Filters<By = Caller> = Readonly<Record<string, Filter<By>>>;

/** The value of the column of the same name. */
export const exact = (doc: string | TSchema = "exact value"): Filter<unknown> => ({
  doc,
  where: (sql, query, name) => {
    const given = query.get(name);
    return given ? sql`${sql(name)} = ${given}` : undefined;
  },
});

export const flagged = (doc: string | TSchema): Filter<unknown> => ({
  doc,
  where: (sql, query, name) => {
    const given = flagOf(query, name);
    return given === undefined ? undefined : sql`${sql(name)} = ${given}`;
  },
});

/** A phrase in one of these columns. */
export const searching = (columns: readonly string[], doc: string): Filter<unknown> => ({
  doc,
  where: (sql, query, name) => {
    const given = query.get(name);
    if (!given) return undefined;
    const pattern = wildcardPattern(given);
    return sql`(${columns.map((column, at) => sql`${at > 0 ? sql`or` : sql``} ${sql(column)} ilike ${pattern}`)})`;
  },
});

/** The conditions of a query, each with its `and`. */
export function narrowedBy<By>(filters: Filters<By>, sql: Sql, query: URLSearchParams, caller: By): Fragment[] {
  return Object.entries(filters).flatMap(([name, { where }]) => {
    const condition = where(sql, query, name, caller);
    return condition ? [sql`and ${condition}`] : [];
  });
}

/** `order_by` as SQL; 422 for an unknown column. */
export function orderedBy(orders: readonly string[], sql: Sql, query: URLSearchParams): Fragment {
  const given = query.get("order_by") || (orders[0] ?? "id");
  const isDescending = given.endsWith("_desc");
  const by = isDescending ? given.slice(0, -"_desc".length) : given;
  if (!orders.includes(by))
    throw invalid({ order_by: [`must be one of ${orders.join(", ")}, with or without _desc at the end`] });
  const direction = isDescending ? sql`desc` : sql`asc`;
  return sql`${sql(by)} ${direction}, id ${direction}`;
}
