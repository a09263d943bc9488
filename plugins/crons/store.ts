/** All SQL about crons. */
import { readPage, type Page, type Sql, type Static, type Tx } from "platform";
import type { ListedCron } from "./answers.ts";

export interface CronRow {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  readonly kind: string;
  readonly targetCode: string;
  readonly schedule: string;
  readonly timezone: string;
  readonly active: boolean;
  readonly missed: "skip" | "latest";
  readonly lastRunAt: Date | null;
  readonly nextRunAt: Date | null;
  readonly lastError: string | null;
  /** Raised by what people change, not by what the server notes of a run. */
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type CronInput = Pick<
  CronRow,
  "name" | "kind" | "targetCode" | "schedule" | "timezone" | "active" | "missed" | "nextRunAt"
>;

type Owned = Pick<CronRow, "accountId" | "id">;

/** The result of a due time. */
export interface Fired {
  readonly lastRunAt: Date | null;
  readonly nextRunAt: Date | null;
  readonly lastError: string | null;
}

export function toApi(row: CronRow): Static<typeof ListedCron> {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    target_code: row.targetCode,
    schedule: row.schedule,
    timezone: row.timezone,
    active: row.active,
    missed: row.missed,
    last_run_at: row.lastRunAt,
    next_run_at: row.nextRunAt,
    last_error: row.lastError,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

export type CronStore = ReturnType<typeof createCronStore>;

export function createCronStore(sql: Sql) {
  const columns = sql`
    id, account_id, name, kind, target_code, schedule, timezone, active, missed, last_run_at, next_run_at, last_error,
    version, created_at, updated_at`;

  return {
    async list(accountId: number, targetCode: string | undefined, page: Page) {
      const where = sql`
        account_id = ${accountId} ${targetCode === undefined ? sql`` : sql`and target_code = ${targetCode}`}`;
      return readPage<CronRow>(sql, page, { columns, from: sql`crons where ${where}`, order: sql`id` });
    },

    /** Those that start one of these flows. */
    naming: (accountId: number, codes: readonly string[], limit: number) => sql<Pick<CronRow, "id" | "name">[]>`
      select id, name from crons
      where account_id = ${accountId} and target_code = any(${codes}) order by id limit ${limit}`,

    async byId(accountId: number, id: number): Promise<CronRow | undefined> {
      const [row] = await sql<CronRow[]>`select ${columns} from crons where account_id = ${accountId} and id = ${id}`;
      return row;
    },

    /** Locked until the transaction ends. */
    async lock(tx: Tx, accountId: number, id: number): Promise<CronRow | undefined> {
      const [row] = await tx<CronRow[]>`
        select ${columns} from crons where account_id = ${accountId} and id = ${id} for update`;
      return row;
    },

    async insert(tx: Tx, accountId: number, userId: number, input: CronInput): Promise<CronRow> {
      const [row] = await tx<CronRow[]>`
        insert into crons (account_id, name, kind, target_code, schedule, timezone, active, missed, next_run_at, created_by_id)
        values (${accountId}, ${input.name}, ${input.kind}, ${input.targetCode}, ${input.schedule}, ${input.timezone},
          ${input.active}, ${input.missed}, ${input.nextRunAt}, ${userId})
        returning ${columns}`;
      return row as CronRow; // an insert of one row returns one
    },

    async update(tx: Tx, accountId: number, id: number, userId: number, input: CronInput): Promise<CronRow> {
      const [row] = await tx<CronRow[]>`
        update crons set name = ${input.name}, kind = ${input.kind}, target_code = ${input.targetCode},
          schedule = ${input.schedule}, timezone = ${input.timezone}, active = ${input.active}, missed = ${input.missed},
          next_run_at = ${input.nextRunAt}, updated_by_id = ${userId}, version = version + 1,
          updated_at = now()
        where account_id = ${accountId} and id = ${id} returning ${columns}`;
      return row as CronRow; // `lock` held the row
    },

    async delete(tx: Tx, accountId: number, id: number): Promise<void> {
      await tx`delete from crons where account_id = ${accountId} and id = ${id}`;
    },

    /** A due cron that is not one of `others`, locked until the transaction ends; other processes skip it. */
    async due(tx: Tx, now: Date, others: readonly number[]): Promise<CronRow | undefined> {
      const [row] = await tx<CronRow[]>`
        select ${columns} from crons where next_run_at <= ${now} and id <> all(${others}::bigint[])
        order by next_run_at limit 1 for update skip locked`;
      return row;
    },

    /** Active crons of all accounts, in the order of their ids. */
    page: (after: number, limit: number) => sql<CronRow[]>`
      select ${columns} from crons where next_run_at is not null and id > ${after} order by id limit ${limit}`,

    /** Does nothing if the cron has changed since it was read. */
    async moveNext({ id, accountId, schedule, timezone, nextRunAt }: CronRow, to: Date): Promise<void> {
      await sql`
        update crons set next_run_at = ${to}
        where account_id = ${accountId} and id = ${id} and next_run_at = ${nextRunAt} and schedule = ${schedule} and timezone = ${timezone}`;
    },

    /** Forgets future times that a clock ahead has fired. The hour is for the clocks of several servers, which differ. */
    async forgetFuture(now: Date): Promise<void> {
      await sql`delete from cron_runs where due_at > ${now}::timestamptz + interval '1 hour'`;
    },

    /** False if this due time was fired already. */
    async claim(tx: Tx, { accountId, id }: Owned, dueAt: Date): Promise<boolean> {
      const result = await tx`
        insert into cron_runs (account_id, cron_id, due_at) values (${accountId}, ${id}, ${dueAt})
        on conflict do nothing`;
      return result.count === 1;
    },

    async fired(tx: Tx, { accountId, id }: Owned, { lastRunAt, nextRunAt, lastError }: Fired): Promise<void> {
      await tx`
        update crons set last_run_at = coalesce(${lastRunAt}::timestamptz, last_run_at), next_run_at = ${nextRunAt},
          last_error = ${lastError} where account_id = ${accountId} and id = ${id}`;
    },

    async skip({ accountId, id }: Owned, nextRunAt: Date | null, lastError: string): Promise<void> {
      await sql`
        update crons set next_run_at = ${nextRunAt}, last_error = ${lastError}
        where account_id = ${accountId} and id = ${id}`;
    },

    async ran(tx: Tx, { accountId, id }: Owned, at: Date): Promise<void> {
      await tx`update crons set last_run_at = ${at}, last_error = null where account_id = ${accountId} and id = ${id}`;
    },

    async prune(olderThanDays: number): Promise<void> {
      await sql`delete from cron_runs where created_at < now() - make_interval(days => ${olderThanDays})`;
    },
  };
}
