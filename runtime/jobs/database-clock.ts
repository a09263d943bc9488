/**
 * The database's time, by which all that is due goes: the clocks of several machines differ, and each would fire a due
 * time at another moment.
 */
import type { Log } from "../system/log.ts";

export interface DatabaseClock {
  now(): Date;
  /** How far this machine's clock is ahead; negative if it is behind. */
  aheadSeconds(): number;
  /** Compares the clocks anew. Without an answer of the database, what was seen last still counts. */
  compare(): Promise<void>;
}

interface Needed {
  readonly ask: () => Promise<Date>;
  readonly log: Log;
  /** This machine's time in milliseconds. */
  readonly here?: () => number;
}

/** A difference that harms nothing. */
const closeMs = 2000;

export function createDatabaseClock({ ask, log, here = Date.now }: Needed): DatabaseClock {
  let aheadMs = 0;
  let isFar = false;
  return {
    now: () => new Date(here() - aheadMs),
    aheadSeconds: () => aheadMs / 1000,
    async compare() {
      const before = here();
      const there = await ask().catch(() => undefined);
      if (!there) return;
      aheadMs = Math.round((before + here()) / 2 - there.getTime());
      const wasFar = isFar;
      isFar = Math.abs(aheadMs) > closeMs;
      if (isFar && !wasFar)
        log.warn("this machine's clock is not the database's: due times go by the database's", {
          ahead_seconds: aheadMs / 1000,
        });
    },
  };
}
