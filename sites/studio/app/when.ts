/** When something was or will be, as people say it: in words within seven days, then the day. Pure. */

export interface Clock {
  readonly now: number;
  readonly timezone: string;
  readonly language: string;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** "10 min. ago", "yesterday", "in 6 days", "26 Nov", "26 Nov 2025". */
export function whenOf(at: number, { now, timezone, language }: Clock): string {
  const ms = at - now;
  const days = Math.round((Date.parse(dayOf(at, timezone)) - Date.parse(dayOf(now, timezone))) / dayMs);
  const relative = (count: number, unit: "minute" | "hour" | "day") =>
    new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" }).format(count, unit);
  if (Math.abs(ms) < 60 * minuteMs) return relative(Math.trunc(ms / minuteMs), "minute");
  if (days === 0) return relative(Math.trunc(ms / (60 * minuteMs)), "hour");
  if (Math.abs(days) < 7) return relative(days, "day");
  const isThisYear = dayOf(at, timezone).slice(0, 4) === dayOf(now, timezone).slice(0, 4);
  const year = isThisYear ? undefined : "numeric";
  const parts = { day: "numeric", month: "short", year, timeZone: timezone } as const;
  return new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, parts).format(at);
}

/** `2026-12-31`; a text that is no time has none. */
export function dayOf(at: number | string, timezone: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  // Swedish is written as ISO 8601 is.
  return new Intl.DateTimeFormat("sv", { timeZone: timezone }).format(date);
}
