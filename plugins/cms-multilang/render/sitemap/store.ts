/** SQL of the sitemap: a domain's pages, part by part. behaviour A.6. */
import { readRows } from "platform";
import type { Batch, Counted, ListedPage, Outside, PageData, Reading, SiteData, Source } from "../data.ts";
import { fromPages, pageColumns } from "../addresses/variant-store.ts";
import { encodedChars, nothing } from "../templates/article-list-store.ts";
import { errorKinds } from "../../rows.ts";
import { locales, type Locale } from "../../locales.ts";
import { type Related, rootOf, type Variant } from "../addresses/variant.ts";
import type { Fragment } from "platform";

/** The other pages that share a master or a path with one of these. */
export async function related(
  ctx: Reading,
  { accountId, id }: SiteData,
  pages: readonly Variant[],
): Promise<Related[]> {
  const columns = ctx.sql`o.id, o.path, o.locale, o.based_on_page_id`;
  const where = ctx.sql`o.account_id = ${accountId} and o.site_id = ${id} and o.id <> g.id and o.active
    and o.kind <> all(${errorKinds}::text[])`;
  // The whole family is found at once, so only pages that share a path with a member may be missing.
  const more = ctx.sql`exists (
    select 1 from cms_pages x
    where x.account_id = ${accountId} and x.site_id = ${id} and x.path = o.path and x.id <> o.id) as more`;
  return ctx.read(
    (on) => on<Related[]>`
    with given as (
      select * from unnest(
        ${pages.map((page) => page.id)}::bigint[], ${pages.map(rootOf)}::bigint[],
        ${pages.map(({ path }) => path)}::text[]) as g (id, root, path))
    select ${columns}, ${more} from given g join cms_pages o on o.id = g.root where g.root <> g.id and ${where}
    union all
    select ${columns}, ${more} from given g join cms_pages o on o.based_on_page_id = g.root where ${where}
    union all
    select ${columns}, true as more from given g join cms_pages o on o.path = g.path where ${where}`,
  );
}

/** The number of pages in the sitemap of a domain with this locale (null = without one). */
export async function countListed(ctx: Reading, site: SiteData, locale: Locale | null): Promise<Counted> {
  const [row] = await ctx.read(
    (on) => on<Counted[]>`
    select count(*) as count, coalesce(max(${encodedChars(ctx.sql, ctx.sql`p.path`)}), 0) as longest from cms_pages p
    where p.account_id = ${site.accountId} and p.site_id = ${site.id} and ${listed(ctx, site, locale)}`,
  );
  return row ?? nothing;
}

export async function pageLocales(ctx: Reading, { accountId, id }: SiteData): Promise<(Locale | null)[]> {
  const rows = await ctx.read(
    (on) => on<{ locale: Locale | null }[]>`
    select distinct locale from cms_pages where account_id = ${accountId} and site_id = ${id}`,
  );
  return rows.map(({ locale }) => locale);
}

/** One part of that list: `limit` pages after `after`, with `skip` left out. */
export async function listedPages(ctx: Reading, site: SiteData, locale: Locale | null, { after, skip, limit }: Batch) {
  return ctx.read(
    (on) => on<ListedPage[]>`
    select p.id, p.path, p.locale, p.based_on_page_id, p.position, greatest(p.updated_at, m.updated_at) as updated_at
    ${fromPages(ctx.sql)}
    where p.account_id = ${site.accountId} and p.site_id = ${site.id} and ${listed(ctx, site, locale)}
      ${after === null ? ctx.sql`` : ctx.sql`and (p.position, p.id) > (${after.position}, ${after.id})`}
    order by p.position, p.id limit ${limit} offset ${skip}`,
  );
}

/** Layouts and paragraphs that may show articles, or that name a paragraph which does. */
export async function articleSources(ctx: Reading, { accountId, id }: SiteData): Promise<readonly Source[]> {
  const from = ctx.sql`(
    select 'layout' as kind, l.id, null::bigint as page_id, l.code, l.content from cms_layouts l
    where l.account_id = ${accountId} and l.site_id = ${id} and (l.content like '%articles%' or ${names(ctx, ctx.sql`l.content`)})
    union all
    select 'paragraph', g.id, g.page_id, g.code, g.content from cms_paragraphs g
    where g.account_id = ${accountId} and (g.site_id = ${id} or g.site_id is null)
      and (g.content like '%articles%' or ${names(ctx, ctx.sql`g.content`)})) s`;
  return first<Source>(ctx, 1000, { columns: ctx.sql`*`, from, order: ctx.sql`kind, id` });
}

