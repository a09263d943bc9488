/** The due times of a schedule that is not saved yet. No SQL, no HTTP. */
import { mistakes } from "platform";
import { isTimezone, nextRuns, scheduleMistake } from "./schedule.ts";

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
