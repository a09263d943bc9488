/**
 * Runs claimed jobs in this process. One claim is under way at a time and asks for all names that may have due jobs, so
 * the busier it is the larger its batches; what finished meanwhile is written in one statement likewise.
 */
import { type HandleOptions, type JobInfo, type Run } from "./job.ts";
import { withCausation } from "../events/causation.ts";
import { inScope } from "../http/keyed.ts";

import type { Claim, ClaimedJob, JobStore, OrderKey } from "./job-store.ts";
import { createSettler } from "./job-settler.ts";
import { createTimers, untilTrue } from "./job-timers.ts";
import type { Log } from "../log.ts";

export interface RunnerOptions {
  readonly store: JobStore;
  readonly log: Log;
  /** Says in every process that jobs of this name may be due. */
  readonly wake: (name: string) => void;
  /** Runs at once in this process, of all names. */
  readonly concurrency: number;
  readonly pollMs: number;
  /** How long `stop` waits for what runs. */
  readonly graceMs: number;
}

/** Counted since the start, for this process. */
export interface Counters {
  readonly running: number;
  readonly done: number;
  readonly failed: number;
  readonly retried: number;
}

/** `run` is a method, so that a handler of any payload fits: its ref has typed the payload where it was enqueued. */
interface Handler {
  readonly name: string;
  run(payload: unknown, job: JobInfo): Promise<void>;
}

interface Lane {
  readonly handler: Handler;
  readonly options: HandleOptions;
  readonly concurrency: number;
  readonly leaseSeconds: number;
  running: number;
  /** Whether jobs may be due: set by a wake, a poll or a full batch. */
  due: boolean;
  /** Where claims begin to look: a poll once a second finds what came late with an earlier time. */
  since: Date;
  /** The earliest time that somebody asked to look from while the last claim was under way. */
  asked: Date;
}

const claimBatch = 100;
// Claims rest while so many ends are not written: the database is slow or away.
const maxUnwritten = 1000;
const defaultConcurrency = 20;
const defaultLeaseSeconds = 30;
const defaultMaxAttempts = 10;
const pauseAfterErrorMs = 500;
// A transaction of another process that took longer than this has its jobs found by the poll.
const lateMs = 1000;
const ever = new Date(0);
const never = new Date(8.64e15);

