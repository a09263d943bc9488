/**
 * Combines many small calls into one statement: calls that arrive while a statement is running go into the next one
 * together, so the batches grow with the load. Each caller gets the result of its own item once it is done.
 */
import { databaseFault } from "./db.ts";

export interface BatchOptions {
  /** Most items of one statement. */
  readonly most?: number;
  /** Statements that may run at once: one is carried out while another waits for the disk. */
  readonly atOnce?: number;
  /** A statement that takes longer no longer keeps others waiting: the next one starts beside it. */
  readonly patienceMs?: number;
  /**
   * Tries each item alone if the statement failed, so that one that cannot be written does not fail the others. Not if
   * the database was unavailable: then the statement may have been carried out.
   */
  readonly alone?: boolean;
}

/** Larger batches leave half of the calls for the next one, which runs while the answers of the first are sent. */
const few = 16;

interface Asked<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

export function batched<T, R>(
  run: (items: readonly T[]) => Promise<readonly R[]>,
  { most = 500, atOnce = 1, patienceMs, alone = false }: BatchOptions = {},
): (item: T) => Promise<R> {
  let waiting: Asked<T, R>[] = [];
  let running = 0;

  const settle = async (batch: readonly Asked<T, R>[]): Promise<void> => {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [at, { resolve, reject }] of batch.entries()) {
        const result = results[at];
        if (at in results && result !== undefined) resolve(result);
        else reject(new Error("a batch gave fewer results than it had items"));
      }
    } catch (error) {
      if (alone && batch.length > 1 && databaseFault(error) !== "unavailable")
        for (const one of batch) await settle([one]);
      else for (const { reject } of batch) reject(error);
    }
  };
  /** One batch after the other, until none is waiting; after one that took too long, another `work` has taken over. */
  const work = async () => {
    running++;
    // Calls of the same tick go into the same statement.
    await Promise.resolve();
    while (waiting.length > 0) {
      const count = Math.min(most, Math.max(few, Math.ceil(waiting.length / 2)));
      const batch = waiting.slice(0, count);
      waiting = waiting.slice(count);
      if (!(await withPatience(settle(batch)))) return;
    }
    running--;
  };

  /** False if it took so long that `work` has been begun anew. */
  const withPatience = async (settled: Promise<void>): Promise<boolean> => {
    let isMine = true;
    const giveUp = () => {
      isMine = false;
      running--;
      if (waiting.length > 0) void work();
    };
    const timer = patienceMs === undefined ? undefined : setTimeout(giveUp, patienceMs);
    await settled;
    clearTimeout(timer);
    return isMine;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (running < atOnce) void work();
    });
}
