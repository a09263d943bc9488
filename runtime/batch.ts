/**
 * Combines many small calls into one statement: calls that arrive while a statement is running go into the next one
 * together, so the batches grow with the load. Each caller gets the result of its own item once it is done.
 */
export interface BatchOptions {
  /** Most items of one statement. */
  readonly most?: number;
  /** After a failure, tries each item alone: one that cannot be written does not fail the others. */
  readonly alone?: boolean;
}

interface Asked<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

export function batched<T, R>(
  run: (items: readonly T[]) => Promise<readonly R[]>,
  { most = 500, alone = false }: BatchOptions = {},
): (item: T) => Promise<R> {
  let waiting: Asked<T, R>[] = [];
  let busy = false;

  const settle = async (batch: readonly Asked<T, R>[]): Promise<void> => {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [at, { resolve, reject }] of batch.entries()) {
        const result = results[at];
        if (at in results && result !== undefined) resolve(result);
        else reject(new Error("a batch gave fewer results than it had items"));
      }
    } catch (error) {
      if (alone && batch.length > 1) for (const one of batch) await settle([one]);
      else for (const { reject } of batch) reject(error);
    }
  };
  const work = async () => {
    busy = true;
    // Calls of the same tick go into the same statement.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, most);
      waiting = waiting.slice(most);
      await settle(batch);
    }
    busy = false;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!busy) void work();
    });
}
