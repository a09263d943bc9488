/** Writes how jobs ended, whatever collected while the last statement was under way in one; tries until it is written. */

import { type Run } from "./job.ts";
import type { Finish, JobStore, OrderKey, Retry } from "./job-store.ts";
import type { Log } from "../log.ts";

interface Needed {
  readonly jobStore: Pick<JobStore, "finish" | "retry" | "promote">;
  readonly log: Log;
  readonly wake: (name: string) => void;
  /** A job comes back in so many seconds. */
  readonly soon: (seconds: number) => void;
  readonly settled: (run: Run) => void;
  readonly counts: { done: number; failed: number; retried: number };
}

const maxBatch = 500;
const maxErrorChars = 4000;
const pauseAfterErrorMs = 500;

export type Settler = ReturnType<typeof createSettler>;

export function createSettler({ jobStore, log, wake, soon, settled, counts }: Needed) {
  const finishes: { run: Run; row: Finish }[] = [];
  const retries: { run: Run; row: Retry }[] = [];
  const promotions: OrderKey[] = [];
  let writing: Promise<void> | undefined;
  let stopping = false;

  const write = async () => {
    // What ends in this tick goes along.
    await new Promise(setImmediate);
    while (finishes.length + retries.length + promotions.length > 0) {
      try {
        await writeBatch();
      } catch (error) {
        log.warn("writing the ends of jobs failed, trying again", { error });
        // Unwritten ones run again when their leases end.
        if (stopping) break;
        await Bun.sleep(pauseAfterErrorMs);
      }
    }
    writing = undefined;
  };
  /** Rows leave their list when they are written. */
  const writeBatch = async () => {
    const finished = finishes.slice(0, maxBatch);
    if (finished.length > 0) {
      await jobStore.finish(finished.map(({ row }) => row));
      finishes.splice(0, finished.length);
      for (const { run } of finished) close(run);
    }
    const retried = retries.slice(0, maxBatch);
    if (retried.length > 0) {
      await jobStore.retry(retried.map(({ row }) => row));
      retries.splice(0, retried.length);
      for (const { run, row } of retried) {
        settled(run);
        if (row.delaySeconds <= 0) wake(run.job.name);
        else soon(row.delaySeconds);
      }
    }
    const promoted = promotions.slice(0, maxBatch);
    if (promoted.length > 0) {
      const names = await jobStore.promote(promoted);
      promotions.splice(0, promoted.length);
      for (const name of new Set(names)) wake(name);
    }
  };
  /** Its order key is free only after the commit: another statement looks for the next one. */
  const close = (run: Run) => {
    settled(run);
    const { name, orderKey } = run.job;
    if (orderKey !== null) promotions.push({ name, orderKey });
  };
  const begin = () => {
    writing ??= write();
  };
  const retry = (run: Run, delaySeconds: number, error: string | null, forgiven: boolean) => {
    run.finished = true;
    const { id, attempt } = run.job;
    retries.push({ run, row: { id, attempt, delaySeconds, error, forgiven } });
    begin();
  };
  const finish = (run: Run, outcome: Finish["outcome"], error: string | null) => {
    run.finished = true;
    const { id, attempt } = run.job;
    finishes.push({ run, row: { id, attempt, outcome, error } });
    begin();
  };

  return {
    unwritten: () => finishes.length + retries.length,
    done(run: Run) {
      if (run.finished) return;
      counts.done++;
      finish(run, "done", null);
    },
    /** `delaySeconds` undefined: for good. */
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
    /** Leaves the jobs to others; the attempt does not count. */
    giveBack(runs: readonly Run[]) {
      for (const run of runs) if (!run.finished) retry(run, 0, null, true);
    },
    promote(keys: readonly OrderKey[]) {
      if (keys.length === 0) return;
      promotions.push(...keys);
      begin();
    },
    /** Resolves when all is written that can be. */
    async stop() {
      stopping = true;
      await writing;
    },
  };
}

function errorText(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  // PostgreSQL's text holds no NUL.
  return text.slice(0, maxErrorChars).replaceAll("\0", "");
}
