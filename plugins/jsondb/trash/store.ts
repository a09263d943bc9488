/** SQL about deleted records, which their deletion itself puts there. The reach decides on a record as it was last. */
import { bytesBefore, currentActor, readBounds } from "platform";
import type { Fragment, Page, Queryable, ReadPage, Sql, Tx } from "platform";
import { anyTable, openConditions, openData } from "../access/reach-store.ts";
import type { Database } from "../databases/database.ts";
import type { PendingRename } from "../databases/renames.ts";
import type { Schema } from "../databases/schema.ts";
import { newArgs, type Args } from "../search/filter-store.ts";

export interface TrashedRow {
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly tableName: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly deletedAt: Date;
  readonly deletedById: number | null;
  readonly deletedByName: string | null;
}

export interface TrashedRecord extends Pick<TrashedRow, "id" | "data" | "tableName" | "createdAt" | "updatedAt"> {
  /** The whole data as JSON text. */
  readonly json: string;
  readonly mayEdit: boolean;
}

/** The newest first, without what is hidden of each. */
export async function list(sql: Sql, db: Database, { limit, offset }: Page): Promise<ReadPage<TrashedRow>> {
  const args = newArgs();
  const where = openTrash(args, db);
  const order = "deleted_at desc, id desc";
  const text = `
    with page as materialized (
      select r.id, r.table_name, ${openData(args, db, anyTable)} as data, r.created_at, r.updated_at, r.deleted_at,
        r.deleted_by_id, u.name as deleted_by_name
      from ${named(args, db)} left join users u on u.account_id = r.account_id and u.id = r.deleted_by_id
      where ${where} order by r.deleted_at desc, r.id desc
      limit ${args.bind(limit, "int")} offset ${args.bind(offset, "bigint")}),
    sized as (select page.*, ${bytesBefore("octet_length(data::text)", order)} as bytes_before from page)
    select id, table_name, data, created_at, updated_at, deleted_at, deleted_by_id, deleted_by_name,
      (select count(*)::int from page) as whole, (select count(*) from ${named(args, db)} where ${where}) as total
    from sized where bytes_before < ${readBounds.answerBytes} order by ${order}`;
  const rows = await sql.unsafe<(TrashedRow & { whole: number; total: number })[]>(text, args.values);
  const [first] = rows;
  const total = first?.total ?? (offset === 0 ? 0 : await count(sql, db));
  return { rows, total, next: first && first.whole > rows.length ? offset + rows.length : undefined };
}

async function count(sql: Sql, db: Database): Promise<number> {
  const args = newArgs();
  const text = `select count(*) as total from ${named(args, db)} where ${openTrash(args, db)}`;
  const [row] = await sql.unsafe<{ total: number }[]>(text, args.values);
  return row?.total ?? 0;
}

/** One that may be read, held until the transaction ends. */
export async function lock(tx: Tx, db: Database, id: string): Promise<TrashedRecord | undefined> {
  await tx`select from record_trash where account_id = ${db.accountId} and db_id = ${db.id} and id = ${id} for update`;
  const args = newArgs();
  const mayEdit = ["true", ...openConditions(args, db, anyTable, [], "edit")].join(" and ");
  const text = `
    select r.id, r.table_name, r.data, r.data::text as json, r.created_at, r.updated_at, (${mayEdit}) is true as may_edit
    from ${named(args, db)} where ${openTrash(args, db)} and r.id = ${args.bind(id, "uuid")}`;
  const [row] = await tx.unsafe<TrashedRecord[]>(text, args.values);
  return row;
}

/** False if it is not there. */
export async function remove(on: Sql | Tx, { accountId, id: dbId }: Database, id: string): Promise<boolean> {
  const { count: gone } = await on`
    delete from record_trash where account_id = ${accountId} and db_id = ${dbId} and id = ${id} and expires_at > now()`;
  return gone === 1;
}

/** Gives the next ones after `after` the names of today; gives the last id, undefined at the end. */
export async function rename(
  sql: Sql,
  dbId: string,
  { renames, planVersion }: { readonly renames: readonly PendingRename[]; readonly planVersion: number },
  after: string,
  most: number,
): Promise<string | undefined> {
  const [row] = await sql<{ last: string | null }[]>`
    with batch as materialized (
      select id from record_trash where db_id = ${dbId} and id > ${after} order by id limit ${most} for update
    ), done as (
      update record_trash r set plan_version = ${planVersion},
        data = record_renamed(r.data, ${JSON.stringify(renames)}::text::jsonb, r.table_name, r.plan_version)
      from batch b where r.db_id = ${dbId} and r.id = b.id and r.plan_version < ${planVersion}
    )
    select max(id::text) as last from batch`;
  return row?.last ?? undefined;
}

/** Deletes some of what has been kept long enough; gives how many. */
export async function prune(sql: Sql, most: number): Promise<number> {
  const { count: gone } = await sql`
    delete from record_trash where expires_at < now() and ctid = any(array(
      select ctid from record_trash where expires_at < now() order by expires_at limit ${most}))`;
  return gone;
}

/** `record_trash r` with the names of today. */
function named(args: Args, { id, renames }: Database): string {
  if (renames.length === 0) return "record_trash r";
  const data = `record_renamed(t.data, ${args.bind(JSON.stringify(renames), "text")}::jsonb, t.table_name, t.plan_version)`;
  return `(
    select t.account_id, t.db_id, t.id, t.table_name, ${data} as data, t.created_at, t.updated_at, t.deleted_at,
      t.deleted_by_id, t.expires_at
    from record_trash t where t.db_id = ${args.bind(id, "uuid")}) r`;
}

function openTrash(args: Args, db: Database): string {
  const own = `r.account_id = ${args.bind(db.accountId, "bigint")} and r.db_id = ${args.bind(db.id, "uuid")}`;
  return [own, "r.expires_at > now()", ...openConditions(args, db, anyTable)].join(" and ");
}

/**
 * For the statement that deletes records, which are `changed`: keeps them as long as the schema of their table says.
 * Undefined where nothing is kept.
 */
export function trashed(on: Queryable, { tables }: Schema): Fragment | undefined {
  const usual = tables.get("")?.trashDays ?? 0;
  const others = [...tables.values()].filter(({ trashDays }) => trashDays !== usual);
  if (usual === 0 && others.length === 0) return undefined;
  const special = JSON.stringify(Object.fromEntries(others.map(({ name, trashDays }) => [name, trashDays])));
  return on`, trashed as (
    insert into record_trash (db_id, id, account_id, table_name, data, plan_version, created_at, updated_at,
      deleted_by_id, expires_at)
    select r.db_id, r.id, r.account_id, r.table_name, r.data, r.plan_version, r.created_at, r.updated_at,
      ${currentActor()?.user ?? null}::bigint, now() + make_interval(days => k.days)
    from changed r, lateral (
      select coalesce((${special}::text::jsonb ->> r.table_name)::int, ${usual}::int) as days offset 0) k
    where k.days > 0)`;
}
