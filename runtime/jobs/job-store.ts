/** All SQL of the queue. Statements whose plan must not change are functions in migrations/001_jobs.sql. */
import type { Causation } from "../scope/causation.ts";
import type { Fragment, Queryable, Sql } from "../db/db.ts";
import { readBounds } from "../base/read-bounds.ts";
import type { Lease } from "./leases.ts";
import type { Full, Turns } from "./shares.ts";

/** A job to write. */
export interface NewJob {
  readonly name: string;
  readonly payload: unknown;
  readonly runAt?: Date | undefined;
  /** While a job of this name and key is waiting, no second one is written. */
  readonly key?: string | undefined;
  /** Jobs of one name and order key run in sequence, in the order of their ids. */
  readonly orderKey?: string | undefined;
  readonly maxAttempts?: number | undefined;
  readonly accountId?: number | undefined;
  /** What it belongs to within its account: one share never keeps the places of the others (shares.ts). */
  readonly share?: string | undefined;
  readonly causation?: Causation | undefined;
}

/** A job that this process has claimed. */
export interface ClaimedJob {
  readonly id: number;
  readonly name: string;
  readonly attempt: number;
  readonly forgiven: number;
  readonly maxAttempts: number | null;
  readonly orderKey: string | null;
  readonly accountId: number | null;
  readonly share: string | null;
  readonly payload: unknown;
  /** Of the payload. */
  readonly bytes: number;
  readonly causation: Causation | null;
  /** When it became claimable. */
  readonly dueAt: Date;
}

export interface Claim {
  readonly name: string;
  readonly limit: number;
  readonly leaseSeconds: number;
  /** Skips jobs due before this time. */
  readonly since: Date;
  /** Asks only for the first jobs of shares whose turn is next, so many of each. */
  readonly turns?: Pick<Turns, "last" | "shares"> & { readonly each: number; readonly full: readonly Full[] };
}

export interface Inserted {
  readonly id: number;
  readonly name: string;
  readonly orderKey: string | null;
  readonly runAt: Date;
  /** Seconds until it is due; negative if it already is. */
  readonly seconds: number;
}

export type Outcome = "done" | "failed";
type AttemptRef = Pick<ClaimedJob, "id" | "attempt">;
export type Finish = AttemptRef & { readonly outcome: Outcome; readonly error: string | null };
export type Retry = AttemptRef & {
  readonly delaySeconds: number;
  readonly error: string | null;
  readonly forgiven: boolean;
};
export interface OrderKey {
  readonly name: string;
  readonly orderKey: string;
}
export interface QueueLength {
  readonly name: string;
  /** Counted up to 10,000. */
  readonly waiting: number;
  readonly oldestDueSeconds: number;
}

/** The table of jobs, as one process sees it. */
export interface JobTable {
  readonly sql: Sql;
  /** Identifies this process among all live ones. */
  readonly worker: string;
  /** Replaces the database's time in tests. */
  readonly clock?: (() => Date) | undefined;
}

const nowOf = ({ clock }: Pick<JobTable, "clock">): Date | null => clock?.() ?? null;

/** Returns what was written, in order, without jobs whose key is already waiting. */
export function insert(
  table: Pick<JobTable, "sql" | "clock">,
  jobs: readonly NewJob[],
  on: Queryable = table.sql,
): Promise<Inserted[]> {
  const at = nowOf(table);
  // Jobs of one statement are a microsecond apart, so that a claim can continue where the last one ended.
  return on<Inserted[]>`
    insert into jobs (name, state, run_at, created_at, max_attempts, key, order_key, account_id, share, payload, bytes, causation)
    select j.name, case when j.order_key is null then 'waiting' else 'parked' end,
      coalesce(j.run_at::timestamptz, at.now + (j.n - 1) * interval '1 microsecond'), at.now,
      j.max_attempts, j.key, j.order_key, j.account_id, j.share, j.payload::json, octet_length(j.payload), j.causation::json
    from (select coalesce(${at}::timestamptz, now()) as now) at
    cross join unnest(
      ${jobs.map((j) => j.name)}::text[], ${jobs.map((j) => j.runAt?.toISOString() ?? null)}::text[],
      ${jobs.map((j) => j.maxAttempts ?? null)}::integer[], ${jobs.map((j) => j.key ?? null)}::text[],
      ${jobs.map((j) => j.orderKey ?? null)}::text[], ${jobs.map((j) => j.accountId ?? null)}::bigint[],
      ${jobs.map((j) => j.share ?? null)}::text[],
      ${jobs.map((j) => JSON.stringify(j.payload) ?? "null")}::text[],
      ${jobs.map((j) => (j.causation ? JSON.stringify(j.causation) : null))}::text[]
    ) with ordinality as j (name, run_at, max_attempts, key, order_key, account_id, share, payload, causation, n)
    order by j.n
    on conflict (name, key) where key is not null and state <> 'running' do nothing
    returning id, name, order_key, run_at,
      extract(epoch from run_at - coalesce(${at}::timestamptz, now()))::float8 as seconds`;
}

