/** All SQL about sites. */
import type { Page, Queryable, Sql, Static, Tx } from "platform";
import type { Site as SiteAnswer } from "../answers.ts";
import type { Ref } from "../code.ts";
import { insertedId } from "../ref-store.ts";
import { inParts, type Sized } from "../lists.ts";
import type { SiteRow } from "../rows.ts";

export type SiteInput = Pick<SiteRow, "code" | "name" | "locale" | "multilang" | "fields" | "active">;

export interface SiteFilter {
  /** A LIKE pattern. */
  readonly q?: string | undefined;
  readonly code?: string | undefined;
  readonly locale?: string | undefined;
}

const columns = (sql: Queryable) => sql`
  id, account_id, code, name, locale, multilang, fields, active, revision, version, created_by_id, updated_by_id,
  created_at, updated_at`;

export async function list(sql: Sql, accountId: number, { q, code, locale }: SiteFilter, { limit, offset }: Page) {
  const where = sql`account_id = ${accountId}
    ${q === undefined ? sql`` : sql`and (name ilike ${q} or code ilike ${q})`}
    ${code === undefined ? sql`` : sql`and code = ${code}`}
    ${locale === undefined ? sql`` : sql`and locale = ${locale}`}`;
  const sized = await sql<Sized[]>`
    select id, octet_length(fields::text) as bytes
    from (select id, fields from cms_sites where ${where} order by id limit ${limit} offset ${offset}) listed
    order by id`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from cms_sites where ${where}`;
  return inParts(
    sized,
    count?.total ?? 0,
    (ids) => sql<SiteRow[]>`
      select ${columns(sql)} from cms_sites where account_id = ${accountId} and id = any(${ids}::bigint[])`,
  );
}

export async function find(db: Queryable, accountId: number, ref: Ref): Promise<SiteRow | undefined> {
  const [row] = await db<SiteRow[]>`
    select ${columns(db)} from cms_sites
    where account_id = ${accountId} and ${"id" in ref ? db`id = ${ref.id}` : db`code = ${ref.code}`}`;
  return row;
}

/** False if there is no such site. */
export async function touch(tx: Tx, accountId: number, id: number): Promise<boolean> {
  const result = await tx`
    update cms_sites set revision = revision + 1 where account_id = ${accountId} and id = ${id}`;
  return result.count === 1;
}

/** Locks in the order of ids, so that two such changes cannot deadlock. */
export async function touchAll(tx: Tx, accountId: number, but: readonly number[]): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    update cms_sites set revision = revision + 1
    where account_id = ${accountId} and id in (
      select id from cms_sites where account_id = ${accountId} and id <> all(${but}::bigint[])
      order by id for no key update)
    returning id`;
  return rows.map(({ id }) => id);
}

export async function taken(tx: Tx, accountId: number, _siteId: null, base: string): Promise<Set<string>> {
  const rows = await tx<{ code: string }[]>`
    select code from cms_sites where account_id = ${accountId} and (code = ${base} or code like ${`${base}-%`})`;
  return new Set(rows.map(({ code }) => code));
}

export async function insert(tx: Tx, accountId: number, userId: number | null, input: SiteInput): Promise<number> {
  const { code, name, locale, multilang, fields, active } = input;
  return insertedId(
    await tx<{ id: number }[]>`
    insert into cms_sites (account_id, code, name, locale, multilang, fields, active, created_by_id)
    values (${accountId}, ${code}, ${name}, ${locale}, ${multilang}, ${JSON.stringify(fields)}::text::jsonb,
      ${active}, ${userId})
    returning id`,
  );
}

export async function update(
  tx: Tx,
  accountId: number,
  id: number,
  userId: number | null,
  input: SiteInput,
): Promise<void> {
  const { code, name, locale, multilang, fields, active } = input;
  await tx`
    update cms_sites set code = ${code}, name = ${name}, locale = ${locale}, multilang = ${multilang},
      fields = ${JSON.stringify(fields)}::text::jsonb, active = ${active}, updated_by_id = ${userId},
      version = version + 1, updated_at = now()
    where account_id = ${accountId} and id = ${id}`;
}

export async function remove(tx: Tx, accountId: number, id: number): Promise<void> {
  await tx`delete from cms_sites where account_id = ${accountId} and id = ${id}`;
}

/** Records show their site's code, so they get a new version when it changes. */
export async function codeChanged(tx: Tx, accountId: number, id: number): Promise<void> {
  for (const table of ["cms_domains", "cms_layouts", "cms_pages", "cms_paragraphs", "cms_categories", "cms_articles"])
    await tx`
      update ${tx(table)} set version = version + 1 where account_id = ${accountId} and site_id = ${id}`;
}

/** A site as the API shows it. */
export function toApi(row: SiteRow): Static<typeof SiteAnswer> {
  return {
    id: row.id,
    code: row.code,
    name: row.name,
    locale: row.locale,
    multilang: row.multilang,
    fields: row.fields,
    active: row.active,
    created_by_id: row.createdById,
    updated_by_id: row.updatedById,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