export function createRunner(options: RunnerOptions) {
  const { store, log, wake, concurrency, pollMs, graceMs } = options;
  const lanes = new Map<string, Lane>();
  const runs = new Set<Run>();
  const counts = { done: 0, failed: 0, retried: 0 };
  let running = 0;
  let claiming = false;
  let claimQueued = false;
  let state: "idle" | "started" | "stopping" = "idle";
  let turn = 0;
  let polling = false;
  let pollAgain = false;

  const settler = createSettler({
    store,
    log,
    wake,
    soon: (seconds) => timers.arm(seconds),
    counts,
    settled: (run) => runs.delete(run),
  });

  const claim = async () => {
    claimQueued = false;
    if (claiming || state !== "started" || settler.unwritten() >= maxUnwritten) return;
    const claims = chooseClaims([...lanes.values()], Math.min(claimBatch * 4, concurrency - running), turn++);
    if (claims.length === 0) return;
    claiming = true;
    try {
      startAll(await store.claim(claims), claims);
    } catch (error) {
      log.warn("claiming jobs failed, trying again", { error });
      for (const { name } of claims) markDue(name);
      await Bun.sleep(pauseAfterErrorMs);
    }
    claiming = false;
    claimSoon();
  };
  /** Many ends of one tick make one claim. */
  const claimSoon = () => {
    if (claimQueued || claiming) return;
    claimQueued = true;
    setImmediate(() => void claim());
  };
  const markDue = (name: string) => {
    const lane = lanes.get(name);
    if (lane) lane.due = true;
  };
  const lookFrom = (name: string, since: Date) => {
    const lane = lanes.get(name);
    if (!lane) return;
    lane.since = earlier(lane.since, since);
    lane.asked = earlier(lane.asked, since);
  };
  const startAll = (jobs: readonly ClaimedJob[], claims: readonly Claim[]) => {
    for (const { name, limit, since } of claims) {
      const lane = lanes.get(name);
      const own = jobs.filter((job) => job.name === name);
      if (!lane || own.length === 0) continue;
      const last = Math.max(...own.map((job) => job.dueAt.getTime()));
      const next = new Date(own.length === limit ? last : last - lateMs);
      lane.since = earlier(lane.asked, next > since ? next : since);
      if (own.length === limit) lane.due = true;
    }
    for (const job of jobs) void start(job);
  };
  const start = async (job: ClaimedJob) => {
    const lane = lanes.get(job.name);
    const leaseSeconds = lane?.leaseSeconds ?? defaultLeaseSeconds;
    const run: Run = {
      job,
      leaseSeconds,
      controller: new AbortController(),
      extendedAt: performance.now(),
      finished: false,
    };
    runs.add(run);
    // The handler was taken away while the claim was under way.
    if (!lane) return settler.giveBack([run]);
    running++;
    lane.running++;
    const attempt = job.attempt - job.forgiven;
    const maxAttempts = job.maxAttempts ?? lane.options.maxAttempts ?? defaultMaxAttempts;
    try {
      if (attempt > maxAttempts) throw new Error("the process that ran it died, or lost touch with the database");
      const info = { id: job.id, attempt, signal: run.controller.signal, accountId: job.accountId ?? undefined };
      // Whichever request woke us, its transaction is not this job's.
      await inScope(undefined, () =>
        withCausation(job.causation ?? undefined, () => lane.handler.run(job.payload, info)),
      );
      settler.done(run);
    } catch (error) {
      if (run.controller.signal.aborted && state === "stopping") settler.giveBack([run]);
      // Another process has it now: how it ended here matters to nobody.
      else if (run.controller.signal.aborted) runs.delete(run);
      else settler.failed(run, error, attempt < maxAttempts ? secondsToRetry(lane.options, attempt, error) : undefined);
    }
    running--;
    lane.running--;
    claimSoon();
  };
  const poll = async () => {
    if (state !== "started") return;
    pollAgain = polling;
    if (polling) return;
    polling = true;
    try {
      for (const { name, dueAt, seconds } of await store.next([...lanes.keys()])) {
        if (seconds > 0) timers.arm(seconds);
        else {
          lookFrom(name, dueAt);
          markDue(name);
        }
      }
    } catch (error) {
      log.warn("looking for due jobs failed, trying again", { error });
    }
    polling = false;
    void claim();
    if (pollAgain) void poll();
  };
  const timers = createTimers(
    pollMs,
    () => void poll(),
    () => void heartbeat(),
  );
  const heartbeat = async () => {
    const old = performance.now();
    const long = [...runs].filter((run) => old - run.extendedAt > (run.leaseSeconds * 1000) / 3);
    if (long.length === 0) return;
    try {
      const held = await store.extend(
        long.map((r) => ({ id: r.job.id, attempt: r.job.attempt, leaseSeconds: r.leaseSeconds })),
      );
      for (const run of long) {
        run.extendedAt = old;
        if (!held.has(run.job.id) && !run.finished) run.controller.abort(new Error("the lease of this job was lost"));
      }
    } catch (error) {
      log.warn("extending the leases of jobs failed, trying again", { error });
    }
  };

  return {
    names: () => [...lanes.keys()],
    counters: (): Counters => ({ running, ...counts }),
    handle(handler: Handler, handleOptions: HandleOptions): () => void {
      const { name } = handler;
      if (lanes.has(name)) throw new Error(`job "${name}" has a handler already`);
      const { concurrency: most = defaultConcurrency, leaseSeconds = defaultLeaseSeconds } = handleOptions;
      const lane: Lane = {
        handler,
        options: handleOptions,
        concurrency: most,
        leaseSeconds,
        running: 0,
        due: true,
        since: ever,
        asked: never,
      };
      lanes.set(name, lane);
      timers.heartbeatWithin((leaseSeconds * 1000) / 4);
      void claim();
      return () => lanes.get(name) === lane && lanes.delete(name);
    },
    wake: (name: string) => {
      markDue(name);
      void claim();
    },
    lookFrom,
    poll: () => void poll(),
    promote: (keys: readonly OrderKey[]) => settler.promote(keys),
    start() {
      state = "started";
      timers.start();
      void poll();
    },
    async stop() {
      if (state === "started") {
        state = "stopping";
        await untilTrue(() => running === 0 && !claiming, graceMs);
        for (const run of runs) if (!run.finished) run.controller.abort(new Error("the process stops"));
        // A handler that heeds its signal ends by itself; the others are given back while they run on.
        await untilTrue(() => running === 0, 250);
        settler.giveBack([...runs].filter((run) => !run.finished));
      }
      timers.stop();
      await settler.stop();
    },
  };
}

/** Shares `free` slots out among the lanes with due jobs, a different one first each time. */
function chooseClaims(lanes: readonly Lane[], free: number, turn: number): Claim[] {
  const claims: Claim[] = [];
  let left = free;
  for (let i = 0; i < lanes.length; i++) {
    const lane = lanes[(i + turn) % lanes.length];
    if (!lane?.due) continue;
    const limit = Math.min(lane.concurrency - lane.running, claimBatch, left);
    if (limit <= 0) continue;
    lane.due = false;
    lane.asked = never;
    left -= limit;
    claims.push({ name: lane.handler.name, limit, leaseSeconds: lane.leaseSeconds, since: lane.since });
  }
  return claims;
}

/** 1, 2, 4 … seconds up to an hour, a quarter more or less so that what failed together does not come back together. */
function secondsToRetry(options: HandleOptions, attempt: number, error: unknown): number | undefined {
  try {
    if (options.retry) return options.retry(attempt, error);
  } catch {
    // A mistake in `retry` must not lose the job.
  }
  return Math.min(2 ** (attempt - 1), 3600) * (0.75 + Math.random() / 2);
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}
