/** SQL about apps beside that of the resource: who names what, versions, previews, and builds. */
import { flagOf, isUuid, readPage, words } from "platform";
import type { Fragment, GivenOf, NamedRecord, Page, Queryable, RowOf, Sql, Tx, Use } from "platform";
import type { AppEngine, CssEngine } from "./choices.ts";
import type { Compiled } from "./compiler/task.ts";
import { isTile, type fields, type Json, type savedFields } from "./fields.ts";

/** The fields that a save writes and a version keeps. */
export type SavedFields = GivenOf<typeof savedFields>;

/** `fields` tell whether it is a tile, too. */
export type AppRow = Omit<RowOf<typeof fields, "uuid">, "dashboardWidget">;

/** An app for its page: with its build, without the fields that only its authors see. */
export interface ServedRow extends Omit<AppRow, "sourceCode" | "prompt"> {
  readonly appCode: string;
  readonly cssCode: string;
  readonly toolchain: string;
  /** Why the last change of the source was not saved; null = it was. */
  readonly failedBuild: readonly string[] | null;
}

/** The part of an app that a visitor's requests need. */
export type AppMeta = Pick<ServedRow, "id" | "accountId" | "active" | "public" | "actions"> & {
  /** The databases that it names. */
  readonly dbCodes: readonly string[];
};

export interface VersionRow extends SavedFields {
  readonly dashboardWidget: boolean;
  readonly version: number;
  readonly createdById: number | null;
  readonly createdAt: Date;
}

/** The databases whose private records the app may reach with its viewer's rights, by code or id. behaviour B.10. */
export function databasesOf({ dbCode, fields }: Pick<SavedFields, "dbCode" | "fields">): string[] {
  const { dbs } = fields;
  const further = Array.isArray(dbs) ? dbs.filter((code) => typeof code === "string" && code !== "") : [];
  return dbCode === null ? further : [dbCode, ...further];
}

export interface Build extends Compiled {
  readonly toolchain: string;
}

/** The fields that a save writes and a version keeps. */
export const saved = (
  sql: Queryable,
) => sql`name, url_code, description, app_engine, css_engine, source_code, public, active,
  db_code, show_in_module, prompt, actions, fields, config`;

/** An app without its long texts. */
export const head = (
  sql: Queryable,
) => sql`id, account_id, name, url_code, description, app_engine, css_engine, public, active,
  db_code, show_in_module, actions, fields, config, trusted, app_build_time, css_build_time, created_by_id, updated_by_id,
  version, created_at, updated_at`;

/** The latest ones of an app; older ones go with the next save. */
export const keptVersions = 200;

/** By id or url_code. */
export const byKey = (sql: Queryable, accountId: number, key: string) =>
  sql`account_id = ${accountId} and ${isUuid(key) ? sql`id = ${key}` : sql`url_code = ${key}`}`;

/** Narrows a list to those that can be tiles, or to the others. */
export function tileOrNot(sql: Sql, query: URLSearchParams, name: string): Fragment | undefined {
  const given = flagOf(query, name);
  return given === undefined ? undefined : sql`${words(sql, isTile)} = ${given}`;
}

/** What its build is made of. */
export async function sourceOf(sql: Sql, accountId: number, id: string) {
  const [row] = await sql<Pick<AppRow, "version" | "appEngine" | "cssEngine" | "sourceCode">[]>`
    select version, app_engine, css_engine, source_code from apps where account_id = ${accountId} and id = ${id}`;
  return row;
}

/** The apps that name one of these databases, in a field or the source, or whose actions start one of these flows. */
export async function naming(
  sql: Sql,
  accountId: number,
  { model, keys }: NamedRecord,
  limit: number,
): Promise<readonly Use[]> {
  const names = {
    "Core::Db": sql`(
      db_code = any(${keys}) or jsonb_exists_any((fields -> 'dbs')::jsonb, ${keys})
      or exists (select from unnest(${keys}::text[]) k where source_code ~ (
        '(/core/dbs?/|\\.(db|records)\\([''"\`])' || k || '(?![A-Za-z0-9_-])')))`,
    "Core::Flow": sql`exists (
      select from jsonb_array_elements(actions::jsonb) a where a ->> 'flow_code' = any(${keys}))`,
  }[model];
  if (!names) return [];
  const rows = await sql<Pick<AppRow, "id" | "name">[]>`
    select id, name from apps where account_id = ${accountId} and ${names} order by url_code limit ${limit}`;
  return rows.map(({ id, name }) => ({ kind: "app", id, name, path: `/core/apps/${id}.json` }));
}

/** The actions that start this flow; off with their app. */
export const actionsOf = (sql: Sql, accountId: number, flowCode: string) =>
  sql<{ id: string; app: string; action: string; active: boolean }[]>`
    select id, url_code as app, a ->> 'action' as action, active
    from apps, jsonb_array_elements(actions::jsonb) a
    where account_id = ${accountId} and a ->> 'flow_code' = ${flowCode} order by url_code, 3 limit 1000`;

export async function exists(sql: Sql, accountId: number, key: string): Promise<boolean> {
  if (!isKey(key)) return false;
  return (await sql`select from apps where ${byKey(sql, accountId, key)}`).length > 0;
}

/** A saved app as a new version, beside `keptVersions` earlier ones. */
export async function keepVersion(tx: Tx, { accountId, id }: Pick<AppRow, "accountId" | "id">): Promise<void> {
  await tx`
    with app as (
      select id, version, account_id, ${saved(tx)}, created_by_id, updated_by_id, updated_at from apps
      where account_id = ${accountId} and id = ${id}
    ), kept as (
      insert into app_versions (app_id, version, account_id, ${saved(tx)}, created_by_id, created_at)
      select id, version, account_id, ${saved(tx)}, coalesce(updated_by_id, created_by_id), updated_at from app)
    delete from app_versions v using app
    where v.account_id = app.account_id and v.app_id = app.id and v.version <= app.version - ${keptVersions}::integer`;
}

/** Whether this can be an app's address; if not, there is no need to look for one. */
export function isKey(key: string): boolean {
  return /^[\w-]{1,100}$/.test(key);
}

// The copies of an app: its versions, previews and builds. A save adds a version, and none ever changes.

const versionColumns = (sql: Queryable) =>
  sql`version, ${saved(sql)}, ${words(sql, isTile)} as dashboard_widget, created_by_id, created_at`;

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

/** The build of what this transaction saves. */
export async function keepBuild(tx: Tx, accountId: number, id: string, build: Build): Promise<void> {
  await tx`
    update apps set app_code = ${build.appCode}, css_code = ${build.cssCode}, toolchain = ${build.toolchain},
      failed_build = null
    where account_id = ${accountId} and id = ${id}`;
}

/** Saves the build only if it was made from the current version, so that it never replaces a newer one. */
export async function saveBuild(sql: Sql, accountId: number, id: string, version: number, build: Build): Promise<void> {
  await sql`
    update apps set app_code = ${build.appCode}, css_code = ${build.cssCode}, toolchain = ${build.toolchain},
      app_build_time = ${build.appBuildMs}, css_build_time = ${build.cssBuildMs}
    where account_id = ${accountId} and id = ${id} and version = ${version}`;
}
