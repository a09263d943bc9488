/** The log of a webhook's deliveries: what is shown while it grows, and what it says in words. Pure. */

export interface Delivery {
  readonly id: number;
  readonly message_id: string;
  readonly source_type: string;
  readonly event: string;
  readonly status: "pending" | "delivered" | "failed";
  readonly attempts: number;
  readonly response_status: number | null;
  readonly response_body: string | null;
  readonly error: string | null;
  readonly duration_ms: number | null;
  readonly attempted_at: string | null;
  readonly next_attempt_at: string | null;
  readonly created_at: string;
}

export const pageSize = 50;
/** Those of one status are looked for among so many at a time. */
export const searched = 20_000;
export const statuses = ["pending", "delivered", "failed"] as const;

/** How a delivery is: `waiting` was never tried, `retrying` will be tried again. */
export type State = "waiting" | "retrying" | "delivered" | "failed";

export function stateOf({ status, attempts }: Pick<Delivery, "status" | "attempts">): State {
  if (status !== "pending") return status;
  return attempts === 0 ? "waiting" : "retrying";
}

export interface Log {
  /** Newest first. */
  readonly rows: readonly Delivery[];
  /** Newer ones that are not shown yet. */
  readonly fresh: readonly Delivery[];
}

/**
 * The log after the newest deliveries were read again: rows change where they stand, so that nothing moves under the
 * pointer, and new ones wait until they are asked for. `isAtRest`: they come at once.
 */
export function refreshed({ rows }: Log, latest: readonly Delivery[], isAtRest: boolean): Log {
  const found = new Map(latest.map((one) => [one.id, one]));
  const kept = rows.map((row) => found.get(row.id) ?? row);
  const newest = rows[0]?.id ?? 0;
  const fresh = latest.filter(({ id }) => id > newest);
  return isAtRest ? { rows: [...fresh, ...kept], fresh: [] } : { rows: kept, fresh };
}

/** The address of the next page, or of what is the newest. */
export function logPath(webhookId: string, status: string, before?: number): string {
  const query = new URLSearchParams({ limit: String(pageSize), count: "false" });
  query.set("within", String(status === "" ? pageSize : searched));
  if (status !== "") query.set("status", status);
  if (before !== undefined) query.set("before", String(before));
  return `/account/webhooks/${encodeURIComponent(webhookId)}/deliveries.json?${query}`;
}

export interface Health {
  readonly delivered: number;
  /** Delivered or given up. */
  readonly ended: number;
  readonly waiting: number;
  readonly mood: "none" | "good" | "shaky" | "bad";
}

export function healthOf({
  delivered,
  failed,
  pending,
}: Readonly<Record<"delivered" | "failed" | "pending", number>>): Health {
  const ended = delivered + failed;
  const share = ended === 0 ? 1 : delivered / ended;
  const mood = ended === 0 ? "none" : share === 1 ? "good" : share >= 0.9 ? "shaky" : "bad";
  return { delivered, ended, waiting: pending, mood };
}

export function countsOf(rows: readonly Pick<Delivery, "status">[]): Record<Delivery["status"], number> {
  const counts = { delivered: 0, failed: 0, pending: 0 };
  for (const { status } of rows) counts[status]++;
  return counts;
}

/** Newest first, but those that failed before the others. */
export function failedFirst<T extends Pick<Delivery, "status">>(rows: readonly T[]): T[] {
  return rows.toSorted((a, b) => Number(b.status === "failed") - Number(a.status === "failed"));
}

const reasons = [
  "refused-address",
  "dns",
  "connect",
  "tls",
  "timeout",
  "too-large",
  "redirect",
  "gone",
  "status",
  "not allowed",
] as const;
export type Reason = (typeof reasons)[number];

/** Why an attempt has failed: the server's message begins with it. */
export function reasonOf(error: string): Reason | undefined {
  return reasons.find((reason) => error.startsWith(`${reason}:`));
}

/** The process that a delivery to a flow has started. */
export function processOf({
  response_status,
  response_body,
}: Pick<Delivery, "response_status" | "response_body">): string | undefined {
  // An address could answer the same.
  if (response_status !== null || response_body === null) return undefined;
  const found = /^\{"flow_process_id":"([0-9a-f-]{36})"\}$/.exec(response_body);
  return found?.[1];
}

export function isDelivery(row: unknown): row is Delivery {
  return typeof row === "object" && row !== null && "id" in row && "status" in row && "attempts" in row;
}

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** "3 minutes ago", "in 5 hours", "now". */
export function relative(at: string, now: number, language: string): string {
  const ms = Date.parse(at) - now;
  const [unit, size] = units.find(([, one]) => Math.abs(ms) >= one) ?? (["second", 1000] as const);
  return new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(Math.round(ms / size), unit);
}

const minuteMs = 60_000;

/** In minutes. */
export const spans = { hour: 60, day: 1440, week: 10_080, month: 43_200 } as const;
export type Span = keyof typeof spans;

export function sinceOf(span: Span, now: number): string {
  return new Date(now - spans[span] * minuteMs).toISOString();
}

export function isSpan(value: string): value is Span {
  return Object.hasOwn(spans, value);
}
