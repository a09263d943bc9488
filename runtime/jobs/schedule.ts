/**
 * Work by the clock. Each due time is one row and one job, written together by the first process to get there, so that
 * several processes fire it only once and a crash does not lose it. The runs of one schedule never overlap.
 *
 *     schedules.register({ id: "jsondb.purge", cron: "0 3 * * *", run: async (dueAt) => { … } });
 */
import { job } from "../base/references.ts";
import { transaction, type Sql } from "../db/db.ts";
import type { Log } from "../system/log.ts";
import { dueTimes, parseCron, type Pattern } from "../times/due-times.ts";
import type { HandleOptions } from "./job.ts";
import type { Queue } from "./jobs.ts";
import * as scheduleStore from "./schedule-store.ts";

export interface ScheduleOptions extends Pick<HandleOptions, "retry" | "maxAttempts" | "leaseSeconds"> {
  readonly id: string;
  /** Five fields, or six with seconds as the first. */
  readonly cron: string;
  /** An IANA name; default: the one given to createSchedules. */
  readonly timezone?: string | undefined;
  /** What to do about times that were due while no process ran: skip them (the default), or fire the latest. */
  readonly missed?: "skip" | "latest";
  /** Runs at least once for each due time. */
  readonly run: (dueAt: Date) => Promise<void>;
}

export interface Schedules {
  /** Puts the schedule in force. Throws if the pattern or the time zone is invalid. */
  register(options: ScheduleOptions): void;
  /** Fires what is due. A timer calls it; tests that set the clock call it too. */
  check(): Promise<void>;
  /** Forgets due times older than this many days. */
  prune(olderThanDays: number): Promise<number>;
  start(): void;
  stop(): Promise<void>;
}

/** Around the schedules: where their times and jobs are kept, and the clock that they go by. */
interface Surroundings {
  readonly sql: Sql;
  readonly queue: Queue;
  readonly log: Log;
  readonly clock: Pick<DatabaseClock, "now" | "compare">;
  readonly timezone?: string;
}

interface Entry {
  readonly cron: Pattern;
  readonly missed: "skip" | "latest";
  /** All due times up to this one have been handled. */
  checkedTo: Date;
  /** Whether `checkedTo` must still be read from what fired before this process started. */
  resume: boolean;
}

// The timer checks the clock at least this often, to notice that it was set.
const maxSleepMs = 30_000;
const keptDays = 7;
const pruneEveryMs = 3_600_000;

export function createSchedules({ sql, queue, log, clock, timezone = "UTC" }: Surroundings): Schedules {
  const { now } = clock;
  const entries = new Map<string, Entry>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let started = false;
  let checking: Promise<void> = Promise.resolve();
  let prunedAt = -Infinity;
  /** Set until future times that fired while the clock was ahead are forgotten. */
  let wasAhead = true;
  let lastAt = now();

  const fire = async (id: string, dueAt: Date) => {
    await transaction(sql, async (tx) => {
      if (!(await scheduleStore.note(tx, id, dueAt))) return;
      await queue.enqueue(jobOf(id), { dueAt: dueAt.toISOString() }, { tx, orderKey: id });
    });
  };
  const checkAll = async () => {
    await clock.compare();
    const at = now();
    await setBack(at);
    for (const [id, entry] of entries) {
      try {
        if (entry.resume) entry.checkedTo = (await scheduleStore.lastFired(sql, id, at)) ?? entry.checkedTo;
        entry.resume = false;
        for (const dueAt of dueTimes(entry, at)) await fire(id, dueAt);
        entry.checkedTo = at;
      } catch (error) {
        log.warn("firing a schedule failed, trying again", { schedule: id, error });
      }
    }
    if (started && performance.now() - prunedAt > pruneEveryMs) {
      prunedAt = performance.now();
      await prune(keptDays).catch((error: unknown) => log.warn("pruning schedule runs failed", { error }));
    }
    arm();
  };
  /** If the clock was set back, or was wrong before this process started, continue from the present time. */
  const setBack = async (at: Date) => {
    wasAhead ||= at < lastAt;
    lastAt = at;
    if (!wasAhead) return;
    const from = new Date(at.getTime() - maxSleepMs);
    for (const entry of entries.values()) if (entry.checkedTo > at) entry.checkedTo = from;
    try {
      await scheduleStore.forgetFuture(sql, at);
      wasAhead = false;
    } catch (error) {
      log.warn("due times of a clock that was ahead were not forgotten, trying again", { error });
    }
  };
  const check = () => {
    checking = checking.then(checkAll);
    return checking;
  };
  const arm = () => {
    clearTimeout(timer);
    if (!started) return;
    const at = now().getTime();
    const next = [...entries.values()].map(({ cron, checkedTo }) => cron.nextRun(checkedTo)?.getTime() ?? Infinity);
    // After a failure, wait at least a second even if the due time has passed.
    const wait = Math.min(...next) - at;
    timer = setTimeout(() => void check(), wait > 0 ? Math.min(wait, maxSleepMs) : 1000);
  };
  const prune = (olderThanDays: number) =>
    scheduleStore.prune(sql, new Date(now().getTime() - olderThanDays * 86_400_000));

  return {
    check,
    prune,
    register(options) {
      const { id, run, retry, maxAttempts = 3, leaseSeconds, missed = "skip" } = options;
      const cron = parseCron(options.cron, options.timezone ?? timezone);
      if (entries.has(id)) throw new Error(`schedule "${id}" is registered already`);
      const entry: Entry = { cron, missed, checkedTo: now(), resume: missed === "latest" };
      entries.set(id, entry);
      queue.handle(jobOf(id), ({ dueAt }) => run(new Date(dueAt)), {
        concurrency: 1,
        maxAttempts,
        ...(retry && { retry }),
        ...(leaseSeconds !== undefined && { leaseSeconds }),
      });
      if (entry.resume && started) void check();
      else arm();
    },
    start() {
      started = true;
      void check();
    },
    async stop() {
      started = false;
      clearTimeout(timer);
      await checking;
    },
  };
}

/** The job that runs a schedule. */
export const jobOf = (id: string) => job<{ dueAt: string }>(`schedule:${id}`);

export interface DatabaseClock {
  now(): Date;
  /** How far this machine's clock is ahead; negative if it is behind. */
  aheadSeconds(): number;
  /** Compares the clocks anew. Without an answer of the database, what was seen last still counts. */
  compare(): Promise<void>;
}

/** A difference that harms nothing. */
const closeMs = 2000;

/**
 * The database's time, by which all that is due goes: the clocks of several machines differ, and each would fire a due
 * time at another moment. `here` is this machine's time in milliseconds.
 */
export function createDatabaseClock(ask: () => Promise<Date>, log: Log, here = Date.now): DatabaseClock {
  let aheadMs = 0;
  let isFar = false;
  return {
    now: () => new Date(here() - aheadMs),
    aheadSeconds: () => aheadMs / 1000,
    async compare() {
      const before = here();
      const there = await ask().catch(() => undefined);
      if (!there) return;
      aheadMs = Math.round((before + here()) / 2 - there.getTime());
      const wasFar = isFar;
      isFar = Math.abs(aheadMs) > closeMs;
      if (isFar && !wasFar)
        log.warn("this machine's clock is not the database's: due times go by the database's", {
          ahead_seconds: aheadMs / 1000,
        });
    },
  };
}
