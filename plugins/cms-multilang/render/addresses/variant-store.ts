/** The SQL that finds a page by its path, its redirect or its group. */
import type { Fragment, Queryable } from "platform";
import type { Locale } from "../../locales.ts";
import { errorKinds, type ErrorKind } from "../../rows.ts";
import type { PageData, Reading, SiteData } from "../data.ts";
import type { Variant } from "./variant.ts";

const maxVariants = 64;
const maxPagesAtOnce = 200;

/** Of a page `p` with its master `m`. */
export const pageColumns = (sql: Queryable): Fragment => sql`
  p.id, p.site_id, p.code, p.name, p.path, p.locale, p.kind, p.layout_id, p.content, p.fields, p.html_title,
  p.html_description, p.html_keywords, p.based_on_page_id, p.position, p.cache_seconds, p.created_at, p.updated_at,
  case when m.id is null then null else json_build_object(
    'content', m.content, 'layoutId', m.layout_id, 'fields', m.fields, 'htmlTitle', m.html_title,
    'htmlDescription', m.html_description, 'htmlKeywords', m.html_keywords) end as master`;
export const fromPages = (sql: Queryable): Fragment => sql`
  from cms_pages p left join cms_pages m on m.account_id = p.account_id and m.id = p.based_on_page_id`;

/** All pages at these paths, in every locale. */
export async function pagesAt(
  ctx: Reading,
  { accountId, id }: SiteData,
  paths: readonly string[],
  drafts: boolean,
): Promise<PageData[]> {
  return ctx.read(
    (on) => on<PageData[]>`
    select ${pageColumns(ctx.sql)} ${fromPages(ctx.sql)}
    where p.account_id = ${accountId} and p.site_id = ${id} and p.path = any(${paths}::text[])
      and (p.active or ${drafts}) and p.kind <> all(${errorKinds}::text[])
    order by p.id limit ${maxPagesAtOnce}`,
  );
}

/** The pages with these codes, error pages left out: they have no address. */
export async function pagesByCode(
  ctx: Reading,
  { accountId, id }: SiteData,
  codes: readonly string[],
  drafts: boolean,
) {
  return ctx.read(
    (on) => on<(Variant & { readonly code: string })[]>`
    select id, code, path, locale, based_on_page_id from cms_pages
    where account_id = ${accountId} and site_id = ${id} and code = any(${codes}::text[]) and (active or ${drafts})
      and kind <> all(${errorKinds}::text[])`,
  );
}

/** The site's own pages for this kind of error. */
export async function errorPages(ctx: Reading, { accountId, id }: SiteData, kind: ErrorKind): Promise<PageData[]> {
  return ctx.read(
    (on) => on<PageData[]>`
    select ${pageColumns(ctx.sql)} ${fromPages(ctx.sql)}
    where p.account_id = ${accountId} and p.site_id = ${id} and p.active and p.kind = ${kind}
    order by p.id limit ${maxPagesAtOnce}`,
  );
}

/** The current paths of pages that once had one of these paths. */
export async function redirectsAt(ctx: Reading, { accountId, id }: SiteData, paths: readonly string[]) {
  return ctx.read(
    (on) => on<{ id: number; from: string; locale: Locale | null; path: string }[]>`
    select r.id, r.path as "from", r.locale, p.path
    from cms_redirects r
    join cms_pages p on p.account_id = r.account_id and p.id = r.page_id and p.site_id = r.site_id
    where r.account_id = ${accountId} and r.site_id = ${id} and r.path = any(${paths}::text[])
      and p.active and p.path <> r.path and p.kind <> all(${errorKinds}::text[])
    order by r.id limit ${maxPagesAtOnce}`,
  );
}

/** The groups of these pages by id: masters with their slaves, and pages that share a path. */
export async function pageGroups(
  ctx: Reading,
  site: SiteData,
  pageIds: readonly number[],
  drafts: boolean,
): Promise<Map<number, Variant[]>> {
  const rows = await ctx.read(
    (on) => on<(Variant & { start: number })[]>`
    with recursive members as (
      select p.id as start, p.id, p.path, p.locale, p.based_on_page_id from cms_pages p
      where p.account_id = ${site.accountId} and p.site_id = ${site.id} and p.id = any(${pageIds}::bigint[])
      union
      select m.start, o.id, o.path, o.locale, o.based_on_page_id
      from members m cross join lateral (
        select id, path, locale, based_on_page_id, active, kind from cms_pages
        where account_id = ${site.accountId} and site_id = ${site.id} and path = m.path
        union all
        select id, path, locale, based_on_page_id, active, kind from cms_pages
        where account_id = ${site.accountId} and id = m.based_on_page_id
        union all
        select id, path, locale, based_on_page_id, active, kind from cms_pages
        where account_id = ${site.accountId} and based_on_page_id = coalesce(m.based_on_page_id, m.id)) o
      where (o.active or ${drafts}) and o.kind <> all(${errorKinds}::text[]))
    select start, id, path, locale, based_on_page_id from members order by start, id`,
  );
  const groups = new Map<number, Variant[]>();
  for (const { start, ...variant } of rows) {
    const group = groups.get(start) ?? [];
    if (group.length < maxVariants) group.push(variant);
    groups.set(start, group);
  }
  return groups;
}
