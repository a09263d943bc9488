/** The jobs that run in this process: their handlers, how they end, and their leases. */
import { withCausation } from "../events/causation.ts";
import { inScope } from "../http/keyed.ts";
import type { Log } from "../log.ts";
import type { HandleOptions, JobInfo, Run } from "./job.ts";
import type { Settler } from "./job-settler.ts";
import type { ClaimedJob, JobStore } from "./job-store.ts";
import { untilTrue } from "./job-timers.ts";
import type { Lane } from "./lane.ts";

interface Needed {
  readonly jobStore: Pick<JobStore, "extend">;
  readonly log: Log;
  readonly settler: Pick<Settler, "done" | "failed" | "giveBack">;
  /** The runs whose end is not written yet. */
  readonly runs: Set<Run>;
}

export type Runs = ReturnType<typeof createRuns>;

export const defaultLeaseSeconds = 30;
const defaultMaxAttempts = 10;
// How long a handler that heeds its signal has to end before its job is given back.
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
      // Whichever request woke us, its transaction is not this job's.
      await inScope(undefined, () => withCausation(job.causation ?? undefined, () => handler.run(job.payload, info)));
      settler.done(run);
    } catch (error) {
      if (!controller.signal.aborted)
        settler.failed(run, error, attempt < maxAttempts ? secondsToRetry(options, attempt, error) : undefined);
      else if (stopping) settler.giveBack([run]);
      // Another process has it now: how it ended here matters to nobody.
      else runs.delete(run);
    }
  };

  return {
    running: () => running,

    /** Resolves when the handler has ended. Without a lane its handler was taken away while the claim was under way. */
    async start(job: ClaimedJob, lane: Lane | undefined): Promise<void> {
      const leaseSeconds = lane?.leaseSeconds ?? defaultLeaseSeconds;
      const controller = new AbortController();
      const run: Run = { job, leaseSeconds, controller, extendedAt: performance.now(), finished: false };
      runs.add(run);
      if (!lane) return settler.giveBack([run]);
      running++;
      lane.running++;
      await work(run, lane);
      running--;
      lane.running--;
    },

    /** Extends the leases of which a third is over, and aborts the runs whose lease another process has. */
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

    /** Waits `graceMs` for what runs, and while `claiming`; then aborts the rest and gives it back. */
    async stop(graceMs: number, claiming: () => boolean): Promise<void> {
      stopping = true;
      await untilTrue(() => running === 0 && !claiming(), graceMs);
      for (const run of runs) if (!run.finished) run.controller.abort(new Error("the process stops"));
      // A handler that heeds its signal ends by itself; the others are given back while they run on.
      await untilTrue(() => running === 0, abortMs);
      settler.giveBack([...runs].filter((run) => !run.finished));
    },
  };
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
