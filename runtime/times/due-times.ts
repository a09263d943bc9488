/** Works out when a pattern is due. Nothing here reads a clock. */
import { Cron } from "croner";
import { createLocalPattern, type Pattern } from "./local-pattern.ts";

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
  return isHourly ? parsed : createLocalPattern(new Cron(cron, { utcOffset: 0, mode }), timezone);
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
