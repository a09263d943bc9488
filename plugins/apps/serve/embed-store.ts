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
  readonly dbCode: string | null;
  readonly homeWidth: unknown;
}

/** More are not shown at once: menus and dashboards are for people. */
const mostShown = 1000;

/** The active apps in a module or a view. */
export function shownIn(sql: Sql, accountId: number, place: string, asked: Page) {
  return page(sql, sql`account_id = ${accountId} and show_in_module = ${place} and active`, asked);
}

/** The active apps in any of these modules. */
export function inModules(sql: Sql, accountId: number, modules: readonly string[]) {
  return page(sql, sql`account_id = ${accountId} and show_in_module = any(${modules}::text[]) and active`, {
    limit: mostShown,
    offset: 0,
  });
}

/** The active apps that may be tiles of a dashboard. */
export function tiles(sql: Sql, accountId: number, asked: Page) {
  return page(sql, sql`account_id = ${accountId} and fields -> 'dashboard_widget' = 'true' and active`, asked);
}

function page(sql: Sql, where: Fragment, asked: Page) {
  return readPage<EmbeddedRow>(sql, asked, {
    columns: sql`id, name, url_code, description, app_engine, public, show_in_module, db_code, fields -> 'home_width' as home_width`,
    from: sql`apps where ${where}`,
    order: sql`name, id`,
  });
}
