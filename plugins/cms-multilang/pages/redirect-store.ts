/** The SQL of redirects: paths that pages have left. */
import type { Tx } from "platform";
import type { PageRow } from "../rows.ts";

export const redirectQueries = {
  /** The page has left this path: redirect requests for it. */
  async keepRedirect(tx: Tx, { accountId, siteId, id, path, locale }: PageRow): Promise<void> {
    await tx`
      insert into cms_redirects (account_id, site_id, path, locale, page_id)
      values (${accountId}, ${siteId}, ${path}, ${locale}, ${id})
      on conflict on constraint cms_redirects_unique_path do update set page_id = excluded.page_id, created_at = now()`;
  },

  /** A page now has this path: do not redirect away from it. */
  async dropRedirect(tx: Tx, accountId: number, siteId: number, path: string, locale: string | null): Promise<void> {
    await tx`
      delete from cms_redirects
      where account_id = ${accountId} and site_id = ${siteId} and path = ${path} and locale is not distinct from ${locale}`;
  },
};
