/** SQL of the log of changes: reading it, and forgetting what is old. */
import { bytesBefore, readBounds, type Sql } from "platform";
import type { Database } from "../databases/database.ts";
import type { RecordEventKind } from "../records/record.ts";
import type { Position } from "./events-position.ts";

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
    select m.snapshot, m.present, m.version, m.epoch, m.known, c.id, c.kind, c.table_name, c.left_table, c.raw, c.found
    from (
      select pg_current_snapshot()::text as snapshot, d.id is not null as present, d.version, f.epoch,
        f.since <= pg_snapshot_xmin(${from}::text::pg_snapshot) as known
      from (select 1) one
      left join dbs d on d.id = ${db.id} and d.account_id = ${db.accountId}
      left join record_feeds f on f.db_id = d.id
    ) m left join lateral (
      select c.*, count(*) over () as found,
        ${sql.unsafe(bytesBefore("octet_length(c.raw)", "c.id"))} as bytes_before
      from (
        select c.id, c.kind, c.table_name, c.left_table, c.raw from record_changes c
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
