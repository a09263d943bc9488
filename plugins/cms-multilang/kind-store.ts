/**
 * The SQL of all eight kinds of records, written once. A kind says its table, the columns that a save writes, what its
 * rows show of other tables, and what narrows and orders its list; the functions below read and write any of them. What
 * only one kind does stands beside its declaration, in the store of its folder.
 */
import { conflict, filter, Type, words, type Fragment, type Page, type Queryable, type Sql } from "platform";
import type { Static, TObject, TSchema, Tx } from "platform";
import { type Ref, type SiteRef, cleanPath } from "./code.ts";
import { inParts, type Listed, type Sized } from "./lists.ts";
import { locales } from "./locales.ts";

export interface KindRow {
  readonly id: number;
  readonly version: number;
  /** Null: of every site. A site is its own. */
  readonly siteId: number | null;
  readonly siteCode: string | null;
}

export interface Kind<Row extends KindRow, Written extends keyof Row & string = keyof Row & string> {
  /** The key of the body, and the name in messages. */
  readonly name: string;
  /** The last part of its address. */
  readonly plural: string;
  readonly table: string;
  /** The columns that a save writes, by their names in rows. An object is stored as JSON. */
  readonly writes: readonly Written[];
  /** Further columns that are read; `r` is the record. */
  readonly shows: string;
  readonly joins: string;
  /** The columns that may be large: a list of more than fits into memory is read in parts. */
  readonly large: readonly string[];
  readonly order: readonly string[];
  readonly filters: filter.Filters<Of>;
  /** Which record a code means, where it is not the column `code` of a site. */
  readonly byCode?: (sql: Queryable, ref: Extract<Ref, { readonly code: string }>) => Fragment;
  /** The tables and columns of records that show the code, and so have another version when it changes. */
  readonly shownIn?: readonly (readonly [table: string, column: string])[];
  readonly toApi: (row: Row) => Readonly<Record<string, unknown>>;
}

interface Of {
  readonly account: { readonly id: number };
}

/** Who writes, in which transaction: a part of `SiteEdit`. */
export interface Writing extends Of {
  readonly tx: Tx;
  readonly userId: number | null;
}

export async function list<Row extends KindRow>(
  of: Kind<Row>,
  sql: Sql,
  accountId: number,
  query: URLSearchParams,
  { limit, offset }: Page,
): Promise<Listed<Row>> {
  // The columns of the table alone: so a count needs no joins, and an index that orders the records can be used.
  const narrowed = filter.narrowedBy(of.filters, sql, query, { account: { id: accountId } });
  const matching = sql`${words(sql, of.table)} r where ${[sql`account_id = ${accountId}`, ...narrowed]}`;
  const order = words(sql, of.order.join(", "));
  const bytes = of.large.map((name) => `coalesce(octet_length(${name}::text), 0)`).join(" + ") || "0";
  const sized = await sql<Sized[]>`
    select id, ${words(sql, bytes)} as bytes from (
      select ${words(sql, [...new Set(["id", ...of.order, ...of.large])].join(", "))} from ${matching}
      order by ${order} limit ${limit} offset ${offset}) listed
    order by ${order}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from ${matching}`;
  return inParts(
    sized,
    count?.total ?? 0,
    (ids) => sql<Row[]>`${selected(of, sql)} where r.account_id = ${accountId} and r.id = any(${ids}::bigint[])`,
  );
}

/** The addressed record. Throws 409 if several sites have this code and the address names no site. */
export async function find<Row extends KindRow>(
  of: Kind<Row>,
  db: Queryable,
  accountId: number,
  ref: Ref,
): Promise<Row | undefined> {
  const meant = "code" in ref && of.byCode ? of.byCode(db, ref) : isAddressed(db, accountId, ref);
  const [row, other] = await db<Row[]>`
    ${selected(of, db)} where r.account_id = ${accountId} and ${meant} order by site_id limit 2`;
  if (!row || !other || "id" in ref) return row;
  const sites = [row, other].map(({ siteCode }) => `?site_code=${siteCode ?? "none"}`);
  throw conflict(`several sites have the ${of.name} ${ref.code}: name the site, e.g. ${sites.join(" or ")}`);
}

