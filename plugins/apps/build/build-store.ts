/** The builds of apps: what pages are served from. */
import type { Sql } from "platform";
import { appColumns, byKey, type Build, type ServedRow } from "../store.ts";

export type BuildStore = ReturnType<typeof createBuildStore>;

export function createBuildStore(sql: Sql) {
  const { head } = appColumns(sql);

  return {
    /** By id or url_code. */
    async find(accountId: number, key: string): Promise<ServedRow | undefined> {
      const [row] = await sql<ServedRow[]>`
        select ${head}, app_code, css_code, toolchain, failed_build from apps where ${byKey(sql, accountId, key)}`;
      return row;
    },

    /** Does not change the saved app. */
    async noteFailed(accountId: number, id: string, mistakes: readonly string[]): Promise<void> {
      await sql`
        update apps set failed_build = ${JSON.stringify(mistakes)}::text::jsonb where account_id = ${accountId} and id = ${id}`;
    },

    /** Saves the build only if it was made from the current version, so that it never replaces a newer one. */
    async save(accountId: number, id: string, version: number, build: Build): Promise<void> {
      await sql`
        update apps set app_code = ${build.appCode}, css_code = ${build.cssCode}, toolchain = ${build.toolchain},
          app_build_time = ${build.appBuildMs}, css_build_time = ${build.cssBuildMs}
        where account_id = ${accountId} and id = ${id} and version = ${version}`;
    },
  };
}
