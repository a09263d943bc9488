/** SQL for apps embedded in modules, in views and on dashboards. */
import { readPage, type Fragment, type Page, type Sql } from "platform";

export interface EmbeddedRow {
  readonly id: string;
  readonly name: string;
  readonly urlCode: string;
  readonly description: string | null;
  readonly appEngine: string;
  readonly public: boolean;
  readonly showInModule: string | null;
}

/** More are not shown at once: menus and dashboards are for people. */
const mostShown = 1000;

export type EmbedStore = ReturnType<typeof createEmbedStore>;

export function createEmbedStore(sql: Sql) {
  const page = (where: Fragment, asked: Page) =>
    readPage<EmbeddedRow>(sql, asked, {
      columns: sql`id, name, url_code, description, app_engine, public, show_in_module`,
      from: sql`apps where ${where}`,
      order: sql`name, id`,
    });

  return {
    /** The active apps in a module or a view. */
    shownIn: (accountId: number, place: string, asked: Page) =>
      page(sql`account_id = ${accountId} and show_in_module = ${place} and active`, asked),

    /** The active apps in any of these modules. */
    inModules: (accountId: number, modules: readonly string[]) =>
      page(sql`account_id = ${accountId} and show_in_module = any(${modules}::text[]) and active`, {
        limit: mostShown,
        offset: 0,
      }),

    /** The active apps that may be tiles of a dashboard. */
    tiles: (accountId: number, asked: Page) =>
      page(sql`account_id = ${accountId} and fields -> 'dashboard_widget' = 'true' and active`, asked),
  };
}
