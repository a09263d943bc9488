/** The jobs running in this process: their handlers, outcomes and leases. */
import { withActor } from "../scope/actor.ts";
import { withCausation } from "../scope/causation.ts";
import { inScope } from "../scope/keyed.ts";
import type { Log } from "../system/log.ts";
import type { HandleOptions, JobInfo, Run } from "./job.ts";
import type { Settler } from "./job-settler.ts";
import type { ClaimedJob, JobStore } from "./job-store.ts";
import { untilTrue } from "./job-timers.ts";
import type { Lane } from "./lane.ts";
import { leave, take } from "./shares.ts";

interface Needed {
  readonly jobStore: Pick<JobStore, "extend">;
  readonly log: Log;
  readonly settler: Pick<Settler, "done" | "failed" | "giveBack">;
  /** Runs whose end is not written yet. */
  readonly runs: Set<Run>;
}

export type Runs = ReturnType<typeof createRuns>;

export const defaultLeaseSeconds = 30;
const defaultMaxAttempts = 10;
// How long a handler has to react to its signal before its job goes back to the queue.
const abortMs = 250;

export function createRuns({ jobStore, log, settler, runs }: Needed) {
  let running = 0;
  let stopping = false;

  const work = async (run: Run, { handler, options }: Lane): Promise<void> => {
    const { job, controller } = run;
    const attempt = job.attempt - job.forgiven;
    const maxAttempts = job.maxAttempts ?? options.maxAttempts ?? defaultMaxAttempts;
    const info: JobInfo = { id: job.id, attempt, signal: controller.signal, accountId: job.accountId ?? undefined };
    try {
      if (attempt > maxAttempts) throw new Error("the process that ran it died, or lost touch with the database");
      // The request that woke us may have a transaction; this job must not join it.
      // Whoever has started this process's turn of work did not do what the job does.
      const asNobody = () => withActor(undefined, () => handler.run(job.payload, info));
      await inScope(undefined, () => withCausation(job.causation ?? undefined, asNobody));
      settler.done(run);
    } catch (error) {
      if (!controller.signal.aborted)
        settler.failed(run, error, attempt < maxAttempts ? secondsToRetry(options, attempt, error) : undefined);
      else if (stopping) settler.giveBack([run]);
      // Another process has claimed it; how it ended here no longer matters.
      else runs.delete(run);
    }
  };

  return {
    running: () => running,

    /**
     * Resolves when the handler has ended. `lane` is undefined if the handler was removed while the claim was running.
     */
    async start(job: ClaimedJob, lane: Lane | undefined): Promise<void> {
      const leaseSeconds = lane?.leaseSeconds ?? defaultLeaseSeconds;
      const controller = new AbortController();
      const run: Run = { job, leaseSeconds, controller, extendedAt: performance.now(), finished: false };
      runs.add(run);
      if (!lane) return settler.giveBack([run]);
      running++;
      take(lane.held, job);
      await work(run, lane);
      running--;
      leave(lane.held, job);
    },

    /** Extends leases after a third of their time, and aborts runs whose lease another process has taken. */
    async extendLeases(): Promise<void> {
      const now = performance.now();
      const long = [...runs].filter((run) => now - run.extendedAt > (run.leaseSeconds * 1000) / 3);
      if (long.length === 0) return;
      try {
        const held = await jobStore.extend(
          long.map(({ job: { id, attempt }, leaseSeconds }) => ({ id, attempt, leaseSeconds })),
        );
        for (const run of long) {
          run.extendedAt = now;
          if (!held.has(run.job.id) && !run.finished) run.controller.abort(new Error("the lease of this job was lost"));
        }
      } catch (error) {
        log.warn("extending the leases of jobs failed, trying again", { error });
      }
    },

    /** Waits `graceMs` for running jobs, and while `claiming`; then aborts the rest and returns them to the queue. */
    async stop(graceMs: number, claiming: () => boolean): Promise<void> {
      stopping = true;
      await untilTrue(() => running === 0 && !claiming(), graceMs);
      for (const run of runs) if (!run.finished) run.controller.abort(new Error("the process stops"));
      // Handlers that react to their signal end; the jobs of the others go back to the queue while they still run.
      await untilTrue(() => running === 0, abortMs);
      settler.giveBack([...runs].filter((run) => !run.finished));
    },
  };
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
