/** The variables of a prompt: the parameters of the request, and what the server fills in. behaviour 2.1. */
import type { Account, BaseContext } from "platform";

/** A parameter never replaces what the server fills in. `now` dates the prompt in the account's time zone. */
export function variablesOf(
  { baseUrl, timezone }: Pick<Account, "baseUrl" | "timezone">,
  query: Iterable<readonly [string, unknown]>,
  token: string,
  now = new Date(),
): Record<string, unknown> {
  const variables: Record<string, unknown> = Object.assign(Object.create(null), { date: dateIn(timezone, now) });
  for (const [name, value] of query) {
    if (name !== "date" || value !== "") variables[name] = value;
  }
  return Object.assign(variables, filledIn(baseUrl, token));
}

function filledIn(baseUrl: string, token: string) {
  return { TOKEN: token, api_token: token, ACCOUNT_URL: baseUrl, account_url: baseUrl, base_url: baseUrl };
}

const filledNames: ReadonlySet<string> = new Set(Object.keys(filledIn("", "")));

/** What a content asks for and a parameter can set. */
export function variablesIn(liquid: BaseContext["liquid"], content: string): string[] {
  const names = liquid.variablesOf(content).map((path) => path.split(/[.[]/, 1)[0] ?? "");
  return [...new Set(names)].filter((name) => name !== "" && !filledNames.has(name)).slice(0, mostVariables);
}

const mostVariables = 100;

const calendars = new Map<string, Intl.DateTimeFormat>();

/** `2026-01-31` in that time zone. */
function dateIn(timeZone: string, now: Date): string {
  let calendar = calendars.get(timeZone);
  if (!calendar) {
    calendar = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
    calendars.set(timeZone, calendar);
  }
  return calendar.format(now);
}

/** For people who write prompts. The other names are kept for old prompts. */
export const documentedVariables = [
  { name: "TOKEN", about: "the token of the person who runs the prompt" },
  { name: "ACCOUNT_URL", about: "the address of the account" },
  { name: "date", about: "the parameter date, by default today" },
] as const;
