/** The SQL that writes articles. */
import type { Page, Queryable, Sql, Static, Tx } from "platform";
import type { Article as ArticleAnswer } from "../answers.ts";
import type { Ref } from "../code.ts";
import { inParts, type Sized } from "../lists.ts";

import { insertedId, isAddressed, only, takenCodes } from "../ref-store.ts";
import type { ArticleRow } from "../rows.ts";

export interface ArticleView extends ArticleRow {
  readonly siteCode: string;
  readonly categoryCode: string | null;
  /** Codes of the additional categories, in their order. */
  readonly categories: readonly string[];
}

export interface ArticleFilter {
  /** A LIKE pattern. */
  readonly q?: string | undefined;
  readonly code?: string | undefined;
  readonly siteCode?: string | undefined;
  /** Matches the main category or an additional one. */
  readonly categoryCode?: string | undefined;
  /** "none" = without a locale. */
  readonly locale?: string | undefined;
  readonly path?: string | undefined;
  readonly active?: boolean | undefined;
}

/** What a save writes. */
export type ArticleInput = Omit<
  ArticleRow,
  "id" | "accountId" | "siteId" | "version" | "createdById" | "updatedById" | "createdAt" | "updatedAt"
>;

const columns = (sql: Queryable) => sql`
  a.id, a.account_id, a.site_id, a.code, a.category_id, a.locale, a.path, a.title, a.lead, a.content, a.fields,
  a.html_title, a.html_description, a.published_at, a.active, a.field_times, a.version, a.created_by_id, a.updated_by_id,
  a.created_at, a.updated_at, s.code as site_code, c.code as category_code,
  array(select ec.code from cms_article_categories ac
    join cms_categories ec on ec.account_id = ac.account_id and ec.id = ac.category_id
    where ac.account_id = a.account_id and ac.article_id = a.id order by ac.position) as categories`;

const from = (sql: Queryable) => sql`
  from cms_articles a
  join cms_sites s on s.account_id = a.account_id and s.id = a.site_id
  left join cms_categories c on c.account_id = a.account_id and c.id = a.category_id`;

