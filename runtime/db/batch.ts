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
   * Tries each item alone if PostgreSQL refused the statement, so that one that cannot be written does not fail the
   * others. Only for a `run` of one statement: of several, the first ones may have been committed. After any other
   * error, as of a connection that was lost, the statement may have been carried out.
   */
  readonly alone?: boolean;
}

interface ItemOptions<T> extends BatchOptions {
  /** Of items with the same key only the first goes into a statement; the others keep their places in the queue. */
  readonly keyOf?: (item: T) => string;
}

/**
 * Where one statement runs at a time, larger batches leave half of the calls for the next one, which runs while the
 * answers of the first are sent.
 */
const few = 16;

interface PendingItem<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/** `run` may answer only the first of its items, if all are too much for one statement. */
export function batched<T, R>(
  run: (items: readonly T[]) => Promise<readonly R[]>,
  { most = 500, atOnce = 1, patienceMs, alone = false, keyOf }: ItemOptions<T> = {},
): (item: T) => Promise<R> {
  const waiting: PendingItem<T, R>[] = [];
  let running = 0;
  let underWay = 0;
  let isPlanned = false;

  const settle = async (batch: readonly PendingItem<T, R>[]): Promise<void> => {
    try {
      const results = await run(batch.map(({ item }) => item));
      const done = batch.slice(0, Math.max(1, results.length));
      // What is more than the statement takes goes into the next one.
      waiting.unshift(...batch.slice(done.length));
      for (const [at, { resolve, reject }] of done.entries()) {
        const result = results[at];
        if (at in results && result !== undefined) resolve(result);
        else reject(new Error("a batch gave no result for an item"));
      }
    } catch (error) {
      if (alone && batch.length > 1 && isRefusal(error)) for (const one of batch) await settle([one]);
      else for (const { reject } of batch) reject(error);
    }
  };
  /**
   * How many of the waiting calls go into a statement now. Those that run at once share all calls evenly: without that,
   * each answer would bring a call that goes alone, while all the others wait for the statement beside it.
   */
  const due = (): number => {
    if (running >= atOnce) return 0;
    if (atOnce === 1) return Math.min(waiting.length, most, Math.max(few, Math.ceil(waiting.length / 2)));
    const share = Math.min(most, Math.ceil((waiting.length + underWay) / atOnce));
    return running === 0 || waiting.length >= share ? Math.min(waiting.length, share) : 0;
  };

  const start = () => {
    for (let count = due(); count > 0; count = due()) carryOut(taken(count));
  };

  const taken = (count: number): PendingItem<T, R>[] => {
    const next = waiting.splice(0, count);
    if (!keyOf) return next;
    const first = new Map<string, PendingItem<T, R>>();
    const later: PendingItem<T, R>[] = [];
    for (const asked of next) {
      const key = keyOf(asked.item);
      if (first.has(key)) later.push(asked);
      else first.set(key, asked);
    }
    waiting.unshift(...later);
    return [...first.values()];
  };

  const carryOut = (batch: readonly PendingItem<T, R>[]) => {
    running++;
    underWay += batch.length;
    let isCounted = true;
    const end = () => {
      if (!isCounted) return;
      isCounted = false;
      running--;
      underWay -= batch.length;
    };
    const goOn = () => {
      end();
      start();
    };
    const timer = patienceMs === undefined ? undefined : setTimeout(goOn, patienceMs);
    void settle(batch).then(() => {
      clearTimeout(timer);
      goOn(); // even if it was not waited for: what it has left over waits again
    });
  };

  /** Calls of the same tick go into the same statement. */
  const plan = () => {
    if (isPlanned || running >= atOnce) return;
    isPlanned = true;
    queueMicrotask(() => {
      isPlanned = false;
      start();
    });
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      plan();
    });
}

/** PostgreSQL says so itself, and so has carried out nothing of the statement. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === "PostgresError" && databaseFault(error) !== "unavailable";
}
