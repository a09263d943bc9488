/**
 * Work by the clock. Each due time is one row and one job, written together by whichever process comes first, so
 * several processes fire it once and a crash does not lose it. The runs of one schedule never overlap.
 *
 *     schedules.register({ id: "jsondb.purge", cron: "0 3 * * *", run: async (dueAt) => { … } });
 */
import { type HandleOptions } from "./job.ts";
import type { Cron } from "croner";
import { transaction, type Sql } from "../db.ts";
import type { Queue } from "./jobs.ts";
import type { Log } from "../log.ts";
import { job } from "../references.ts";
import { dueTimes, parseCron } from "./due-times.ts";
import { createScheduleStore } from "./schedule-store.ts";

export interface ScheduleOptions extends Pick<HandleOptions, "retry" | "maxAttempts" | "leaseSeconds"> {
  readonly id: string;
  /** Five fields, or six with seconds first. */
  readonly cron: string;
  /** An IANA name; the schedules' own when left out. */
  readonly timezone?: string | undefined;
  /** After a time in which no process ran: leave out what was due then (the default), or fire the latest of it. */
  readonly missed?: "skip" | "latest";
  /** At least once for each due time. */
  readonly run: (dueAt: Date) => Promise<void>;
}

export interface Schedules {
  /** Puts the schedule in force; gives back how to end it. Throws where the pattern or the time zone is not one. */
  register(options: ScheduleOptions): () => void;
  /** Fires what is due by now. The timer does it by itself; tests that turn the clock call it. */
  check(): Promise<void>;
  /** Forgets due times of so many days ago. */
  prune(olderThanDays: number): Promise<number>;
  start(): void;
  stop(): Promise<void>;
}

interface Needed {
  readonly sql: Sql;
  readonly queue: Queue;
  readonly log: Log;
  readonly clock?: () => Date;
  readonly timezone?: string;
}

interface Entry {
  readonly cron: Cron;
  readonly missed: "skip" | "latest";
  /** All due times up to this one are dealt with. */
  checkedTo: Date;
  /** Whether `checkedTo` has still to be read from what was fired before this process began. */
  resume: boolean;
}

// The timer looks at the clock at least so often, so that a clock that was set is noticed.
const maxSleepMs = 30_000;
const keptDays = 7;
const pruneEveryMs = 3_600_000;

export function createSchedules({ sql, queue, log, clock, timezone = "UTC" }: Needed): Schedules {
  const now = clock ?? (() => new Date());
  const scheduleStore = createScheduleStore(sql);
  const entries = new Map<string, Entry>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let started = false;
  let checking: Promise<void> = Promise.resolve();
  let prunedAt = -Infinity;
  /** Set until times to come, which a clock that was ahead has fired, are forgotten. */
  let wasAhead = true;
  let lastAt = now();

  const fire = async (id: string, dueAt: Date) => {
    await transaction(sql, async (tx) => {
      if (!(await scheduleStore.note(tx, id, dueAt))) return;
      await queue.enqueue(jobOf(id), { dueAt: dueAt.toISOString() }, { tx, orderKey: id });
    });
  };
  const checkAll = async () => {
    const at = now();
    await setBack(at);
    for (const [id, entry] of entries) {
      try {
        if (entry.resume) entry.checkedTo = (await scheduleStore.lastFired(id, at)) ?? entry.checkedTo;
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
  /** Where the clock was set back, or was wrong before this process began, all goes on from the time that it shows now. */
  const setBack = async (at: Date) => {
    wasAhead ||= at < lastAt;
    lastAt = at;
    if (!wasAhead) return;
    const from = new Date(at.getTime() - maxSleepMs);
    for (const entry of entries.values()) if (entry.checkedTo > at) entry.checkedTo = from;
    try {
      await scheduleStore.forgetFuture(at);
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
    // At least a second after a failure, where the due time is past already.
    const wait = Math.min(...next) - at;
    timer = setTimeout(() => void check(), wait > 0 ? Math.min(wait, maxSleepMs) : 1000);
  };
  const prune = (olderThanDays: number) => scheduleStore.prune(new Date(now().getTime() - olderThanDays * 86_400_000));

  return {
    check,
    prune,
    register(options) {
      const { id, run, retry, maxAttempts = 3, leaseSeconds, missed = "skip" } = options;
      const cron = parseCron(options.cron, options.timezone ?? timezone);
      if (entries.has(id)) throw new Error(`schedule "${id}" is registered already`);
      const entry: Entry = { cron, missed, checkedTo: now(), resume: missed === "latest" };
      entries.set(id, entry);
      const unhandle = queue.handle(jobOf(id), ({ dueAt }) => run(new Date(dueAt)), {
        concurrency: 1,
        maxAttempts,
        ...(retry && { retry }),
        ...(leaseSeconds !== undefined && { leaseSeconds }),
      });
      if (entry.resume && started) void check();
      else arm();
      return () => {
        if (entries.get(id) === entry) entries.delete(id);
        unhandle();
      };
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

const jobOf = (id: string) => job<{ dueAt: string }>(`schedule:${id}`);
