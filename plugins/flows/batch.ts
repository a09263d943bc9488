/**
 * Writes that come while another one is under way go together in the next statement: one round trip and one commit for
 * all of them. Each caller hears of its own write, after it is done.
 */
export function createBatch<T>(write: (items: readonly T[]) => Promise<void>, most = 100): (item: T) => Promise<void> {
  interface Waiting {
    readonly item: T;
    readonly resolve: () => void;
    readonly reject: (error: unknown) => void;
  }
  let waiting: Waiting[] = [];
  let writing = false;

  const settle = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      await write(batch.map(({ item }) => item));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      const [only] = batch;
      if (only && batch.length === 1) return only.reject(error);
      // One that cannot be written must not take the others with it.
      for (const one of batch) await settle([one]);
    }
  };
  const work = async () => {
    writing = true;
    while (waiting.length > 0) await settle(waiting.splice(0, most));
    writing = false;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      // What comes in the same tick goes into the first statement.
      if (!writing) {
        writing = true;
        queueMicrotask(() => void work());
      }
    });
}