export async function list(sql: Sql, accountId: number, filter: ArticleFilter, { limit, offset }: Page) {
  const where = matching(sql, accountId, filter);
  const sized = await sql<Sized[]>`
    select id, octet_length(content) + octet_length(fields::text) + coalesce(octet_length(lead), 0) as bytes
    from (
      select a.id, a.content, a.fields, a.lead from cms_articles a where ${where}
      order by a.id limit ${limit} offset ${offset}) listed
    order by id`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from cms_articles a where ${where}`;
  return inParts(
    sized,
    count?.total ?? 0,
    (ids) => sql<ArticleView[]>`
      select ${columns(sql)} ${from(sql)} where a.account_id = ${accountId} and a.id = any(${ids}::bigint[])`,
  );
}

export async function find(db: Queryable, accountId: number, ref: Ref): Promise<ArticleView | undefined> {
  const rows = await db<ArticleView[]>`
    select ${columns(db)} ${from(db)}
    where ${isAddressed(db, db`a`, accountId, ref)} order by a.site_id limit 2`;
  return only(rows, "article");
}

export function taken(tx: Tx, accountId: number, siteId: number, base: string) {
  return takenCodes(tx, "cms_articles", accountId, siteId, base);
}

/** The paths of the site's articles that are `base`, or `base` with a number. */
export async function takenPaths(tx: Tx, accountId: number, siteId: number, base: string): Promise<Set<string>> {
  const rows = await tx<{ path: string }[]>`
    select path from cms_articles
    where account_id = ${accountId} and site_id = ${siteId} and (path = ${base} or path like ${`${base}-%`})`;
  return new Set(rows.map(({ path }) => path));
}

export async function insert(tx: Tx, accountId: number, siteId: number, userId: number | null, input: ArticleInput) {
  return insertedId(
    await tx<{ id: number }[]>`
    insert into cms_articles (account_id, site_id, code, category_id, locale, path, title, lead, content, fields,
      html_title, html_description, published_at, active, field_times, created_by_id)
    values (${accountId}, ${siteId}, ${input.code}, ${input.categoryId}, ${input.locale}, ${input.path},
      ${input.title}, ${input.lead}, ${input.content}, ${JSON.stringify(input.fields)}::text::jsonb,
      ${input.htmlTitle}, ${input.htmlDescription}, ${input.publishedAt}, ${input.active},
      ${JSON.stringify(input.fieldTimes)}::text::jsonb, ${userId})
    returning id`,
  );
}

export async function update(
  tx: Tx,
  accountId: number,
  id: number,
  userId: number | null,
  input: ArticleInput,
): Promise<void> {
  await tx`
    update cms_articles set code = ${input.code}, category_id = ${input.categoryId}, locale = ${input.locale},
      path = ${input.path}, title = ${input.title}, lead = ${input.lead}, content = ${input.content},
      fields = ${JSON.stringify(input.fields)}::text::jsonb, html_title = ${input.htmlTitle},
      html_description = ${input.htmlDescription}, published_at = ${input.publishedAt}, active = ${input.active},
      field_times = ${JSON.stringify(input.fieldTimes)}::text::jsonb,
      updated_by_id = ${userId}, version = version + 1, updated_at = now()
    where account_id = ${accountId} and id = ${id}`;
}

/** Sets the additional categories, in this order. */
export async function setCategories(
  tx: Tx,
  accountId: number,
  siteId: number,
  id: number,
  categoryIds: readonly number[],
) {
  await tx`delete from cms_article_categories where account_id = ${accountId} and article_id = ${id}`;
  await tx`
    insert into cms_article_categories (account_id, site_id, article_id, category_id, position)
    select ${accountId}::bigint, ${siteId}::bigint, ${id}::bigint, category_id, position
    from unnest(${categoryIds}::bigint[]) with ordinality as given (category_id, position)`;
}

export async function remove(tx: Tx, accountId: number, id: number): Promise<void> {
  await tx`delete from cms_articles where account_id = ${accountId} and id = ${id}`;
}

/** The site's articles with a greater id, oldest first. */
export async function ofSite(
  tx: Tx,
  accountId: number,
  siteId: number,
  afterId: number,
  most: number,
): Promise<ArticleView[]> {
  return tx<ArticleView[]>`
    select ${columns(tx)} ${from(tx)} where a.account_id = ${accountId} and a.site_id = ${siteId} and a.id > ${afterId}
    order by a.id limit ${most}`;
}

function matching(sql: Sql, accountId: number, filter: ArticleFilter) {
  const { q, code, siteCode, categoryCode, locale, path, active } = filter;
  return sql`a.account_id = ${accountId}
    ${q === undefined ? sql`` : sql`and (a.title ilike ${q} or a.code ilike ${q} or a.lead ilike ${q})`}
    ${code === undefined ? sql`` : sql`and a.code = ${code}`}
    ${siteCode === undefined ? sql`` : sql`and a.site_id = (select id from cms_sites where account_id = ${accountId} and code = ${siteCode})`}
    ${
      categoryCode === undefined
        ? sql``
        : sql`and exists (
            select 1 from cms_categories ec where ec.account_id = ${accountId} and ec.site_id = a.site_id and ec.code = ${categoryCode}
            and (ec.id = a.category_id or exists (
              select 1 from cms_article_categories ac
              where ac.account_id = ${accountId} and ac.article_id = a.id and ac.category_id = ec.id)))`
    }
    ${locale === undefined ? sql`` : sql`and coalesce(a.locale, 'none') = ${locale}`}
    ${path === undefined ? sql`` : sql`and a.path = ${path}`}
    ${active === undefined ? sql`` : sql`and a.active = ${active}`}`;
}

/** An article as the API shows it and as `Cms::Article` is delivered. behaviour B.11. */
export function toApi(row: ArticleView): Static<typeof ArticleAnswer> {
  return {
    id: row.id,
    code: row.code,
    site_id: row.siteId,
    site_code: row.siteCode,
    category_id: row.categoryId,
    category_code: row.categoryCode,
    categories: row.categories,
    locale: row.locale,
    path: row.path,
    title: row.title,
    lead: row.lead,
    content: row.content,
    fields: row.fields,
    html_title: row.htmlTitle,
    html_description: row.htmlDescription,
    published_at: row.publishedAt,
    active: row.active,
    created_by_id: row.createdById,
    updated_by_id: row.updatedById,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
