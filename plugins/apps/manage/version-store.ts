/** The versions of apps: each save adds one, and none ever changes. */
import { readPage, type Page, type Sql } from "platform";
import { appColumns, type VersionRow } from "../store.ts";

export type VersionStore = ReturnType<typeof createVersionStore>;

export function createVersionStore(sql: Sql) {
  const columns = sql`version, ${appColumns(sql).saved}, created_by_id, created_at`;

  return {
    async list(accountId: number, id: string, page: Page) {
      const where = sql`account_id = ${accountId} and app_id = ${id}`;
      return readPage<VersionRow>(sql, page, {
        columns,
        from: sql`app_versions where ${where}`,
        order: sql`version desc`,
        hasNumbers: true,
      });
    },

    async find(accountId: number, id: string, version: number): Promise<VersionRow | undefined> {
      const [row] = await sql<VersionRow[]>`
        select ${columns} from app_versions
        where account_id = ${accountId} and app_id = ${id} and version = ${version}`;
      return row;
    },
  };
}
