/** SQL about the indexes that databases get for how they are searched. */
import { readPage, type Page, type Sql, type Tx, type Queryable } from "platform";
import { collate, collationOfAccount } from "../databases/columns-store.ts";
import { idLiteral } from "../access/reach-store.ts";
import { kindOf } from "../databases/columns.ts";
import { parseShape } from "./shape.ts";

/** A learned index that gave its place to a declared one. */
interface Given {
  readonly id: string;
  readonly accountId: number;
  readonly dbId: string;
  readonly code: string | null;
}

/** Forgets the learned index, of this database or of any, that was used least lately. */
async function giveUp(tx: Tx, dbId: string | null): Promise<Given | undefined> {
  const [row] = await tx<Given[]>`
    delete from db_indexes where id = (
      select id from db_indexes
      where status = 'ready' and not declared and db_id = coalesce(${dbId}::uuid, db_id) order by used_at limit 1)
    returning id, account_id, db_id, (select code from dbs where dbs.id = db_id) as code`;
  return row;
}

/** Searches of one shape, since the last time they were written down. */
export interface Tally {
  readonly accountId: number;
  readonly dbId: string;
  readonly shape: string;
  readonly calls: number;
  readonly milliseconds: number;
}

export interface IndexRow {
  readonly id: string;
  readonly accountId: number;
  readonly dbId: string;
  readonly shape: string;
  readonly status: "watched" | "building" | "ready" | "failed";
  readonly calls: number;
  readonly milliseconds: number;
  /** The schema of the database asks for it. */
  readonly declared: boolean;
  readonly error: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly usedAt: Date;
}

interface Built extends Pick<IndexRow, "id" | "dbId" | "shape"> {
  /** The order of its strings. */
  readonly collation: string;
}

const columns = (sql: Queryable) => sql`
  id, account_id, db_id, shape, status, calls, milliseconds, declared, error, created_at, updated_at, used_at`;

// Where the table is partitioned, its partitions have them.
const ofRecords = (sql: Queryable) => sql`
  (x.indrelid = 'records'::regclass or x.indrelid in (select relid from pg_partition_tree('records')))`;

const ofAccount = (sql: Queryable) =>
  sql.unsafe(`(
  select ${collationOfAccount} from accounts a where a.id = db_indexes.account_id)`);

export async function list(sql: Sql, accountId: number, dbId: string, page: Page) {
  const where = sql`account_id = ${accountId} and db_id = ${dbId}`;
  return readPage<IndexRow>(sql, page, {
    columns: columns(sql),
    from: sql`db_indexes where ${where}`,
    order: sql`declared desc, milliseconds desc, id`,
  });
}

/** Adds to what is known; gives the ids of those that have come to be worth an index. */
export async function add(
  sql: Sql,
  tallies: readonly (Tally & { readonly id: string })[],
  worth: { calls: number; milliseconds: number },
) {
  const of = <K extends keyof (typeof tallies)[number]>(key: K) => tallies.map((tally) => tally[key]);
  const rows = await sql<{ id: string; isNew: boolean }[]>`
    insert into db_indexes as i (id, account_id, db_id, shape, calls, milliseconds)
    select * from unnest(${of("id")}::uuid[], ${of("accountId")}::bigint[], ${of("dbId")}::uuid[],
      ${of("shape")}::text[], ${of("calls")}::float8[], ${of("milliseconds")}::float8[])
    order by 3, 4
    on conflict (db_id, shape) do update set
      calls = i.calls + excluded.calls, milliseconds = i.milliseconds + excluded.milliseconds, used_at = now()
    returning id, status = 'watched' and (
      declared or calls >= ${worth.calls} and milliseconds >= ${worth.milliseconds}) as is_new`;
  return rows.filter(({ isNew }) => isNew).map(({ id }) => id);
}

