/** Shared by the tests of broadcast, cache, jobs, events and schedules: a database, and processes on it. */
import { createBroadcast } from "../runtime/broadcast/broadcast.ts";
import { openPool, type DatabaseTarget, type Sql } from "../runtime/db/db.ts";
import { createEvents } from "../runtime/events/events.ts";
import { createQueue, type QueueOptions } from "../runtime/jobs/jobs.ts";
import { createLog } from "../runtime/system/log.ts";
import { createDatabase, eventually } from "./harness.ts";
import { runtimeMigrations } from "../runtime/db/runtime-migrations.ts";
import { createDatabaseClock, createSchedules } from "../runtime/jobs/schedule.ts";
import { databaseTime } from "../runtime/jobs/schedule-store.ts";

export const silent = createLog("error", () => {});

export interface TestDatabase {
  readonly target: DatabaseTarget;
  readonly sql: Sql;
  stop(): Promise<void>;
}

export async function startTestDatabase(): Promise<TestDatabase> {
  const target = await createDatabase();
  const sql = openPool(target, { max: 4 });
  for (const migration of runtimeMigrations) await sql.unsafe(migration.sql);
  return { target, sql, stop: () => sql.end({ timeout: 5 }) };
}

interface ProcessOptions extends Partial<QueueOptions> {
  /** For the schedules only: turning the queue's clock would end its leases. */
  readonly scheduleClock?: () => Date;
  /** Replaces this machine's clock, which the schedules compare with the database's. */
  readonly here?: () => number;
  /** Of the broadcast. */
  readonly maxFlushMs?: number;
}

/** These parts of one process of an installation; `await using` stops them. */
export async function startProcess(target: DatabaseTarget, options: ProcessOptions = {}) {
  const processId = options.processId ?? crypto.randomUUID();
  const sql = openPool(target, { max: 5 });
  // By this name a test finds the listening connection to end it.
  const listen = () => openPool(target, { max: 1, applicationName: `listen ${processId}` });
  const { maxFlushMs } = options;
  const broadcast = createBroadcast({ sql, listen, processId, log: silent, ...(maxFlushMs && { maxFlushMs }) });
  await broadcast.start();
  const queue = createQueue({ sql, broadcast, log: silent, processId, pollMs: 50, graceMs: 200, ...options });
  const events = createEvents({ queue, log: silent });
  const { scheduleClock, here } = options;
  const clock = scheduleClock
    ? { now: scheduleClock, compare: async () => {} }
    : createDatabaseClock(() => databaseTime(sql), silent, here);
  const schedules = createSchedules({ sql, queue, log: silent, clock });
  const stop = async () => {
    await schedules.stop();
    await queue.stop();
    await broadcast.stop();
    await sql.end({ timeout: 5 });
  };
  return { processId, sql, broadcast, queue, events, schedules, stop, [Symbol.asyncDispose]: stop };
}

/** Waits until the condition holds. */
export async function until(condition: () => boolean | Promise<boolean>, what?: string): Promise<void> {
  await eventually(condition, what);
}

/** Ends the listening connection of a process, as a network fault would. */
export async function cutListening(sql: Sql, processId: string): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${`listen ${processId}`}`;
}