/** The site's records with a greater id, oldest first. */
export async function ofSite<Row extends KindRow>(
  of: Kind<Row>,
  { tx, account }: Writing,
  siteId: number,
  afterId: number,
  most: number,
): Promise<Row[]> {
  return tx<Row[]>`
    ${selected(of, tx)} where r.account_id = ${account.id} and r.site_id = ${siteId} and r.id > ${afterId}
    order by r.id limit ${most}`;
}

/** `siteId`: of a new record of a site; a kind that can be of every site has it among what it writes. */
export async function insert<Row extends KindRow, W extends keyof Row & string>(
  of: Kind<Row, W>,
  { tx, account, userId }: Writing,
  input: Pick<Row, W>,
  siteId?: number,
): Promise<number> {
  const values = {
    account_id: account.id,
    ...(siteId !== undefined && { site_id: siteId }),
    ...written(of, tx, input),
    created_by_id: userId,
  };
  const each = Object.values(values).map((value, at) => tx`${comma(tx, at)} ${value}`);
  const [row] = await tx<{ id: number }[]>`
    insert into ${words(tx, of.table)} (${tx(Object.keys(values))}) values (${each}) returning id`;
  if (!row) throw new Error("an insert without a conflict clause gives its row");
  return row.id;
}

export async function update<Row extends KindRow, W extends keyof Row & string>(
  of: Kind<Row, W>,
  { tx, account, userId }: Writing,
  id: number,
  input: Pick<Row, W>,
): Promise<void> {
  const values = Object.entries({ ...written(of, tx, input), updated_by_id: userId });
  const each = values.map(([name, value], at) => tx`${comma(tx, at)} ${tx(name)} = ${value}`);
  await tx`
    update ${words(tx, of.table)} set ${each}, version = version + 1, updated_at = now()
    where account_id = ${account.id} and id = ${id}`;
}

export async function remove(of: { readonly table: string }, { tx, account }: Writing, id: number): Promise<void> {
  await tx`delete from ${words(tx, of.table)} where account_id = ${account.id} and id = ${id}`;
}

/** Gives a new version to the records that show this one's code. */
export async function codeChanged(
  { shownIn = [] }: { readonly shownIn?: readonly (readonly [table: string, column: string])[] },
  { tx, account }: Writing,
  id: number,
): Promise<void> {
  for (const [table, column] of shownIn)
    await tx`update ${tx(table)} set version = version + 1 where account_id = ${account.id} and ${tx(column)} = ${id}`;
}

/**
 * The codes (or the texts of another column) that are `base`, or `base` followed by a dash and more: in a site, in none
 * (null), or in the account (undefined).
 */
export async function taken(
  { table }: { readonly table: string },
  { tx, account }: Pick<Writing, "tx" | "account">,
  siteId: number | null | undefined,
  base: string,
  column = "code",
): Promise<Set<string>> {
  const within = siteId === undefined ? tx`` : siteId === null ? tx`and site_id is null` : tx`and site_id = ${siteId}`;
  const rows = await tx<{ text: string }[]>`
    select ${tx(column)} as text from ${tx(table)}
    where account_id = ${account.id} ${within} and (${tx(column)} = ${base} or ${tx(column)} like ${`${base}-%`})`;
  return new Set(rows.map(({ text }) => text));
}

/** Whether `r` is the addressed row of its account. */
export function isAddressed(sql: Queryable, accountId: number, ref: Ref): Fragment {
  const own = "id" in ref ? sql`r.id = ${ref.id}` : sql`r.code = ${ref.code}`;
  return ref.site === undefined ? own : sql`${own} and ${inSite(sql, accountId, ref.site)}`;
}

