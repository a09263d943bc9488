/** The SQL of primary domains: a site with domains has exactly one. */
import type { Tx } from "platform";

export const primaryQueries = {
  async primaryOf(tx: Tx, accountId: number, siteId: number): Promise<number | undefined> {
    const [row] = await tx<{ id: number }[]>`
      select id from cms_domains where account_id = ${accountId} and site_id = ${siteId} and is_primary`;
    return row?.id;
  },

  /** Call it before another domain becomes the primary, because the index allows only one at any time. */
  async clearPrimary(tx: Tx, accountId: number, siteId: number): Promise<void> {
    await tx`
      update cms_domains set is_primary = false, version = version + 1, updated_at = now()
      where account_id = ${accountId} and site_id = ${siteId} and is_primary`;
  },

  async promoteOldest(tx: Tx, accountId: number, siteId: number): Promise<void> {
    await tx`
      update cms_domains set is_primary = true, version = version + 1, updated_at = now()
      where account_id = ${accountId} and id = (
        select id from cms_domains where account_id = ${accountId} and site_id = ${siteId} order by id limit 1)`;
  },
};
