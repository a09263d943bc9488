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

interface Patience {
  readonly ms: number;
  /** For who has waited longer than that. */
  readonly error: () => Error;
}

/** Lets at most `most` run at a time. Others wait for their turn, until their signal aborts or their patience ends. */
export function createTurns(most: number, patience?: Patience) {
  let free = most;
  const waiting = new Set<() => void>();
  return async <T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    if (free > 0) free -= 1;
    else await handedOver(waiting, signal, patience);
    try {
      return await run();
    } finally {
      const [next] = waiting;
      if (next) next();
      else free += 1;
    }
  };
}

function handedOver(waiting: Set<() => void>, signal: AbortSignal, patience?: Patience): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = () => {
      end();
      reject(patience?.error());
    };
    const timer = patience && setTimeout(late, patience.ms);
    const end = () => {
      clearTimeout(timer);
      waiting.delete(wake);
      signal.removeEventListener("abort", giveUp);
    };
    const wake = () => {
      end();
      resolve();
    };
    const giveUp = () => {
      end();
      reject(signal.reason);
    };
    signal.addEventListener("abort", giveUp);
    if (signal.aborted) giveUp();
    else waiting.add(wake);
  });
}
