/** The SQL that lists pages. */
import type { Page, Sql } from "platform";
import { inParts, type Sized } from "../listed.ts";
import type { Fragment } from "../ref-store.ts";
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

interface Parts {
  readonly columns: Fragment;
  readonly from: Fragment;
}

export function pageLists(sql: Sql, { columns, from }: Parts) {
  /** Uses only columns of `p`, so the count needs no joins and the index that orders a site's pages can be used. */
  const matching = (accountId: number, filter: PageFilter) => {
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
  };

  return {
    async list(accountId: number, filter: PageFilter, { limit, offset }: Page) {
      const where = matching(accountId, filter);
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
          select ${columns} ${from} where p.account_id = ${accountId} and p.id = any(${ids}::bigint[])`,
      );
    },
  };
}
