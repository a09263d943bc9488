/** What PostgreSQL says and does about archived WAL, and how far the archive is (`runtime_state`). */
import { transaction, type Queryable, type Sql, type Tx } from "../../db/db.ts";
import { slotPrefix } from "../postgres/wal-slot.ts";
import { lsnText, parseLsn } from "./wal-names.ts";

/** The end of the archived WAL, and what there is. */
export interface WalPlace {
  /** Undefined if there is none; `lost`: PostgreSQL has removed WAL that was not archived. */
  readonly chain: { readonly name: string; readonly from: bigint; readonly isLost: boolean } | undefined;
  readonly flushed: bigint;
  readonly timeline: number;
  /** How long ago archiving was done last; undefined = never. */
  readonly archivedSecondsAgo: number | undefined;
}

const stateKey = "wal_archived";

export async function walPlace(sql: Queryable): Promise<WalPlace> {
  interface Row {
    readonly slot: string | null;
    readonly from: string | null;
    readonly status: string | null;
    readonly flushed: string;
    readonly timeline: string;
    readonly ago: number | null;
  }
  const [row] = await sql<Row[]>`
    select s.slot_name::text as slot, s.restart_lsn::text as from, s.wal_status as status,
      pg_current_wal_flush_lsn()::text as flushed, left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline,
      (select extract(epoch from clock_timestamp() - value::timestamptz)::float8
        from runtime_state where key = ${stateKey}) as ago
    from (select 1) one left join pg_replication_slots s on starts_with(s.slot_name::text, ${slotPrefix})
    order by s.slot_name desc limit 1`;
  if (!row) throw new Error("PostgreSQL does not say where its WAL ends");
  const { slot, from, status, flushed, timeline, ago } = row;
  const isLost = status === "lost" || from === null;
  return {
    chain:
      slot === null
        ? undefined
        : { name: slot.slice(slotPrefix.length).toUpperCase(), from: parseLsn(from ?? "0/0"), isLost },
    flushed: parseLsn(flushed),
    timeline: Number.parseInt(timeline, 16),
    archivedSecondsAgo: ago ?? undefined,
  };
}

/** From now on WAL is kept until it is archived. */
export async function beginChain(sql: Queryable, chain: string): Promise<void> {
  await sql`select pg_create_physical_replication_slot(${slotPrefix + chain.toLowerCase()}, true)`;
}

/** Slots that PostgreSQL keeps WAL for. */
export async function chainNames(sql: Queryable): Promise<string[]> {
  const rows = await sql<{ slot: string }[]>`
    select slot_name::text as slot from pg_replication_slots where starts_with(slot_name::text, ${slotPrefix})`;
  return rows.map(({ slot }) => slot.slice(slotPrefix.length).toUpperCase());
}

export async function endChains(sql: Queryable): Promise<void> {
  await sql`
    select pg_drop_replication_slot(slot_name) from pg_replication_slots
    where starts_with(slot_name::text, ${slotPrefix})`;
}

/** Lets PostgreSQL remove WAL that ends before this position. */
export async function archivedTo(sql: Queryable, chain: string, to: bigint): Promise<void> {
  await sql`select pg_replication_slot_advance(${slotPrefix + chain.toLowerCase()}, ${lsnText(to)}::pg_lsn)`;
}

/** Commits, so that WAL up to there has a time after `at`, at which a recovery can stop. */
export async function markTime(sql: Sql): Promise<Date> {
  return transaction(sql, async (tx) => {
    const [row] = await tx<{ at: Date }[]>`
      select now() as at from pg_logical_emit_message(true, 'corestead', '')`;
    return row?.at ?? new Date();
  });
}

export async function noteArchived(sql: Queryable, at: Date): Promise<void> {
  await sql`
    insert into runtime_state (key, value) values (${stateKey}, ${at.toISOString()})
    on conflict (key) do update set value = excluded.value`;
}

export async function forgetArchived(sql: Queryable): Promise<void> {
  await sql`delete from runtime_state where key = ${stateKey}`;
}

export interface ArchiveFacts {
  /** Since 1970, up to when all changes are archived; 0 = none. */
  readonly seconds: number;
  /** How much WAL is not archived. */
  readonly bytes: number;
  /** How long PostgreSQL has been running. */
  readonly upSeconds: number;
}

export async function archiveFacts(sql: Queryable): Promise<ArchiveFacts> {
  const [row] = await sql<ArchiveFacts[]>`
    select coalesce((select extract(epoch from value::timestamptz) from runtime_state where key = ${stateKey}), 0)::float8
        as seconds,
      coalesce((select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), restart_lsn) from pg_replication_slots
        where starts_with(slot_name::text, ${slotPrefix})), 0)::float8 as bytes,
      extract(epoch from clock_timestamp() - pg_postmaster_start_time())::float8 as up_seconds`;
  return row ?? { seconds: 0, bytes: 0, upSeconds: 0 };
}

/** In one transaction with `endBase`: PostgreSQL gives up on a base whose connection ends. */
export async function beginBase(tx: Tx): Promise<bigint> {
  const [row] = await tx<{ from: string }[]>`select pg_backup_start('corestead', true)::text as from`;
  return parseLsn(row?.from ?? "0/0");
}

export async function endBase(tx: Tx): Promise<{ label: string; to: bigint; at: Date }> {
  const [row] = await tx<{ label: string; to: string; at: Date }[]>`
    select labelfile as label, lsn::text as to, clock_timestamp() as at from pg_backup_stop(false)`;
  if (!row) throw new Error("PostgreSQL does not end the base backup");
  return { label: row.label, to: parseLsn(row.to), at: row.at };
}

/** When the last change was committed that a recovery brought back. */
export async function lastReplayed(sql: Queryable): Promise<Date | undefined> {
  const [row] = await sql<{ at: Date | null }[]>`select pg_last_xact_replay_timestamp() as at`;
  return row?.at ?? undefined;
}

const locks = { base: 7_246_139_003, wal: 7_246_139_004 } as const;

/** Whether this transaction is the only one of the installation at this work. */
export async function lockFor(tx: Tx, work: keyof typeof locks): Promise<boolean> {
  const [row] = await tx<{ mine: boolean }[]>`select pg_try_advisory_xact_lock(${locks[work]}) as mine`;
  return row?.mine === true;
}
