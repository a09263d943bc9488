/** The SQL that writes pages. */
import type { Queryable, Sql, Static, Tx } from "platform";
import type { Page as PageAnswer } from "../answers.ts";
import type { Ref } from "../code.ts";
import type { Relative } from "./master.ts";
import { pageLists, type PageView } from "./page-list-store.ts";

import { redirectQueries } from "./redirect-store.ts";
import { insertedId, isAddressed, only, takenCodes, type Fragment } from "../ref-store.ts";
import type { PageRow } from "../rows.ts";

export type { PageView } from "./page-list-store.ts";

/** What a save writes. */
export type PageInput = Omit<
  PageRow,
  "id" | "accountId" | "siteId" | "version" | "createdById" | "updatedById" | "createdAt" | "updatedAt"
>;

export type PageStore = ReturnType<typeof createPageStore>;

export function createPageStore(sql: Sql) {
  const columns: Fragment = sql`
    p.id, p.account_id, p.site_id, p.code, p.name, p.path, p.locale, p.kind, p.layout_id, p.content, p.fields,
    p.html_title, p.html_description, p.html_keywords, p.based_on_page_id, p.based_on_path, p.active, p.position,
    p.cache_seconds, p.field_times, p.version, p.created_by_id, p.updated_by_id, p.created_at, p.updated_at,
    s.code as site_code, l.code as layout_code, m.code as based_on_page_code`;
  const from: Fragment = sql`
    from cms_pages p
    join cms_sites s on s.account_id = p.account_id and s.id = p.site_id
    left join cms_layouts l on l.account_id = p.account_id and l.id = p.layout_id
    left join cms_pages m on m.account_id = p.account_id and m.id = p.based_on_page_id`;

  return {
    ...pageLists(sql, { columns, from }),
    ...redirectQueries,

    async find(db: Queryable, accountId: number, ref: Ref): Promise<PageView | undefined> {
      const rows = await db<PageView[]>`
        select ${columns} ${from}
        where ${isAddressed(sql, sql`p`, accountId, ref)} order by p.site_id limit 2`;
      return only(rows, "page");
    },

    /** Returns two rows if the address names no site and several sites have such a page. */
    async relatives(tx: Tx, accountId: number, ref: Ref): Promise<Relative[]> {
      return tx<Relative[]>`
        select p.id, p.site_id, p.path, p.based_on_page_id from cms_pages p
        where ${isAddressed(sql, sql`p`, accountId, ref)} order by p.site_id limit 2`;
    },

    async slavesOf(tx: Tx, accountId: number, id: number): Promise<Relative[]> {
      return tx<Relative[]>`
        select id, site_id, path, based_on_page_id from cms_pages
        where account_id = ${accountId} and based_on_page_id = ${id} order by id`;
    },

    taken: (tx: Tx, accountId: number, siteId: number, base: string) =>
      takenCodes(tx, "cms_pages", accountId, siteId, base),

    async insert(tx: Tx, accountId: number, siteId: number, userId: number | null, input: PageInput): Promise<number> {
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
    },

    async update(tx: Tx, accountId: number, id: number, userId: number | null, input: PageInput): Promise<void> {
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
    },

    /** Makes the slaves independent (behaviour A.4.5) and returns their ids. */
    async release(tx: Tx, accountId: number, masterId: number): Promise<number[]> {
      const rows = await tx<{ id: number }[]>`
        update cms_pages set based_on_page_id = null, based_on_path = null, version = version + 1, updated_at = now()
        where account_id = ${accountId} and based_on_page_id = ${masterId} returning id`;
      return rows.map(({ id }) => id);
    },

    async delete(tx: Tx, accountId: number, id: number): Promise<void> {
      await tx`delete from cms_pages where account_id = ${accountId} and id = ${id}`;
    },

    /** Slaves and paragraphs show the page's code, so they get a new version when it changes. */
    async codeChanged(tx: Tx, accountId: number, id: number): Promise<void> {
      await tx`update cms_pages set version = version + 1 where account_id = ${accountId} and based_on_page_id = ${id}`;
      await tx`update cms_paragraphs set version = version + 1 where account_id = ${accountId} and page_id = ${id}`;
    },

    /** The site's pages with a greater id, oldest first. */
    async ofSite(tx: Tx, accountId: number, siteId: number, afterId: number, most: number): Promise<PageView[]> {
      return tx<PageView[]>`
        select ${columns} ${from} where p.account_id = ${accountId} and p.site_id = ${siteId} and p.id > ${afterId}
        order by p.id limit ${most}`;
    },
  };
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
