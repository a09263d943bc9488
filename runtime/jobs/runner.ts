/**
 * Runs jobs in this process: polls find what is due, claims take it, its handler runs, the writer writes its end.
 */
import { withActor } from "../scope/actor.ts";
import { withCausation } from "../scope/causation.ts";
import { inScope } from "../scope/keyed.ts";
import type { Log } from "../system/log.ts";
import { readBounds } from "../base/read-bounds.ts";
import { createClaims, createPolls, untilTrue } from "./polls.ts";
import type { HandleOptions, JobInfo } from "./job.ts";
import * as jobStore from "./job-store.ts";
import type { Claim, ClaimedJob, Finish, JobTable, OrderKey, Outcome, Retry } from "./job-store.ts";
import { chooseClaims, claimed, claiming, freed, lookingFrom, markedDue, startCursor } from "./lane.ts";
import type { Handler, Lane } from "./lane.ts";
import { createLeases, createWriter, type Lease } from "./leases.ts";
import { leave, nothingHeld, noTurns, take, tookTurns } from "./shares.ts";

type Run = Lease<ClaimedJob>;

export interface RunnerOptions {
  readonly table: JobTable;
  readonly log: Log;
  /** Tells every process that jobs of this name may be due. */
  readonly wake: (name: string) => void;
  /** The maximum number of concurrent runs in this process, over all names. */
  readonly concurrency: number;
  readonly pollMs: number;
  /** How long `stop` waits for running jobs. */
  readonly graceMs: number;
  /** How long finished jobs can be looked up. */
  readonly historyDays: number;
}

/** Counts of this process since its start. */
export interface Counters {
  readonly running: number;
  readonly done: number;
  readonly failed: number;
  readonly retried: number;
}

const defaultConcurrency = 20;
const defaultLeaseSeconds = 30;
const defaultMaxAttempts = 10;
// No more claims while this many ends are unwritten: the database is slow or unavailable.
const maxUnwritten = 1000;
const upkeepMs = 60_000;
const pruneChunk = 5000;
// How long a handler has to react to its signal before its job goes back to the queue.
const abortMs = 250;

