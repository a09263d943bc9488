/**
 * The index columns of records as SQL, all from `indexColumns`: what one statement names, every statement names alike.
 */
import { indexColumns, kindOf, type ColumnKind, type IndexColumn } from "./columns.ts";

export const casts: Record<ColumnKind, string> = { str: "", int: "::bigint", time: "::timestamptz" };
/** Which values the columns do not hold whole. */
export const flagColumns = ["long_strings", "inexact_numbers"];

/** Answers show milliseconds: no two changes of a record `r` have the same one, so that it tells them apart. */
export const later = "greatest(now(), date_trunc('milliseconds', r.updated_at) + interval '1 millisecond')";

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

// The order of strings: a collation of ICU for the language of the account.

/** Languages whose order is that of Unicode's root, so that they share its indexes. */
const rootLanguages = ["en", "de", "fr", "it", "nl", "pt", "id"];
/** Places whose order is another one than that of their language. */
const places: Record<string, string> = {
  "fr-ca": "fr-CA",
  "zh-tw": "zh-Hant",
  "zh-hk": "zh-Hant",
  "zh-hant": "zh-Hant",
  no: "nb",
};

/** The collation of Unicode's root. */
export const rootCollation = "und-x-icu";

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
const language = "split_part(lower(a.locale), '-', 1)";

/**
 * The name of the collation of the account `a`; "C" where PostgreSQL was built without ICU, or the database's encoding
 * is not UTF-8: strings are then in the order of their code points.
 */
export const collationOfAccount = `(
  select coalesce(max(c.collname::text) filter (where c.collname <> 'und-x-icu'), max(c.collname::text), 'C')
  from pg_collation c
  where c.collprovider = 'i' and c.collnamespace = 'pg_catalog'::regnamespace and getdatabaseencoding() = 'UTF8'
    and c.collname in ('und-x-icu', case
      ${Object.entries(places)
        .map(([place, name]) => `when lower(a.locale) = ${literal(place)} then ${literal(`${name}-x-icu`)}`)
        .join(" ")}
      when ${language} in (${rootLanguages.map(literal).join(", ")}) then 'und-x-icu'
      else ${language} || '-x-icu' end))`;

/**
 * The collation by whose indexes equal strings are found, which are the same ones in all of them: that of Unicode's
 * root where its indexes stand, of which that of the third column is built last. Else the columns' own.
 */
export const collationOfEquals = `(
  select case when to_regclass('records_by_str_1') is null
    or exists (select from pg_index where indexrelid = to_regclass('records_sorted_3_und') and indisvalid)
  then '${rootCollation}' else 'C' end)`;

/** The clause after an expression of text. */
export function collate(collation: string): string {
  return `collate "${collation.replaceAll('"', '""')}"`;
}
