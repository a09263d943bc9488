/** All SQL about databases themselves. */
import { readPage, type Page, type Queryable, type Sql, type Static, type Tx } from "platform";
import type { Db, DatabaseRow, Database } from "./database.ts";
import { collationOfAccount, collationOfEquals, indexColumnList, recordIndexValues } from "./columns-store.ts";
import type { Schema } from "./schema.ts";

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

/** The databases that name this app. */
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

// SQL of the jobs that visit all records of one database.

export interface PlanRow {
  readonly code: string;
  readonly schema: unknown;
  readonly planVersion: number;
  readonly indexedVersion: number;
}

const indexColumns = (sql: Queryable) => sql.unsafe(indexColumnList);

const indexed = (sql: Queryable) => sql.unsafe(recordIndexValues);

export async function plan(sql: Sql, dbId: string): Promise<PlanRow | undefined> {
  const [row] = await sql<PlanRow[]>`
    select code, schema, plan_version, indexed_version from dbs where id = ${dbId}`;
  return row;
}

/**
 * Indexes the next records after `after` that were written by an older plan, and counts them in the task. Gives the last id, undefined at the
 * end. Rows that another transaction has locked are left for the next pass.
 */
export async function reindex(
  sql: Sql,
  dbId: string,
  planVersion: number,
  schema: Schema,
  after: string,
  most: number,
) {
  const plans = Object.fromEntries([...schema.tables].map(([name, { indexFields }]) => [name, indexFields]));
  const [row] = await sql<{ last: string | null }[]>`
    with batch as materialized (
      select r.id from records r
      where r.db_id = ${dbId} and r.id > ${after} and r.plan_version < ${planVersion}
      order by r.id limit ${most} for no key update skip locked
    ), done as (
      update records r set plan_version = ${planVersion},
        (${indexColumns(sql)}) = (
          select ${indexed(sql)} from record_index(r.data,
            array(select jsonb_array_elements_text(${JSON.stringify(plans)}::text::jsonb -> r.table_name))) x)
      from batch b, dbs d
      where r.db_id = ${dbId} and r.id = b.id and r.plan_version < ${planVersion}
        and d.id = ${dbId} and d.plan_version = ${planVersion}
      returning 1
    ), told as (
      update db_tasks set done = done + (select count(*) from done), updated_at = now()
      where account_id = (select account_id from dbs where id = ${dbId}) and db_id = ${dbId}
        and kind = 'reindex' and status = 'running'
    )
    select max(id::text) as last from batch`;
  return row?.last ?? undefined;
}

/**
 * A statement that began before the plan changed may still write records by the old plan. If
 * none runs, gives the end of the transactions that may have done so and are not committed yet.
 */
export async function oldWritersEnd(sql: Sql, dbId: string): Promise<string | undefined> {
  const [row] = await sql<{ end: string }[]>`
    select pg_snapshot_xmax(pg_current_snapshot())::text as end from dbs d
    where d.id = ${dbId} and not exists (
      select from pg_stat_activity a
      where a.datname = current_database() and a.backend_type = 'client backend' and a.pid <> pg_backend_pid()
        and age(a.backend_xmin) >= age(d.plan_xid::xid))`;
  return row?.end;
}

/** Whether every transaction before `end` is over. */
export async function isPast(sql: Sql, end: string): Promise<boolean> {
  const [row] = await sql<{ past: boolean }[]>`
    select pg_snapshot_xmin(pg_current_snapshot()) >= ${end}::text::xid8 as past`;
  return row?.past ?? false;
}

/** From here on queries trust the index columns. False if a record is not indexed yet, or the plan has changed. */
export async function markIndexed(sql: Sql, dbId: string, planVersion: number): Promise<boolean> {
  const { count } = await sql`
    update dbs set indexed_version = ${planVersion}
    where id = ${dbId} and plan_version = ${planVersion} and not exists (
      select from records where db_id = ${dbId} and plan_version < ${planVersion})`;
  return count === 1;
}

/** Deletes some records of a deleted database; gives how many. */
export async function dropRecords(sql: Sql, dbId: string, most: number): Promise<number> {
  const { count } = await sql`
    delete from records where db_id = ${dbId} and id in (
      select id from records where db_id = ${dbId} order by id limit ${most})
      and not exists (select from dbs where id = ${dbId})`;
  return count;
}

/** The size of all its records' data as text, which is what reading them costs. */
export async function bytesOf(sql: Sql, { accountId, id }: Pick<Database, "accountId" | "id">): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select coalesce(sum(octet_length(data::text)), 0)::float8 as bytes from records
    where account_id = ${accountId} and db_id = ${id}`;
  return row?.bytes ?? 0;
}