/** Forgets what is no longer declared; returns the ids of the indexes to build and to drop. */
export async function declare(
  tx: Tx,
  db: { id: string; accountId: number },
  wanted: readonly { id: string; shape: string }[],
) {
  const shapes = wanted.map(({ shape }) => shape);
  // In the order of `add`, which counts searches meanwhile: neither waits for the other.
  await tx`select from db_indexes where account_id = ${db.accountId} and db_id = ${db.id} order by shape for update`;
  const gone = await tx<{ id: string }[]>`
    delete from db_indexes
    where account_id = ${db.accountId} and db_id = ${db.id} and declared and shape <> all(${shapes}::text[])
    returning id`;
  const made = await tx<{ id: string }[]>`
    insert into db_indexes as i (id, account_id, db_id, shape, declared)
    select w.id, ${db.accountId}, ${db.id}, w.shape, true
    from unnest(${wanted.map(({ id }) => id)}::uuid[], ${shapes}::text[]) as w (id, shape)
    on conflict (db_id, shape) do update set declared = true,
      status = case when i.status = 'failed' then 'watched' else i.status end, updated_at = now()
    where not i.declared
    returning id`;
  return [...gone, ...made].map(({ id }) => id);
}

/** The declared ones that are not built. */
export async function unbuilt(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`select id from db_indexes where declared and status = 'watched'`;
  return rows.map(({ id }) => id);
}

/** With its database's code and order of strings. */
export async function byId(sql: Sql, id: string) {
  const [row] = await sql<(IndexRow & { code: string | null; collation: string })[]>`
    select ${columns(sql)}, (select code from dbs where id = db_id) as code, coalesce(${ofAccount(sql)}, 'C') as "collation"
    from db_indexes where id = ${id}`;
  return row;
}

/** Whether the database has so many records. */
export async function isLarge(sql: Sql, dbId: string, records: number): Promise<boolean> {
  const [row] = await sql<{ found: number }[]>`
    select count(*)::int as found from (select from records where db_id = ${dbId} limit ${records}) r`;
  return (row?.found ?? 0) >= records;
}

/**
 * Claims the one place for building. "busy" while another index is being built, "full" where there are enough: a
 * declared one takes the place of the learned one that was used least lately, and gives it back.
 */
export async function begin(tx: Tx, { id, dbId, declared }: IndexRow, most: { ofDatabase: number; ofAll: number }) {
  await tx`select pg_advisory_xact_lock(hashtext('db_indexes'))`;
  const [found] = await tx<{ busy: boolean; full: boolean; fullHere: boolean }[]>`
    select
      coalesce(bool_or(status = 'building' and id <> ${id} and updated_at > now() - interval '2 minutes'), false)
        as busy,
      count(*) filter (where status = 'ready') >= ${most.ofAll} as full,
      count(*) filter (where status = 'ready' and db_id = ${dbId}) >= ${most.ofDatabase} as full_here
    from db_indexes`;
  if (!found || found.busy) return "busy";
  const isFull = found.full || found.fullHere;
  const given = isFull && declared ? await giveUp(tx, found.fullHere ? dbId : null) : undefined;
  if (isFull && !given) return "full";
  await tx`update db_indexes set status = 'building', error = null, updated_at = now() where id = ${id}`;
  return { given };
}

/** Writers go on meanwhile. Fails after the time limit of statements; what is left of it then is dropped. */
export async function build(sql: Sql, { id, dbId, shape, collation }: Built): Promise<void> {
  const { equal, order: column } = parseShape(shape);
  const order = column?.startsWith("idx_str") ? `${column} ${collate(collation)}` : column;
  // Of a string its hash, which a condition asks for too: three whole strings would be too long for an entry.
  const compared = equal.map((one) => (kindOf(one) === "str" ? `hashtext(${one})` : one));
  const keys = ["table_name", ...compared, ...(order ? [order] : []), "id"].join(", ");
  await sql.unsafe(`drop index concurrently if exists ${nameOf(id)}`);
  // Where `records` is partitioned, the partition that has the database: no index of the whole is made concurrently.
  const [place] = await sql<{ name: string }[]>`
    select tableoid::regclass::text as name from records where db_id = ${dbId} limit 1`;
  const table = place?.name ?? "records";
  await sql.unsafe(`create index concurrently ${nameOf(id)} on ${table} (${keys}) where db_id = ${idLiteral(dbId)}`);
  // By which version of the collation: one of another version is dropped (`sorted-store.ts`).
  const [rule] = await sql<{ version: string | null }[]>`
    select pg_collation_actual_version(oid) as version from pg_collation where collname = ${collation}`;
  if (rule?.version) await sql.unsafe(`comment on index ${nameOf(id)} is '${rule.version.replaceAll("'", "''")}'`);
}

