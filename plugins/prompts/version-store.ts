/** The versions of prompts: each save adds one, and none ever changes. */
import { readPage, type Page, type Sql } from "platform";
import { savedColumns, visibleTo, type VersionRow, type Viewer } from "./store.ts";

export function createVersionStore(sql: Sql) {
  const columns = sql`version, ${savedColumns(sql)}, created_by_id, created_at`;

  return {
    async list(accountId: number, viewer: Viewer, id: string, page: Page) {
      const where = sql`account_id = ${accountId} and prompt_id = ${id} and ${visibleTo(sql, viewer)}`;
      return readPage<VersionRow>(sql, page, {
        columns,
        from: sql`prompt_versions where ${where}`,
        order: sql`version desc`,
        hasNumbers: true,
      });
    },

    async find(accountId: number, viewer: Viewer, id: string, version: number): Promise<VersionRow | undefined> {
      const [row] = await sql<VersionRow[]>`
        select ${columns} from prompt_versions
        where account_id = ${accountId} and prompt_id = ${id} and version = ${version} and ${visibleTo(sql, viewer)}`;
      return row;
    },

    /** What a version says. */
    async contentOf(accountId: number, id: string, version: number) {
      const [row] = await sql<Pick<VersionRow, "name" | "kind" | "content">[]>`
        select name, kind, content from prompt_versions
        where account_id = ${accountId} and prompt_id = ${id} and version = ${version}`;
      return row;
    },
  };
}

export type VersionStore = ReturnType<typeof createVersionStore>;
