import type { BaseContext } from "platform";

export interface Fragments {
  /** After the commit of a write. */
  wrote(): void;
  stop(): Promise<void>;
}

const restMs = 1000;
const restAfterFailureMs = 60_000;

/**
 * Empties the fragment index's list of pending entries a second after a write. Every search reads that list through,
 * and a write that finds it full (16 MB) would empty it itself: tens of milliseconds either way.
 */
export function createFragments({ log }: Pick<BaseContext, "log">, empty: () => Promise<void>): Fragments {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = false;

  const begin = (ms: number) => {
    timer = setTimeout(() => {
      timer = undefined;
      running = run();
    }, ms);
  };

  const run = async () => {
    let rest = restMs;
    try {
      await empty();
    } catch (error) {
      // Searches and writes are right without it, only slower.
      log.warn("the index for fragments could not be tidied", { error: String(error) });
      rest = restAfterFailureMs;
      again = true;
    }
    running = undefined;
    if (again && !stopped) begin(rest);
    again = false;
  };

  return {
    wrote() {
      if (running) again = true;
      else if (!timer && !stopped) begin(restMs);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
