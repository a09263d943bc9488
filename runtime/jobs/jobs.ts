/**
 * A durable queue on the same PostgreSQL: a job written in a transaction runs after its commit, at least once.
 * A handler is therefore idempotent. See migrations/001_jobs.sql for the table and runner.ts for how jobs run.
 *
 *     const reindex = job<{ dbId: number }>("jsondb.reindex");
 *     queue.handle(reindex, async ({ dbId }, { signal }) => { … });
 *     await queue.enqueue(reindex, { dbId: 7 }, { tx, key: "7" });
 */
import { type HandleOptions, type JobInfo } from "./job.ts";
import type { Broadcast } from "../broadcast/broadcast.ts";
import { currentCausation } from "../scope/causation.ts";
import { afterCommit, type Sql, type Tx } from "../db/db.ts";
import * as jobStore from "./job-store.ts";
import type { Inserted, NewJob, OrderKey, QueueLength } from "./job-store.ts";
import type { Log } from "../system/log.ts";
import type { JobRef } from "../base/references.ts";
import { createRunner, type Counters, type RunnerOptions } from "./runner.ts";

export interface EnqueueOptions {
  /** Earliest time to run. */
  readonly runAt?: Date | undefined;
  /** While a job of this name and key is waiting, no second one is written. */
  readonly key?: string | undefined;
  /** Writes the job in this transaction: it runs after the commit, or never. */
  readonly tx?: Tx | undefined;
  readonly maxAttempts?: number | undefined;
  /** Jobs of one name and order key run in sequence. Their order is defined only if writers of the key take turns. */
  readonly orderKey?: string | undefined;
  readonly accountId?: number | undefined;
  /** What it belongs to within its account, such as a flow: one never keeps the places of the others. */
  readonly share?: string | undefined;
}

export interface QueueStats extends Counters {
  readonly names: readonly QueueLength[];
  /** Those that this process handles. */
  readonly handled: readonly string[];
}

export interface Queue {
  /** Returns the job's id, or undefined if one with its `key` is already waiting. */
  enqueue<T>(ref: JobRef<T>, payload: T, options?: EnqueueOptions): Promise<number | undefined>;
  /** The same for jobs of any names, in one statement. Returns ids in order, without jobs whose key is already waiting. */
  add(jobs: readonly NewJob[], tx?: Tx): Promise<number[]>;
  /** Runs the jobs of this name in this process. */
  handle<T>(ref: JobRef<T>, run: (payload: T, job: JobInfo) => Promise<void>, options?: HandleOptions): void;
  start(): Promise<void>;
  /** Stops claiming, waits a while for running jobs, and returns the rest to the queue. */
  stop(): Promise<void>;
  stats(): Promise<QueueStats>;
}

export interface QueueOptions extends Partial<Pick<RunnerOptions, "concurrency" | "pollMs" | "graceMs">> {
  readonly sql: Sql;
  readonly broadcast: Broadcast;
  readonly log: Log;
  /** Identifies this process among all live ones. */
  readonly processId: string;
  /** Replaces the database's clock in tests. */
  readonly clock?: () => Date;
  /** No other process uses this database, so jobs claimed at its start were left by one that died. */
  readonly alone?: boolean;
  /** How long finished jobs can be looked up; default: 7. */
  readonly historyDays?: number;
}

const dueTopic = "jobs.due";
const soonTopic = "jobs.soon";
// A poll finds jobs due later than this in time.
const soonSeconds = 2;

export function createQueue(options: QueueOptions): Queue {
  const { sql, broadcast, log, processId, clock, historyDays = 7, alone = false } = options;
  const { concurrency = 1000, pollMs = 1000, graceMs = 10_000 } = options;
  const table = { sql, worker: processId, clock };
  const wake = (name: string) => broadcast.publish(dueTopic, name);
  const runner = createRunner({ table, log, wake, concurrency, pollMs, graceMs, historyDays });
  const unsubscribe: (() => void)[] = [];

  const add: Queue["add"] = async (jobs, tx) => {
    if (jobs.length === 0) return [];
    const causation = currentCausation();
    const written = await jobStore.insert(table, causation ? jobs.map((j) => ({ causation, ...j })) : jobs, tx);
    if (tx && written.length > 0) afterCommit(tx, () => announce(written));
    else announce(written);
    return written.map(({ id }) => id);
  };
  /** Announces committed jobs: ordered ones through `promote`, the others at once. */
  const announce = (written: readonly Inserted[]) => {
    const ordered: OrderKey[] = [];
    const due = new Set<string>();
    let soon = false;
    for (const { name, orderKey, runAt, seconds } of written) {
      if (orderKey !== null) ordered.push({ name, orderKey });
      else if (seconds <= 0.001) {
        due.add(name);
        runner.lookFrom(name, runAt);
      } else soon ||= seconds <= soonSeconds;
    }
    runner.promote(...ordered);
    for (const name of due) wake(name);
    if (soon) broadcast.publish(soonTopic, "");
  };

  return {
    add,
    async enqueue(ref, payload, { tx, ...rest } = {}) {
      return (await add([{ name: ref.id, payload, ...rest }], tx))[0];
    },
    handle: (ref, run, handleOptions = {}) => runner.handle({ name: ref.id, run }, handleOptions),
    async start() {
      unsubscribe.push(broadcast.on(dueTopic, runner.wake), broadcast.on(soonTopic, runner.poll));
      if (alone) await jobStore.takeBack(table);
      runner.start();
    },
    async stop() {
      for (const end of unsubscribe.splice(0)) end();
      await runner.stop();
    },
    async stats() {
      return { ...runner.counters(), names: await jobStore.waiting(table, runner.names()), handled: runner.names() };
    },
  };
}
