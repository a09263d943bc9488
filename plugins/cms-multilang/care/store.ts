/** The SQL of checks and translations: a site's pages in batches, and what belongs to them. */
import { readPage, readRows, type Fragment, type Page, type ReadPage, type Sql } from "platform";
import { locales, type Locale } from "../locales.ts";
import type { Domain } from "../render/addresses/addresses.ts";
import type { ArticleRow, LayoutRow, PageRow, PageTexts, ParagraphRow, SiteRow } from "../rows.ts";

/** A page as it is checked. `isRoot`: the matrix has a row for it, which stands for its other languages. */
export type CarePage = PageTexts &
  Pick<PageRow, "kind" | "layoutId" | "active" | "fieldTimes"> & { readonly isRoot: boolean };

export type CareLayout = Pick<LayoutRow, "id" | "code" | "content" | "fields">;
export type CareParagraph = Pick<ParagraphRow, "id" | "code" | "content" | "fields">;
export type CareArticle = Pick<ArticleRow, "id" | "code" | "locale" | "categoryId"> & { readonly hasCategory: boolean };

type Site = Pick<SiteRow, "id" | "accountId" | "locale">;

export async function domains(sql: Sql, { accountId, id }: Site) {
  return sql<Domain[]>`
    select id, name, locale, is_primary from cms_domains
    where account_id = ${accountId} and site_id = ${id} order by id`;
}

export async function pageLocales(sql: Sql, { accountId, id }: Site): Promise<Locale[]> {
  const rows = await sql<{ locale: Locale }[]>`
    select distinct locale from cms_pages
    where account_id = ${accountId} and site_id = ${id} and locale is not null`;
  return rows.map(({ locale }) => locale);
}

export async function pagesAfter(sql: Sql, site: Site, after: number, most: number): Promise<readonly CarePage[]> {
  return rowsAfter<CarePage>(
    sql,
    most,
    columns(sql, site),
    sql`cms_pages p where p.account_id = ${site.accountId} and p.site_id = ${site.id} and p.id > ${after}`,
  );
}

export async function pagesById(sql: Sql, site: Site, ids: readonly number[]): Promise<CarePage[]> {
  return sql<CarePage[]>`
    select ${columns(sql, site)} from cms_pages p
    where p.account_id = ${site.accountId} and p.site_id = ${site.id} and p.id = any(${ids}::bigint[])`;
}

export async function roots(sql: Sql, site: Site, page: Page): Promise<ReadPage<CarePage>> {
  return readPage<CarePage>(sql, page, {
    columns: columns(sql, site),
    from: sql`cms_pages p where p.account_id = ${site.accountId} and p.site_id = ${site.id} and ${isRoot(sql, site)}`,
    order: sql`p.position, p.id`,
  });
}

export async function layoutsAfter(
  sql: Sql,
  { accountId, id }: Site,
  after: number,
  most: number,
): Promise<readonly CareLayout[]> {
  return rowsAfter<CareLayout>(
    sql,
    most,
    sql`id, code, content, fields`,
    sql`cms_layouts where account_id = ${accountId} and site_id = ${id} and id > ${after}`,
  );
}

/** Paragraphs of the site and those of every site. */
export async function paragraphsAfter(
  sql: Sql,
  { accountId, id }: Site,
  after: number,
  most: number,
): Promise<readonly CareParagraph[]> {
  return rowsAfter<CareParagraph>(
    sql,
    most,
    sql`id, code, content, fields`,
    sql`cms_paragraphs where account_id = ${accountId} and (site_id = ${id} or site_id is null) and id > ${after}`,
  );
}

/** Those of these codes that no paragraph within reach of the site has. */
export async function unknownParagraphs(
  sql: Sql,
  { accountId, id }: Site,
  codes: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ code: string }[]>`
    select code from unnest(${codes}::text[]) as given (code)
    where not exists (
      select 1 from cms_paragraphs g
      where g.account_id = ${accountId} and (g.site_id = ${id} or g.site_id is null) and g.code = given.code)`;
  return rows.map(({ code }) => code);
}

/** Those of these codes that no page of the site has. */
export async function unknownPages(sql: Sql, { accountId, id }: Site, codes: readonly string[]): Promise<string[]> {
  const rows = await sql<{ code: string }[]>`
    select code from unnest(${codes}::text[]) as given (code)
    where not exists (
      select 1 from cms_pages p
      where p.account_id = ${accountId} and p.site_id = ${id} and p.active and p.code = given.code)`;
  return rows.map(({ code }) => code);
}

