/** The builds of apps: what pages are served from. */
import type { Sql } from "platform";
import { byKey, head, type Build, type ServedRow } from "../store.ts";

/** By id or url_code. */
export async function find(sql: Sql, accountId: number, key: string): Promise<ServedRow | undefined> {
  const [row] = await sql<ServedRow[]>`
    select ${head(sql)}, app_code, css_code, toolchain, failed_build from apps where ${byKey(sql, accountId, key)}`;
  return row;
}

/** Does not change the saved app. */
export async function noteFailed(sql: Sql, accountId: number, id: string, mistakes: readonly string[]): Promise<void> {
  await sql`
    update apps set failed_build = ${JSON.stringify(mistakes)}::text::jsonb where account_id = ${accountId} and id = ${id}`;
}

/** Saves the build only if it was made from the current version, so that it never replaces a newer one. */
export async function save(sql: Sql, accountId: number, id: string, version: number, build: Build): Promise<void> {
  await sql`
    update apps set app_code = ${build.appCode}, css_code = ${build.cssCode}, toolchain = ${build.toolchain},
      app_build_time = ${build.appBuildMs}, css_build_time = ${build.cssBuildMs}
    where account_id = ${accountId} and id = ${id} and version = ${version}`;
}
