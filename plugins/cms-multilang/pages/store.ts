/** Layouts, pages and paragraphs as kinds of records, and the SQL that only they need. */
import { filter, Type } from "platform";
import * as answers from "../answers.ts";
import type { Ref } from "../code.ts";
import { byLocale, byPath, byRef, bySite, isAddressed, searching, shownBy } from "../kind-store.ts";
import type { Kind, Writing } from "../kind-store.ts";
import type { LayoutRow, PageRow, ParagraphRow } from "../rows.ts";

export interface LayoutView extends LayoutRow {
  readonly siteCode: string;
}

export const layouts: Kind<LayoutView, "code" | "name" | "content" | "fields" | "fieldTimes"> = {
  name: "layout",
  plural: "layouts",
  table: "cms_layouts",
  writes: ["code", "name", "content", "fields", "fieldTimes"],
  shows: "r.site_id, s.code as site_code",
  joins: "join cms_sites s on s.account_id = r.account_id and s.id = r.site_id",
  large: ["content", "fields"],
  order: ["id"],
  filters: { q: searching(["name", "code"]), code: filter.exact(), site_code: bySite },
  shownIn: [["cms_pages", "layout_id"]],
  toApi: shownBy(answers.Layout),
};

export interface PageView extends PageRow {
  readonly siteCode: string;
  readonly layoutCode: string | null;
  readonly basedOnPageCode: string | null;
}

const pageColumns = [
  "code",
  "name",
  "path",
  "locale",
  "kind",
  "layoutId",
  "content",
  "fields",
  "htmlTitle",
  "htmlDescription",
  "htmlKeywords",
  "basedOnPageId",
  "basedOnPath",
  "active",
  "position",
  "cacheSeconds",
  "fieldTimes",
] as const satisfies (keyof PageRow)[];

/** What a save writes. */
export type PageInput = Pick<PageRow, (typeof pageColumns)[number]>;

export const pages: Kind<PageView, keyof PageInput> = {
  name: "page",
  plural: "pages",
  table: "cms_pages",
  writes: pageColumns,
  shows: "r.site_id, s.code as site_code, l.code as layout_code, m.code as based_on_page_code",
  joins: `
    join cms_sites s on s.account_id = r.account_id and s.id = r.site_id
    left join cms_layouts l on l.account_id = r.account_id and l.id = r.layout_id
    left join cms_pages m on m.account_id = r.account_id and m.id = r.based_on_page_id`,
  large: ["content", "fields"],
  order: ["site_id", "position", "id"],
  filters: {
    q: searching(["name", "code", "path"]),
    code: filter.exact(),
    site_code: bySite,
    locale: byLocale,
    kind: filter.exact(),
    path: byPath("exact value; empty = the home page"),
    layout_code: byRef("exact value", "layout_id", "cms_layouts", false),
    based_on_page_code: byRef("exact value", "based_on_page_id", "cms_pages", false),
    active: filter.flagged(Type.Boolean({ description: "true or false" })),
  },
  shownIn: [
    ["cms_pages", "based_on_page_id"],
    ["cms_paragraphs", "page_id"],
  ],
  toApi: shownBy(answers.Page),
};

export interface ParagraphView extends ParagraphRow {
  readonly siteCode: string | null;
  readonly pageCode: string | null;
}

export const paragraphs: Kind<
  ParagraphView,
  "siteId" | "pageId" | "code" | "name" | "content" | "fields" | "position" | "fieldTimes"
> = {
  name: "paragraph",
  plural: "paragraphs",
  table: "cms_paragraphs",
  writes: ["siteId", "pageId", "code", "name", "content", "fields", "position", "fieldTimes"],
  shows: "s.code as site_code, p.code as page_code",
  joins: `
    left join cms_sites s on s.account_id = r.account_id and s.id = r.site_id
    left join cms_pages p on p.account_id = r.account_id and p.id = r.page_id`,
  large: ["content", "fields"],
  order: ["position", "id"],
  filters: {
    q: searching(["name", "code"]),
    code: filter.exact(),
    site_code: byRef("code of a site; none = of every site", "site_id", "cms_sites", true),
    page_code: byRef("code of a page; none = without one", "page_id", "cms_pages", true),
  },
  toApi: shownBy(answers.Paragraph),
};

/** The pages of the site stay, without this layout. */
export async function leaveLayout({ tx, account }: Writing, id: number): Promise<void> {
  await tx`
    update cms_pages set layout_id = null, version = version + 1, updated_at = now()
    where account_id = ${account.id} and layout_id = ${id}`;
}

/** The page has left this path: redirect requests for it. */
export async function keepRedirect({ tx }: Writing, { accountId, siteId, id, path, locale }: PageRow): Promise<void> {
  await tx`
    insert into cms_redirects (account_id, site_id, path, locale, page_id)
    values (${accountId}, ${siteId}, ${path}, ${locale}, ${id})
    on conflict on constraint cms_redirects_unique_path do update set page_id = excluded.page_id, created_at = now()`;
}

/** A page now has this path: do not redirect away from it. */
export async function dropRedirect(
  { tx, account }: Writing,
  siteId: number,
  { path, locale }: Pick<PageRow, "path" | "locale">,
): Promise<void> {
  await tx`
    delete from cms_redirects
    where account_id = ${account.id} and site_id = ${siteId} and path = ${path} and locale is not distinct from ${locale}`;
}

export type Relative = Pick<PageRow, "id" | "siteId" | "path" | "basedOnPageId">;

/** Returns two rows if the address names no site and several sites have such a page. */
export async function relatives({ tx, account }: Writing, ref: Ref): Promise<Relative[]> {
  return tx<Relative[]>`
    select r.id, r.site_id, r.path, r.based_on_page_id from cms_pages r
    where r.account_id = ${account.id} and ${isAddressed(tx, account.id, ref)} order by r.site_id limit 2`;
}

export async function slavesOf({ tx, account }: Writing, id: number): Promise<Relative[]> {
  return tx<Relative[]>`
    select id, site_id, path, based_on_page_id from cms_pages
    where account_id = ${account.id} and based_on_page_id = ${id} order by id`;
}

/** Makes the slaves independent (behaviour A.4.5) and returns their ids. */
export async function release({ tx, account }: Writing, masterId: number): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    update cms_pages set based_on_page_id = null, based_on_path = null, version = version + 1, updated_at = now()
    where account_id = ${account.id} and based_on_page_id = ${masterId} returning id`;
  return rows.map(({ id }) => id);
}
