import type { BaseContext } from "platform";

export interface Fragments {
  /** Finds out whether the server has the index: not every one has pg_trgm. */
  prepare(): Promise<void>;
  exist(): boolean;
  /** After the commit of a write. */
  wrote(): void;
  /** Before a search by fragments. */
  searched(): void;
  stop(): Promise<void>;
}

interface Index {
  readonly exists: () => Promise<boolean>;
  /** Empties its list of pending entries. */
  readonly empty: () => Promise<void>;
}

const restMs = 1000;
const quietRestMs = 5000;
const restAfterFailureMs = 60_000;
/** Writes of three strings each, whose entries then take about 18 MB. */
const manyWrites = 20_000;

/**
 * Empties the fragment index's list of pending entries. Every search reads that list through, and a write that finds it
 * full (32 MB) would empty it itself: tens of milliseconds either way. What emptying costs is decided by how many
 * different fragments there are, hardly by how many records: so while nobody searches, it waits for more of them.
 */
export function createFragments({ log }: Pick<BaseContext, "log">, { exists, empty }: Index): Fragments {
  let exist = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> | undefined;
  let stopped = false;
  /** Times of `performance.now()`. */
  let due = Infinity;
  let earliest = 0;
  let quietFrom = 0;
  let writes = 0;

  const want = (ms: number) => {
    const at = Math.max(performance.now() + ms, earliest);
    if (stopped || at >= due) return;
    due = at;
    if (!running) begin();
  };

  const begin = () => {
    clearTimeout(timer);
    timer = setTimeout(
      () => {
        running = run();
      },
      Math.max(0, due - performance.now()),
    );
  };

  const run = async () => {
    due = Infinity;
    writes = 0;
    let rest = restMs;
    try {
      await empty();
    } catch (error) {
      // Searches and writes are right without it, only slower.
      log.warn("the index for fragments could not be tidied", { error: String(error) });
      rest = restAfterFailureMs;
      due = 0;
    }
    running = undefined;
    earliest = performance.now() + rest;
    due = Math.max(due, earliest);
    if (due < Infinity && !stopped) begin();
  };

  return {
    async prepare() {
      exist = await exists();
    },
    exist: () => exist,
    wrote() {
      if (!exist) return;
      writes++;
      if (writes >= manyWrites) want(0);
      else want(performance.now() < quietFrom ? restMs : quietRestMs);
    },
    searched() {
      quietFrom = performance.now() + quietRestMs;
      want(restMs);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
