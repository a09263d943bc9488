/**
 * The index columns of records as SQL, all from `indexColumns`: what one statement names, every statement names alike.
 */
import { indexColumns, kindOf, type ColumnKind } from "./columns.ts";

const casts: Record<ColumnKind, string> = { str: "", int: "::bigint", time: "::timestamptz" };
/** Which values the columns do not hold whole. */
export const flagColumns = ["long_strings", "inexact_numbers"];

/** The columns that say how a record is indexed, in the order of what `record_index` returns. */
export const indexColumnList = [...indexColumns, ...flagColumns].join(", ");

/** The result of `record_index(…) x` of the migration for those columns. */
export const recordIndexValues = [...indexColumns.map((column) => column.slice("idx_".length)), ...flagColumns]
  .map((name) => `x.${name}`)
  .join(", ");

const valueAt = (values: string, at: number, kind: ColumnKind) => `${values}[${at + 1}]${casts[kind]}`;

/** The values of all index columns; `values` is an expression of text[] in their order. */
export const columnValues = (values: string): string =>
  indexColumns.map((column, at) => valueAt(values, at, kindOf(column))).join(", ");

/** For `update records r set`: the columns that are given; `given` is an expression of int, a bit for each column. */
export const givenColumns = (values: string, given: string): string =>
  indexColumns
    .map((column, at) => {
      const value = valueAt(values, at, kindOf(column));
      return `${column} = case when ${given} & ${1 << at} <> 0 then ${value} else r.${column} end`;
    })
    .join(", ");
