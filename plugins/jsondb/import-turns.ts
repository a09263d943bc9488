/** Lets at most `most` run at a time; the others wait for their turn, or until they are given up. */
export function createTurns(most: number) {
  let running = 0;
  const waiting = new Set<() => void>();
  return async <T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    while (running >= most) await freed(waiting, signal);
    running += 1;
    try {
      return await run();
    } finally {
      running -= 1;
      const [next] = waiting;
      next?.();
    }
  };
}

function freed(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
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
