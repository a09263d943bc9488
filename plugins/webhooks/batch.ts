/**
 * Many small calls made one statement: what is asked for while one is under way goes into the next one together. So the
 * busier it is, the larger the batches.
 */
export function batched<T, R>(
  run: (items: readonly T[]) => Promise<readonly R[]>,
  most = 500,
): (item: T) => Promise<R> {
  let waiting: { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }[] = [];
  let busy = false;

  const work = async () => {
    busy = true;
    // What is asked for in this tick goes along.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, most);
      waiting = waiting.slice(most);
      try {
        const results = await run(batch.map(({ item }) => item));
        for (const [at, { resolve, reject }] of batch.entries()) {
          const result = results[at];
          if (at in results && result !== undefined) resolve(result);
          else reject(new Error("a batch gave fewer results than it had items"));
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    busy = false;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!busy) void work();
    });
}