/** False if it is known no longer. */
export async function end(
  sql: Sql,
  id: string,
  status: IndexRow["status"],
  result: { error?: string; collation?: string } = {},
) {
  const { error = null, collation: built = null } = result;
  const { count } = await sql`
    update db_indexes set status = ${status}, error = ${error}, collation_name = ${built}, updated_at = now()
    where id = ${id}`;
  return count > 0;
}

/** It counts from nothing again. */
export async function reset(sql: Sql, id: string, error: string | null = null): Promise<void> {
  await sql`
    update db_indexes set status = 'watched', calls = 0, milliseconds = 0, error = ${error}, updated_at = now()
    where id = ${id} and status in ('watched', 'building')`;
}

export async function drop(sql: Sql, id: string): Promise<void> {
  await sql.unsafe(`drop index concurrently if exists ${nameOf(id)}`);
}

/**
 * Forgets what is hardly used, failed long ago, or of a database that is gone; gives the databases whose indexes
 * were forgotten. What is not there, as after a restore, is watched again.
 */
export async function prune(
  sql: Sql,
  unusedDays: number,
): Promise<readonly { accountId: number; dbId: string; code: string | null }[]> {
  await sql`
    update db_indexes set calls = calls / 2, milliseconds = milliseconds / 2 where status = 'watched'`;
  // Whoever built it has died: a build takes half a minute at most.
  await sql`
    update db_indexes set status = 'watched', updated_at = now()
    where status = 'building' and updated_at < now() - interval '10 minutes'`;
  await sql`
    update db_indexes set status = 'watched', updated_at = now()
    where declared and status = 'failed' and updated_at < now() - interval '1 day'`;
  // In the order of another language it helps no search.
  await sql`
    update db_indexes set status = 'watched', updated_at = now()
    where status = 'ready' and shape like '%>idx_str%' and collation_name is distinct from ${ofAccount(sql)}`;
  const changed = await sql<{ accountId: number; dbId: string; code: string | null }[]>`
    with gone as (
      delete from db_indexes i where status <> 'building' and (
        not declared and (
          status = 'watched' and milliseconds < 10
          or status = 'failed' and updated_at < now() - interval '1 day'
          or status = 'ready' and used_at < now() - make_interval(days => ${unusedDays}))
        or not exists (select from dbs where id = i.db_id))
      returning account_id, db_id, status
    ), missing as (
      update db_indexes i set status = 'watched', updated_at = now()
      where status = 'ready' and not exists (
        select from pg_index x join pg_class c on c.oid = x.indexrelid
        where ${ofRecords(sql)} and x.indisvalid
          and c.relname = 'records_learned_' || replace(i.id::text, '-', ''))
      returning account_id, db_id, status
    )
    select distinct account_id, db_id, (select code from dbs where id = db_id) as code
    from (select * from gone where status = 'ready' union all select * from missing) c`;
  return [...changed];
}

/** The names of indexes that nothing knows any more. */
export async function orphans(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name from pg_index x join pg_class c on c.oid = x.indexrelid
    where ${ofRecords(sql)} and c.relname ~ '^records_learned_[0-9a-f]{32}$' and not exists (
      select from db_indexes i where c.relname = 'records_learned_' || replace(i.id::text, '-', ''))`;
  return rows.map(({ name }) => name);
}

export async function dropOrphan(sql: Sql, name: string): Promise<void> {
  await sql.unsafe(`drop index concurrently if exists ${name}`);
}

function nameOf(id: string) {
  return `records_learned_${id.replaceAll("-", "")}`;
}
