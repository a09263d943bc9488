/** SQL of the log of changes: reading it, and forgetting what is old. */
import { bytesBefore, readBounds, type Sql, type Queryable, type Tx } from "platform";
import type { Database } from "../databases/database.ts";
import type { RecordEventKind } from "../records/record.ts";

/** An entry of the log of changes. */
export interface LogEntry {
  readonly id: number;
  readonly kind: RecordEventKind;
  /** "" is the null table. */
  readonly tableName: string;
  /** The table that the record left by this change. */
  readonly leftTable: string | null;
  /** The record after the change, or the one that was deleted, for `printRaw`. */
  readonly raw: string;
  /** Of an update its data before as JSON text, where `access` has conditions. */
  readonly was: string | null;
}

export interface ChangePage {
  readonly present: boolean;
  /** The version of the database; every change of it raises that. */
  readonly version: number;
  readonly epoch: string | null;
  /** Whether all changes after the position are still kept. */
  readonly known: boolean;
  readonly changes: readonly LogEntry[];
  /** The position after each change. */
  readonly positions: readonly Position[];
  /** The position after the page. */
  readonly next: Position;
  /** The window is read to its end. */
  readonly complete: boolean;
}

interface PageRow extends LogEntry {
  /** How many changes there are to the limit; those beyond the size of a page are left for the next one. */
  readonly found: number;
  readonly snapshot: string;
  readonly present: boolean;
  readonly version: number | null;
  readonly epoch: string | null;
  readonly known: boolean | null;
}

/** The next changes after a position; `to`: only those that this snapshot sees. */
export async function read(
  sql: Sql,
  db: Database,
  position: Position,
  limit: number,
  to?: string,
): Promise<ChangePage> {
  const { from, within } = position;
  const end = within?.to ?? to ?? null;
  const changes = within
    ? sql`c.id > ${within.id} order by c.id`
    : // `+ 0`, so that the index by transaction is used: the window is short, the log before it may be long.
      sql`true order by c.id + 0`;
  const rows = await sql<PageRow[]>`
    select m.snapshot, m.present, m.version, m.epoch, m.known, c.id, c.kind, c.table_name, c.left_table, c.raw, c.was, c.found
    from (
      select pg_current_snapshot()::text as snapshot, d.id is not null as present, d.version, f.epoch,
        f.since <= pg_snapshot_xmin(${from}::text::pg_snapshot) as known
      from (select 1) one
      left join dbs d on d.id = ${db.id} and d.account_id = ${db.accountId}
      left join record_feeds f on f.db_id = d.id
    ) m left join lateral (
      select c.*, count(*) over () as found,
        ${sql.unsafe(bytesBefore("octet_length(c.raw) + coalesce(octet_length(c.was), 0)", "c.id"))} as bytes_before
      from (
        select c.id, c.kind, c.table_name, c.left_table, c.raw, c.was::text as was from record_changes c
        where c.db_id = ${db.id} and c.xid >= pg_snapshot_xmin(${from}::text::pg_snapshot)
          and not pg_visible_in_snapshot(c.xid, ${from}::text::pg_snapshot)
          and (${end}::text is null or pg_visible_in_snapshot(c.xid, ${end}::text::pg_snapshot))
          and ${changes} limit ${limit}
      ) c
    ) c on m.known and c.bytes_before < ${readBounds.pageBytes}
    order by c.id`;
  return pageOf(rows, from, end, limit);
}

/** Deletes changes older than this, and those that nobody can ask for any longer. */
export async function prune(sql: Sql, keptHours: number): Promise<void> {
  await sql`
    with gone as (
      delete from record_changes where at < now() - make_interval(hours => ${keptHours}) returning db_id, xid
    ), last as (
      select db_id, (max(xid::text::numeric) + 1)::text::xid8 as next from gone group by db_id
    )
    update record_feeds f set since = greatest(f.since, l.next) from last l where l.db_id = f.db_id`;
  await sql`delete from record_changes c where not exists (select from record_feeds f where f.db_id = c.db_id)`;
}

function pageOf(rows: readonly PageRow[], from: string, end: string | null, limit: number): ChangePage {
  const [first] = rows;
  if (!first) throw new Error("the page has no row"); // the statement gives one even without a change
  const to = end ?? first.snapshot;
  // Without a change, or if changes are not known, the row has none of a change's columns.
  const changes = rows.filter(({ id }) => id !== null);
  const complete = changes.length < limit && changes.length === (changes[0]?.found ?? 0);
  const positions = changes.map(({ id }, at): Position => {
    return complete && at === changes.length - 1 ? { from: to } : { from, within: { to, id } };
  });
  const next = complete ? { from: to } : (positions.at(-1) ?? { from: to });
  const { present, epoch, known, version } = first;
  return { present, version: version ?? 0, epoch, known: known === true, changes, positions, next, complete };
}

// SQL of following: which databases write a log of their changes, and since when.

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

/** Followers read everything again: what was logged is no longer what records are. */
export async function startOver(tx: Tx, accountId: number, dbId: string, epoch: string): Promise<void> {
  await tx`update record_feeds set epoch = ${epoch} where db_id = ${dbId} and account_id = ${accountId}`;
  await tx`delete from record_changes where db_id = ${dbId}`;
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

// The position up to which a follower of changes has read.

/**
 * Changes are given in windows: all that PostgreSQL's snapshot `to` sees and `from` does not, in the order of their
 * numbers. So no change is missed or given twice, whatever the order in which transactions end.
 */
export interface Position {
  /** A `pg_snapshot` as text: every change that it sees was given. */
  readonly from: string;
  /** Inside a window: its end, and the last change that was given. */
  readonly within?: { readonly to: string; readonly id: number };
}

/** The id of an event, which a client sends back as `Last-Event-ID`. `epoch` names one time of following. */
export function eventId(epoch: string, { from, within }: Position): string {
  return [epoch, from, ...(within ? [within.to, within.id] : [])].join(".");
}

/** Undefined if the text is not an id of this epoch. */
export function positionOf(epoch: string, text: string): Position | undefined {
  if (text.length > maxLength) return undefined;
  const [given, from = "", to, id, ...more] = text.split(".");
  if (given !== epoch || !isSnapshot(from) || more.length > 0) return undefined;
  if (to === undefined) return { from };
  return isSnapshot(to) && /^\d{1,15}$/.test(id ?? "") ? { from, within: { to, id: Number(id) } } : undefined;
}

const maxLength = 4000;

/** `xmin:xmax:running,…` as PostgreSQL reads it. */
function isSnapshot(text: string): boolean {
  const match = /^(\d{1,18}):(\d{1,18}):((?:\d{1,18},)*\d{1,18})?$/.exec(text);
  if (!match) return false;
  const [least, end] = [BigInt(match[1] ?? 0), BigInt(match[2] ?? 0)];
  const running = match[3] ? match[3].split(",").map(BigInt) : [];
  return least > 0n && least <= end && running.every((id, at) => id >= (running[at - 1] ?? least) && id < end);
}
