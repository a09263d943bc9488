/** SQL for apps embedded in modules and views. */
import type { Page, Sql } from "platform";

export interface EmbeddedRow {
  readonly id: string;
  readonly name: string;
  readonly urlCode: string;
  readonly description: string | null;
  readonly appEngine: string;
  readonly public: boolean;
  readonly showInModule: string;
}

export type EmbedStore = ReturnType<typeof createEmbedStore>;

export function createEmbedStore(sql: Sql) {
  return {
    /** The active apps in a module or a view. */
    async shownIn(accountId: number, place: string, { limit, offset }: Page) {
      const where = sql`account_id = ${accountId} and show_in_module = ${place} and active`;
      const rows = await sql<EmbeddedRow[]>`
        select id, name, url_code, description, app_engine, public, show_in_module from apps where ${where}
        order by name, id limit ${limit} offset ${offset}`;
      const [count] = await sql<{ total: number }[]>`select count(*) as total from apps where ${where}`;
      return { rows, total: count?.total ?? 0 };
    },
  };
}
