/** Reads the parameters of a list or a search. behaviour 4.4. Pure. */
import { badRequest, pageOf, unknownNames, wildcardPattern, type BaseContext } from "platform";
import { tableForSearch, type Database } from "../databases/database.ts";
import { folded } from "../databases/choices.ts";
import { columnKindOf, ownFields } from "../databases/columns.ts";
import { checked, conditionsOf, fieldsOf, isFilter, readFilters, writtenAs } from "./filters.ts";
import type { Condition, Exact, Filters } from "./filters.ts";
import { noTable, type Table } from "../databases/schema.ts";
import { hiddenSometimes, mayAll } from "../access/reach.ts";

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
  /** Choices that people know by the phrase. */
  readonly choices?: readonly Exact[];
}

export interface Query {
  /** The table whose fields have types and indexes. With `allTables` no field has a type or an index. */
  readonly table: Table;
  readonly allTables: boolean;
  readonly phrase: Phrase | undefined;
  readonly filters: Filters["filters"];
  readonly any: Filters["any"];
  readonly ends?: Filters["ends"];
  readonly sort: Sort;
  readonly limit: number;
  readonly offset: number;
  readonly after: string | undefined;
  readonly count: boolean;
  /** Links whose ends are read with the records, where it can be done at once. */
  readonly linked?: readonly Linked[];
  /** The only fields that answers show. */
  readonly fields: readonly string[] | undefined;
  /** The only fields that a phrase without fields of its own is searched in. */
  readonly searchable: readonly string[] | undefined;
}

/** A link to one record, and where that is looked for. */
export interface Linked {
  readonly field: string;
  readonly target: Database;
  readonly table: Table | undefined;
}

export const queryLimits = { text: 1000, name: 255, names: 200, limit: 100, standardLimit: 20, choices: 20 } as const;

export const newestFirst: Sort = { field: "id", descending: true };

/**
 * The private search, with further conditions. 400 if a multi-table database is searched without a table, or a parameter
 * is out of bounds.
 */
export function readSearch(db: Database, params: URLSearchParams, further: readonly Condition[] = []): Query {
  const table = tableForSearch(db, params.get("table_name"));
  return { ...readCommon(db, table, params, further), table, allTables: false };
}

