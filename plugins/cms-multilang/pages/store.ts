/** The SQL that only layouts, pages and paragraphs need. */
import type { Ref } from "../code.ts";
import { isAddressed, type Writing } from "../kind-store.ts";
import type { PageRow } from "../rows.ts";

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
  { siteId, path, locale }: Pick<PageRow, "siteId" | "path" | "locale">,
): Promise<void> {
  await tx`
    delete from cms_redirects
    where account_id = ${account.id} and site_id = ${siteId} and path = ${path} and locale is not distinct from ${locale}`;
}

export type Relative = Pick<PageRow, "id" | "siteId" | "path" | "basedOnPageId">;

/** Returns two rows if the address names no site and several sites have such a page. */
export async function relatives({ tx, account }: Writing, ref: Ref): Promise<Relative[]> {
  return tx<Relative[]>`
    select id, site_id, path, based_on_page_id from cms_pages
    where account_id = ${account.id} and ${isAddressed(tx, account.id, ref)} order by site_id limit 2`;
}

export async function slavesOf({ tx, account }: Writing, id: number): Promise<Relative[]> {
  return tx<Relative[]>`
    select id, site_id, path, based_on_page_id from cms_pages
    where account_id = ${account.id} and based_on_page_id = ${id} order by id`;
}

/** Makes the slaves independent. behaviour A.4.5. */
export async function release({ tx, account }: Writing, masterId: number): Promise<void> {
  await tx`
    update cms_pages set based_on_page_id = null, based_on_path = null, version = version + 1, updated_at = now()
    where account_id = ${account.id} and based_on_page_id = ${masterId}`;
}
