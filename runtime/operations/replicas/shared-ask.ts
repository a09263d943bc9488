/**
 * One question for all who ask at the same time. An answer that was asked for before somebody came is too old for them:
 * those who come meanwhile share the next one.
 *
 *     const now = sharedAsk(() => sql`select clock_timestamp()`);
 */
export function sharedAsk<T>(ask: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const start = (): Promise<T> => {
    next = undefined;
    const asked = ask();
    running = asked.catch(() => {});
    return asked;
  };
  return () => (next ??= running.then(start));
}
