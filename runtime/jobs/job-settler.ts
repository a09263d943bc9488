/**
 * Writes how jobs ended. Whatever ends while a statement is under way goes into the next one together; a failed statement
 * is repeated until it succeeds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Run } from "./job.ts";
import { createEnds } from "./job-ends.ts";
import type { Finish, JobStore, OrderKey } from "./job-store.ts";
import type { Log } from "../system/log.ts";

interface Needed {
  readonly jobStore: Pick<JobStore, "finish" | "retry" | "promote">;
  readonly log: Log;
  readonly wake: (name: string) => void;
  /** A job becomes due again after this many seconds. */
  readonly soon: (seconds: number) => void;
  readonly settled: (run: Run) => void;
  readonly counts: { done: number; failed: number; retried: number };
}

const maxErrorChars = 4000;
const pauseAfterErrorMs = 500;

export type Settler = ReturnType<typeof createSettler>;

export function createSettler({ log, counts, ...needed }: Needed) {
  const ends = createEnds(needed);
  let writing: Promise<void> | undefined;
  let stopping = false;

  const write = async () => {
    // Ends of the same tick go into the same batch.
    await new Promise(setImmediate);
    while (!ends.isEmpty()) {
      try {
        await ends.writeBatch();
      } catch (error) {
        log.warn("writing the ends of jobs failed, trying again", { error });
        // Jobs whose end is not written run again when their leases expire.
        if (stopping) break;
        await sleep(pauseAfterErrorMs);
      }
    }
    writing = undefined;
  };
  const begin = () => {
    writing ??= write();
  };
  const retry = (run: Run, delaySeconds: number, error: string | null, forgiven: boolean) => {
    run.finished = true;
    const { id, attempt } = run.job;
    ends.retry(run, { id, attempt, delaySeconds, error, forgiven });
    begin();
  };
  const finish = (run: Run, outcome: Finish["outcome"], error: string | null) => {
    run.finished = true;
    const { id, attempt } = run.job;
    ends.finish(run, { id, attempt, outcome, error });
    begin();
  };

  return {
    unwritten: ends.unwritten,
    done(run: Run) {
      if (run.finished) return;
      counts.done++;
      finish(run, "done", null);
    },
    /** Without `delaySeconds` the job has failed for good. */
    failed(run: Run, error: unknown, delaySeconds: number | undefined) {
      if (run.finished) return;
      const { id, name, attempt } = run.job;
      const fields = { job: name, id, attempt, error };
      if (delaySeconds === undefined) {
        counts.failed++;
        log.error("a job failed for good", fields);
        finish(run, "failed", errorText(error));
      } else {
        counts.retried++;
        log.warn("a job failed and will be tried again", { ...fields, delaySeconds });
        retry(run, delaySeconds, errorText(error), false);
      }
    },
    /** Returns the jobs to the queue without counting the attempt. */
    giveBack(runs: readonly Run[]) {
      for (const run of runs) if (!run.finished) retry(run, 0, null, true);
    },
    promote(keys: readonly OrderKey[]) {
      if (keys.length === 0) return;
      ends.promote(keys);
      begin();
    },
    /** Resolves when everything that can be written is. */
    async stop() {
      stopping = true;
      await writing;
    },
  };
}

function errorText(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  // PostgreSQL's text type cannot hold NUL.
  return text.slice(0, maxErrorChars).replaceAll("\0", "");
}