export function createRunner({ table, log, wake, concurrency, pollMs, graceMs, historyDays }: RunnerOptions) {
  const lanes = new Map<string, Lane>();
  const counts = { running: 0, done: 0, failed: 0, retried: 0 };
  let turn = 0;
  let stopping = false;

  const leases = createLeases<ClaimedJob>({ what: "jobs", log, extend: (runs) => jobStore.extend(table, runs) });
  const ends = createEnds({ table, log, wake, soon: (seconds) => polls.arm(seconds), settled: leases.drop });
  const claims = createClaims<Claim, ClaimedJob>({
    what: "jobs",
    log,
    choose() {
      if (!polls.isActive() || ends.unwritten() >= maxUnwritten) return [];
      const chosen = chooseClaims([...lanes.values()], concurrency - counts.running, turn++);
      for (const one of chosen) move(one.name, (cursor) => claiming(cursor, one));
      return chosen;
    },
    claim: (chosen) => jobStore.claim(table, chosen),
    took(jobs, chosen) {
      tookJobs(lanes, jobs, chosen);
      for (const job of jobs) {
        const lane = lanes.get(job.name);
        if (lane) void start(job, lane);
      }
    },
    failed: (chosen) => chosen.forEach(({ name }) => move(name, markedDue)),
  });
  const polls = createPolls({
    what: "jobs",
    log,
    pollMs,
    async look() {
      try {
        for (const { name, dueAt, seconds } of await jobStore.next(table, [...lanes.keys()])) {
          if (seconds > 0) polls.arm(seconds);
          else move(name, (cursor) => markedDue(lookingFrom(cursor, dueAt)));
        }
      } finally {
        claims.now();
      }
    },
    heartbeat: leases.extend,
    upkeepMs,
    upkeep: {
      now: () => jobStore.now(table),
      setBack: () => jobStore.setBack(table),
      async run() {
        ends.promote(...(await jobStore.headsParked(table, [...lanes.keys()])));
        for (;;) {
          const pruned = await jobStore.prune(table, historyDays, pruneChunk);
          if (pruned < pruneChunk || stopping) return;
        }
      },
    },
  });

  const move = (name: string, to: (cursor: Lane["cursor"]) => Lane["cursor"]): void => {
    const lane = lanes.get(name);
    if (lane) lane.cursor = to(lane.cursor);
  };
  const start = async (job: ClaimedJob, lane: Lane): Promise<void> => {
    const run = leases.hold(job, lane.leaseSeconds);
    counts.running++;
    take(lane.held, job);
    await work(run, lane);
    counts.running--;
    leave(lane.held, job);
    move(job.name, freed);
    claims.soon();
  };
  const work = async (run: Run, { handler, options }: Lane): Promise<void> => {
    const attempt = run.row.attempt - run.row.forgiven;
    const maxAttempts = run.row.maxAttempts ?? options.maxAttempts ?? defaultMaxAttempts;
    try {
      await handle(run, handler, attempt, maxAttempts);
      if (!run.isOver) counts.done++;
      ends.finish(run, "done", null);
    } catch (error) {
      if (!run.controller.signal.aborted)
        failed(run, error, attempt < maxAttempts ? secondsToRetry(options, attempt, error) : undefined);
      else if (stopping) giveBack(run);
      // Another process has claimed it; how it ended here no longer matters.
      else leases.drop(run);
    }
  };
  /** Without `delaySeconds` the job has failed for good. */
  const failed = (run: Run, error: unknown, delaySeconds: number | undefined): void => {
    if (run.isOver) return;
    const { id, name, attempt } = run.row;
    const fields = { job: name, id, attempt, error };
    if (delaySeconds === undefined) {
      counts.failed++;
      log.error("a job failed for good", fields);
      ends.finish(run, "failed", errorText(error));
    } else {
      counts.retried++;
      log.warn("a job failed and will be tried again", { ...fields, delaySeconds });
      ends.retry(run, { delaySeconds, error: errorText(error), forgiven: false });
    }
  };
  /** Returns a job to the queue without counting the attempt. */
  const giveBack = (run: Run): void => ends.retry(run, { delaySeconds: 0, error: null, forgiven: true });

  return {
    names: () => [...lanes.keys()],
    counters: (): Counters => ({ ...counts }),
    handle(handler: Handler, options: HandleOptions): void {
      const { name } = handler;
      if (lanes.has(name)) throw new Error(`job "${name}" has a handler already`);
      const { concurrency: most = defaultConcurrency, leaseSeconds = defaultLeaseSeconds } = options;
      const places = { held: nothingHeld(), turns: noTurns(), cursor: startCursor };
      lanes.set(name, { handler, options, concurrency: most, leaseSeconds, ...places });
      polls.heartbeatWithin((leaseSeconds * 1000) / 4);
      claims.now();
    },
    wake(name: string): void {
      move(name, markedDue);
      claims.now();
    },
    lookFrom: (name: string, at: Date): void => move(name, (cursor) => lookingFrom(cursor, at)),
    poll: polls.poll,
    promote: ends.promote,
    start: polls.start,
    async stop(): Promise<void> {
      if (polls.isActive()) {
        polls.rest();
        stopping = true;
        await untilTrue(() => counts.running === 0 && !claims.underWay(), graceMs);
        leases.abort();
        // Handlers that react to their signal end; the jobs of the others go back to the queue while they still run.
        await untilTrue(() => counts.running === 0, abortMs);
        leases.open().forEach(giveBack);
      }
      await polls.stop();
      await ends.stop();
    },
  };
}

