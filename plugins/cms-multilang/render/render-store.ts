/** All SQL of the reading side: what a page needs, in as few queries as possible. */
import {
  type CategoryData,
  type HostData,
  type LayoutData,
  type RedirectData,
  type ParagraphData,
  type SiteData,
  type SiteFound,
} from "./data.ts";
import { readOn, type Read, type Sql } from "platform";
import { articleQueries, nextPublicationOf } from "./templates/article-list-store.ts";
import type { Fragment } from "../ref-store.ts";
import { redirectKey } from "../redirects/rule.ts";
import { variantQueries } from "./addresses/variant-store.ts";
import { sitemapQueries } from "./sitemap/sitemap-store.ts";

export type RenderStore = ReturnType<typeof createRenderStore>;

/**
 * What is shown may come from a replica (`read`). The primary says which host leads to which site, and when the next
 * article appears.
 */
export function createRenderStore(sql: Sql, read: Read = readOn(sql)) {
  const pageColumns: Fragment = sql`
    p.id, p.site_id, p.code, p.name, p.path, p.locale, p.kind, p.layout_id, p.content, p.fields, p.html_title,
    p.html_description, p.html_keywords, p.based_on_page_id, p.position, p.cache_seconds, p.created_at, p.updated_at,
    case when m.id is null then null else json_build_object(
      'content', m.content, 'layoutId', m.layout_id, 'fields', m.fields, 'htmlTitle', m.html_title,
      'htmlDescription', m.html_description, 'htmlKeywords', m.html_keywords) end as master`;
  const fromPages: Fragment = sql`
    from cms_pages p left join cms_pages m on m.account_id = p.account_id and m.id = p.based_on_page_id`;

  return {
    async hosts(): Promise<HostData[]> {
      return sql<HostData[]>`select id as domain_id, name, account_id, site_id from cms_domains
        where status = 'approved' order by id`;
    },

    async site(id: number): Promise<SiteFound | undefined> {
      const [row] = await sql<(SiteData & Omit<SiteFound, "site">)[]>`
        select s.id, s.account_id, s.code, s.name, s.locale, s.multilang, s.fields, s.active,
          (select coalesce(json_agg(json_build_object(
              'id', d.id, 'name', d.name, 'locale', d.locale, 'isPrimary', d.is_primary) order by d.id), '[]')
           from cms_domains d
           where d.account_id = s.account_id and d.site_id = s.id and d.status = 'approved') as domains,
          (${nextPublicationOf(sql, sql`s.account_id`, sql`s.id`)}) as next_publication
        from cms_sites s where s.id = ${id}`;
      if (!row) return undefined;
      const { domains, nextPublication: next, ...site } = row;
      return { site, domains, nextPublication: next };
    },

    async siteIds(accountId: number): Promise<number[]> {
      const rows = await sql<{ id: number }[]>`select id from cms_sites where account_id = ${accountId}`;
      return rows.map(({ id }) => id);
    },

    async siteId(accountId: number, code: string): Promise<number | undefined> {
      const [row] = await sql<{ id: number }[]>`
        select id from cms_sites where account_id = ${accountId} and code = ${code}`;
      return row?.id;
    },

    async layout({ accountId, id }: SiteData, layoutId: number): Promise<LayoutData | undefined> {
      const [row] = await read(
        (on) => on<LayoutData[]>`
        select id, code, name, content, fields from cms_layouts
        where account_id = ${accountId} and site_id = ${id} and id = ${layoutId}`,
      );
      return row;
    },

    /**
     * The paragraphs of these pages and those with these codes (the site's own first), in the order in which they are
     * printed.
     */
    async paragraphs(site: SiteData, pageIds: readonly number[], codes: readonly string[]): Promise<ParagraphData[]> {
      return read(
        (on) => on<ParagraphData[]>`
        select id, page_id, code, name, content, fields, position from cms_paragraphs
        where account_id = ${site.accountId} and (page_id = any(${pageIds}::bigint[]) or code = any(${codes}::text[]))
          and (site_id = ${site.id} or site_id is null and not exists (
            select 1 from cms_paragraphs o
            where o.account_id = ${site.accountId} and o.site_id = ${site.id} and o.code = cms_paragraphs.code))
        order by position, id limit 500`,
      );
    },

    /** The redirects that editors have written, by domain and path (see `redirectKey`). */
    async redirects({ accountId, id }: SiteData): Promise<Map<string, RedirectData>> {
      const rows = await read(
        (on) => on<(RedirectData & { domainId: number | null; path: string })[]>`
        select domain_id, path, target, status from cms_redirect_rules
        where account_id = ${accountId} and site_id = ${id} order by id limit 10000`,
      );
      return new Map(rows.map(({ domainId, path, ...row }) => [redirectKey(domainId, path), row]));
    },

    async categories({ accountId, id }: SiteData): Promise<CategoryData[]> {
      return read(
        (on) => on<CategoryData[]>`
        select id, code, name, path from cms_categories
        where account_id = ${accountId} and site_id = ${id} order by id limit 10000`,
      );
    },

    ...variantQueries(sql, read, { pageColumns, fromPages }),
    ...articleQueries(sql, read),
    ...sitemapQueries(sql, read, { pageColumns, fromPages }),
  };
}
