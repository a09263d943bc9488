/** Reads the parameters of a list or a search. behaviour 4.4. Pure. */
import { badRequest, pageOf, unknownNames, wildcardPattern } from "platform";
import { tableForSearch, type Database } from "../databases/database.ts";
import { columnKindOf, ownFields } from "../databases/columns.ts";
import {
  checked,
  conditionsOf,
  fieldsOf,
  isFilter,
  readFilters,
  writtenAs,
  type Condition,
  type Exact,
  type Filters,
} from "./filters.ts";
import { noTable, type Table } from "../databases/schema.ts";

export interface Sort {
  readonly field: string;
  readonly descending: boolean;
}

export interface Phrase {
  /** A LIKE pattern, case ignored. */
  readonly pattern: string;
  /** The fields to look into; undefined = all of the data. */
  readonly fields: readonly string[] | undefined;
  /** Beside those fields: numbers and times that are written so. */
  readonly values: readonly Exact[];
}

export interface Query {
  /** The table whose fields have types and indexes. With `allTables` no field has a type or an index. */
  readonly table: Table;
  readonly allTables: boolean;
  readonly phrase: Phrase | undefined;
  readonly filters: Filters["filters"];
  readonly any: Filters["any"];
  readonly sort: Sort;
  readonly limit: number;
  readonly offset: number;
  readonly after: string | undefined;
  readonly count: boolean;
  /** The only fields that answers show. */
  readonly fields: readonly string[] | undefined;
  /** The only fields that a phrase without fields of its own is searched in. */
  readonly searchable: readonly string[] | undefined;
}

export const queryLimits = { text: 1000, name: 255, names: 200, limit: 100, standardLimit: 20 } as const;

export const newestFirst: Sort = { field: "id", descending: true };

/**
 * The private search, with further conditions. 400 if a multi-table database is searched without a table, or a parameter
 * is out of bounds.
 */
export function readSearch(db: Database, params: URLSearchParams, further: readonly Condition[] = []): Query {
  const table = tableForSearch(db, params.get("table_name"));
  return { ...readCommon(table, params, further), table, allTables: false };
}

/** The list of records: the same parameters, but without `table_name` records of all tables mixed. */
export function readList(db: Database, params: URLSearchParams): Query {
  const name = params.get("table_name");
  if (name !== null && db.schema.multiTable) return readSearch(db, params);
  const asksFields =
    ["q", "sort", "search_in", "search_in[]"].some((key) => params.has(key)) || [...params.keys()].some(isFilter);
  const allTables = db.schema.multiTable || !asksFields;
  const table = allTables ? noTable : tableForSearch(db, null);
  return { ...readCommon(table, params), table, allTables };
}

/** Hints about fields that the schema does not know, although the data may have them. */
export function fieldHints(
  db: Database,
  { table, allTables }: Pick<Query, "table" | "allTables">,
  names: Iterable<string>,
): string[] {
  const tables = allTables ? [...db.schema.tables.values()] : [table];
  const known = tables.flatMap(({ fields }) => [...fields.keys()]);
  return known.length === 0
    ? []
    : unknownNames(names, [...new Set([...known, ...ownFields])], (name) => `the schema has no field "${name}"`);
}

/** The same by the name of a table; without one, of all tables. */
export function fieldHintsIn(db: Database, table: string | null | undefined, names: Iterable<string>): string[] {
  const found = db.schema.tables.get(table ?? "");
  return fieldHints(db, { table: found ?? noTable, allTables: !found || !table }, names);
}

/** Hints about a filter of records as webhooks tell of them, with `db_code` and `table_name` beside their fields. */
export function filterHints(db: Database, filter: object): string[] {
  const { db_code: _, table_name: table = null, ...fields }: Record<string, unknown> = { ...filter };
  const isTable = table === null || (db.schema.multiTable && typeof table === "string" && db.schema.tables.has(table));
  return [
    ...(isTable ? [] : [`filter: the database "${db.code}" has no table ${JSON.stringify(table).slice(0, 100)}`]),
    ...fieldHintsIn(db, typeof table === "string" ? table : null, Object.keys(fields)).map((hint) => `filter: ${hint}`),
  ];
}

/** The fields that a search names. */
export function namedFields(query: Query): string[] {
  return [...fieldsOf(query), query.sort.field, ...(query.phrase?.fields ?? []), ...(query.fields ?? [])];
}

/**
 * The fields in which a phrase is searched: those named, else the indexed ones, else all data (behaviour B.7). Without
 * names, numbers and times are found by their whole value: a fragment of one is rarely what somebody means.
 */
export function phraseOf(table: Table, q: string | null, names: readonly string[] | undefined): Phrase | undefined {
  if (q === null || q === "") return undefined;
  const pattern = wildcardPattern(q);
  if (names) return { pattern, fields: names, values: [] };
  const indexed = [...table.indexes.keys()].filter((name) => !ownFields.has(name));
  const isString = (name: string) => columnKindOf(table.fields.get(name)?.type) === "str";
  const values = indexed.flatMap((name) => (isString(name) ? [] : writtenAs(table, name, q.trim())));
  return orAllData({ pattern, fields: indexed.filter(isString), values });
}

/** Where nothing that is searched could hold the phrase, it is looked for in all data. */
export function orAllData(phrase: Phrase): Phrase {
  return phrase.fields?.length === 0 && phrase.values.length === 0 ? { ...phrase, fields: undefined } : phrase;
}

export function sortOf(text: string | null): Sort {
  if (!text) return newestFirst;
  const descending = text.startsWith("-");
  const field = checked("sort", descending ? text.slice(1) : text, queryLimits.name);
  if (field === "") throw badRequest("`sort` names no field");
  // Ids are made in the order of creation, from its very time.
  return { field: field === "created_at" ? "id" : field, descending };
}

export function pageOfRecords(params: URLSearchParams): { limit: number; offset: number } {
  return pageOf(params, queryLimits.standardLimit, queryLimits.limit);
}

function readCommon(
  table: Table,
  params: URLSearchParams,
  further: readonly Condition[] = [],
): Omit<Query, "table" | "allTables"> {
  const q = params.get("q");
  return {
    phrase: phraseOf(table, q && checked("q", q, queryLimits.text), namesOf(params, "search_in")),
    ...readFilters(table, [...conditionsOf(table, params), ...further]),
    sort: sortOf(params.get("sort")),
    ...pageOfRecords(params),
    after: params.get("after") || undefined,
    count: params.get("count") === "true",
    fields: namesOf(params, "fields"),
    searchable: undefined,
  };
}

function namesOf(params: URLSearchParams, key: string): string[] | undefined {
  const given = namesIn(params, key, queryLimits.name);
  if (given.length > queryLimits.names) throw badRequest(`\`${key}\` may name at most ${queryLimits.names} fields`);
  return given.length > 0 ? given : undefined;
}

/** `key=a,b`, and `key[]=a&key[]=b` for names that may hold a comma. */
export function namesIn(params: URLSearchParams, key: string, maxLength: number): string[] {
  const separated = params.getAll(key).flatMap((text) => checked(key, text, 50_000).split(","));
  const names = [...separated.map((name) => name.trim()), ...params.getAll(`${key}[]`)];
  return names.filter((name) => name !== "").map((name) => checked(key, name, maxLength));
}
