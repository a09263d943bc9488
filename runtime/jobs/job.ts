/** A job as its handler and its runner see it. */

/** Facts about a job for its handler. */
export interface JobInfo {
  readonly id: number;
  /** 1 for the first run. */
  readonly attempt: number;
  /** Aborted when the job's lease is lost or the process stops. */
  readonly signal: AbortSignal;
  readonly accountId: number | undefined;
}

export interface HandleOptions {
  /**
   * Maximum concurrent runs of one share of one account in this process, and of what has no account; default: 20. All
   * together have four times as many, of which each finds half free (shares.ts).
   */
  readonly concurrency?: number;
  /** Seconds until the next attempt after a failed one; undefined gives up. */
  readonly retry?: (attempt: number, error: unknown) => number | undefined;
  /** Default: 10; `enqueue` can override it for one job. */
  readonly maxAttempts?: number;
  /** A process that is silent for this long loses the job; default: 30. */
  readonly leaseSeconds?: number;
}
