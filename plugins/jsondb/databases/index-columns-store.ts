/**
 * The index columns of records as SQL, all from `indexColumns`: what one statement names, every statement names alike.
 */
import { indexColumns, kindOf, type ColumnKind, type IndexColumn } from "./columns.ts";

export const casts: Record<ColumnKind, string> = { str: "", int: "::bigint", time: "::timestamptz" };
/** Which values the columns do not hold whole. */
export const flagColumns = ["long_strings", "inexact_numbers"];

/** The columns that say how a record is indexed, in the order of what `record_index` returns. */
export const indexColumnList = [...indexColumns, ...flagColumns].join(", ");

/** The result of `record_index(…) x` of the migration for those columns. */
export const recordIndexValues = [...indexColumns.map((column) => column.slice("idx_".length)), ...flagColumns]
  .map((name) => `x.${name}`)
  .join(", ");

/** The values of all index columns; `values` is an expression of text[] in their order. */
export const columnValues = (values: string): string => indexColumns.map(textIn(values)).join(", ");

/** The value of a column in `values`, an expression of text[] in the order of the columns. */
export const textIn =
  (values: string) =>
  (column: IndexColumn, at: number): string =>
    `${values}[${at + 1}]${casts[kindOf(column)]}`;

/**
 * For `update records r set`: the columns that are given. `valueOf` gives the expression of a column's new value; `given`
 * is one of int, a bit for each column.
 */
export const givenColumns = (valueOf: (column: IndexColumn, at: number) => string, given: string): string =>
  indexColumns
    .map(
      (column, at) =>
        `${column} = case when ${given} & ${1 << at} <> 0 then ${valueOf(column, at)} else r.${column} end`,
    )
    .join(", ");

/** A bit for each, the first one the lowest. */
export function bitsOf(flags: readonly boolean[]): number {
  return flags.reduce((bits, isSet, at) => (isSet ? bits | (1 << at) : bits), 0);
}
