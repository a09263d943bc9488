/**
 * Runs work of the same key one after another, in the order it was asked for.
 *
 *     const turns = createTurnsByKey<string>();
 *     await turns.run(appId, () => build(appId));
 */
export interface TurnsByKey<K> {
  /** Starts `work` when everything asked for earlier under this key has ended, however it ended. */
  run<T>(key: K, work: () => Promise<T>): Promise<T>;
  /** Whether anything of this key runs or waits. */
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
