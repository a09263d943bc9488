/** SQL about the chain: what is to be sealed, and what was. */
import type { Queryable, Sql, Tx } from "platform";
import type { Entry, Head, Seal, SealAnchor } from "./chain.ts";

/** The entries of one account that are sealed together. */
export interface Unsealed {
  readonly accountId: number;
  readonly ids: readonly number[];
  readonly digests: string;
}

/** An id, and the transaction number that all those have that may still write below it are under. */
export interface Mark {
  readonly id: number;
  readonly xid: string;
}

/** An entry's text; times in seconds, so that it is the same whatever a session shows times in. */
const digest = `encode(sha256(convert_to(row(a.id, a.account_id, extract(epoch from a.at), a.action, a.model, a.record_id,
  a.name, a.actor, a.user_id, a.token_id, a.origin, a.changes)::text, 'UTF8')), 'hex')`;

const sealList = `number, up_to, ids, encode(digests, 'hex') as digests, signature`;
const headList = `first_number, first_signature, number, last_signature, up_to, signature`;

/** Maximum number of seals deleted in one transaction. */
const sealsAtOnce = 500;

type Row<T> = { [K in keyof T]: T[K] extends number ? number | string : T[K] };

const digestOf = (sql: Queryable) => sql.unsafe(digest);

const sealColumns = (sql: Queryable) => sql.unsafe(sealList);

const headColumns = (sql: Queryable) => sql.unsafe(headList);

/** The last id that anybody took; they may not have committed it. */
export async function lastId(sql: Sql): Promise<number> {
  const [last] = await sql<{ id: number }[]>`
    select coalesce(pg_sequence_last_value(pg_get_serial_sequence('activity', 'id')), 0) as id`;
  return last?.id ?? 0;
}

/**
 * For an id that was read before: every transaction that took one up to it has a smaller number than this one. The
 * xmax of a snapshot would not do: transactions above it may be running.
 */
export async function mark(sql: Sql, id: number): Promise<Mark> {
  const [now] = await sql<{ xid: string }[]>`select pg_current_xact_id()::text as xid`;
  return { id, xid: now?.xid ?? "0" };
}

/** False while a transaction runs that may still write below the mark. */
export async function isSettled(tx: Tx, { xid }: Mark): Promise<boolean> {
  const [row] = await tx<{ is: boolean }[]>`
    select pg_snapshot_xmin(pg_current_snapshot()) >= ${xid}::text::xid8 as is`;
  return row?.is ?? false;
}

/** Up to which id all is sealed; undefined if another process is at it. */
export async function hold(tx: Tx): Promise<number | undefined> {
  const [row] = await tx<{ upTo: number }[]>`select up_to from activity_sealed for update skip locked`;
  return row?.upTo;
}

export async function holdAll(tx: Tx): Promise<void> {
  await tx`select from activity_sealed for update`;
}

export async function sealed(tx: Tx, upTo: number): Promise<void> {
  await tx`update activity_sealed set up_to = ${upTo}`;
}

export async function sealedUpTo(on: Queryable): Promise<number> {
  const [row] = await on<{ upTo: number }[]>`select up_to from activity_sealed`;
  return row?.upTo ?? 0;
}

export async function accounts(on: Queryable): Promise<number[]> {
  const rows = await on<{ id: number }[]>`
    with recursive a as (
      (select account_id as id from activity order by account_id limit 1)
      union all select (select account_id from activity where account_id > a.id order by account_id limit 1) from a
      where a.id is not null
    )
    select id from a where id is not null union select account_id from activity_heads order by id`;
  return rows.map(({ id }) => id);
}

export async function unsealed(tx: Tx, accountId: number, after: number, upTo: number): Promise<Unsealed | undefined> {
  const [row] = await tx<{ ids: string[] | null; digests: string | null }[]>`
    select array_agg(a.id::text order by a.id) as ids, string_agg(${digestOf(tx)}, '' order by a.id) as digests
    from (select * from activity where account_id = ${accountId} and id > ${after} and id <= ${upTo}) a`;
  return row?.ids && row.digests ? { accountId, ids: row.ids.map(Number), digests: row.digests } : undefined;
}

