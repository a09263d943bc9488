/**
 * A pattern that names certain hours, in a time zone whose clocks change: a local time that is repeated is due at its
 * first, one that is skipped right after the gap, and each only once, also in a list of hours. Nothing here reads a clock.
 */
import type { Cron } from "croner";
import { zoneOffset } from "./format-date.ts";

/** The due times of a pattern. Croner's own object is one. */
export interface Pattern {
  nextRun(after: Date): Date | null;
  nextRuns(count: number, after: Date): Date[];
  previousRuns(count: 1, before: Date): Date[];
}

const dayMs = 86_400_000;
/** Clocks are never set back by more than that. */
const longestRepeatMs = 3 * 3_600_000;

/** `walls` finds the pattern's due times as if the local clock were UTC. */
export function createLocalPattern(walls: Cron, timezone: string): Pattern {
  const clock = createClock(timezone);
  const nextRun = (after: Date): Date | null => {
    let wall: Date | null = new Date(clock.wallAt(after.getTime()));
    for (;;) {
      wall = walls.nextRun(wall);
      if (!wall) return null;
      const due = clock.firstAt(wall.getTime());
      if (due > after.getTime()) return new Date(due);
    }
  };
  return {
    nextRun,
    nextRuns(count, after) {
      const found: Date[] = [];
      for (let next = nextRun(after); next && found.length < count; next = nextRun(next)) found.push(next);
      return found;
    },
    previousRuns(_, before) {
      let wall = new Date(clock.wallAt(before.getTime()) + longestRepeatMs);
      for (;;) {
        const [earlier] = walls.previousRuns(1, wall);
        if (!earlier) return [];
        const due = clock.firstAt(earlier.getTime());
        if (due < before.getTime()) return [new Date(due)];
        wall = earlier;
      }
    },
  };
}

/** Instants and what the local clock shows then, which is written as if it were UTC. All in milliseconds. */
function createClock(timezone: string) {
  const offsetAt = (instant: number) => zoneOffset(timezone, instant) * 1000;
  const wallAt = (instant: number) => instant + offsetAt(instant);
  return {
    wallAt,
    /** The first instant at which the clock shows it; if it never does, the one at which the clock is set forward past it. */
    firstAt(wall: number): number {
      const [before, after] = [offsetAt(wall - dayMs), offsetAt(wall + dayMs)];
      const first = [wall - before, wall - after].toSorted((a, b) => a - b).find((instant) => wallAt(instant) === wall);
      if (first !== undefined) return first;
      let [shown, past] = [wall - after, wall - before];
      while (past - shown > 1) {
        const middle = Math.floor((shown + past) / 2);
        if (wallAt(middle) > wall) past = middle;
        else shown = middle;
      }
      return past;
    },
  };
}
