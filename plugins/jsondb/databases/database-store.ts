/** All SQL about databases themselves. */
import { readPage, type Page, type Queryable, type Sql, type Static, type Tx } from "platform";
import type { Db } from "./answers.ts";
import { collationOfAccount, collationOfEquals } from "./collation-store.ts";
import type { DatabaseRow } from "./database.ts";

export interface DbRow extends DatabaseRow {
  readonly name: string;
  readonly appId: string | null;
  readonly fields: unknown;
  readonly createdById: number | null;
  readonly updatedById: number | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The stored fields of a database; undefined leaves a field as it is. */
export interface DbInput {
  readonly name?: string | undefined;
  readonly code?: string | undefined;
  readonly appId?: string | null | undefined;
  readonly schema?: unknown;
  readonly publicMethods?: unknown;
  readonly fields?: unknown;
}

/** How a new schema affects the records. */
export type SchemaEffect = "none" | "same indexes" | "other indexes";

export interface DbPatch {
  readonly input: DbInput;
  readonly schemaEffect: SchemaEffect;
  readonly userId: number | null;
  /** The version that the patch was made for. */
  readonly version: number;
}

/** The object of behaviour B.7. */
export function toApi(row: DbRow): Static<typeof Db> {
  return {
    id: row.id,
    name: row.name,
    code: row.code,
    app_id: row.appId,
    schema: row.schema,
    public_methods: row.publicMethods,
    fields: row.fields,
    created_by_id: row.createdById,
    updated_by_id: row.updatedById,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

const columns = (on: Queryable) => {
  const collation = on.unsafe(`(select ${collationOfAccount} from accounts a where a.id = dbs.account_id)`);
  return on`
    id, account_id, code, name, app_id, schema, public_methods, fields, version, schema_version, rules_version, plan_version,
    indexed_version, live, created_by_id, updated_by_id, created_at, updated_at,
    (select a.timezone from accounts a where a.id = dbs.account_id) as timezone, ${collation} as "collation",
    ${on.unsafe(collationOfEquals)} as equals_by,
    array(
      select i.shape from db_indexes i
      where i.db_id = dbs.id and i.status = 'ready'
        and (i.shape not like '%>idx_str%' or i.collation_name = ${collation})) as learned`;
};

const json = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value));

export async function list(
  sql: Sql,
  accountId: number,
  filter: { q?: string | undefined; code?: string | undefined },
  page: Page,
) {
  const where = sql`account_id = ${accountId}
    ${filter.q === undefined ? sql`` : sql`and (name ilike ${filter.q} or code ilike ${filter.q})`}
    ${filter.code === undefined ? sql`` : sql`and code = ${filter.code}`}`;
  return readPage<DbRow>(sql, page, { columns: columns(sql), from: sql`dbs where ${where}`, order: sql`id` });
}

/** By id or code. */
export async function find(on: Queryable, accountId: number, key: string): Promise<DbRow | undefined> {
  if (!isKey(key)) return undefined;
  const [row] = await on<DbRow[]>`select ${columns(on)} from dbs where ${byKey(on, accountId, key)}`;
  return row;
}

/** The same, locked until the transaction ends, so that writes take turns. */
export async function lock(tx: Tx, accountId: number, key: string): Promise<DbRow | undefined> {
  if (!isKey(key)) return undefined;
  const [row] = await tx<DbRow[]>`select ${columns(tx)} from dbs where ${byKey(tx, accountId, key)} for no key update`;
  return row;
}

export async function insert(
  tx: Tx,
  row: { id: string; accountId: number; userId: number | null } & DbInput & { code: string; name: string },
) {
  const [made] = await tx<DbRow[]>`
    insert into dbs (id, account_id, code, name, app_id, schema, public_methods, fields, created_by_id)
    values (${row.id}, ${row.accountId}, ${row.code}, ${row.name}, ${row.appId ?? null}, ${json(row.schema)}::text::json,
      ${json(row.publicMethods)}::text::json, ${json(row.fields ?? {})}::text::json, ${row.userId})
    returning ${columns(tx)}`;
  return made as DbRow; // an insert of one row returns one
}

export async function update(tx: Tx, id: string, { input, schemaEffect, userId, version }: DbPatch): Promise<DbRow> {
  const set = (name: string, value: string | null | undefined) =>
    value === undefined ? tx`` : tx`${tx(name)} = ${value},`;
  const setJson = (name: string, value: unknown) =>
    value === undefined ? tx`` : tx`${tx(name)} = ${json(value)}::text::json,`;
  const schema = {
    none: tx``,
    "same indexes": tx`schema_version = schema_version + 1, rules_version = rules_version + 1,`,
    "other indexes": tx`schema_version = schema_version + 1, rules_version = rules_version + 1, plan_version = plan_version + 1, plan_xid = pg_current_xact_id(),`,
  }[schemaEffect];
  const [row] = await tx<DbRow[]>`
    update dbs set ${set("name", input.name)} ${set("code", input.code)} ${set("app_id", input.appId)}
      ${setJson("schema", input.schema)} ${setJson("public_methods", input.publicMethods)}
      ${setJson("fields", input.fields)} ${schema}
      version = version + 1, updated_by_id = ${userId}, updated_at = now()
    where id = ${id} and version = ${version}
    returning ${columns(tx)}`;
  return row as DbRow; // `lock` held the row at this version
}

/** Those that name this app. */
export function namingApp(sql: Sql, accountId: number, ids: readonly string[], limit: number) {
  return sql<Pick<DbRow, "id" | "name">[]>`
    select id, name from dbs where account_id = ${accountId} and app_id::text = any(${ids}) order by code limit ${limit}`;
}

export async function remove(tx: Tx, id: string): Promise<void> {
  await tx`delete from dbs where id = ${id}`;
}

/** PostgreSQL cannot compare a text with NUL, and no code is longer than 100 characters. */
export function isKey(key: string): boolean {
  return key.length <= 100 && !key.includes("\0");
}

function byKey(on: Queryable, accountId: number, key: string) {
  return isId(key)
    ? on`account_id = ${accountId} and id = ${key.toLowerCase()}`
    : on`account_id = ${accountId} and code = ${key}`;
}

/** Codes never have the form of an id, so one path segment can be either. */
export function isId(key: string): boolean {
  return /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(key);
}