/** Accounts that must have a log. */
export async function existing(sql: Sql): Promise<number[]> {
  return (await sql<{ id: number }[]>`select id from accounts order by id`).map(({ id }) => id);
}

/** Whether something is noted of the account that is not sealed yet. */
export async function hasUnsealed(on: Queryable, accountId: number): Promise<boolean> {
  const [row] = await on<{ has: boolean }[]>`
    select exists (select from activity where account_id = ${accountId})
      or exists (select from activity_inbox where account_id = ${accountId}) as has`;
  return row?.has ?? false;
}

/** Whether the chain has this seal, or had it before that was forgotten because of its age. */
export async function holds(on: Queryable, accountId: number, { number, signature }: SealAnchor): Promise<boolean> {
  const [row] = await on<{ holds: boolean }[]>`
    select exists (select from activity_seals
        where account_id = ${accountId} and number = ${number} and signature = ${signature})
      or exists (select from activity_heads where account_id = ${accountId}
        and (first_number > ${number} or (first_number = ${number} and first_signature = ${signature}))) as holds`;
  return row?.holds ?? false;
}

export async function headOf(on: Queryable, accountId: number): Promise<Head | undefined> {
  const [row] = await on<Head[]>`select ${headColumns(on)} from activity_heads where account_id = ${accountId}`;
  return row;
}

export async function addSeal(
  tx: Tx,
  accountId: number,
  { number, upTo, ids, digests, signature }: Seal,
): Promise<void> {
  await tx`
    insert into activity_seals (account_id, number, up_to, ids, digests, signature)
    values (${accountId}, ${number}, ${upTo}, ${[...ids]}::bigint[], decode(${digests}, 'hex'), ${signature})`;
}

export async function saveHead(tx: Tx, accountId: number, head: Head): Promise<void> {
  const { firstNumber, firstSignature, number, lastSignature, upTo, signature } = head;
  await tx`
    insert into activity_heads (account_id, first_number, first_signature, number, last_signature, up_to, signature)
    values (${accountId}, ${firstNumber}, ${firstSignature}, ${number}, ${lastSignature}, ${upTo}, ${signature})
    on conflict (account_id) do update set first_number = excluded.first_number,
      first_signature = excluded.first_signature, number = excluded.number,
      last_signature = excluded.last_signature, up_to = excluded.up_to, signature = excluded.signature`;
}

export async function seals(on: Queryable, accountId: number, after: number, limit: number): Promise<Seal[]> {
  const rows = await on<Row<Seal & { ids: (number | string)[] }>[]>`
    select ${sealColumns(on)} from activity_seals
    where account_id = ${accountId} and number > ${after} order by number limit ${limit}`;
  return rows.map(({ number, upTo, ids, digests, signature }) => {
    return { number: Number(number), upTo: Number(upTo), ids: ids.map(Number), digests, signature };
  });
}

export async function entries(on: Queryable, accountId: number, after: number, upTo: number): Promise<Entry[]> {
  return on<Entry[]>`
    select a.id, ${digestOf(on)} as digest from activity a
    where account_id = ${accountId} and id > ${after} and id <= ${upTo} order by id`;
}

/** The last of the first seals that hold nothing younger than this; undefined if there is none. */
export async function lastBefore(tx: Tx, accountId: number, days: number): Promise<Seal | undefined> {
  const [row] = await tx<Seal[]>`
    select ${sealColumns(tx)} from (
      select * from activity_seals where account_id = ${accountId} order by number limit ${sealsAtOnce}
    ) s
    where at < now() - make_interval(days => ${days}) order by number desc limit 1`;
  return row;
}

export async function forget(
  tx: Tx,
  accountId: number,
  { number, upTo }: Pick<Seal, "number" | "upTo">,
): Promise<number> {
  await tx`select set_config('corestead.retention', 'on', true)`;
  const { count } = await tx`delete from activity where account_id = ${accountId} and id <= ${upTo}`;
  await tx`delete from activity_seals where account_id = ${accountId} and number <= ${number}`;
  await tx`select set_config('corestead.retention', '', true)`;
  return count;
}
