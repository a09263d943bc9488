/** Lets at most `most` run at a time. Others wait for their turn, or until their signal aborts. */
export function createTurns(most: number) {
  let free = most;
  const waiting = new Set<() => void>();
  return async <T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    if (free > 0) free -= 1;
    else await handedOver(waiting, signal);
    try {
      return await run();
    } finally {
      const [next] = waiting;
      if (next) next();
      else free += 1;
    }
  };
}

function handedOver(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
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
