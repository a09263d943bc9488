/** The SQL that writes pages. */
import type { Page, Queryable, Sql, Static, Tx } from "platform";
import type { Page as PageAnswer } from "../answers.ts";
import type { Ref } from "../code.ts";
import type { Relative } from "./master.ts";
import { inParts, type Sized } from "../lists.ts";
import { insertedId, isAddressed, only, takenCodes } from "../ref-store.ts";
import type { PageRow } from "../rows.ts";

export interface PageView extends PageRow {
  readonly siteCode: string;
  readonly layoutCode: string | null;
  readonly basedOnPageCode: string | null;
}

export interface PageFilter {
  /** A LIKE pattern. */
  readonly q?: string | undefined;
  readonly code?: string | undefined;
  readonly siteCode?: string | undefined;
  /** "none" = without a locale. */
  readonly locale?: string | undefined;
  readonly kind?: string | undefined;
  readonly path?: string | undefined;
  readonly layoutCode?: string | undefined;
  readonly basedOnPageCode?: string | undefined;
  readonly active?: boolean | undefined;
}

/** What a save writes. */
export type PageInput = Omit<
  PageRow,
  "id" | "accountId" | "siteId" | "version" | "createdById" | "updatedById" | "createdAt" | "updatedAt"
>;

const columns = (sql: Queryable) => sql`
  p.id, p.account_id, p.site_id, p.code, p.name, p.path, p.locale, p.kind, p.layout_id, p.content, p.fields,
  p.html_title, p.html_description, p.html_keywords, p.based_on_page_id, p.based_on_path, p.active, p.position,
  p.cache_seconds, p.field_times, p.version, p.created_by_id, p.updated_by_id, p.created_at, p.updated_at,
  s.code as site_code, l.code as layout_code, m.code as based_on_page_code`;

const from = (sql: Queryable) => sql`
  from cms_pages p
  join cms_sites s on s.account_id = p.account_id and s.id = p.site_id
  left join cms_layouts l on l.account_id = p.account_id and l.id = p.layout_id
  left join cms_pages m on m.account_id = p.account_id and m.id = p.based_on_page_id`;

export async function list(sql: Sql, accountId: number, filter: PageFilter, { limit, offset }: Page) {
  const where = matching(sql, accountId, filter);
  const sized = await sql<Sized[]>`
    select id, octet_length(content) + octet_length(fields::text) as bytes
    from (
      select p.id, p.site_id, p.position, p.content, p.fields from cms_pages p where ${where}
      order by p.site_id, p.position, p.id limit ${limit} offset ${offset}) listed
    order by site_id, position, id`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from cms_pages p where ${where}`;
  return inParts(
    sized,
    count?.total ?? 0,
    (ids) => sql<PageView[]>`
      select ${columns(sql)} ${from(sql)} where p.account_id = ${accountId} and p.id = any(${ids}::bigint[])`,
  );
}

/** The page has left this path: redirect requests for it. */
export async function keepRedirect(tx: Tx, { accountId, siteId, id, path, locale }: PageRow): Promise<void> {
  await tx`
    insert into cms_redirects (account_id, site_id, path, locale, page_id)
    values (${accountId}, ${siteId}, ${path}, ${locale}, ${id})
    on conflict on constraint cms_redirects_unique_path do update set page_id = excluded.page_id, created_at = now()`;
}

/** A page now has this path: do not redirect away from it. */
export async function dropRedirect(
  tx: Tx,
  accountId: number,
  siteId: number,
  path: string,
  locale: string | null,
): Promise<void> {
  await tx`
    delete from cms_redirects
    where account_id = ${accountId} and site_id = ${siteId} and path = ${path} and locale is not distinct from ${locale}`;
}

export async function find(db: Queryable, accountId: number, ref: Ref): Promise<PageView | undefined> {
  const rows = await db<PageView[]>`
    select ${columns(db)} ${from(db)}
    where ${isAddressed(db, db`p`, accountId, ref)} order by p.site_id limit 2`;
  return only(rows, "page");
}

/** Returns two rows if the address names no site and several sites have such a page. */
export async function relatives(tx: Tx, accountId: number, ref: Ref): Promise<Relative[]> {
  return tx<Relative[]>`
    select p.id, p.site_id, p.path, p.based_on_page_id from cms_pages p
    where ${isAddressed(tx, tx`p`, accountId, ref)} order by p.site_id limit 2`;
}

export async function slavesOf(tx: Tx, accountId: number, id: number): Promise<Relative[]> {
  return tx<Relative[]>`
    select id, site_id, path, based_on_page_id from cms_pages
    where account_id = ${accountId} and based_on_page_id = ${id} order by id`;
}

export function taken(tx: Tx, accountId: number, siteId: number, base: string) {
  return takenCodes(tx, "cms_pages", accountId, siteId, base);
}

export async function insert(
  tx: Tx,
  accountId: number,
  siteId: number,
  userId: number | null,
  input: PageInput,
): Promise<number> {
  return insertedId(
    await tx<{ id: number }[]>`
    insert into cms_pages (account_id, site_id, code, name, path, locale, kind, layout_id, content, fields,
      html_title, html_description, html_keywords, based_on_page_id, based_on_path, active, position, cache_seconds,
      field_times, created_by_id)
    values (${accountId}, ${siteId}, ${input.code}, ${input.name}, ${input.path}, ${input.locale}, ${input.kind},
      ${input.layoutId}, ${input.content}, ${JSON.stringify(input.fields)}::text::jsonb, ${input.htmlTitle},
      ${input.htmlDescription}, ${input.htmlKeywords}, ${input.basedOnPageId}, ${input.basedOnPath},
      ${input.active}, ${input.position}, ${input.cacheSeconds},
      ${JSON.stringify(input.fieldTimes)}::text::jsonb, ${userId})
    returning id`,
  );
}

export async function update(
  tx: Tx,
  accountId: number,
  id: number,
  userId: number | null,
  input: PageInput,
): Promise<void> {
  await tx`
    update cms_pages set code = ${input.code}, name = ${input.name}, path = ${input.path},
      locale = ${input.locale}, kind = ${input.kind}, layout_id = ${input.layoutId}, content = ${input.content},
      fields = ${JSON.stringify(input.fields)}::text::jsonb, html_title = ${input.htmlTitle},
      html_description = ${input.htmlDescription}, html_keywords = ${input.htmlKeywords},
      based_on_page_id = ${input.basedOnPageId}, based_on_path = ${input.basedOnPath}, active = ${input.active},
      position = ${input.position}, cache_seconds = ${input.cacheSeconds},
      field_times = ${JSON.stringify(input.fieldTimes)}::text::jsonb, updated_by_id = ${userId},
      version = version + 1, updated_at = now()
    where account_id = ${accountId} and id = ${id}`;
}

/** Makes the slaves independent (behaviour A.4.5) and returns their ids. */
export async function release(tx: Tx, accountId: number, masterId: number): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    update cms_pages set based_on_page_id = null, based_on_path = null, version = version + 1, updated_at = now()
    where account_id = ${accountId} and based_on_page_id = ${masterId} returning id`;
  return rows.map(({ id }) => id);
}

