/**
 * Many small calls made one statement: what is asked for while one is under way goes into the next one together. So the
 * busier it is, the larger the batches. Each caller gets the result of its own item, after it is done.
 */
export interface BatchOptions {
  /** Items of one statement. */
  readonly most?: number;
  /** After a failure each item is tried by itself: one that cannot be written does not take the others with it. */
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
    // What is asked for in this tick goes along.
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