/** Pages of that list that may show articles, in their content or in an outside layout or paragraph. */
export async function showingPages(
  ctx: Reading,
  site: SiteData,
  locale: Locale | null,
  outside: Outside,
): Promise<readonly PageData[]> {
  const { layoutIds, pageIds, codes } = outside;
  const content: Fragment = ctx.sql`coalesce(nullif(btrim(p.content), ''), m.content)`;
  const inNamed = ctx.sql`
    or ${names(ctx, content)} and exists (
      select 1 from unnest(${codes}::text[]) as shown (code) where strpos(${content}, shown.code) > 0)`;
  const from = ctx.sql`(
    select ${pageColumns(ctx.sql)} ${fromPages(ctx.sql)}
    where p.account_id = ${site.accountId} and p.site_id = ${site.id} and ${listed(ctx, site, locale)}
      and (${content} like '%articles%'
        or coalesce(p.layout_id, m.layout_id) = any(${layoutIds}::bigint[])
        or p.id = any(${pageIds}::bigint[]) or p.based_on_page_id = any(${pageIds}::bigint[])
        ${codes.length === 0 ? ctx.sql`` : inNamed})) p`;
  return first<PageData>(ctx, 500, { columns: ctx.sql`*`, from, order: ctx.sql`position, id` });
}

/** So many, and no more than fit into memory: a sitemap without some of their articles is better than none. */
async function first<Row>(ctx: Reading, limit: number, select: Parameters<typeof readRows>[2]) {
  return (await ctx.read((on) => readRows<Row>(on, { limit, offset: 0 }, select))).rows;
}

function eligible(ctx: Reading, alias: Fragment, locale: Locale | null) {
  return ctx.sql`
  ${alias}.active and ${alias}.kind <> all(${errorKinds}::text[])
  ${locale === null ? ctx.sql`` : ctx.sql`and (${alias}.locale = ${locale} or ${alias}.locale is null)`}`;
}

/** The router's order on a domain without a locale: no locale first, then the site's, then the order of the locales. */
function rank(ctx: Reading, alias: Fragment, { locale }: SiteData) {
  return ctx.sql`(coalesce(array_position(${[locale, ...locales]}::text[], ${alias}.locale), 0), ${alias}.id)`;
}

/** Another page of its family, or of one that shares its path, has this locale: its address is redirected there. */
function redirects(ctx: Reading, locale: Locale) {
  return ctx.sql`
  p.locale is null and exists (
    select 1 from cms_pages x join cms_pages o on o.account_id = x.account_id and o.site_id = x.site_id
      and coalesce(o.based_on_page_id, o.id) = coalesce(x.based_on_page_id, x.id)
    where x.account_id = p.account_id and x.site_id = p.site_id
      and (x.path = p.path or coalesce(x.based_on_page_id, x.id) = coalesce(p.based_on_page_id, p.id))
      and ${eligible(ctx, ctx.sql`x`, null)} and ${eligible(ctx, ctx.sql`o`, null)} and o.locale = ${locale} and o.path <> p.path)`;
}

/**
 * Each address once, and none that is redirected (behaviour A.6): at one path, the page of the locale comes first, else
 * the one that is served there.
 */
function listed(ctx: Reading, site: SiteData, locale: Locale | null) {
  return ctx.sql`
  ${eligible(ctx, ctx.sql`p`, locale)} ${locale !== null && site.multilang ? ctx.sql`and not (${redirects(ctx, locale)})` : ctx.sql``}
  and not exists (
    select 1 from cms_pages o where o.account_id = p.account_id and o.site_id = p.site_id and o.path = p.path and o.id <> p.id
      and ${eligible(ctx, ctx.sql`o`, locale)} and ${locale === null ? ctx.sql`${rank(ctx, ctx.sql`o`, site)} < ${rank(ctx, ctx.sql`p`, site)}` : ctx.sql`p.locale is null`})`;
}

/** `{% paragraph "code" %}` */
function names(ctx: Reading, content: Fragment) {
  return ctx.sql`${content} ~ ${`paragraph\\s*["']`}`;
}
