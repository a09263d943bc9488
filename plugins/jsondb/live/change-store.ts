/** SQL of live changes: beginning and ending to follow a database, and reading the log of its changes. */
import type { Queryable, Sql, Tx } from "platform";
import type { Database } from "../databases/database.ts";
import type { RecordEventKind } from "../records/changes.ts";
import type { Position } from "./events-position.ts";

/** A line of the log of changes. */
export interface LogEntry {
  readonly id: number;
  readonly kind: RecordEventKind;
  /** "" is the null table. */
  readonly tableName: string;
  /** The table that the change took the record out of. */
  readonly leftTable: string | null;
  /** The record after the change, or the one that was deleted, for `printRaw`. */
  readonly raw: string;
}

/** Whether a database is followed, and how. */
export interface FeedState {
  /** The database is there. */
  readonly present: boolean;
  /** Null where it is not followed. */
  readonly epoch: string | null;
  /** Every writer is known to tell of its changes. */
  readonly ready: boolean;
  /** All that is committed now. */
  readonly snapshot: string;
}

export interface ChangePage {
  readonly present: boolean;
  /** Of the database; every change of it raises that. */
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

const maxPageBytes = 2_000_000;

export type ChangeStore = ReturnType<typeof createChangeStore>;

export function createChangeStore(sql: Sql) {
  return {
    async state(db: Database): Promise<FeedState> {
      const [row] = await sql<FeedState[]>`
        select f.epoch, f.since is not null as ready, pg_current_snapshot()::text as snapshot, d.id is not null as present
        from (select 1) one
        left join dbs d on d.id = ${db.id} and d.account_id = ${db.accountId}
        left join record_feeds f on f.db_id = d.id and not ${ofAnotherServer(sql)}`;
      return row as FeedState; // one row, whatever is there
    },

    /** From the commit on, writes of the database tell of their changes; who has not seen it yet must check again. */
    async follow(tx: Tx, db: Database, epoch: string): Promise<void> {
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
    },

    /**
     * The transactions that write records now: one that began before `follow` was committed may not tell of what it
     * writes. A statement takes this lock before it looks at what is committed.
     */
    async writers(): Promise<ReadonlySet<string>> {
      const rows = await sql<{ transaction: string }[]>`
        select l.virtualtransaction as transaction from pg_locks l
        where l.locktype = 'relation' and l.relation = 'records'::regclass and l.mode = 'RowExclusiveLock' and l.granted
          and l.database = (select oid from pg_database where datname = current_database())`;
      return new Set(rows.map(({ transaction }) => transaction));
    },

    async markReady(db: Database): Promise<void> {
      await sql`
        update record_feeds set since = pg_snapshot_xmin(pg_current_snapshot())
        where db_id = ${db.id} and account_id = ${db.accountId} and since is null`;
    },

    async markWatched(dbIds: readonly string[]): Promise<void> {
      await sql`
        update record_feeds set watched_at = now()
        where db_id = any(${[...dbIds]}::uuid[]) and watched_at < now() - interval '10 minutes'`;
    },

    /** The next changes after a position; `to`: only those that this snapshot sees. */
    async read(db: Database, position: Position, limit: number, to?: string): Promise<ChangePage> {
      const { from, within } = position;
      const end = within?.to ?? to ?? null;
      const changes = within
        ? sql`c.id > ${within.id} order by c.id`
        : // So that the index by transaction is used: the window is short, what was told before may be long.
          sql`true order by c.id + 0`;
      const rows = await sql<PageRow[]>`
        select m.snapshot, m.present, m.version, m.epoch, m.known, c.id, c.kind, c.table_name, c.left_table, c.raw, c.found
        from (
          select pg_current_snapshot()::text as snapshot, d.id is not null as present, d.version, f.epoch,
            f.since <= pg_snapshot_xmin(${from}::text::pg_snapshot) as known
          from (select 1) one
          left join dbs d on d.id = ${db.id} and d.account_id = ${db.accountId}
          left join record_feeds f on f.db_id = d.id
        ) m left join lateral (
          select c.*, count(*) over () as found,
            sum(octet_length(c.raw)) over (order by c.id) - octet_length(c.raw) as bytes_before
          from (
            select c.id, c.kind, c.table_name, c.left_table, c.raw from record_changes c
            where c.db_id = ${db.id} and c.xid >= pg_snapshot_xmin(${from}::text::pg_snapshot)
              and not pg_visible_in_snapshot(c.xid, ${from}::text::pg_snapshot)
              and (${end}::text is null or pg_visible_in_snapshot(c.xid, ${end}::text::pg_snapshot))
              and ${changes} limit ${limit}
          ) c
        ) c on m.known and c.bytes_before < ${maxPageBytes}
        order by c.id`;
      return pageOf(rows, from, end, limit);
    },

    /** Forgets changes of so long ago, and those that nobody can ask for any more. */
    async prune(keptHours: number): Promise<void> {
      await sql`
        with gone as (
          delete from record_changes where at < now() - make_interval(hours => ${keptHours}) returning db_id, xid
        ), last as (
          select db_id, (max(xid::text::numeric) + 1)::text::xid8 as next from gone group by db_id
        )
        update record_feeds f set since = greatest(f.since, l.next) from last l where l.db_id = f.db_id`;
      await sql`delete from record_changes c where not exists (select from record_feeds f where f.db_id = c.db_id)`;
    },

    /** Ends following where nobody has followed for a day; the databases of which that is so. */
    async endIdle(tx: Tx): Promise<{ id: string; accountId: number; code: string }[]> {
      await lockFollowing(tx);
      await tx`
        delete from record_feeds f
        where f.watched_at < now() - interval '1 day' or not exists (select from dbs d where d.id = f.db_id)`;
      return tx<{ id: string; accountId: number; code: string }[]>`
        update dbs d set live = false
        where d.live and not exists (select from record_feeds f where f.db_id = d.id)
        returning d.id, d.account_id, d.code`;
    },
  };
}

/** Whether `f` was copied from a server that has come further than this one. */
const ofAnotherServer = (on: Queryable) => on`coalesce(f.since > pg_snapshot_xmax(pg_current_snapshot()), false)`;

/** Beginning and ending of following take turns: each changes two tables by what it sees in them. */
async function lockFollowing(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('jsondb.follow', 0))`;
}

function pageOf(rows: readonly PageRow[], from: string, end: string | null, limit: number): ChangePage {
  const [first] = rows;
  if (!first) throw new Error("the page has no row"); // the statement gives one even where there is no change
  const to = end ?? first.snapshot;
  // Without a change, or where they are not known, the row has none of a change's columns.
  const changes = rows.filter(({ id }) => id !== null);
  const complete = changes.length < limit && changes.length === (changes[0]?.found ?? 0);
  const positions = changes.map(({ id }, at): Position => {
    return complete && at === changes.length - 1 ? { from: to } : { from, within: { to, id } };
  });
  const next = complete ? { from: to } : (positions.at(-1) ?? { from: to });
  const { present, epoch, known, version } = first;
  return { present, version: version ?? 0, epoch, known: known === true, changes, positions, next, complete };
}
