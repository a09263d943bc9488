/** The ends of jobs that are not written yet, and writing them in batches. */
import { type Run } from "./job.ts";
import type { Finish, JobStore, OrderKey, Retry } from "./job-store.ts";

interface Needed {
  readonly jobStore: {
    readonly finish: (rows: readonly Finish[]) => PromiseLike<unknown>;
    readonly retry: (rows: readonly Retry[]) => PromiseLike<unknown>;
    /** The names of which a job may go now. */
    readonly promote: JobStore["promote"];
  };
  readonly wake: (name: string) => void;
  /** A job becomes due again after this many seconds. */
  readonly soon: (seconds: number) => void;
  /** Called for each run once its end is written. */
  readonly settled: (run: Run) => void;
}

const maxBatch = 500;

export function createEnds({ jobStore, wake, soon, settled }: Needed) {
  const finishes: { run: Run; row: Finish }[] = [];
  const retries: { run: Run; row: Retry }[] = [];
  const promotions: OrderKey[] = [];

  // Rows leave their list only after they are written: a failed batch is written again.
  const writeFinishes = async () => {
    const batch = finishes.slice(0, maxBatch);
    if (batch.length === 0) return;
    await jobStore.finish(batch.map(({ row }) => row));
    finishes.splice(0, batch.length);
    for (const { run } of batch) {
      settled(run);
      const { name, orderKey } = run.job;
      // The order key is free only after the commit, so another statement looks for the next job.
      if (orderKey !== null) promotions.push({ name, orderKey });
    }
  };
  const writeRetries = async () => {
    const batch = retries.slice(0, maxBatch);
    if (batch.length === 0) return;
    await jobStore.retry(batch.map(({ row }) => row));
    retries.splice(0, batch.length);
    for (const { run, row } of batch) {
      settled(run);
      if (row.delaySeconds <= 0) wake(run.job.name);
      else soon(row.delaySeconds);
    }
  };
  const writePromotions = async () => {
    const batch = promotions.slice(0, maxBatch);
    if (batch.length === 0) return;
    const names = await jobStore.promote(batch);
    promotions.splice(0, batch.length);
    for (const name of new Set(names)) wake(name);
  };

  return {
    isEmpty: () => finishes.length + retries.length + promotions.length === 0,
    /** The runs whose end is not written. */
    unwritten: () => finishes.length + retries.length,
    finish: (run: Run, row: Finish) => void finishes.push({ run, row }),
    retry: (run: Run, row: Retry) => void retries.push({ run, row }),
    promote: (keys: readonly OrderKey[]) => void promotions.push(...keys),
    async writeBatch() {
      await writeFinishes();
      await writeRetries();
      await writePromotions();
    },
  };
}