/** At most `readBounds.pageBytes`, and the job that reaches them. */
export function claim(table: JobTable, claims: readonly Claim[]) {
  const full = claims.flatMap(({ name, turns }) => (turns?.full ?? []).map((one) => ({ name, ...one })));
  const last = claims.flatMap(({ name, turns }) =>
    [...(turns?.shares ?? [])].map(([accountId, share]) => ({ name, accountId, share })),
  );
  return table.sql<ClaimedJob[]>`
    select id, name, attempt, forgiven, max_attempts, order_key, account_id, share, payload, bytes, causation, due_at
    from claim_jobs_by_turns(${claims.map((c) => c.name)}, ${claims.map((c) => c.limit)},
      ${claims.map((c) => c.leaseSeconds)}, ${claims.map((c) => c.since.toISOString())}::text[]::timestamptz[],
      ${claims.map((c) => c.turns?.each ?? 0)}, ${claims.map((c) => c.turns?.last ?? 0)}::bigint[],
      ${last.map((l) => l.name)}, ${last.map((l) => l.accountId)}::bigint[], ${last.map((l) => l.share)}::text[],
      ${full.map((f) => f.name)}, ${full.map((f) => f.accountId)}::bigint[], ${full.map((f) => f.share)}::text[],
      ${readBounds.pageBytes}, ${table.worker}, ${nowOf(table)})`;
}

export async function finish(table: JobTable, jobs: readonly Finish[]): Promise<void> {
  await table.sql`
    select from finish_jobs(${jobs.map((j) => j.id)}, ${jobs.map((j) => j.attempt)}, ${jobs.map((j) => j.outcome)},
      ${jobs.map((j) => j.error)}, ${table.worker}, ${nowOf(table)})`;
}

export async function retry(table: JobTable, jobs: readonly Retry[]): Promise<void> {
  await table.sql`
    select from retry_jobs(${jobs.map((j) => j.id)}, ${jobs.map((j) => j.attempt)},
      ${jobs.map((j) => j.delaySeconds)}, ${jobs.map((j) => j.error)}, ${jobs.map((j) => (j.forgiven ? 1 : 0))},
      ${table.worker}, ${nowOf(table)})`;
}

/** Returns the leases that this worker still holds. */
export async function extend<Row extends AttemptRef>(
  table: JobTable,
  leases: readonly Lease<Row>[],
): Promise<Set<Lease<Row>>> {
  const rows = await table.sql<{ id: number }[]>`
    select id from extend_jobs(${leases.map(({ row }) => row.id)}, ${leases.map(({ row }) => row.attempt)},
      ${leases.map(({ seconds }) => seconds)}, ${table.worker}, ${nowOf(table)}) as id`;
  const held = new Set(rows.map(({ id }) => id));
  return new Set(leases.filter(({ row }) => held.has(row.id)));
}

/** Returns the names that have a job that may run now. */
export async function promote(table: JobTable, keys: readonly OrderKey[]): Promise<string[]> {
  const rows = await table.sql<{ name: string }[]>`
    select name from promote_jobs(${keys.map((k) => k.name)}, ${keys.map((k) => k.orderKey)}, ${nowOf(table)}) as name`;
  return rows.map(({ name }) => name);
}

/**
 * Makes claimed jobs claimable again at once, despite their leases. Those end within an hour (`setBack`): so the index
 * by `run_at` leads to them, past a million that wait.
 */
export async function takeBack(table: JobTable): Promise<void> {
  const at = table.sql`coalesce(${nowOf(table)}::timestamptz, now())`;
  await table.sql`
    update jobs set run_at = ${at}
    where state = 'running' and run_at > ${at} and run_at <= ${at} + interval '1 hour'`;
}

/**
 * After the database's clock was set back: jobs whose wait began by the later time wait equally long from now on,
 * retries included, and claims last for an hour at most.
 */
