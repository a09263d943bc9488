/** How far a replica has replayed what the primary wrote. */
import { orLate } from "../../base/values.ts";
import type { Sql } from "../../db/db.ts";

/** The longest pause between two questions, while somebody waits. */
export const longestPauseMs = 10;

/** `ask` runs one statement on the replica. */
export function createProgress(ask: Sql) {
  let replayed = -1;
  let resets = 0;
  const look = sharedAsk(async () => {
    const before = resets;
    const [row] = await ask<{ lsn: number }[]>`
      select coalesce(pg_last_wal_replay_lsn() - '0/0', 0)::bigint as lsn`;
    if (before === resets) replayed = row?.lsn ?? -1;
  });
  const has = (lsn: number) => replayed >= lsn;
  return {
    look,
    has,
    behind: (lsn: number) => Math.max(0, lsn - replayed),
    /** How often nothing was known any more. */
    resets: () => resets,
    /** A connection has closed: a server that was restarted may be behind what it had replayed before. */
    reset(): void {
      resets += 1;
      replayed = -1;
    },
    /** False if it is not there in time, or does not answer. */
    async arrives(lsn: number, withinMs: number): Promise<boolean> {
      const until = performance.now() + withinMs;
      for (let pauseMs = 1; !has(lsn); pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
        const left = until - performance.now();
        if (left <= 0 || !(await succeeds(look(), left))) return false;
        if (!has(lsn)) await new Promise((resolve) => void setTimeout(resolve, pauseMs));
      }
      return true;
    },
  };
}

async function succeeds(promise: Promise<unknown>, withinMs: number): Promise<boolean> {
  const done = promise.then(
    () => true,
    () => false,
  );
  return orLate(done, withinMs, false);
}

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
