/** When a pattern is due. Nothing here reads a clock. */
import { Cron } from "croner";

export interface DueBetween {
  readonly cron: Cron;
  /** All due times up to this one are dealt with. */
  readonly checkedTo: Date;
  /** What was due in a time in which no process ran: left out, or the latest of it. */
  readonly missed: "skip" | "latest";
}

// Due times not older than this are late, not missed: the process was busy, or the machine slept for a moment.
const lateMs = 60_000;

/** Only the pattern: without a function croner starts no timer. Throws where it or the time zone is not one. */
export function parseCron(cron: string, timezone: string): Cron {
  const parsed = new Cron(cron, { timezone, mode: "5-or-6-parts" });
  parsed.nextRun(); // only this looks at the time zone
  return parsed;
}

/** The next due times of a pattern, for people to see. Throws where the pattern or the time zone is not one. */
export function nextDueTimes(cron: string, count: number, timezone = "UTC", after = new Date()): Date[] {
  return parseCron(cron, timezone).nextRuns(count, after);
}

/** The last due time of a pattern up to `at`; undefined where there was none. */
export function latestDueTime(cron: string, timezone: string, at: Date): Date | undefined {
  return parseCron(cron, timezone).previousRuns(1, at)[0];
}

/** What to fire at `at`, oldest first: everything that is merely late, else the latest that was missed if that is wanted. */
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
