/** Works out when a pattern is due. Nothing here reads a clock. */
import { Cron } from "croner";
import { zoneOffset } from "./format-date.ts";

/** The due times of a pattern. Croner's own object is one. */
export interface Pattern {
  nextRun(after: Date): Date | null;
  nextRuns(count: number, after: Date): Date[];
  previousRuns(count: 1, before: Date): Date[];
}

export interface DueBetween {
  readonly cron: Pattern;
  /** All due times up to this one have been handled. */
  readonly checkedTo: Date;
  /** What to do about times that were due while no process ran: skip them, or fire the latest one. */
  readonly missed: "skip" | "latest";
}

// Due times no older than this are late, not missed: the process was busy, or the machine paused.
const lateMs = 60_000;

/**
 * Parses the pattern; without a function, croner starts no timer. Throws if the pattern or the time zone is invalid.
 */
export function parseCron(cron: string, timezone: string): Pattern {
  const mode = "5-or-6-parts";
  // As an offset it needs no tables of time zones, which take 8 ms and 3 MB to load at every start.
  if (timezone === "UTC") return new Cron(cron, { utcOffset: 0, mode });
  const parsed = new Cron(cron, { timezone, mode });
  parsed.nextRun(); // only this checks the time zone
  // Every hour means every hour that passes, whatever the clock shows.
  const isHourly = cron.trim().split(/\s+/).at(-4) === "*";
  return isHourly ? parsed : localPattern(new Cron(cron, { utcOffset: 0, mode }), timezone);
}

/** The next due times of a pattern, to show to people. Throws if the pattern or the time zone is invalid. */
export function nextDueTimes(cron: string, count: number, timezone = "UTC", after = new Date()): Date[] {
  return parseCron(cron, timezone).nextRuns(count, after);
}

/** The latest due time of a pattern up to `at`; undefined if there was none. */
export function latestDueTime(cron: string, timezone: string, at: Date): Date | undefined {
  return parseCron(cron, timezone).previousRuns(1, at)[0];
}

/** What to fire at `at`, oldest first: everything that is merely late, or else, if wanted, the latest missed time. */
export function dueTimes({ cron, checkedTo, missed }: DueBetween, at: Date): Date[] {
  const lateFrom = Math.max(checkedTo.getTime(), at.getTime() - lateMs);
  const due: Date[] = [];
  let next = cron.nextRun(new Date(lateFrom));
  while (next && next <= at) {
    due.push(next);
    next = cron.nextRun(next);
  }
  if (due.length > 0 || missed === "skip") return due;
  const [latest] = cron.previousRuns(1, at);
  return latest && latest > checkedTo ? [latest] : [];
}

const dayMs = 86_400_000;
/** Clocks are never set back by more than that. */
const longestRepeatMs = 3 * 3_600_000;

/**
 * A pattern that names certain hours, in a time zone whose clocks change: a local time that is repeated is due at its
 * first, one that is skipped right after the gap, and each only once, also in a list of hours.
 * `walls` finds the pattern's due times as if the local clock were UTC.
 */
function localPattern(walls: Cron, timezone: string): Pattern {
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