export async function categoryCodes(sql: Sql, { accountId, id }: Site): Promise<Set<string>> {
  const rows = await sql<{ code: string }[]>`
    select code from cms_categories where account_id = ${accountId} and site_id = ${id}`;
  return new Set(rows.map(({ code }) => code));
}

/** Codes of the first visible articles of the listed categories (null = of all) that are in none of the shown ones. */
export async function unshownArticles(
  sql: Sql,
  { accountId, id }: Site,
  locale: Locale | null,
  listed: readonly number[] | null,
  shown: readonly number[],
): Promise<string[]> {
  const isIn = (ids: readonly number[]) => sql`(
    coalesce(a.category_id = any(${ids}::bigint[]), false) or exists (
      select 1 from cms_article_categories c
      where c.account_id = a.account_id and c.article_id = a.id and c.category_id = any(${ids}::bigint[])))`;
  const rows = await sql<{ code: string }[]>`
    select a.code from cms_articles a
    where a.account_id = ${accountId} and a.site_id = ${id} and a.active
      ${locale === null ? sql`` : sql`and (a.locale = ${locale} or a.locale is null)`}
      ${listed === null ? sql`` : sql`and ${isIn(listed)}`} and not ${isIn(shown)}
    order by a.id limit 5`;
  return rows.map(({ code }) => code);
}

/** The first active articles below the page at this path whose address a category or another page has. */
export async function hiddenArticles(sql: Sql, { accountId, id }: Site, at: string, shown: readonly number[] | null) {
  const below = at === "" ? "" : `${at}/`;
  return sql<{ article: string; path: string; category: string | null }[]>`
    select a.code as article, ${below} || a.path as path, c.code as category from cms_articles a
    left join cms_categories c on c.account_id = a.account_id and c.site_id = a.site_id and c.path = a.path
    where a.account_id = ${accountId} and a.site_id = ${id} and a.active
      ${
        shown === null
          ? sql``
          : sql`and (a.category_id = any(${shown}::bigint[]) or exists (
        select 1 from cms_article_categories x
        where x.account_id = a.account_id and x.article_id = a.id and x.category_id = any(${shown}::bigint[])))`
      }
      and (c.id is not null or exists (
        select 1 from cms_pages p
        where p.account_id = a.account_id and p.site_id = a.site_id and p.active and p.path = ${below} || a.path))
    order by a.id limit 100`;
}

export async function articlesAfter(
  sql: Sql,
  { accountId, id }: Site,
  after: number,
  most: number,
): Promise<CareArticle[]> {
  return sql<CareArticle[]>`
    select a.id, a.code, a.locale, a.category_id,
      (a.category_id is not null or exists (
        select 1 from cms_article_categories c
        where c.account_id = a.account_id and c.article_id = a.id)) as has_category
    from cms_articles a
    where a.account_id = ${accountId} and a.site_id = ${id} and a.id > ${after} order by a.id limit ${most}`;
}

// The order in which the router looks a path up: no locale first, then the site's, then the order of the locales.
function rank(sql: Sql, alias: ReturnType<typeof sql>, site: Locale) {
  return sql`(coalesce(array_position(${[site, ...locales]}::text[], ${alias}.locale), 0), ${alias}.id)`;
}

function isRoot(sql: Sql, { locale }: Site) {
  return sql`
  p.based_on_page_id is null and not exists (
    select 1 from cms_pages o
    where o.account_id = p.account_id and o.site_id = p.site_id and o.path = p.path and o.id <> p.id
      and o.based_on_page_id is null and ${rank(sql, sql`o`, locale)} < ${rank(sql, sql`p`, locale)})`;
}

function columns(sql: Sql, site: Site) {
  return sql`
  p.id, p.code, p.name, p.path, p.locale, p.kind, p.layout_id, p.content, p.fields, p.html_title, p.html_description,
  p.html_keywords, p.based_on_page_id, p.active, p.field_times, (${isRoot(sql, site)}) as is_root`;
}

async function rowsAfter<Row>(sql: Sql, most: number, of: Fragment, from: Fragment) {
  return (await readRows<Row>(sql, { limit: most, offset: 0 }, { columns: of, from, order: sql`id` })).rows;
}
