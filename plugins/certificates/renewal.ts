/** When a certificate is ordered, tried again and renewed. Pure. */

/** Waits after one, two, … failed orders in a row, in minutes: an authority allows five failures of a host per hour. */
const waitMinutes = [5, 15, 60, 240, 720, 1440];

/** When to try again after so many failures in a row. */
export function tryAgainAt(failures: number, now: Date): Date {
  const minutes = waitMinutes[Math.min(failures, waitMinutes.length) - 1] ?? 0;
  return new Date(now.getTime() + minutes * 60_000);
}

/** At two thirds of its life, up to a tenth earlier: certificates of one day are not renewed in one hour. */
export function renewalTime(notBefore: Date, expiresAt: Date, random: number): Date {
  const life = expiresAt.getTime() - notBefore.getTime();
  return new Date(notBefore.getTime() + life * (2 / 3 - random / 10));
}

export interface Advice {
  readonly start: Date;
  readonly end: Date;
}

/** A time in the window that the authority suggests (ARI, RFC 9773 4.2); now if the window is over. */
export function advisedTime({ start, end }: Advice, now: Date, random: number): Date {
  const at = new Date(start.getTime() + (end.getTime() - start.getTime()) * random);
  return at < now ? now : at;
}

/** The window in an authority's answer (RFC 9773 4.2); undefined if it is none. */
export function adviceOf(answer: unknown): Advice | undefined {
  const window = member(answer, "suggestedWindow");
  const [start, end] = [member(window, "start"), member(window, "end")].map((text) =>
    typeof text === "string" ? new Date(text) : undefined,
  );
  if (!start || !end || Number.isNaN(start.getTime()) || !(end > start)) return undefined;
  return { start, end };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}

/** By an authority a name is known in DNS: labels of letters, digits and hyphens, not an address and not a bare word. */
export function isOrderable(host: string): boolean {
  if (host.length > 253 || !host.includes(".") || /^[\d.]+$/.test(host)) return false;
  return host.split(".").every((label) => label.length <= 63 && /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
}

export interface OrderCounts {
  /** Orders of the whole installation in the last hour. */
  readonly lastHour: number;
  /** Certificates of this host in the last week. */
  readonly issuedForHost: number;
}

/** Below the limits of Let's Encrypt: 300 orders in three hours, and five certificates of the same names a week. */
export function mayOrder({ lastHour, issuedForHost }: OrderCounts): boolean {
  return lastHour < 90 && issuedForHost < 5;
}
