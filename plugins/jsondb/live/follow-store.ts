/** SQL of following: which databases write a log of their changes, and since when. */
import type { Queryable, Sql, Tx } from "platform";
import type { Database } from "../databases/database.ts";

/** Whether a database is followed, and how. */
export interface FeedState {
  /** The database is there. */
  readonly present: boolean;
  /** Null if it is not followed. */
  readonly epoch: string | null;
  /** Every writer is known to log its changes. */
  readonly ready: boolean;
  /** Sees everything that is committed now. */
  readonly snapshot: string;
}

export async function state(sql: Sql, db: Database): Promise<FeedState> {
  const [row] = await sql<FeedState[]>`
    select f.epoch, f.since is not null as ready, pg_current_snapshot()::text as snapshot, d.id is not null as present
    from (select 1) one
    left join dbs d on d.id = ${db.id} and d.account_id = ${db.accountId}
    left join record_feeds f on f.db_id = d.id and not ${ofAnotherServer(sql)}`;
  return row as FeedState; // one row, whatever is there
}

/** From the commit on, writes of the database log their changes; a writer that has not seen it yet must check again. */
export async function follow(tx: Tx, db: Database, epoch: string): Promise<void> {
  await lockFollowing(tx);
  await tx`delete from record_feeds f where f.db_id = ${db.id} and ${ofAnotherServer(tx)}`;
  const made = await tx`
    insert into record_feeds (db_id, account_id, epoch)
    select d.id, d.account_id, ${epoch} from dbs d where d.id = ${db.id} and d.account_id = ${db.accountId}
    on conflict (db_id) do nothing returning db_id`;
  if (made.length === 0) return;
  await tx`delete from record_changes where db_id = ${db.id}`;
  await tx`
    update dbs set live = true, schema_version = schema_version + 1
    where id = ${db.id} and account_id = ${db.accountId}`;
}

/**
 * The transactions that write records now: one that began before `follow` was committed may not log what it
 * writes. A statement takes this lock before it looks at what is committed.
 */
export async function writers(sql: Sql): Promise<ReadonlySet<string>> {
  const rows = await sql<{ transaction: string }[]>`
    select l.virtualtransaction as transaction from pg_locks l
    where l.locktype = 'relation' and l.relation = 'records'::regclass and l.mode = 'RowExclusiveLock' and l.granted
      and l.database = (select oid from pg_database where datname = current_database())`;
  return new Set(rows.map(({ transaction }) => transaction));
}

export async function markReady(sql: Sql, db: Database): Promise<void> {
  await sql`
    update record_feeds set since = pg_snapshot_xmin(pg_current_snapshot())
    where db_id = ${db.id} and account_id = ${db.accountId} and since is null`;
}

export async function markWatched(sql: Sql, dbIds: readonly string[]): Promise<void> {
  await sql`
    update record_feeds set watched_at = now()
    where db_id = any(${[...dbIds]}::uuid[]) and watched_at < now() - interval '10 minutes'`;
}

/** Ends following of databases that nobody has followed for a day; gives those back. */
export async function endIdle(tx: Tx): Promise<{ id: string; accountId: number; code: string }[]> {
  await lockFollowing(tx);
  await tx`
    delete from record_feeds f
    where f.watched_at < now() - interval '1 day' or not exists (select from dbs d where d.id = f.db_id)`;
  return tx<{ id: string; accountId: number; code: string }[]>`
    update dbs d set live = false
    where d.live and not exists (select from record_feeds f where f.db_id = d.id)
    returning d.id, d.account_id, d.code`;
}

/** Whether `f` was copied from a server that was further than this one. */
const ofAnotherServer = (on: Queryable) => on`coalesce(f.since > pg_snapshot_xmax(pg_current_snapshot()), false)`;

/** Beginning and ending to follow take turns: each changes two tables by what it sees in them. */
async function lockFollowing(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('jsondb.follow', 0))`;
}
