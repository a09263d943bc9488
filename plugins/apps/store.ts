/** All SQL for saving apps. */
import { type AppEngine, type CssEngine } from "./choices.ts";
import {
  readPage,
  isUuid,
  type Fragment,
  type Named,
  type Page,
  type Queryable,
  type Sql,
  type Static,
  type Tx,
  type Use,
} from "platform";
import type { App, AppVersion } from "./answers.ts";
import type { Compiled } from "./compiler/task.ts";

/** An element of `actions`, as given. behaviour 2.3. */
export interface Action {
  readonly action: string;
  readonly flow_code: string;
  readonly description?: string | null;
  readonly public?: boolean;
}

export type Json = Readonly<Record<string, unknown>>;

/** The fields that a save writes and a version keeps. */
export interface Saved {
  readonly name: string;
  readonly urlCode: string;
  readonly description: string | null;
  readonly appEngine: AppEngine;
  readonly cssEngine: CssEngine;
  readonly sourceCode: string;
  readonly public: boolean;
  readonly active: boolean;
  readonly dbCode: string | null;
  readonly showInModule: string | null;
  readonly prompt: string | null;
  readonly actions: readonly Action[];
  readonly fields: Json;
  readonly config: Json;
}

export interface AppRow extends Saved {
  readonly id: string;
  readonly accountId: number;
  readonly trusted: boolean;
  /** Milliseconds of the last build. */
  readonly appBuildTime: number;
  readonly cssBuildTime: number;
  /** Null = the command line. */
  readonly createdById: number | null;
  readonly updatedById: number | null;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

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

export interface VersionRow extends Saved {
  readonly version: number;
  readonly createdById: number | null;
  readonly createdAt: Date;
}

/** The databases whose private records the app may reach with its viewer's rights, by code or id. behaviour B.10. */
export function databasesOf({ dbCode, fields }: Pick<Saved, "dbCode" | "fields">): string[] {
  const { dbs } = fields;
  const further = Array.isArray(dbs) ? dbs.filter((code) => typeof code === "string" && code !== "") : [];
  return dbCode === null ? further : [dbCode, ...further];
}

export interface Build extends Compiled {
  readonly toolchain: string;
}

export interface AppFilter {
  /** A LIKE pattern. */
  readonly q?: string | undefined;
  readonly appEngine?: string | undefined;
  readonly showInModule?: string | undefined;
  readonly dashboardWidget?: boolean | undefined;
  readonly active?: boolean | undefined;
  readonly public?: boolean | undefined;
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

/** An AppRow. */
const columns = (sql: Queryable) => sql`${head(sql)}, source_code, prompt`;

/** The latest ones of an app; older ones go with the next save. */
export const keptVersions = 200;

/** By id or url_code. */
export const byKey = (sql: Queryable, accountId: number, key: string) =>
  sql`account_id = ${accountId} and ${isUuid(key) ? sql`id = ${key}` : sql`url_code = ${key}`}`;

const isTile = (sql: Queryable) => sql`coalesce(fields -> 'dashboard_widget' = 'true', false)`;

export async function listApps(sql: Sql, accountId: number, filter: AppFilter, page: Page) {
  const where = conditions(sql, accountId, filter);
  return readPage<AppRow>(sql, page, {
    columns: columns(sql),
    from: sql`apps where ${where}`,
    order: sql`id`,
  });
}

/** By id or url_code. */
export async function findApp(sql: Sql, accountId: number, key: string): Promise<AppRow | undefined> {
  if (!isKey(key)) return undefined;
  const [row] = await sql<AppRow[]>`select ${columns(sql)} from apps where ${byKey(sql, accountId, key)}`;
  return row;
}

/** The apps that name one of these databases, in a field or the source, or whose actions start one of these flows. */
export async function naming(
  sql: Sql,
  accountId: number,
  { model, keys }: Named,
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

export async function exists(sql: Sql, accountId: number, key: string): Promise<boolean> {
  if (!isKey(key)) return false;
  return (await sql`select from apps where ${byKey(sql, accountId, key)}`).length > 0;
}

/** The id for a url_code. An id is returned unchanged, whether or not the app exists. */
export async function idOf(sql: Sql, accountId: number, key: string): Promise<string | undefined> {
  if (isUuid(key)) return key.toLowerCase();
  if (!isKey(key)) return undefined;
  const [row] = await sql<{ id: string }[]>`
    select id from apps where account_id = ${accountId} and url_code = ${key}`;
  return row?.id;
}

/** The current version. Nobody else can change the app until this transaction ends. */
export async function lock(tx: Tx, accountId: number, id: string): Promise<number | undefined> {
  const [row] = await tx<{ version: number }[]>`
    select version from apps where account_id = ${accountId} and id = ${id} for update`;
  return row?.version;
}

export function insert(tx: Tx, app: Saved & Owned & { readonly build: Build }): Promise<AppRow> {
  const { build } = app;
  const statement = tx`
    insert into apps (id, account_id, ${saved(tx)}, trusted, app_code, css_code, toolchain, app_build_time,
      css_build_time, created_by_id)
    values (${app.id}, ${app.accountId}, ${app.name}, ${app.urlCode}, ${app.description}, ${app.appEngine},
      ${app.cssEngine}, ${app.sourceCode}, ${app.public}, ${app.active}, ${app.dbCode}, ${app.showInModule},
      ${app.prompt}, ${json(app.actions)}::text::jsonb, ${json(app.fields)}::text::jsonb,
      ${json(app.config)}::text::jsonb, ${app.trusted}, ${build.appCode}, ${build.cssCode}, ${build.toolchain},
      ${build.appBuildMs}, ${build.cssBuildMs}, ${app.userId})`;
  return savedBy(tx, app, statement);
}

/** Without a build the compiled code stays as it is. */
export function update(tx: Tx, app: Saved & Owned & { readonly build: Build | undefined }): Promise<AppRow> {
  const { build } = app;
  const built = build
    ? tx`app_code = ${build.appCode}, css_code = ${build.cssCode}, toolchain = ${build.toolchain},
      app_build_time = ${build.appBuildMs}, css_build_time = ${build.cssBuildMs}, failed_build = null,`
    : tx``;
  const statement = tx`
    update apps set name = ${app.name}, url_code = ${app.urlCode}, description = ${app.description},
      app_engine = ${app.appEngine}, css_engine = ${app.cssEngine}, source_code = ${app.sourceCode},
      public = ${app.public}, active = ${app.active}, db_code = ${app.dbCode},
      show_in_module = ${app.showInModule}, prompt = ${app.prompt}, actions = ${json(app.actions)}::text::jsonb,
      fields = ${json(app.fields)}::text::jsonb, config = ${json(app.config)}::text::jsonb,
      trusted = ${app.trusted}, ${built} updated_by_id = ${app.userId}, version = version + 1, updated_at = now()
    where account_id = ${app.accountId} and id = ${app.id}`;
  return savedBy(tx, app, statement);
}

export async function remove(tx: Tx, accountId: number, id: string): Promise<AppRow | undefined> {
  const [row] = await tx<AppRow[]>`
    delete from apps where account_id = ${accountId} and id = ${id} returning ${columns(tx)}`;
  return row;
}

/** Wraps a statement that saves an app: keeps the new version and answers with the app. */
async function savedBy(tx: Tx, app: Saved, statement: Fragment): Promise<AppRow> {
  const [row] = await tx<Omit<AppRow, "sourceCode" | "prompt">[]>`
    with app as (${statement} returning ${columns(tx)}), kept as (
      insert into app_versions (app_id, version, account_id, ${saved(tx)}, created_by_id, created_at)
      select id, version, account_id, ${saved(tx)}, coalesce(updated_by_id, created_by_id), updated_at from app
    ), pruned as (
      delete from app_versions v using app
      where v.account_id = app.account_id and v.app_id = app.id and v.version <= app.version - ${keptVersions}::integer)
    select ${head(tx)} from app`;
  if (!row) throw new Error("an app that was just inserted or locked exists");
  return { ...row, sourceCode: app.sourceCode, prompt: app.prompt };
}

function conditions(sql: Sql, accountId: number, filter: AppFilter) {
  const { q, appEngine, showInModule, dashboardWidget, active } = filter;
  return sql`account_id = ${accountId}
    ${q === undefined ? sql`` : sql`and (name ilike ${q} or url_code ilike ${q} or description ilike ${q})`}
    ${appEngine === undefined ? sql`` : sql`and app_engine = ${appEngine}`}
    ${showInModule === undefined ? sql`` : sql`and show_in_module = ${showInModule}`}
    ${dashboardWidget === undefined ? sql`` : sql`and ${isTile(sql)} = ${dashboardWidget}`}
    ${active === undefined ? sql`` : sql`and active = ${active}`}
    ${filter.public === undefined ? sql`` : sql`and public = ${filter.public}`}`;
}

/** Whether this can be an app's address; if not, there is no need to look for one. */
export function isKey(key: string): boolean {
  return /^[\w-]{1,100}$/.test(key);
}

/** The account, the author, and the field that only an administrator sets. */
export interface Owned {
  readonly id: string;
  readonly accountId: number;
  readonly userId: number | null;
  readonly trusted: boolean;
}

/** An app in the form of the API and of `Core::App` webhooks. behaviour 2.3, B.10. */
export function toApi(row: AppRow): Static<typeof App> {
  return {
    id: row.id,
    ...savedToApi(row),
    trusted: row.trusted,
    app_build_time: row.appBuildTime,
    css_build_time: row.cssBuildTime,
    created_by_id: row.createdById,
    updated_by_id: row.updatedById,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

/** behaviour B.10. */
export function versionToApi(row: VersionRow): Static<typeof AppVersion> {
  return { version: row.version, created_at: row.createdAt, created_by_id: row.createdById, ...savedToApi(row) };
}

function savedToApi(row: Saved) {
  return {
    name: row.name,
    url_code: row.urlCode,
    description: row.description,
    app_engine: row.appEngine,
    css_engine: row.cssEngine,
    source_code: row.sourceCode,
    public: row.public,
    active: row.active,
    db_code: row.dbCode,
    show_in_module: row.showInModule,
    dashboard_widget: row.fields["dashboard_widget"] === true,
    prompt: row.prompt,
    actions: row.actions,
    fields: row.fields,
    config: row.config,
  };
}

const json = (value: unknown) => JSON.stringify(value);
