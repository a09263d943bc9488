/** What a cron's schedule means: five fields in a time zone. Pure. */
import { latestDueTime, nextDueTimes } from "platform";

export interface Schedule {
  readonly schedule: string;
  readonly timezone: string;
}

/** What is wrong with the five fields, or undefined. */
export function scheduleMistake(schedule: string): string | undefined {
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) return "must have five fields: minute, hour, day of month, month, day of week";
  // Another program's word for any day.
  if (schedule.includes("?")) return "is not a cron expression: ? is not supported, * is any";
  try {
    return nextDueTimes(schedule.trim(), 1, "UTC").length === 0 ? "is never due" : undefined;
  } catch (error) {
    return `is not a cron expression: ${error instanceof Error ? error.message : String(error)}`;
  }
}

export function isTimezone(timezone: string): boolean {
  try {
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: timezone }).resolvedOptions();
    // An offset such as +02:00 is one too, but knows no summer time.
    return /^[A-Za-z]/.test(timeZone);
  } catch {
    return false;
  }
}

export function nextRuns({ schedule, timezone }: Schedule, count: number, after: Date): Date[] {
  return nextDueTimes(schedule, count, timezone, after);
}

export function nextRun(cron: Schedule, after: Date): Date | null {
  return nextRuns(cron, 1, after)[0] ?? null;
}

// Due times not older than this are late, not missed: what is due is looked for once a minute, and a server may just
// have been started anew.
export const lateMs = 150_000;

/**
 * Which of the times from `dueAt` up to `now` to fire: one that is merely late, of missed ones the latest where asked. A
 * server has run since `since`, though it may not have reached its database: what was due then is late, not missed.
 */
export function toFire(
  cron: Schedule & { readonly missed: "skip" | "latest" },
  dueAt: Date,
  now: Date,
  since: Date = now,
): Date | undefined {
  if (now.getTime() - dueAt.getTime() <= lateMs) return dueAt;
  const latest = latestDueTime(cron.schedule, cron.timezone, new Date(now.getTime() + 1)) ?? dueAt;
  const isLate = now.getTime() - latest.getTime() <= lateMs || latest >= since;
  return isLate || cron.missed === "latest" ? latest : undefined;
}
