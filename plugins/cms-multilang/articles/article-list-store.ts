/** The SQL that lists articles. */
import type { Page, Sql } from "platform";
import { inParts, type Sized } from "../listed.ts";
import type { Fragment } from "../ref-store.ts";
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

interface Parts {
  readonly columns: Fragment;
  readonly from: Fragment;
}

export function articleLists(sql: Sql, { columns, from }: Parts) {
  const matching = (accountId: number, filter: ArticleFilter) => {
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
  };

  return {
    async list(accountId: number, filter: ArticleFilter, { limit, offset }: Page) {
      const where = matching(accountId, filter);
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
          select ${columns} ${from} where a.account_id = ${accountId} and a.id = any(${ids}::bigint[])`,
      );
    },
  };
}