export async function remove(tx: Tx, accountId: number, id: number): Promise<void> {
  await tx`delete from cms_pages where account_id = ${accountId} and id = ${id}`;
}

/** Slaves and paragraphs show the page's code, so they get a new version when it changes. */
export async function codeChanged(tx: Tx, accountId: number, id: number): Promise<void> {
  await tx`update cms_pages set version = version + 1 where account_id = ${accountId} and based_on_page_id = ${id}`;
  await tx`update cms_paragraphs set version = version + 1 where account_id = ${accountId} and page_id = ${id}`;
}

/** The site's pages with a greater id, oldest first. */
export async function ofSite(
  tx: Tx,
  accountId: number,
  siteId: number,
  afterId: number,
  most: number,
): Promise<PageView[]> {
  return tx<PageView[]>`
    select ${columns(tx)} ${from(tx)} where p.account_id = ${accountId} and p.site_id = ${siteId} and p.id > ${afterId}
    order by p.id limit ${most}`;
}

/** Uses only columns of `p`, so the count needs no joins and the index that orders a site's pages can be used. */
function matching(sql: Sql, accountId: number, filter: PageFilter) {
  const { q, code, siteCode, locale, kind, path, layoutCode, basedOnPageCode, active } = filter;
  return sql`p.account_id = ${accountId}
    ${q === undefined ? sql`` : sql`and (p.name ilike ${q} or p.code ilike ${q} or p.path ilike ${q})`}
    ${code === undefined ? sql`` : sql`and p.code = ${code}`}
    ${siteCode === undefined ? sql`` : sql`and p.site_id = (select id from cms_sites where account_id = ${accountId} and code = ${siteCode})`}
    ${locale === undefined ? sql`` : sql`and coalesce(p.locale, 'none') = ${locale}`}
    ${kind === undefined ? sql`` : sql`and p.kind = ${kind}`}
    ${path === undefined ? sql`` : sql`and p.path = ${path}`}
    ${layoutCode === undefined ? sql`` : sql`and p.layout_id in (select id from cms_layouts where account_id = ${accountId} and code = ${layoutCode})`}
    ${basedOnPageCode === undefined ? sql`` : sql`and p.based_on_page_id in (select id from cms_pages where account_id = ${accountId} and code = ${basedOnPageCode})`}
    ${active === undefined ? sql`` : sql`and p.active = ${active}`}`;
}

/** A page as the API shows it and as `Cms::Page` is delivered. behaviour 2.7. */
export function toApi(row: PageView): Static<typeof PageAnswer> {
  return {
    id: row.id,
    code: row.code,
    name: row.name,
    path: row.path,
    locale: row.locale,
    kind: row.kind,
    site_id: row.siteId,
    site_code: row.siteCode,
    layout_id: row.layoutId,
    layout_code: row.layoutCode,
    content: row.content,
    fields: row.fields,
    html_title: row.htmlTitle,
    html_description: row.htmlDescription,
    html_keywords: row.htmlKeywords,
    based_on_page_id: row.basedOnPageId,
    based_on_page_code: row.basedOnPageCode,
    active: row.active,
    position: row.position,
    cache_seconds: row.cacheSeconds,
    created_by_id: row.createdById,
    updated_by_id: row.updatedById,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
