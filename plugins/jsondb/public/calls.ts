/** The public methods, as a visitor calls them. behaviour B.7. No HTTP, no SQL. */
import * as recordStore from "../records/store.ts";
import * as records from "../records/writes.ts";
import {
  badRequest,
  HttpError,
  isNumber,
  isObject,
  notFound,
  refuseUnstorable,
  unknownNames,
  uuidOf,
  ValidationError,
  uuidv7,
  type FieldErrors,
} from "platform";
import { typedFields } from "./visitor.ts";
import { tableForSearch, type Database } from "../databases/database.ts";
import { applyWrite, operationParams, scopeValue, visibleFields } from "../databases/public-methods.ts";
import type { Method, Operation, VariableValues } from "../databases/public-methods.ts";
import { ownFields } from "../databases/columns.ts";
import { expandLimits } from "../api.ts";
import { finishedFor, isUnfinished, pathsIn } from "../links/expand.ts";
import { checked } from "../search/filters.ts";
import { fieldHints, newestFirst, orAllData, pageOfRecords, phraseOf, queryLimits, sortOf } from "../search/query.ts";
import type { Query, Sort } from "../search/query.ts";
import { printRecord } from "../records/print.ts";
import { asNew, type Data, type CreatedRecord } from "../records/record.ts";
import type { Guard } from "../records/store.ts";
import { noTable } from "../databases/schema.ts";
import type { JsondbContext } from "../context.ts";

/** One call: the database, its configured method, and the visitor's parameters. */
export interface Call {
  readonly db: Database;
  readonly operation: Operation;
  readonly method: Method;
  readonly params: Readonly<Record<string, unknown>>;
  /** The fields of `data` are texts of a browser's form. */
  readonly isForm?: boolean;
  readonly variables: VariableValues;
}

/** The record's JSON text. */
export async function get(ctx: JsondbContext, { db, operation, method, params, variables }: Call): Promise<string> {
  const fields = shownFields(db, operation);
  const [id, guard] = [idOf(params), guardOf(method, variables)];
  await mustBeIn(ctx, db, id, method, guard);
  const call = { db, operation, method, params, variables };
  const found = await ctx.read((sql) => recordStore.get(sql, db, id, { form: formOf(call), fields }, guard));
  if (!found) throw notFound();
  return finishedOne(ctx, call, found.answer);
}

/**
 * With rollups, and with the ends of links that the method lets a visitor follow, as its `allowed_fields` show them. The
 * texts have the form of `formOf`.
 */
export async function finish(ctx: JsondbContext, call: Call, db: Database, texts: readonly string[]) {
  if (!mayFinish(call)) return texts;
  const paths = allowedPaths(call).filter((path) => call.method.expand.includes(path));
  const searched = db.schema.tables.get(call.method.table ?? call.params["table_name"]?.toString() ?? "") ?? noTable;
  const table = call.operation === "search" ? searched : undefined;
  return finishedFor(ctx, db, texts, paths, table, visibleFields(db.publicMethods, call.operation));
}

async function finishedOne(ctx: JsondbContext, call: Call, text: string): Promise<string> {
  return (await finish(ctx, call, call.db, [text])).join("");
}

/** Whether `finish` may have something to do. */
export function mayFinish(call: Call): boolean {
  const isExpanding = call.method.expand.length > 0 && call.params["expand"] !== undefined;
  return isExpanding || isUnfinished(call.db, []);
}

/** With the names of tables, by which rollups are found, if it will be finished. */
export function formOf(call: Call): "nested" | "public" {
  return mayFinish(call) ? "nested" : "public";
}

function allowedPaths({ method, params }: Call): string[] {
  return pathsIn((allowedParams(method, params, ["expand"]).get("expand") ?? "").split(","));
}

/** Hints about paths that the method does not open. */
export function expandHints(call: Call): string[] {
  return allowedPaths(call)
    .filter((path) => !call.method.expand.includes(path))
    .slice(0, expandLimits.paths)
    .map((path) => `\`expand\`: nothing is shown of "${path.slice(0, 100)}" here`);
}

export async function create(ctx: JsondbContext, call: Call): Promise<string> {
  const make = (current: Database) => newRecord(current, call);
  const made = await inPublicForm(() => records.create(ctx, call.db, make));
  const own = withoutPaths(call);
  return finishedOne(ctx, own, publicText(made, shownFields(call.db, "create"), formOf(own)));
}

