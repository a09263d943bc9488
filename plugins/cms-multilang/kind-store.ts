/**
 * The SQL that all kinds of records share beside that of `resource()`: lists in parts, records by the code of their site,
 * codes that are taken, and the filters. What only one kind does is in the store of its folder.
 */
import {
  conflict,
  filter,
  Type,
  words,
  type Fragment,
  type Page,
  type Queryable,
  type Sql,
  type TSchema,
} from "platform";
import type { Tx } from "platform";
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

/** Whose records are read. */
export interface Reader {
  readonly account: { readonly id: number };
}

/** What reads a kind. */
export interface Readable<Row> {
  readonly name: string;
  readonly table: string;
  readonly read: string;
  /** The columns that may be large: a list of more than fits into memory is read in parts. */
  readonly large: readonly string[];
  /** The order of lists. */
  readonly order: readonly string[];
  readonly filters: filter.Filters<Reader>;
  /** Which record a code means, where it is not the column `code` of a site. */
  readonly byCode?: ((sql: Queryable, ref: Extract<Ref, { readonly code: string }>) => Fragment) | undefined;
  readonly toApi: (row: Row) => Readonly<Record<string, unknown>>;
}

/** A transaction of an account: a part of `SiteEdit`. */
export interface Writing extends Reader {
  readonly tx: Tx;
}

export async function list<Row>(
  of: Readable<Row>,
  sql: Sql,
  accountId: number,
  query: URLSearchParams,
  { limit, offset }: Page,
): Promise<Listed<Row & KindRow>> {
  // Ids and sizes first, by the table's own columns: an index that orders the records can be used.
  const narrowed = filter.narrowedBy(of.filters, sql, query, { account: { id: accountId } });
  const matching = sql`${words(sql, of.table)} where ${[sql`account_id = ${accountId}`, ...narrowed]}`;
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
    (ids) =>
      sql<(Row & KindRow)[]>`${selected(of, sql)} where account_id = ${accountId} and id = any(${ids}::bigint[])`,
  );
}

/** The addressed record. Throws 409 if several sites have this code and the address names no site. */
export async function find<Row>(
  of: Readable<Row>,
  db: Queryable,
  accountId: number,
  ref: Ref,
): Promise<(Row & KindRow) | undefined> {
  const meant = "code" in ref && of.byCode ? of.byCode(db, ref) : isAddressed(db, accountId, ref);
  const [row, other] = await db<(Row & KindRow)[]>`
    ${selected(of, db)} where account_id = ${accountId} and ${meant} order by site_id limit 2`;
  if (!row || !other || "id" in ref) return row;
  const sites = [row, other].map(({ siteCode }) => `?site_code=${siteCode ?? "none"}`);
  throw conflict(`several sites have the ${of.name} ${ref.code}: name the site, e.g. ${sites.join(" or ")}`);
}

/** The site's records with a greater id, oldest first. */
export async function ofSite<Row>(
  of: Readable<Row>,
  { tx, account }: Writing,
  siteId: number,
  afterId: number,
  most: number,
): Promise<(Row & KindRow)[]> {
  return tx<(Row & KindRow)[]>`
    ${selected(of, tx)} where account_id = ${account.id} and site_id = ${siteId} and id > ${afterId}
    order by id limit ${most}`;
}

/** Gives a new version to the records that show this one's code. */
export async function codeChanged(
  { tx, account }: Writing,
  id: number,
  shownIn: readonly (readonly [table: string, column: string])[],
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
  { tx, account }: Writing,
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

/** Whether a row is the addressed one of its account. */
export function isAddressed(sql: Queryable, accountId: number, ref: Ref): Fragment {
  const own = "id" in ref ? sql`id = ${ref.id}` : sql`code = ${ref.code}`;
  return ref.site === undefined ? own : sql`${own} and ${inSite(sql, accountId, ref.site)}`;
}

function inSite(sql: Queryable, accountId: number, site: SiteRef): Fragment {
  if (site === null) return sql`site_id is null`;
  if ("id" in site) return sql`site_id = ${site.id}`;
  return sql`site_id = (select id from cms_sites where account_id = ${accountId} and code = ${site.code})`;
}

const selected = (of: Pick<Readable<never>, "read" | "table">, sql: Queryable) =>
  words(sql, `select ${of.read} from ${of.table}`);

const wildcards = "`*` and `%` are wildcards";

export const searching = (columns: readonly string[], searched = "names and codes") =>
  filter.searching(columns, `searches ${searched}; ${wildcards}`);

export const byLocale = narrowing(
  Type.String({ enum: [...locales, "none"], "x-open": true, description: "none = without one" }),
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
): filter.Filter<Reader> {
  return {
    doc,
    where: (sql, query, name, { account }) => {
      const given = query.get(name);
      return given ? where(sql, given, account.id) : undefined;
    },
  };
}
