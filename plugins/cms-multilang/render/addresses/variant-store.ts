/** The SQL that finds a page by its path, its redirect or its group. */
import type { Read, Sql } from "platform";
import type { Locale } from "../../locales.ts";
import { errorKinds, type ErrorKind } from "../../pages/error-pages.ts";
import type { Fragment } from "../../ref-store.ts";
import type { PageData, SiteData } from "../data.ts";
import type { Variant } from "./variant.ts";

const maxVariants = 64;
const maxPagesAtOnce = 200;

interface Parts {
  readonly pageColumns: Fragment;
  readonly fromPages: Fragment;
}

export function variantQueries(sql: Sql, read: Read, { pageColumns, fromPages }: Parts) {
  return {
    /** All pages at these paths, in every locale. */
    async pagesAt({ accountId, id }: SiteData, paths: readonly string[], drafts: boolean): Promise<PageData[]> {
      return read(
        (on) => on<PageData[]>`
        select ${pageColumns} ${fromPages}
        where p.account_id = ${accountId} and p.site_id = ${id} and p.path = any(${paths}::text[])
          and (p.active or ${drafts}) and p.kind <> all(${errorKinds}::text[])
        order by p.id limit ${maxPagesAtOnce}`,
      );
    },

    /** The pages with these codes, error pages left out: they have no address. */
    async pagesByCode({ accountId, id }: SiteData, codes: readonly string[], drafts: boolean) {
      return read(
        (on) => on<(Variant & { readonly code: string })[]>`
        select id, code, path, locale, based_on_page_id from cms_pages
        where account_id = ${accountId} and site_id = ${id} and code = any(${codes}::text[]) and (active or ${drafts})
          and kind <> all(${errorKinds}::text[])`,
      );
    },

    /** The site's own pages for this kind of error. */
    async errorPages({ accountId, id }: SiteData, kind: ErrorKind): Promise<PageData[]> {
      return read(
        (on) => on<PageData[]>`
        select ${pageColumns} ${fromPages}
        where p.account_id = ${accountId} and p.site_id = ${id} and p.active and p.kind = ${kind}
        order by p.id limit ${maxPagesAtOnce}`,
      );
    },

    /** The current paths of pages that once had one of these paths. */
    async redirectsAt({ accountId, id }: SiteData, paths: readonly string[]) {
      return read(
        (on) => on<{ id: number; from: string; locale: Locale | null; path: string }[]>`
        select r.id, r.path as "from", r.locale, p.path
        from cms_redirects r
        join cms_pages p on p.account_id = r.account_id and p.id = r.page_id and p.site_id = r.site_id
        where r.account_id = ${accountId} and r.site_id = ${id} and r.path = any(${paths}::text[])
          and p.active and p.path <> r.path and p.kind <> all(${errorKinds}::text[])
        order by r.id limit ${maxPagesAtOnce}`,
      );
    },

    /** The groups of these pages by id: masters with their slaves, and pages that share a path. */
    async groups(site: SiteData, pageIds: readonly number[], drafts: boolean): Promise<Map<number, Variant[]>> {
      const rows = await read(
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
    },
  };
}