/** Moves the cursors of the lanes that a claim has asked for. */
function tookJobs(lanes: ReadonlyMap<string, Lane>, jobs: readonly ClaimedJob[], claims: readonly Claim[]): void {
  const cut = jobs.reduce((sum, { bytes }) => sum + bytes, 0) >= readBounds.pageBytes;
  for (const claim of claims) {
    const lane = lanes.get(claim.name);
    if (!lane) continue;
    const own = jobs.filter(({ name }) => name === claim.name);
    lane.cursor = claimed(lane.cursor, claim, own, cut);
    if (claim.turns) tookTurns(lane.turns, own);
    else lane.turns.recent = new Set(own.map(({ accountId }) => accountId ?? 0));
  }
}

async function handle({ row, controller }: Run, handler: Handler, attempt: number, maxAttempts: number): Promise<void> {
  const { id, accountId, causation, payload } = row;
  if (attempt > maxAttempts) throw new Error("the process that ran it died, or lost touch with the database");
  const info: JobInfo = { id, attempt, signal: controller.signal, accountId: accountId ?? undefined };
  // The request that woke us may have a transaction; this job must not join it.
  // Whoever has started this process's turn of work did not do what the job does.
  const asNobody = () => withActor(undefined, () => handler.run(payload, info));
  await inScope(undefined, () => withCausation(causation ?? undefined, asNobody));
}

/** 1, 2, 4 … seconds up to an hour, varied by a quarter so that jobs that failed together do not return together. */
function secondsToRetry(options: HandleOptions, attempt: number, error: unknown): number | undefined {
  try {
    if (options.retry) return options.retry(attempt, error);
  } catch {
    // An error in `retry` must not lose the job.
  }
  return Math.min(2 ** (attempt - 1), 3600) * (0.75 + Math.random() / 2);
}

const maxErrorChars = 4000;

function errorText(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  // PostgreSQL's text type cannot hold NUL.
  return text.slice(0, maxErrorChars).replaceAll("\0", "");
}

interface EndsOptions extends Pick<RunnerOptions, "table" | "log" | "wake"> {
  /** A job becomes due again after this many seconds. */
  readonly soon: (seconds: number) => void;
  /** Called for each run once its end is written. */
  readonly settled: (run: Run) => void;
}

/** Writes how jobs ended, each once. */
function createEnds({ table, log, wake, soon, settled }: EndsOptions) {
  const writer = createWriter("jobs", log);
  let unwritten = 0;
  const written = (run: Run): void => {
    unwritten--;
    settled(run);
  };
  const finish = writer.list<{ run: Run; row: Finish }>(async (batch) => {
    await jobStore.finish(
      table,
      batch.map(({ row }) => row),
    );
    for (const { run } of batch) {
      written(run);
      const { name, orderKey } = run.row;
      // The order key is free only after the commit, so another statement looks for the next job.
      if (orderKey !== null) promote({ name, orderKey });
    }
  });
  const retry = writer.list<{ run: Run; row: Retry }>(async (batch) => {
    await jobStore.retry(
      table,
      batch.map(({ row }) => row),
    );
    for (const { run, row } of batch) {
      written(run);
      if (row.delaySeconds <= 0) wake(run.row.name);
      else soon(row.delaySeconds);
    }
  });
  const promote = writer.list<OrderKey>(async (keys) => {
    for (const name of new Set(await jobStore.promote(table, keys))) wake(name);
  });
  const once = (run: Run, end: () => void): void => {
    if (run.isOver) return;
    run.isOver = true;
    unwritten++;
    end();
  };
  return {
    promote,
    unwritten: () => unwritten,
    stop: writer.stop,
    finish(run: Run, outcome: Outcome, error: string | null): void {
      const { id, attempt } = run.row;
      once(run, () => finish({ run, row: { id, attempt, outcome, error } }));
    },
    retry(run: Run, how: Pick<Retry, "delaySeconds" | "error" | "forgiven">): void {
      const { id, attempt } = run.row;
      once(run, () => retry({ run, row: { id, attempt, ...how } }));
    },
  };
}
