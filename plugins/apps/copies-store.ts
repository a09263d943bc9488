/** SQL of the copies of an app: its versions, previews and builds. A save adds a version, and none ever changes. */
import { readPage, type Page, type Sql, type Queryable, type Tx } from "platform";
import { saved, byKey, head, type VersionRow, type Json, type Build, type ServedRow } from "./store.ts";
import type { AppEngine, CssEngine } from "./choices.ts";

const versionColumns = (sql: Queryable) => sql`version, ${saved(sql)}, created_by_id, created_at`;

export async function listVersions(sql: Sql, accountId: number, id: string, page: Page) {
  const where = sql`account_id = ${accountId} and app_id = ${id}`;
  return readPage<VersionRow>(sql, page, {
    columns: versionColumns(sql),
    from: sql`app_versions where ${where}`,
    order: sql`version desc`,
  });
}

export async function findVersion(
  sql: Sql,
  accountId: number,
  id: string,
  version: number,
): Promise<VersionRow | undefined> {
  const [row] = await sql<VersionRow[]>`
    select ${versionColumns(sql)} from app_versions
    where account_id = ${accountId} and app_id = ${id} and version = ${version}`;
  return row;
}

export interface PreviewRow {
  readonly accountId: number;
  readonly userId: number;
  readonly appId: string | null;
  readonly name: string;
  readonly appEngine: AppEngine;
  readonly cssEngine: CssEngine;
  readonly appCode: string;
  readonly cssCode: string;
  readonly fields: Json;
  readonly config: Json;
  readonly expiresAt: Date;
  /** The saved app's database. */
  readonly dbCode: string | null;
}

export type NewPreview = Omit<PreviewRow, "dbCode"> & { readonly tokenHash: string };

/** Also deletes the person's older previews, except the `most - 1` newest. */
export async function insertPreview(tx: Tx, preview: NewPreview, most: number): Promise<void> {
  const { tokenHash, accountId, userId, appId, name, appEngine, cssEngine, appCode, cssCode, expiresAt } = preview;
  await tx`
    insert into app_previews (token_hash, account_id, user_id, app_id, name, app_engine, css_engine, app_code,
      css_code, fields, config, expires_at)
    values (${tokenHash}, ${accountId}, ${userId}, ${appId}, ${name}, ${appEngine}, ${cssEngine}, ${appCode},
      ${cssCode}, ${JSON.stringify(preview.fields)}::text::jsonb, ${JSON.stringify(preview.config)}::text::jsonb,
      ${expiresAt})`;
  await tx`
    delete from app_previews where account_id = ${accountId} and token_hash in (
      select token_hash from app_previews where account_id = ${accountId} and user_id = ${userId}
      order by created_at desc, (token_hash = ${tokenHash}) desc offset ${most})`;
}

export async function findPreview(sql: Sql, accountId: number, tokenHash: string): Promise<PreviewRow | undefined> {
  const [row] = await sql<PreviewRow[]>`
    select p.account_id, p.user_id, p.app_id, p.name, p.app_engine, p.css_engine, p.app_code, p.css_code, p.fields,
      p.config, p.expires_at, a.db_code
    from app_previews p left join apps a on a.id = p.app_id and a.account_id = p.account_id
    where p.account_id = ${accountId} and p.token_hash = ${tokenHash}`;
  return row;
}

export async function prunePreviews(sql: Sql): Promise<void> {
  await sql`delete from app_previews where expires_at < now()`;
}

// Pages are served from builds.

/** By id or url_code. */
export async function findBuild(sql: Sql, accountId: number, key: string): Promise<ServedRow | undefined> {
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
export async function saveBuild(sql: Sql, accountId: number, id: string, version: number, build: Build): Promise<void> {
  await sql`
    update apps set app_code = ${build.appCode}, css_code = ${build.cssCode}, toolchain = ${build.toolchain},
      app_build_time = ${build.appBuildMs}, css_build_time = ${build.cssBuildMs}
    where account_id = ${accountId} and id = ${id} and version = ${version}`;
}
