/** The SQL by which crons are fired; what people do with them has the usual statements of a resource. */
import { words, type Sql, type Tx } from "platform";
import { Cron, type CronRow } from "./cron.ts";

type CronRef = Pick<CronRow, "accountId" | "id">;

/** The result of a due time. */
interface Fired {
  readonly lastRunAt: Date | null;
  readonly nextRunAt: Date | null;
  readonly lastError: string | null;
}

/** Those that start one of these flows. */
export const naming = (sql: Sql, accountId: number, codes: readonly string[], limit: number) => sql<
  Pick<CronRow, "id" | "name">[]
>`
  select id, name from crons
  where account_id = ${accountId} and target_code = any(${codes}) order by id limit ${limit}`;

/** A due cron that is not one of `others`, locked until the transaction ends; other processes skip it. */
export async function due(tx: Tx, now: Date, others: readonly number[]): Promise<CronRow | undefined> {
  const [row] = await tx<CronRow[]>`
    select ${words(tx, Cron.read)} from crons where next_run_at <= ${now} and id <> all(${others}::bigint[])
    order by next_run_at limit 1 for update skip locked`;
  return row;
}

/** Active crons of all accounts, in the order of their ids. */
export const page = (sql: Sql, after: number, limit: number) => sql<CronRow[]>`
  select ${words(sql, Cron.read)} from crons where next_run_at is not null and id > ${after} order by id limit ${limit}`;

/** Does nothing if the cron has changed since it was read. */
export async function moveNext(
  sql: Sql,
  { id, accountId, schedule, timezone, nextRunAt }: CronRow,
  to: Date,
): Promise<void> {
  await sql`
    update crons set next_run_at = ${to}
    where account_id = ${accountId} and id = ${id} and next_run_at = ${nextRunAt} and schedule = ${schedule} and timezone = ${timezone}`;
}

/** Forgets future times that a clock ahead has fired. Servers take the database's time, so theirs hardly differ. */
export async function forgetFuture(sql: Sql, now: Date): Promise<void> {
  await sql`delete from cron_runs where due_at > ${now}::timestamptz + interval '10 seconds'`;
}

/** False if this due time was fired already. */
export async function claim(tx: Tx, { accountId, id }: CronRef, dueAt: Date): Promise<boolean> {
  const result = await tx`
    insert into cron_runs (account_id, cron_id, due_at) values (${accountId}, ${id}, ${dueAt})
    on conflict do nothing`;
  return result.count === 1;
}

export async function fired(
  tx: Tx,
  { accountId, id }: CronRef,
  { lastRunAt, nextRunAt, lastError }: Fired,
): Promise<void> {
  await tx`
    update crons set last_run_at = coalesce(${lastRunAt}::timestamptz, last_run_at), next_run_at = ${nextRunAt},
      last_error = ${lastError} where account_id = ${accountId} and id = ${id}`;
}

export async function skip(
  sql: Sql,
  { accountId, id }: CronRef,
  nextRunAt: Date | null,
  lastError: string,
): Promise<void> {
  await sql`
    update crons set next_run_at = ${nextRunAt}, last_error = ${lastError}
    where account_id = ${accountId} and id = ${id}`;
}

export async function ran(tx: Tx, { accountId, id }: CronRef, at: Date): Promise<void> {
  await tx`update crons set last_run_at = ${at}, last_error = null where account_id = ${accountId} and id = ${id}`;
}

export async function prune(sql: Sql, olderThanDays: number): Promise<void> {
  await sql`delete from cron_runs where created_at < now() - make_interval(days => ${olderThanDays})`;
}
