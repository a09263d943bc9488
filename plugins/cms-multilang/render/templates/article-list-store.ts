/** SQL of the reading side: lists of articles, and the articles at one address. */
import {
  type ArticleData,
  type ArticlesOf,
  type Batch,
  type Categories,
  type Counted,
  type ListedArticle,
  type Reading,
  type SiteData,
} from "../data.ts";
import { readRows, type Fragment, type Page, type Queryable } from "platform";

import { type ArticlesQuery, type SortKey, tooLarge } from "./blocks.ts";

export const nothing: Counted = { count: 0, longest: 0 };
const maxArticlesAtOnce = 200;

const articleColumns = (ctx: Reading) => ctx.sql`
  a.id, a.site_id, a.code, a.category_id, a.locale, a.path, a.title, a.lead, a.fields, a.html_title,
  a.html_description, a.published_at, a.active, a.created_at, a.updated_at,
  (select coalesce(json_agg(x.category_id order by x.position), '[]')
   from cms_article_categories x where x.account_id = a.account_id and x.article_id = a.id) as more_category_ids`;

/** `within`: only articles that are in this category as well. */
export async function articles(
  ctx: Reading,
  of: ArticlesOf,
  query: ArticlesQuery,
  categories: Categories,
  within: number | null,
) {
  const { by, descending } = query.sort;
  const direction = descending ? ctx.sql`desc` : ctx.sql`asc`;
  const columns = ctx.sql`${articleColumns(ctx)}, ${query.listsContent ? ctx.sql`a.content` : ctx.sql`'' as content`}`;
  const from = (now: Fragment) => ctx.sql`cms_articles a where ${articlesWhere(ctx, of, now, categories, within)}`;
  return whole(ctx, columns, from, ctx.sql`${order(ctx, by)} ${direction} nulls last, a.id ${direction}`, query);
}

export async function articlesAt(ctx: Reading, of: ArticlesOf, path: string): Promise<ArticleData[]> {
  const from = (now: Fragment) => ctx.sql`cms_articles a where ${articlesWhere(ctx, of, now)} and a.path = ${path}`;
  return whole(ctx, ctx.sql`${articleColumns(ctx)}, a.content`, from, ctx.sql`a.id`, {
    limit: maxArticlesAtOnce,
    offset: 0,
  });
}

export async function countArticles(
  ctx: Reading,
  of: ArticlesOf,
  categories: Categories,
  within: number | null,
): Promise<Counted> {
  const [row] = await ctx.read(
    (on, now) => on<Counted[]>`
    select count(*) as count, coalesce(max(${encodedChars(ctx.sql, ctx.sql`a.path`)}), 0) as longest from cms_articles a
    where ${articlesWhere(ctx, of, now, categories, within)}`,
  );
  return row ?? nothing;
}

export async function listedArticles(
  ctx: Reading,
  of: ArticlesOf,
  categories: Categories,
  { after, skip, limit }: Batch,
) {
  return ctx.read(
    (on, now) => on<ListedArticle[]>`
    select a.id, a.path, a.locale, a.updated_at from cms_articles a
    where ${articlesWhere(ctx, of, now, categories)} ${after === null ? ctx.sql`` : ctx.sql`and a.id > ${after.id}`}
    order by a.id limit ${limit} offset ${skip}`,
  );
}

/** When the site's next article becomes visible. It decides how long lists are kept: so the primary says it. */
export async function nextPublication(ctx: Reading, { accountId, id }: SiteData): Promise<Date | null> {
  const [row] = await ctx.sql<
    { at: Date | null }[]
  >`${nextPublicationOf(ctx.sql, ctx.sql`${accountId}`, ctx.sql`${id}`)}`;
  return row?.at ?? null;
}

function articlesWhere(
  ctx: Reading,
  { site, locale, drafts }: ArticlesOf,
  now: Fragment,
  categories: Categories = null,
  within: number | null = null,
) {
  return ctx.sql`
  a.account_id = ${site.accountId} and a.site_id = ${site.id}
  ${drafts ? ctx.sql`` : ctx.sql`and a.active and (a.published_at is null or a.published_at <= ${now})`}
  ${locale === null ? ctx.sql`` : ctx.sql`and (a.locale = ${locale} or a.locale is null)`}
  ${categories === null ? ctx.sql`` : inCategories(ctx, site, categories)}
  ${within === null ? ctx.sql`` : inCategories(ctx, site, [within])}`;
}

function inCategories(ctx: Reading, { accountId }: Pick<SiteData, "accountId">, ids: readonly number[]) {
  return ctx.sql`
  and (a.category_id = any(${ids}::bigint[])
    or a.id in (
      select article_id from cms_article_categories
      where account_id = ${accountId} and category_id = any(${ids}::bigint[])))`;
}

function order(ctx: Reading, by: SortKey) {
  return {
    published_at: ctx.sql`a.published_at`,
    created_at: ctx.sql`a.created_at`,
    updated_at: ctx.sql`a.updated_at`,
    title: ctx.sql`a.title`,
    path: ctx.sql`a.path`,
  }[by];
}

/** A list that ended early would hide articles from visitors. */
async function whole(
  ctx: Reading,
  columns: Fragment,
  from: (now: Fragment) => Fragment,
  by: Fragment,
  { limit, offset }: Page,
) {
  const { rows, next } = await ctx.read((on, now) =>
    readRows<ArticleResult>(on, { limit, offset }, { columns, from: from(now), order: by }),
  );
  if (next === undefined) return rows.map(withCategories);
  throw tooLarge("articles of a list", "list fewer (limit)");
}

export function nextPublicationOf(sql: Queryable, accountId: Fragment, siteId: Fragment) {
  return sql`
    select min(published_at) as at from cms_articles
    where account_id = ${accountId} and site_id = ${siteId} and active and published_at > now()`;
}

/** An upper bound for the characters of a path in an XML address, where `%C4` and `&amp;` take more. */
export function encodedChars(sql: Queryable, path: Fragment) {
  return sql`octet_length(${path}) * case when ${path} ~ '^[-A-Za-z0-9._~/]*$' then 1 else 5 end`;
}

type ArticleResult = Omit<ArticleData, "categoryIds"> & { readonly moreCategoryIds: readonly number[] };

function withCategories({ moreCategoryIds, ...article }: ArticleResult): ArticleData {
  const main = article.categoryId === null ? [] : [article.categoryId];
  return { ...article, categoryIds: [...main, ...moreCategoryIds.filter((id) => id !== article.categoryId)] };
}