/** Answers as `create` does, and stores nothing. */
export function pretend(call: Call): string {
  const { table, data: given } = newRecord(call.db, call);
  const data = asNew(call.db, table, given);
  const made = { id: uuidv7(), table, data, json: JSON.stringify(data), createdAt: new Date() };
  return publicText(made, shownFields(call.db, "create"), "public");
}

/** A write follows no links. */
const withoutPaths = (call: Call): Call => ({ ...call, method: { ...call.method, expand: [] } });

export async function update(ctx: JsondbContext, call: Call): Promise<string> {
  const { db, method, params, isForm, variables } = call;
  const id = idOf(params);
  const given = dataOf(params, false);
  const guard = guardOf(method, variables);
  const make = async (current: Database) => {
    const write = await records.inItsTable(ctx.sql, current, id, { data: given, viewer: undefined, guard });
    if (method.table !== undefined && write.table.name !== method.table) throw notFound();
    const typed = isForm ? typedFields(write.table, given) : given;
    return { ...write, visitor: true as const, data: applied("update", current, write.table, typed, variables) };
  };
  const own = withoutPaths(call);
  const shape = { form: formOf(own), fields: shownFields(db, "update") };
  const { answer } = await inPublicForm(() => records.update(ctx, db, id, make, shape));
  return finishedOne(ctx, own, answer);
}

export async function remove(
  ctx: JsondbContext,
  { db, method, params, variables }: Call,
): Promise<{ id: string; deleted: true }> {
  const [id, guard] = [idOf(params), guardOf(method, variables)];
  await mustBeIn(ctx, db, id, method, guard);
  await records.remove(ctx, db, id, { guard });
  return { id, deleted: true };
}

/** 404 outside the table that the method fixes. */
async function mustBeIn(
  ctx: JsondbContext,
  db: Database,
  id: string,
  { table }: Method,
  guard: Guard | undefined,
): Promise<void> {
  if (table !== undefined && (await recordStore.tableNameOf(ctx.sql, db, id, guard)) !== table) throw notFound();
}

function newRecord(db: Database, call: Call) {
  const given = dataOf(call.params, true);
  const table = db.schema.tables.get(call.method.table ?? "") ?? noTable;
  return {
    table,
    data: applied("create", db, table, call.isForm ? typedFields(table, given) : given, call.variables),
    viewer: undefined,
    visitor: true,
  } as const;
}

/** The newest first, all tables mixed unless the method fixes one; undefined if the visitor sees nothing. */
export function publicList(db: Database, { method, params, variables }: Call): Query | undefined {
  const own = scopeFilters(method, variables);
  if (!own) return undefined;
  const allowed = allowedParams(method, params, operationParams.list);
  const fixed = db.schema.tables.get(method.table ?? "");
  const allTables = method.table === undefined && (db.schema.multiTable || own.length === 0);
  return {
    ...everything,
    table: allTables ? noTable : (fixed ?? noTable),
    allTables,
    filters: own,
    ...pageOfRecords(allowed),
    after: allowed.get("after") || undefined,
    fields: shownFields(db, "list"),
  };
}

/**
 * behaviour 2.4: only q, sort, table_name, limit and offset; what is not shown can be neither sorted nor searched by.
 */
export function publicSearch(db: Database, { method, params, variables }: Call): Query | undefined {
  const allowed = allowedParams(method, params, operationParams.search);
  const table = tableForSearch(db, method.table ?? allowed.get("table_name"));
  const own = scopeFilters(method, variables);
  if (!own) return undefined;
  const q = allowed.get("q");
  const phrase = phraseOf(db, table, q && checked("q", q, queryLimits.text), undefined);
  const shown = visibleFields(db.publicMethods, "search");
  const isShown = (name: string) => shown?.has(name) ?? true;
  const fields = phrase?.fields?.filter(isShown) ?? [];
  const values = phrase?.values.filter(({ field }) => isShown(field)) ?? [];
  const choices = phrase?.choices?.filter(({ field }) => isShown(field)) ?? [];
  const visible = shown && [...shown];
  return {
    ...everything,
    table,
    allTables: false,
    phrase: phrase && orAllData({ ...phrase, fields, values, choices }),
    filters: own,
    sort: visibleSort(sortOf(allowed.get("sort")), shown),
    ...pageOfRecords(allowed),
    fields: visible,
    searchable: visible,
  };
}