function inSite(sql: Queryable, accountId: number, site: SiteRef): Fragment {
  if (site === null) return sql`r.site_id is null`;
  if ("id" in site) return sql`r.site_id = ${site.id}`;
  return sql`r.site_id = (select id from cms_sites where account_id = ${accountId} and code = ${site.code})`;
}

function selected<Row extends KindRow>(of: Kind<Row>, sql: Queryable): Fragment {
  const common = ["id", "account_id", "version", "created_by_id", "updated_by_id", "created_at", "updated_at"];
  const columns = [...common, ...of.writes.map(columnOf)].map((name) => `r.${name}`).join(", ");
  return words(sql, `select ${columns}, ${of.shows} from ${of.table} r ${of.joins}`);
}

type Value = string | number | boolean | Date | null | Fragment;

function written<Row extends KindRow, W extends keyof Row & string>(
  of: Kind<Row, W>,
  sql: Queryable,
  input: Pick<Row, W>,
): Record<string, Value> {
  return Object.fromEntries(of.writes.map((name) => [columnOf(name), valueOf(sql, input[name])]));
}

/** JSON goes as text, so that its keys keep their order. */
function valueOf(sql: Queryable, value: unknown): Value {
  if (value === null || value instanceof Date) return value;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return sql`${JSON.stringify(value)}::text::jsonb`;
}

const comma = (sql: Queryable, at: number) => (at > 0 ? sql`,` : sql``);

/** "htmlTitle" -> "html_title" */
const columnOf = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Shows a row by the schema of its answer: each field is the row's of the same name. */
export function shownBy<T extends TObject>({ properties }: T) {
  const names = Object.keys(properties).map((name) => [name, rowName(name)] as const);
  return (row: Shown<Static<T>>): Readonly<Record<string, unknown>> => {
    const values = new Map<string, unknown>(Object.entries(row));
    return Object.fromEntries(names.map(([name, key]) => [name, values.get(key)]));
  };
}

/** The fields of an answer by their names in rows. */
type Shown<T> = { readonly [K in keyof T as RowName<K & string>]: T[K] };
type RowName<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<RowName<B>>}` : S;

/** "html_title" -> "htmlTitle" */
const rowName = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const wildcards = "`*` and `%` are wildcards";

export const searching = (columns: readonly string[], searched = "names and codes") =>
  filter.searching(columns, `searches ${searched}; ${wildcards}`);

export const byLocale = narrowing(
  Type.String({ enum: [...locales, "none"], description: "none = without one" }),
  (sql, given) => sql`coalesce(locale, 'none') = ${given}`,
);

export const bySite = narrowing("code of a site", (sql, given, accountId) => inSite(sql, accountId, { code: given }));

/** The records that refer to one of this code; "none" = to none, unless a record must refer to one. */
export const byRef = (doc: string, column: string, table: string, isOptional: boolean) =>
  narrowing(doc, (sql, given, accountId) => {
    const refers = sql`
      ${sql(column)} in (select id from ${sql(table)} where account_id = ${accountId} and code = ${given})`;
    return isOptional && given === "none" ? sql`(${sql(column)} is null or ${refers})` : refers;
  });

/** Paths are compared as they are stored; an empty one is the home page's. */
export const byPath = (doc = "exact value"): filter.Filter<unknown> => ({
  doc,
  where: (sql, query) => {
    const given = query.get("path");
    if (given === null) return undefined;
    const clean = cleanPath(given);
    return sql`path = ${"path" in clean ? clean.path : given}`;
  },
});

/** A filter by a text; an empty one narrows nothing. */
export function narrowing(
  doc: string | TSchema,
  where: (sql: Sql, given: string, accountId: number) => Fragment,
): filter.Filter<Of> {
  return {
    doc,
    where: (sql, query, name, { account }) => {
      const given = query.get(name);
      return given ? where(sql, given, account.id) : undefined;
    },
  };
}
