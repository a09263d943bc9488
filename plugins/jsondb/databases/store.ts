/** SQL about databases beside that of the resource: who names an app, and the jobs that visit all records of one. */
import { readPage, words } from "platform";
import type { Caller, Fragment, Page, Queryable, Sql, Tx, User } from "platform";
import { subjectsOf } from "../access/access.ts";
import { model } from "../access/reach.ts";
import { forget as forgetLinks } from "../links/store.ts";
import type { Database } from "./database.ts";
import { indexColumnList, recordIndexValues } from "./columns-store.ts";
import { later } from "./columns-store.ts";
import type { Former, PendingRename } from "./renames.ts";
import type { Schema } from "./schema.ts";

/** The databases that name this app. */
export function namingApp(sql: Sql, accountId: number, ids: readonly string[], limit: number) {
  return sql<{ id: string; name: string }[]>`
    select id, name from dbs where account_id = ${accountId} and app_id::text = any(${ids}) order by code limit ${limit}`;
}

/** The rows of `dbs` that open for a person (reach.ts decides how far); all of them for a program. */
export function visibleTo(
  sql: Queryable,
  {
    user,
    privileges,
    within,
  }: { readonly user: User | object; readonly privileges: ReadonlySet<string> | null } & Pick<Caller, "within">,
): Fragment {
  if (!("role" in user) || privileges === null) return sql`true`;
  const own = within?.[model];
  return own
    ? sql`id = any(${Object.keys(own)}::uuid[]) and ${ofPerson(sql, user, privileges)}`
    : ofPerson(sql, user, privileges);
}

function ofPerson(sql: Queryable, user: User, privileges: ReadonlySet<string>): Fragment {
  const free = privileges.has("dbs") ? sql`access is null` : sql`false`;
  if (user.role === "admin") return sql`(access is not null or ${free})`;
  return sql`(${free} or access is not null and exists (
    select from jsonb_array_elements(access::jsonb) g where g ->> 'to' = any(${subjectsOf(user)}::text[])))`;
}