/** Hints about a search sorted by a field that is not shown or not known. */
export function sortHints(call: Call): string[] {
  const { db, params } = call;
  const asked = sortOf(allowedParams(call.method, params, ["sort"]).get("sort")).field;
  const query = publicSearch(db, call);
  const shown = visibleFields(db.publicMethods, "search");
  if (shown) return unknownNames([asked], [...shown, ...ownFields], (name) => `nothing is sorted by "${name}" here`);
  return query ? fieldHints(db, query, [asked]) : [];
}

const everything = {
  phrase: undefined,
  any: [],
  sort: newestFirst,
  after: undefined,
  count: false,
  searchable: undefined,
} satisfies Partial<Query>;

/** No sort by a field that is not shown: the order would reveal its values. */
function visibleSort(sort: Sort, shown: ReadonlySet<string> | undefined): Sort {
  const own = sort.field === "id" || sort.field === "updated_at";
  return own || !shown || shown.has(sort.field) ? sort : newestFirst;
}

function scopeFilters({ scope }: Method, variables: VariableValues): Query["filters"] | undefined {
  if (!scope) return [];
  const value = scopeValue(scope, variables);
  return value === undefined ? undefined : [{ op: "eq", field: scope.field, value, isPattern: false }];
}

/** A record outside `scope_by` is 404. */
function guardOf({ scope }: Method, variables: VariableValues): Guard | undefined {
  if (!scope) return undefined;
  const value = scopeValue(scope, variables);
  if (value === undefined) throw notFound();
  return { field: scope.field, value };
}

function shownFields({ publicMethods }: Database, operation: Operation): string[] | undefined {
  const shown = visibleFields(publicMethods, operation);
  return shown && [...shown];
}

function applied(
  operation: "create" | "update",
  db: Database,
  table: Parameters<typeof applyWrite>[2],
  given: Data,
  variables: VariableValues,
): Data {
  const done = applyWrite(operation, db.publicMethods, table, given, variables);
  if ("missing" in done) throw publicInvalid(Object.fromEntries(done.missing.map((name) => [name, ["is required"]])));
  refuseUnstorable(done.data); // not earlier: fields that are dropped do not matter
  return done.data;
}

/**
 * Parameters come from an address or from JSON, as texts or numbers. A `limit` or `offset` of another type is ignored.
 */
function allowedParams(
  { allowedParams: allowed }: Method,
  params: Call["params"],
  names: readonly string[],
): URLSearchParams {
  const found = new URLSearchParams();
  for (const name of names) {
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    if (value === undefined || value === null || (allowed && !allowed.has(name))) continue;
    if (typeof value === "string" || isNumber(value) || typeof value === "boolean") found.set(name, String(value));
    else if (name !== "limit" && name !== "offset") throw badRequest(`\`${name}\` must be a string or a number`);
  }
  return found;
}

function idOf(params: Call["params"]): string {
  const id = Object.hasOwn(params, "id") ? params["id"] : undefined;
  if (id === undefined || id === null || id === "") throw publicInvalid({ id: ["is required"] });
  return uuidOf(typeof id === "string" ? id : "");
}

function dataOf(params: Call["params"], required: boolean): Data {
  const data = Object.hasOwn(params, "data") ? params["data"] : undefined;
  if (data === undefined && !required) return {};
  if (!isObject(data)) throw publicInvalid({ data: [data === undefined ? "is required" : "must be an object"] });
  return data;
}

/** 422 in the form of the public methods: a sentence, and the fields. */
function publicInvalid(fields: FieldErrors): HttpError {
  const error = Object.entries(fields).map(([name, messages]) => `${name} ${messages.join(", ")}`);
  return new HttpError(422, { error: error.join("; "), errors: fields });
}

async function inPublicForm<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof ValidationError ? publicInvalid(error.fields) : error;
  }
}

function publicText(
  { id, table, data, json, createdAt }: CreatedRecord,
  shown: readonly string[] | undefined,
  form: "nested" | "public",
): string {
  const time = createdAt.toJSON();
  const visible = Object.entries(data).filter(([name]) => shown?.includes(name));
  const text = shown ? JSON.stringify(Object.fromEntries(visible)) : json;
  return printRecord({ id, createdAt: time, updatedAt: time, tableName: table.name, data: text }, form);
}
