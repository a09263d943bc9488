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

/** A host for which an order is due, and what was ordered before. */
export interface Due {
  readonly host: string;
  readonly accountId: number;
  readonly notBefore: Date | null;
  readonly expiresAt: Date | null;
  readonly tryAt: Date;
  /** An account's own host, where people sign in. */
  readonly isAccountHost: boolean;
  /** Orders of this host in the last hour. */
  readonly hostOrders: number;
  /** Certificates of this host in the last week. */
  readonly hostIssued: number;
  /** Orders of its account in the last hour. */
  readonly accountOrders: number;
}

/**
 * Let's Encrypt allows 300 orders in three hours, five failures of a host in one, and five certificates of the same names
 * a week. Whoever makes up domains must not use that up for others: what comes first keeps a third for itself.
 */
const limits = { hour: 90, otherHour: 60, accountHour: 30, hostHour: 5, hostWeek: 5 };

/** Whether an account cannot do without it: its own host, and a certificate more than half of whose life is over. */
function comesFirst({ isAccountHost, notBefore, expiresAt }: Due, now: Date): boolean {
  if (isAccountHost || notBefore === null || expiresAt === null) return isAccountHost;
  return expiresAt.getTime() - now.getTime() < (expiresAt.getTime() - notBefore.getTime()) / 2;
}

export function mayOrder(due: Due, lastHour: number, now: Date): boolean {
  if (due.hostOrders >= limits.hostHour || due.hostIssued >= limits.hostWeek) return false;
  if (comesFirst(due, now)) return lastHour < limits.hour;
  return lastHour < limits.otherHour && due.accountOrders < limits.accountHour;
}

/** What to order next: what comes first by its end, then the others, of the account that had fewest orders. */
export function nextOrder(all: readonly Due[], lastHour: number, now: Date): Due | undefined {
  const allowed = all.filter((due) => mayOrder(due, lastHour, now));
  const rank = (due: Due) => {
    const isFirst = comesFirst(due, now);
    return [
      isFirst ? 0 : 1,
      isFirst ? (due.expiresAt?.getTime() ?? 0) : due.accountOrders,
      due.tryAt.getTime(),
    ] as const;
  };
  return allowed.toSorted((one, other) => {
    const [a, b] = [rank(one), rank(other)];
    return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
  })[0];
}
