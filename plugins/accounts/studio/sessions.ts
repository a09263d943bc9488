/** Where somebody is signed in, in words. */

/** An item of `GET /account/me/sessions`. */
export interface SessionAnswer {
  readonly id: number;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly address: string | null;
  readonly browser: string | null;
  readonly current: boolean;
}

export interface OwnSession extends SessionAnswer {
  /** `Firefox, Linux`; undefined if the sign-in did not say. */
  readonly program: string | undefined;
}

/** This one first, then the last used. */
export function sessionsOf(answers: readonly SessionAnswer[]): OwnSession[] {
  const latest = ({ last_used_at, created_at }: SessionAnswer) => last_used_at ?? created_at;
  return answers
    .map((one) => ({ ...one, program: programOf(one.browser ?? "") }))
    .toSorted((a, b) => Number(b.current) - Number(a.current) || latest(b).localeCompare(latest(a)));
}

/** What a User-Agent names: the special comes before what it also pretends to be. */
const browsers = { "Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari" };
const systems = {
  Android: "Android",
  iPhone: "iOS",
  iPad: "iPadOS",
  Windows: "Windows",
  "Mac OS X": "macOS",
  Linux: "Linux",
};

export function programOf(userAgent: string): string | undefined {
  const named = (names: Readonly<Record<string, string>>) =>
    Object.entries(names).find(([part]) => userAgent.includes(part))?.[1];
  const words = [named(browsers), named(systems)].filter(Boolean);
  if (words.length > 0) return words.join(", ");
  return userAgent.trim() === "" ? undefined : userAgent.slice(0, 40);
}
