/**
 * Work by the clock. Each due time is one row and one job, written together by whichever process comes first, so
 * several processes fire it once and a crash does not lose it. The runs of one schedule never overlap.
 *
 *     schedules.register({ id: "jsondb.purge", cron: "0 3 * * *", run: async (dueAt) => { … } });
 */
import { type HandleOptions } from "./job.ts";
import { Cron } from "croner";
import { transaction, type Sql } from "../db.ts";
import type { Queue } from "./jobs.ts";
import type { Log } from "../log.ts";
import { job } from "../references.ts";

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

export interface SchedulesOptions {
  readonly sql: Sql;
  readonly queue: Queue;
  readonly log: Log;
  readonly clock?: () => Date;
  readonly timezone?: string;
}

interface Entry {
  readonly options: ScheduleOptions;
  readonly cron: Cron;
  /** All due times up to this one are dealt with. */
  checkedTo: Date;
  /** Whether `checkedTo` has still to be read from what was fired before this process began. */
  resume: boolean;
}

// Due times not older than this are late, not missed: the process was busy, or the machine slept for a moment.
const lateMs = 60_000;
// The timer looks at the clock at least so often, so that a clock that was set is noticed.
const maxSleepMs = 30_000;
const keptDays = 7;
const pruneEveryMs = 3_600_000;

export function createSchedules({ sql, queue, log, clock, timezone = "UTC" }: SchedulesOptions): Schedules {
  const now = clock ?? (() => new Date());
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
      const rows = await tx`
        insert into schedule_runs (schedule_id, due_at) values (${id}, ${dueAt})
        on conflict do nothing returning due_at`;
      if (rows.length === 0) return;
      await queue.enqueue(jobOf(id), { dueAt: dueAt.toISOString() }, { tx, orderKey: id });
    });
  };
  const checkAll = async () => {
    const at = now();
    await setBack(at);
    for (const [id, entry] of entries) {
      try {
        if (entry.resume) entry.checkedTo = (await lastFired(sql, id, at)) ?? entry.checkedTo;
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
      await sql`delete from schedule_runs where due_at > ${at}::timestamptz + interval '1 hour'`;
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
  const prune = async (olderThanDays: number) => {
    const before = new Date(now().getTime() - olderThanDays * 86_400_000);
    // The last one of each schedule stays: it tells what was missed.
    const result = await sql`
      delete from schedule_runs r where due_at < ${before} and exists (
        select from schedule_runs n where n.schedule_id = r.schedule_id and n.due_at > r.due_at)`;
    return result.count;
  };

  return {
    check,
    prune,
    register(options) {
      const { id, run, retry, maxAttempts = 3, leaseSeconds } = options;
      const cron = parse(options.cron, options.timezone ?? timezone);
      if (entries.has(id)) throw new Error(`schedule "${id}" is registered already`);
      const entry: Entry = { options, cron, checkedTo: now(), resume: options.missed === "latest" };
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

/** The next due times of a pattern, for people to see. Throws where the pattern or the time zone is not one. */
export function nextDueTimes(cron: string, count: number, timezone = "UTC", after = new Date()): Date[] {
  return parse(cron, timezone).nextRuns(count, after);
}

/** The last due time of a pattern up to `at`; undefined where there was none. */
export function latestDueTime(cron: string, timezone: string, at: Date): Date | undefined {
  return parse(cron, timezone).previousRuns(1, at)[0];
}

/** Only the pattern: without a function croner starts no timer. */
function parse(cron: string, timezone: string): Cron {
  const parsed = new Cron(cron, { timezone, mode: "5-or-6-parts" });
  parsed.nextRun(); // only this looks at the time zone
  return parsed;
}

/** What to fire at `at`, oldest first: all that is merely late, and of what was missed the latest where that is asked. */
function dueTimes({ cron, options, checkedTo }: Entry, at: Date): Date[] {
  const lateFrom = Math.max(checkedTo.getTime(), at.getTime() - lateMs);
  const due: Date[] = [];
  let next = cron.nextRun(new Date(lateFrom));
  while (next && next <= at) {
    due.push(next);
    next = cron.nextRun(next);
  }
  if (due.length > 0 || options.missed !== "latest") return due;
  const [latest] = cron.previousRuns(1, at);
  return latest && latest > checkedTo ? [latest] : [];
}

async function lastFired(sql: Sql, id: string, at: Date): Promise<Date | undefined> {
  const [row] = await sql<{ dueAt: Date | null }[]>`
    select max(due_at) as due_at from schedule_runs where schedule_id = ${id} and due_at <= ${at}`;
  return row?.dueAt ?? undefined;
}

const jobOf = (id: string) => job<{ dueAt: string }>(`schedule:${id}`);
