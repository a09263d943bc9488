/**
 * Runs work of the same key in sequence, in the order of the calls.
 *
 *     const turns = createTurnsByKey<string>();
 *     await turns.run(appId, () => build(appId));
 */
export interface TurnsByKey<K> {
  /** Starts `work` when all earlier work of this key has ended, whether or not it succeeded. */
  run<T>(key: K, work: () => Promise<T>): Promise<T>;
  /** Whether any work of this key is running or waiting. */
  busy(key: K): boolean;
}

export function createTurnsByKey<K>(): TurnsByKey<K> {
  const last = new Map<K, Promise<unknown>>();
  return {
    run(key, work) {
      const mine = (last.get(key) ?? Promise.resolve()).then(work, work);
      last.set(key, mine);
      const done = () => void (last.get(key) === mine && last.delete(key));
      mine.then(done, done);
      return mine;
    },
    busy: (key) => last.has(key),
  };
}
