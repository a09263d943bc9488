/** When a token ends: in words, and as what people choose. Days are those of the account's time zone. */
import { dayOf, whenOf, type Clock } from "studio/when";

export interface Ends {
  readonly kind: "off" | "never" | "ahead" | "past";
  /** "in 12 days", "yesterday"; empty where there is no end. */
  readonly when: string;
}

const dayMs = 86_400_000;

export function endsOf(token: { active?: unknown; expires_at?: unknown }, clock: Clock): Ends {
  const end = typeof token.expires_at === "string" ? Date.parse(token.expires_at) : Number.NaN;
  const when = Number.isNaN(end) ? "" : whenOf(end, clock);
  if (token.active === false) return { kind: "off", when };
  if (when === "") return { kind: "never", when };
  return { kind: end > clock.now ? "ahead" : "past", when };
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