/** The ids of the databases that may open for somebody, or of all of an account, by code. */
export async function openIds(
  sql: Sql,
  accountId: number,
  caller: Caller | undefined,
  most: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from dbs where account_id = ${accountId} and ${caller ? visibleTo(sql, caller) : sql`true`}
    order by code limit ${most}`;
  return rows.map(({ id }) => id);
}

/** PostgreSQL cannot compare a text with NUL, and no code is longer than 100 characters. */
export function isKey(key: string): boolean {
  return key.length <= 100 && !key.includes("\0");
}

/** From here on, statements that began before this transaction write by an older plan. */
export async function markReplanned(tx: Tx, accountId: number, id: string): Promise<void> {
  await tx`update dbs set plan_xid = pg_current_xact_id() where account_id = ${accountId} and id = ${id}`;
}

export async function addRenames(
  tx: Tx,
  accountId: number,
  id: string,
  renames: readonly PendingRename[],
): Promise<void> {
  await tx`
    update dbs set renames = renames || ${JSON.stringify(renames)}::text::jsonb
    where account_id = ${accountId} and id = ${id}`;
}

export async function setFormer(tx: Tx, accountId: number, id: string, former: readonly Former[]): Promise<void> {
  await tx`
    update dbs set former = ${JSON.stringify(former)}::text::jsonb where account_id = ${accountId} and id = ${id}`;
}

/** Gives one record the names of today, before it is changed. */
export async function renameOne(tx: Tx, db: Pick<Database, "id" | "accountId">, id: string): Promise<void> {
  await tx`
    update records r set data = record_renamed(r.data, d.renames, r.table_name, r.plan_version)
    from dbs d
    where d.id = ${db.id} and d.account_id = ${db.accountId} and r.db_id = ${db.id} and r.account_id = ${db.accountId}
      and r.id = ${id} and r.plan_version < d.plan_version`;
}

// SQL of the jobs that visit all records of one database.

export interface PlanRow {
  readonly code: string;
  readonly schema: unknown;
  readonly planVersion: number;
  readonly indexedVersion: number;
  readonly renames: unknown;
}

const indexColumns = (sql: Queryable) => sql.unsafe(indexColumnList);

const indexed = (sql: Queryable) => sql.unsafe(recordIndexValues);

export async function plan(sql: Sql, dbId: string): Promise<PlanRow | undefined> {
  const [row] = await sql<PlanRow[]>`
    select code, schema, plan_version, indexed_version, renames from dbs where id = ${dbId}`;
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
  renames: readonly PendingRename[] = [],
) {
  const named =
    renames.length === 0
      ? sql`r.data`
      : sql`record_renamed(r.data, ${JSON.stringify(renames)}::text::jsonb, r.table_name, r.plan_version)`;
  const changed =
    renames.length === 0
      ? sql``
      : sql`data = ${named}, updated_at = case when r.data = ${named} then r.updated_at else ${sql.unsafe(later)} end,`;
  const plans = Object.fromEntries([...schema.tables].map(([name, { indexFields }]) => [name, indexFields]));
  const [row] = await sql<{ last: string | null }[]>`
    with batch as materialized (
      select r.id from records r
      where r.db_id = ${dbId} and r.id > ${after} and r.plan_version < ${planVersion}
      order by r.id limit ${most} for no key update skip locked
    ), done as (
      update records r set plan_version = ${planVersion}, ${changed}
        (${indexColumns(sql)}) = (
          select ${indexed(sql)} from record_index(${named},
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

/** The next records after `after`, held while their links are written. */
export function linkingPage(tx: Tx, accountId: number, dbId: string, after: string, most: number) {
  return tx<{ id: string; tableName: string; data: Record<string, unknown> }[]>`
    select id, table_name, data from records
    where account_id = ${accountId} and db_id = ${dbId} and id > ${after} order by id limit ${most} for no key update`;
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
    update dbs set indexed_version = ${planVersion}, renames = '[]'
    where id = ${dbId} and plan_version = ${planVersion} and not exists (
      select from records where db_id = ${dbId} and plan_version < ${planVersion})
      and (renames = '[]' or not exists (
        select from record_trash where db_id = ${dbId} and plan_version < ${planVersion}))`;
  return count === 1;
}

/** Deletes some records of a deleted database, and what it kept of deleted and changed ones; gives how many. */
export async function dropRecords(sql: Sql, dbId: string, most: number): Promise<number> {
  const gone = await sql<{ id: string; accountId: number }[]>`
    with gone as (
      delete from records where db_id = ${dbId} and id in (
        select id from records where db_id = ${dbId} order by id limit ${most})
        and not exists (select from dbs where id = ${dbId}) and not exists (select from db_trash where id = ${dbId})
      returning id, account_id
    ), freed as (
      delete from record_keys k using gone g where k.db_id = ${dbId} and k.id = g.id)
    select id, account_id from gone`;
  const [first] = gone;
  if (first)
    await forgetLinks(
      sql,
      first.accountId,
      gone.map(({ id }) => id),
    );
  const { count } = await sql`
    delete from record_trash where db_id = ${dbId} and id in (
      select id from record_trash where db_id = ${dbId} order by id limit ${most})
      and not exists (select from dbs where id = ${dbId}) and not exists (select from db_trash where id = ${dbId})`;
  const { count: entries } = await sql`
    delete from record_history where db_id = ${dbId} and (id, n) in (
      select id, n from record_history where db_id = ${dbId} order by id, n limit ${most})
      and not exists (select from dbs where id = ${dbId}) and not exists (select from db_trash where id = ${dbId})`;
  return gone.length + count + entries;
}

/** The size of all its records' data as text, which is what reading them costs, and of what is kept of them as stored. */
export async function bytesOf(sql: Sql, { accountId, id }: Pick<Database, "accountId" | "id">): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select (coalesce((
        select sum(octet_length(data::text)) from records where account_id = ${accountId} and db_id = ${id}), 0)
      + coalesce((
        select sum(bytes) from record_history where account_id = ${accountId} and db_id = ${id}), 0))::float8 as bytes`;
  return row?.bytes ?? 0;
}

/** Those of these records that are there or in the trash, as one moment has them: it tells nobody of them. */
export async function keptRecords(sql: Sql, dbId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    select id from records where db_id = ${dbId} and id = any(${[...ids]}::uuid[])
    union all
    select id from record_trash where db_id = ${dbId} and id = any(${[...ids]}::uuid[])`;
  return new Set(rows.map(({ id }) => id));
}

// Views.

type Of = Pick<Database, "id" | "accountId">;

/** A database's shared views and a person's own. */
export function viewsOf(on: Queryable, { id }: Of, userId: number): Fragment {
  return on`db_id = ${id} and (shared or created_by_id = ${userId})`;
}

export async function pageOfViews<Row>(sql: Sql, db: Of, userId: number, read: string, asked: Page) {
  return readPage<Row>(sql, asked, {
    columns: words(sql, read),
    from: sql`db_views where account_id = ${db.accountId} and ${viewsOf(sql, db, userId)}`,
    order: sql`position, id`,
  });
}

/** Until the transaction ends nobody else adds a view to the database. */
export async function holdViews(tx: Tx, { id }: Of): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`jsondb.views ${id}`}, 0))`;
}

/** How many shared ones there are, and how many of the person's own. */
export async function countViews(tx: Tx, { id, accountId }: Of, userId: number) {
  const [row] = await tx<{ all: number; own: number }[]>`
    select count(*) filter (where shared) as "all", count(*) filter (where not shared and created_by_id = ${userId}) as own
    from db_views where account_id = ${accountId} and db_id = ${id}`;
  return row ?? { all: 0, own: 0 };
}

/** The private views of people who are gone. */
export async function dropViewsOfNobody(sql: Sql): Promise<void> {
  await sql`
    delete from db_views v where not v.shared and not exists (
      select from users u where u.account_id = v.account_id and u.id = v.created_by_id)`;
}

/** Of a database that is gone. */
export async function dropViews(sql: Sql, accountId: number, dbId: string): Promise<void> {
  await sql`
    delete from db_views where account_id = ${accountId} and db_id = ${dbId}
      and not exists (select from dbs where id = ${dbId}) and not exists (select from db_trash where id = ${dbId})`;
}

// SQL of deleted databases.

export interface TrashedDb {
  readonly id: string;
  readonly code: string;
  readonly name: string;
  readonly deletedAt: Date;
  readonly deletedById: number | null;
  readonly deletedByName: string | null;
}

/** In the transaction of its deletion, before the row goes. */
export async function keepDeleted(tx: Tx, accountId: number, id: string, userId: number | null): Promise<void> {
  await tx`
    insert into db_trash (id, account_id, db, deleted_by_id, expires_at)
    select id, account_id, row_to_json(dbs), ${userId}, now() + interval '30 days' from dbs
    where account_id = ${accountId} and id = ${id}`;
}

/** The newest deletion first. */
export function listDeleted(sql: Sql, caller: Caller, page: Page) {
  return readPage<TrashedDb>(sql, page, {
    columns: sql`t.id, t.db ->> 'code' as code, t.db ->> 'name' as name, t.deleted_at, t.deleted_by_id,
      u.name as deleted_by_name`,
    from: sql`db_trash t left join users u on u.account_id = t.account_id and u.id = t.deleted_by_id
      where ${restorable(sql, caller)}`,
    order: sql`deleted_at desc, id`,
  });
}

/**
 * Writes the row of a deleted database again, and gives its code; one that was taken since gets a number. Undefined if
 * there is none that the caller may restore.
 */
export async function restoreDeleted(tx: Tx, caller: Caller, id: string): Promise<string | undefined> {
  const [kept] = await tx<{ columns: string[] }[]>`
    select array(
      select column_name::text from information_schema.columns
      where table_schema = current_schema() and table_name = 'dbs' and (t.db -> column_name::text) is not null
        and column_name <> all(array['code', 'version', 'schema_version', 'updated_by_id', 'updated_at', 'live'])
    ) as columns
    from db_trash t where t.id = ${id} and ${restorable(tx, caller)} for update of t`;
  if (!kept) return undefined;
  // A column that is younger than the deletion has its default.
  const columns = tx(kept.columns);
  const [made] = await tx<{ code: string }[]>`
    insert into dbs (${columns}, code, version, schema_version, updated_by_id)
    select ${columns}, case when k.is_taken then (
        select left(d.code, 94) || '-' || n from generate_series(2, 10000) n
        where not exists (
          select from dbs o where o.account_id = ${caller.account.id} and o.code = left(d.code, 94) || '-' || n)
        order by n limit 1) else d.code end,
      d.version + 1, d.schema_version + 1, ${caller.user.id}
    from json_populate_record(null::dbs, (
        select t.db from db_trash t where t.account_id = ${caller.account.id} and t.id = ${id})) d,
      lateral (
        select exists (select from dbs o where o.account_id = ${caller.account.id} and o.code = d.code) as is_taken) k
    returning code`;
  await tx`delete from db_trash where account_id = ${caller.account.id} and id = ${id}`;
  return made?.code;
}

/** By the levels of today: whoever may manage it, and who deleted it. */
function restorable(on: Queryable, { account, user, privileges, within }: Caller): Fragment {
  const access = on`(case when json_typeof(t.db -> 'access') = 'array' then t.db -> 'access' end)`;
  const free = privileges.has("dbs") ? on`${access} is null` : on`false`;
  const granted = on`exists (
    select from json_array_elements(${access}) g
    where g ->> 'may' = 'manage' and g ->> 'to' = any(${subjectsOf(user)}::text[]))`;
  const manages = user.role === "admin" ? on`(${access} is not null or ${free})` : on`(${free} or ${granted})`;
  const own = within?.[model];
  const managed = own && Object.keys(own).filter((id) => own[id] === "manage");
  return on`t.account_id = ${account.id} and t.expires_at > now() and (${manages} or t.deleted_by_id = ${user.id})
    ${managed ? on`and t.id = any(${managed}::uuid[])` : on``}`;
}

/** Those whose time is over: they are none any more. */
export function expireDeleted(tx: Tx) {
  return tx<{ id: string; accountId: number }[]>`
    delete from db_trash where expires_at < now() returning id, account_id`;
}
