/** When a token ends: in words, and as what people choose. Days are those of the account's time zone. */

type Unit = "minute" | "hour" | "day" | "month" | "year";

export interface Ends {
  readonly kind: "off" | "never" | "ahead" | "past";
  /** "in 12 days", "yesterday"; empty where there is no end. */
  readonly when: string;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

export interface Clock {
  readonly now: number;
  readonly timezone: string;
  readonly language: string;
}

export function endsOf(token: { active?: unknown; expires_at?: unknown }, clock: Clock): Ends {
  const end = typeof token.expires_at === "string" ? Date.parse(token.expires_at) : Number.NaN;
  const when = Number.isNaN(end) ? "" : relative(end, clock);
  if (token.active === false) return { kind: "off", when };
  if (when === "") return { kind: "never", when };
  return { kind: end > clock.now ? "ahead" : "past", when };
}

/** `numeric: "auto"` says "yesterday" for a day ago. */
export function relative(at: number, clock: Clock): string {
  const [count, unit] = distance(at, clock);
  return new Intl.RelativeTimeFormat(clock.language, { numeric: "auto" }).format(count, unit);
}

function distance(at: number, { now, timezone }: Clock): [number, Unit] {
  const ms = at - now;
  const days = Math.round((Date.parse(dayOf(at, timezone)) - Date.parse(dayOf(now, timezone))) / dayMs);
  if (Math.abs(ms) < 60 * minuteMs) return [Math.trunc(ms / minuteMs), "minute"];
  if (days === 0) return [Math.trunc(ms / (60 * minuteMs)), "hour"];
  if (Math.abs(days) < 60) return [days, "day"];
  if (Math.abs(days) < 730) return [Math.round(days / 30.44), "month"];
  return [Math.round(days / 365.25), "year"];
}

/** `2026-12-31`; a text that is no time has none. */
export function dayOf(at: number | string, timezone: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone: timezone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  return format.format(date);
}

export const spans = [7, 30, 90] as const;

/** The day that is so many days after today. */
export function dayIn(days: number, { now, timezone }: Pick<Clock, "now" | "timezone">): string {
  const today = Date.parse(dayOf(now, timezone));
  return new Date(today + days * dayMs).toISOString().slice(0, 10);
}

/** The choice that an input stands for: a number of days, a date, or never. */
export function choiceOf(input: string, clock: Pick<Clock, "now" | "timezone">): string {
  if (input === "") return "never";
  const span = spans.find((days) => dayIn(days, clock) === input);
  return span === undefined ? "date" : String(span);
}

/** Where a browser goes to be signed in by a `web_token`, and from there to the Studio. */
export function signInAddress(origin: string, token: string): string {
  return `${origin}/account/auto_login?${new URLSearchParams({ token, return_to: "/studio" })}`;
}