/** The list of records: the same parameters, but without `table_name` records of all tables mixed. */
export function readList(db: Database, params: URLSearchParams): Query {
  const name = params.get("table_name");
  if (name !== null && db.schema.multiTable) return readSearch(db, params);
  const asksFields =
    ["q", "sort", "search_in", "search_in[]"].some((key) => params.has(key)) || [...params.keys()].some(isFilter);
  // For whom not all records are open, their table has to be known: its indexes find those that are.
  const allTables = db.schema.multiTable || (!asksFields && mayAll(db, "read"));
  const table = allTables ? noTable : tableForSearch(db, null);
  return { ...readCommon(db, table, params), table, allTables };
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

/** The ids that lead to what is expanded are shown with it. */
export function withLinks<Q extends Query>(query: Q, paths: readonly string[]): Q {
  if (!query.fields || paths.length === 0) return query;
  const roots = paths.map((path) => path.split(".", 1)[0] ?? "");
  return { ...query, fields: [...new Set([...query.fields, ...roots])] };
}

/** The fields that a search names. */
export function namedFields(query: Query): string[] {
  return [...fieldsOf(query), query.sort.field, ...(query.phrase?.fields ?? []), ...(query.fields ?? [])];
}

/** The fields by which records are found and sorted: one that is hidden in a record would tell of its value. */
export function decidingFields(query: Filters & Pick<Query, "phrase"> & Partial<Pick<Query, "sort">>): string[] {
  const { phrase, sort } = query;
  const phrased = [...(phrase?.fields ?? []), ...(phrase ? valuesIn(phrase) : []).map(({ field }) => field)];
  return [...fieldsOf(query), ...phrased, ...(sort ? [sort.field] : [])];
}

/**
 * The fields in which a phrase is searched: those named, else the indexed ones, else all data (behaviour B.7). Without
 * names, numbers and times are found by their whole value: a fragment of one is rarely what somebody means.
 */
export function phraseOf(
  db: Pick<Database, "reach">,
  table: Table,
  q: string | null,
  names: readonly string[] | undefined,
): Phrase | undefined {
  if (q === null || q === "") return undefined;
  const pattern = wildcardPattern(q);
  if (names) return { pattern, fields: names, values: [] };
  const hidden = hiddenSometimes(db.reach);
  const indexed = [...table.indexes.keys()].filter((name) => !ownFields.has(name) && !hidden.has(name));
  const isString = (name: string) => columnKindOf(table.fields.get(name)?.type) === "str";
  const values = indexed.flatMap((name) => (isString(name) ? [] : writtenAs(table, name, q.trim())));
  const choices = choicesCalled(table, q).filter(({ field }) => !hidden.has(field));
  return { ...orAllData({ pattern, fields: indexed.filter(isString), values }), choices };
}

/** Choices whose value, or whose label in any language, begins with the text. */
function choicesCalled({ fields }: Table, text: string): Exact[] {
  const asked = folded(text);
  if (asked === "" || /[*%]/.test(text)) return [];
  const found = [...fields].flatMap(([field, { choices = [] }]) => {
    return choices
      .filter(({ value, label = {} }) =>
        [String(value), ...(typeof label === "string" ? [label] : Object.values(label))].some((name) =>
          folded(name).startsWith(asked),
        ),
      )
      .map(({ value }) => ({ op: "eq", field, value: String(value), isPattern: false }) as const);
  });
  return found.slice(0, queryLimits.choices);
}

/** What is looked for by its whole value. */
export function valuesIn({ values, choices = [] }: Phrase): Exact[] {
  return [...values, ...choices];
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
  db: Database,
  table: Table,
  params: URLSearchParams,
  further: readonly Condition[] = [],
): Omit<Query, "table" | "allTables"> {
  const q = params.get("q");
  const sort = sortOf(params.get("sort"));
  const conditions = [...conditionsOf(table, params), ...further];
  mustBeStored(table, [sort.field, ...conditions.map(({ field }) => field)]);
  return {
    phrase: phraseOf(db, table, q && checked("q", q, queryLimits.text), namesOf(params, "search_in")),
    ...readFilters(table, conditions),
    sort,
    ...pageOfRecords(params),
    after: params.get("after") || undefined,
    count: params.get("count") === "true",
    fields: namesOf(params, "fields"),
    searchable: undefined,
  };
}

/** 400 for a field that no record has. */
export function mustBeStored({ computed }: Table, names: readonly string[]): void {
  const name = names.find((one) => computed.includes(one));
  if (name !== undefined)
    throw badRequest(`\`${name}\` is worked out when it is read: nothing is found or sorted by it`);
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

// Which records an export or a change of many is about, by the parameters of a list.

/** The records of one table, or of all, that a search with these filters would find. */
export type Scope = Pick<Query, "table" | "allTables" | "filters" | "any" | "phrase" | "ends">;

/** 400 if a filter is wrong, or names a table that does not exist. */
export function scopeOf(db: Database, query: URLSearchParams): Scope {
  const tableName = db.schema.multiTable ? query.get("table_name") : null;
  const { filters, any, phrase, ...found } = readList(db, new URLSearchParams(narrowing(query)));
  return { ...(isNarrowed({ filters, any, phrase }) ? found : whole(db, tableName)), filters, any, phrase };
}

export function isNarrowed({ filters, any, phrase }: Pick<Scope, "filters" | "any" | "phrase">): boolean {
  return filters.length > 0 || any.length > 0 || phrase !== undefined;
}

/** The parameters that say which records. */
export function narrowing(query: URLSearchParams): [string, string][] {
  return [...query].filter(([name]) => narrows(name));
}

export function narrows(parameter: string): boolean {
  return isFilter(parameter) || ["table_name", "q", "search_in", "search_in[]"].includes(parameter);
}

/** All records of the table, or of the database; its columns begin with the fields of the schema. */
function whole(db: Database, tableName: string | null): Pick<Scope, "table" | "allTables"> {
  if (tableName === null && db.schema.multiTable) return { table: noTable, allTables: true };
  return { table: tableForSearch(db, tableName), allTables: !db.schema.multiTable };
}

/** The table whose rules all records of the scope follow; undefined if they may be in several. */
export function oneTable(db: Database, { table, allTables }: Scope): Table | undefined {
  if (!allTables) return table;
  return db.schema.multiTable ? undefined : tableForSearch(db, null);
}

// The end of a page as an opaque text: `after=<cursor>` continues from there. behaviour B.7.

export interface Cursor {
  readonly id: string;
  /** The sort key of the last record as text; null if it has none. Left out if it must be looked up by `id`. */
  readonly value?: string | null;
}

type Ordered = Pick<Query, "sort" | "table">;
type Signer = Pick<BaseContext["secrets"], "sign" | "verify">;

const purpose = "jsondb.cursor";
// A longer value does not fit into a header, so it is read from the record again.
const maxValueLength = 1000;

/** Signed, and bound to the database and the order that it was made for. */
export function encodeCursor(signer: Signer, db: Database, query: Ordered, cursor: Required<Cursor>): string {
  const { id, value } = cursor;
  const place = [db.id, orderOf(db, query), id];
  const parts = value === null || value.length <= maxValueLength ? [...place, value] : place;
  return signer.sign(purpose, toBase64Url(JSON.stringify(parts)));
}

/** 400 if it was not made for this database and order. */
export function decodeCursor(signer: Signer, db: Database, query: Ordered, text: string): Cursor {
  const payload = text.length <= 20_000 ? signer.verify(purpose, text) : undefined;
  if (payload === undefined) throw badRequest("`after` is not a cursor of X-Next-Cursor");
  // The signature proves that it has the form we made.
  const [dbId, order, id, value] = JSON.parse(fromBase64Url(payload)) as [string, string, string, (string | null)?];
  if (dbId !== db.id || order !== orderOf(db, query))
    throw badRequest("`after` belongs to another database or another `sort`, or to another order of letters");
  return value === undefined ? { id } : { id, value };
}

/** With the collation, where strings are sorted: in another one the records before and after it are others. */
function orderOf({ collation }: Database, { sort: { field, descending }, table }: Ordered): string {
  const type = table.fields.get(field)?.type;
  const isText = !ownFields.has(field) && (type === undefined || columnKindOf(type) === "str");
  return `${descending ? "-" : "+"}${field}${isText ? ` ${collation}` : ""}`;
}

function toBase64Url(text: string): string {
  return new TextEncoder().encode(text).toBase64({ alphabet: "base64url", omitPadding: true });
}

function fromBase64Url(text: string): string {
  return new TextDecoder().decode(Uint8Array.fromBase64(text, { alphabet: "base64url" }));
}