export async function setBack(table: JobTable): Promise<void> {
  const at = table.sql`coalesce(${nowOf(table)}::timestamptz, now())`;
  await table.sql`
    update jobs set run_at = ${at} + greatest(run_at - coalesce(waits_since, created_at), interval '0'),
      created_at = least(created_at, ${at}), waits_since = ${at}
    where state <> 'running' and coalesce(waits_since, created_at) > ${at} + interval '1 minute'`;
  await table.sql`
    update jobs set run_at = ${at} + interval '1 hour'
    where state = 'running' and run_at > ${at} + interval '1 hour'`;
}

export async function now(table: JobTable): Promise<Date> {
  const [row] = await table.sql<{ at: Date }[]>`select coalesce(${nowOf(table)}::timestamptz, now()) as at`;
  if (!row) throw new Error("a select without a condition gives a row");
  return row.at;
}

/** When the next job of each name may be claimed, and in how many seconds. */
export function next(table: JobTable, names: readonly string[]) {
  return table.sql<{ name: string; dueAt: Date; seconds: number }[]>`
    select name, due_at, seconds from next_jobs(${names}, ${nowOf(table)})`;
}

/** For a plugin's statement: the waiting or running jobs of these names whose payload has this `id`. */
export function openJob(sql: Sql, names: readonly string[], id: Fragment): Fragment {
  return sql`select from jobs j where j.name = any(${names}::text[]) and j.payload->>'id' = ${id}`;
}

/** For a plugin's statement: the id of the newest job so far. Later ones have greater ids. */
export function newestJob(sql: Queryable): Fragment {
  return sql`select coalesce(pg_sequence_last_value(pg_get_serial_sequence('jobs', 'id')::regclass), 0)`;
}

/** Jobs of these names that have failed for good. */
export function failedJob(sql: Sql, names: readonly string[], id: Fragment): Fragment {
  return sql`
    select from job_history h where h.name = any(${names}::text[]) and h.outcome = 'failed' and h.payload->>'id' = ${id}`;
}

/**
 * Writes one job from outside of the queue: a server finds it within its poll. `outcome` says how it ended, once it has.
 */
export async function writeJob(sql: Sql, job: NewJob) {
  const [written] = await insert({ sql }, [job]);
  return async (): Promise<{ outcome: Outcome; error: string | null } | undefined> => {
    const rows = await sql<{ outcome: Outcome; error: string | null }[]>`
      select outcome, error from job_history where id = ${written?.id ?? null}`;
    return rows[0];
  };
}

/** Order keys whose first job waits behind nothing, because a process died before it could release the next one. */
export async function headsParked({ sql }: JobTable, names: readonly string[]): Promise<OrderKey[]> {
  return sql<OrderKey[]>`
    with recursive heads as (
      select h.* from unnest(${names}::text[]) as wanted (name) cross join lateral (
        select j.name, j.order_key, j.state from jobs j where j.name = wanted.name and j.order_key is not null
        order by j.order_key, j.id limit 1) h
      union all
      select n.* from heads h cross join lateral (
        select j.name, j.order_key, j.state from jobs j where j.name = h.name and j.order_key > h.order_key
        order by j.order_key, j.id limit 1) n
    )
    select name, order_key from heads where state = 'parked'`;
}

export async function prune(table: JobTable, olderThanDays: number, most: number): Promise<number> {
  const result = await table.sql`
    delete from job_history where id in (
      select id from job_history
      where finished_at < coalesce(${nowOf(table)}::timestamptz, now()) - make_interval(days => ${olderThanDays})
      order by finished_at limit ${most} for update skip locked)`;
  return result.count;
}

/** Of these names, and of all that wait without a handler here; the names are found one index read each. */
export async function waiting(table: JobTable, names: readonly string[]): Promise<QueueLength[]> {
  return table.sql<QueueLength[]>`
    with recursive found (name) as (
      (select name from jobs where state <> 'parked' order by name limit 1)
      union all
      select (select j.name from jobs j where j.state <> 'parked' and j.name > f.name order by j.name limit 1)
      from found f where f.name is not null
    )
    select n.name, c.waiting::integer,
      greatest(0, extract(epoch from coalesce(${nowOf(table)}::timestamptz, now()) - c.run_at))::float8 as oldest_due_seconds
    from (
      select name from found where name is not null union select name from unnest(${names}::text[]) as own (name)
    ) n
    cross join lateral (
      select count(*) as waiting, min(run_at) as run_at from (
        select j.run_at from jobs j where j.name = n.name and j.state <> 'parked' order by j.run_at, j.id limit 10000
      ) first
    ) c`;
}
