/** Writes how jobs ended, each once. */
import type { Log } from "../system/log.ts";
import * as jobStore from "./job-store.ts";
import type { ClaimedJob, Finish, JobTable, OrderKey, Outcome, Retry } from "./job-store.ts";
import { createWriter, type Lease } from "./leases.ts";

export type Run = Lease<ClaimedJob>;

interface Options {
  readonly table: JobTable;
  readonly log: Log;
  /** Tells every process that jobs of this name may be due. */
  readonly wake: (name: string) => void;
  /** A job becomes due again after this many seconds. */
  readonly soon: (seconds: number) => void;
  /** Called for each run once its end is written. */
  readonly settled: (run: Run) => void;
}

export function createEnds({ table, log, wake, soon, settled }: Options) {
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
