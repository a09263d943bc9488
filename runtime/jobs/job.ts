/** A job as its handler and its runner see it. */
import type { ClaimedJob } from "./job-store.ts";

/** What a handler learns about its job. */
export interface JobInfo {
  readonly id: number;
  /** 1 for the first run. */
  readonly attempt: number;
  /** Aborted when the job's lease was lost or the process stops. */
  readonly signal: AbortSignal;
  readonly accountId: number | undefined;
}

export interface HandleOptions {
  /** Runs at once in this process; 20 when left out. */
  readonly concurrency?: number;
  /** Seconds until the next attempt after this one failed; undefined gives up. */
  readonly retry?: (attempt: number, error: unknown) => number | undefined;
  /** 10 when left out; `enqueue` may say otherwise for one job. */
  readonly maxAttempts?: number;
  /** A process that was silent for so long has lost the job; 30 when left out. */
  readonly leaseSeconds?: number;
}

/** A job that runs, or whose end is not written yet. */
export interface Run {
  readonly job: ClaimedJob;
  readonly leaseSeconds: number;
  readonly controller: AbortController;
  extendedAt: number;
  finished: boolean;
}
