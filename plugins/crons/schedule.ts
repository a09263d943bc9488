/** The meaning of a cron's schedule: five fields in a time zone. Pure. */
import { latestDueTime, mistakes, nextDueTimes } from "platform";

export interface Schedule {
  readonly schedule: string;
  readonly timezone: string;
}

/** The mistake in the five fields, or undefined. */
export function scheduleMistake(schedule: string): string | undefined {
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) return "must have five fields: minute, hour, day of month, month, day of week";
  // Some other programs write ? for any day.
  if (schedule.includes("?")) return "is not a cron expression: ? is not supported, use *";
  try {
    return nextDueTimes(schedule.trim(), 1, "UTC").length === 0 ? "is never due" : undefined;
  } catch (error) {
    return `is not a cron expression: ${reasonOf(error instanceof Error ? error.message : String(error))}`;
  }
}

const fieldNames: Readonly<Record<string, readonly [name: string, from: number, to: number]>> = {
  minute: ["minute", 0, 59],
  hour: ["hour", 0, 23],
  day: ["day of month", 1, 31],
  month: ["month", 1, 12],
  dayOfWeek: ["day of week", 0, 7],
};

/** Croner counts days and months from 0, and entries from the seconds that we do not have. */
function reasonOf(message: string): string {
  const [, place, text] = /entry ([1-5]) \((.{1,100})\) contains illegal/.exec(message) ?? [];
  const range = Object.values(fieldNames)[Number(place) - 1];
  if (range) return `${text} is no ${range[0]} (${range[1]} to ${range[2]})`;
  const [, part = "", value = ""] = /Invalid value for (\w{1,20}): (-?\d{1,20})$/.exec(message) ?? [];
  const field = fieldNames[part];
  if (!field) return message.replace(/^CronPattern: /, "");
  const [name, from, to] = field;
  return `${Number(value) + (part === "day" || part === "month" ? 1 : 0)} is no ${name} (${from} to ${to})`;
}

export function isTimezone(timezone: string): boolean {
  try {
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: timezone }).resolvedOptions();
    // An offset such as +02:00 is accepted too, but has no summer time.
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

// Due times up to this age are late, not missed: the server looks for them once a minute, and may just have restarted.
export const lateMs = 150_000;

/**
 * The due time from `dueAt` up to `now` that is to be fired: one that is only late, or the latest missed one if `missed`
 * says so. A server has run since `since`, even if its database was away: due times from then on are late, not missed.
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

const mostChars = 200;
const most = 20;

/** Throws the 422 that names every mistake. */
export function nextOf(query: URLSearchParams, accountTimezone: string, after: Date) {
  const found = mistakes();
  const schedule = (query.get("schedule") ?? "").trim();
  const timezone = query.get("timezone") || accountTimezone;
  const count = query.get("count") || "5";
  const mistake = schedule.length > mostChars ? `may have at most ${mostChars} characters` : scheduleMistake(schedule);
  if (mistake !== undefined) found.add("schedule", mistake);
  if (timezone.length > 64 || !isTimezone(timezone))
    found.add("timezone", "must be the name of a time zone, e.g. Europe/Warsaw");
  if (!/^\d{1,2}$/.test(count) || Number(count) < 1 || Number(count) > most)
    found.add("count", `must be a number from 1 to ${most}`);
  found.check();
  return { schedule, timezone, next_runs: nextRuns({ schedule, timezone }, Number(count), after) };
}
