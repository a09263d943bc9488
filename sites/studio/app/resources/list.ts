/** Requests and columns of a list, from the API's description and the address. Pure. */
import { speakingField } from "../title.ts";
import { typesOf, type Schema } from "./openapi.ts";
import type { Parameter, Resource } from "./resources.ts";
import { isMap, ownOf, textOf } from "./values.ts";

export const pageSize = 50;

const paging = new Set(["limit", "offset", "after", "sort", "order_by", "fields", "format", "include"]);
/** What one looks for first. */
const firstColumns = [
  "name",
  "title",
  "login",
  "host",
  "code",
  "url_code",
  "kind",
  "status",
  "role",
  "active",
  "next_run_at",
  "app_engine",
  "public",
];
/** By these a person knows a row; without one of them it is known by its id. */
const naming = new Set(["name", "title", "login", "host", "code", "url_code", "page"]);
const lastColumns = ["created_at", "updated_at"];
/** They say little: who has made it, and numbers of what a code names already. */
const dull = new Set(["created_by_id", "updated_by_id", "message_id"]);
/** Too long for a table, or of interest to programs only. */
const wide = new Set(["content", "source_code", "body", "schema", "program", "actions", "fields", "config", "data"]);
const columnsAtFirst = 6;
/** With fewer than these, what is large says what the list is about. */
const fewColumns = 4;

/**
 * The filters of a list; `filter[…]` of records has a builder of its own. One by a field has the choices that the field
 * has, in what the list answers or in what makes a new one, unless it says itself what it takes.
 */
export function filtersOf({ list, create }: Resource): Parameter[] {
  const filters = list.query.filter(({ name, schema }) => !paging.has(name) && !typesOf(schema).includes("object"));
  return filters.map((filter) => {
    const isText = typesOf(filter.schema).includes("string") && !filter.schema.enum && !filter.schema["x-choices"];
    const fields = [propertiesOf(list.answer), create?.body?.schema.properties ?? {}];
    const own = fields.map((properties) => ownOf(properties, filter.name));
    const values = own.find((one) => one?.enum)?.enum?.filter((value) => value !== null && value !== "");
    const from = own.find((one) => one?.["x-choices"])?.["x-choices"];
    if (!isText || !(values ?? from)) return filter;
    return { ...filter, schema: { ...filter.schema, ...(values ? { enum: values } : { "x-choices": from ?? [] }) } };
  });
}

/** Whether the server sorts; other lists are sorted here, as far as they can be fetched at once. */
export function canSort({ list }: Resource): boolean {
  return list.query.some(({ name }) => name === "sort");
}

/** Rows that are fetched at once to be sorted here. */
export const mostSorted = 1000;

/** By a column of the address: `name`, or `-name` for the reverse. Rows that have nothing there come last. */
export function sortedRows(rows: readonly unknown[], sort: string | null, language: string): readonly unknown[] {
  if (sort === null || sort === "" || sort === "-") return rows;
  const column = sort.replace(/^-/, "");
  const sign = sort.startsWith("-") ? -1 : 1;
  const { compare } = new Intl.Collator(language, { numeric: true });
  const valueOf = (row: unknown) => (isMap(row) ? row[column] : undefined);
  return rows.toSorted((one, other) => {
    const [a, b] = [valueOf(one), valueOf(other)];
    if (isNothing(a) || isNothing(b)) return Number(isNothing(a)) - Number(isNothing(b));
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * compare(textOf(a), textOf(b));
  });
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || value === "";
}

/** The query of the API for an address of the Studio: its own parameters are left out. */
export function apiQuery(resource: Resource, search: URLSearchParams): URLSearchParams {
  const sortsHere = !canSort(resource) && search.has("sort");
  const query = new URLSearchParams();
  const known = new Set(resource.list.query.map(({ name }) => name));
  const families = resource.list.query
    .filter(({ schema }) => typesOf(schema).includes("object"))
    .map(({ name }) => name);
  for (const [name, value] of search) {
    const isFamily = families.some((family) => name.startsWith(`${family}[`));
    if ((known.has(name) || isFamily) && name !== "limit" && value !== "") query.append(name, value);
  }
  if (known.has("limit")) query.set("limit", String(sortsHere ? mostSorted : pageSize));
  if (sortsHere) query.delete("offset");
  return query;
}

/** All fields that a list has, in the order in which they are of interest. */
export function allColumns({ list }: Resource, rows: readonly unknown[]): string[] {
  const declared = Object.keys(propertiesOf(list.answer));
  const found = rows.slice(0, 20).flatMap((row) => (isMap(row) ? Object.keys(row) : []));
  const names = [...new Set([...declared, ...found])];
  const isNamed = names.some((name) => naming.has(name));
  const first = isNamed ? undefined : (rows.map(speakingField).find((name) => name !== undefined) ?? "id");
  const rank = (name: string) => {
    if (name === first) return -1;
    const at = firstColumns.indexOf(name);
    if (at >= 0) return at;
    if (lastColumns.includes(name)) return 300;
    if (isDull(name, names)) return 350;
    return wide.has(name) || name === "id" ? 400 : 100;
  };
  return names.toSorted((a, b) => rank(a) - rank(b));
}

function isDull(name: string, names: readonly string[]): boolean {
  return dull.has(name) || (name.endsWith("_id") && names.includes(name.replace(/_id$/, "_code")));
}

/** Visible columns: those in the address, else the first six that fit into a cell. */
export function shownColumns(
  { list }: Resource,
  all: readonly string[],
  chosen: string | null,
  first: readonly string[] = [],
): string[] {
  const wanted = chosen?.split(",").filter((name) => all.includes(name)) ?? [];
  if (wanted.length > 0) return wanted;
  if (first.length > 0) return [...first];
  const properties = propertiesOf(list.answer);
  // An id by which nothing is known comes late.
  const isNamed = all[0] !== "id";
  const narrow = all.filter(
    (name) => !wide.has(name) && !isDull(name, all) && (name !== "id" || !isNamed) && !isLarge(properties[name]),
  );
  const more = narrow.length < fewColumns ? all.filter((name) => !wide.has(name) && isLarge(properties[name])) : [];
  return (narrow.length > 0 ? [...narrow, ...more] : all).slice(0, columnsAtFirst);
}

/** Maps, lists of maps, and any JSON. */
function isLarge(schema: Schema | undefined): boolean {
  if (!schema) return false;
  const types = typesOf(schema);
  if (types.length === 0) return schema.enum === undefined;
  return (
    types.includes("object") ||
    (types.includes("array") && !typesOf(schema.items ?? {}).some((type) => type !== "object"))
  );
}

function propertiesOf(schema: Schema | undefined): Readonly<Record<string, Schema>> {
  return schema?.items?.properties ?? {};
}

/** The value by which an item is addressed: the field that the path names, else its id. */
export function idOf(row: unknown, { read, update, remove }: Resource): string | undefined {
  const path = (read ?? update ?? remove)?.path;
  if (!isMap(row) || path === undefined) return undefined;
  const name = /\{(\w+)\}(?:\.json)?$/.exec(path)?.[1] ?? "id";
  const value = row[name] ?? row["id"] ?? row["code"] ?? row["key"];
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

/** Whether an address asks for just this of the quick filters. */
export function isQuick(
  query: URLSearchParams,
  all: readonly { readonly query: Readonly<Record<string, string>> }[],
  one: Readonly<Record<string, string>>,
): boolean {
  const names = new Set(all.flatMap((other) => Object.keys(other.query)));
  return [...names].every((name) => (query.get(name) ?? "") === (one[name] ?? ""));
}
