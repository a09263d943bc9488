/** The SQL of what this process sends: taking deliveries, holding on to them and letting them go. */
import { readBounds, type Causation, type Lease, type Sql } from "platform";

/** A delivery that this process is to send. */
export interface ClaimedDelivery {
  readonly id: number;
  readonly accountId: number;
  readonly webhookId: number;
  readonly messageId: string;
  readonly sourceType: string;
  readonly kind: string;
  readonly orderKey: string | null;
  readonly body: string;
  /** Of the body. */
  readonly bytes: number;
  readonly causation: Causation | null;
  readonly attempts: number;
  readonly attemptsBefore: number;
  readonly dueAt: Date;
  /** The last request that counts for its webhook's rate: how long ago. Null: none is known, or it has no rate. */
  readonly sentMsAgo: number | null;
  /** Whether this process sent that one. */
  readonly sentHere: boolean | null;
}

export interface Want {
  readonly webhookId: number;
  readonly most: number;
  /** What is due before this time is not looked for. */
  readonly since: Date;
}

/** A request that counts for its webhook's rate. */
export interface Counted {
  readonly accountId: number;
  readonly webhookId: number;
  /** When it was sent, as `performance.now()`. */
  readonly slot: number;
}

/** What came of an attempt. */
export interface Settlement {
  readonly id: number;
  /** `pending`: it comes again in `delaySeconds`. */
  readonly status: "pending" | "delivered" | "failed";
  readonly delaySeconds: number;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  readonly error: string | null;
  readonly durationMs: number;
  readonly attemptedAt: Date;
  /** Null: its webhook has no rate. */
  readonly counted: Counted | null;
}

/** The queue, as one process sees it. */
export interface DeliveryQueue {
  readonly sql: Sql;
  /** Identifies this process among all live ones. */
  readonly worker: string;
}

/** At most `readBounds.pageBytes`, and the delivery that reaches them. */
export function claim({ sql, worker }: DeliveryQueue, wants: readonly Want[], leaseSeconds: number) {
  return sql<ClaimedDelivery[]>`
    select id, account_id, webhook_id, message_id, source_type, kind, order_key, body, bytes, causation, attempts,
      attempts_before, due_at, sent_ms_ago, sent_here
    from claim_deliveries_within(${wants.map((w) => w.webhookId)}::bigint[], ${wants.map((w) => w.most)}::integer[],
      ${wants.map((w) => w.since.toISOString())}::text[]::timestamptz[], ${leaseSeconds}, ${readBounds.pageBytes},
      ${worker})
    order by webhook_id, due_at, id`;
}

/** The ids that were this worker's to settle. */
export async function settle(queue: DeliveryQueue, settlements: readonly Settlement[]): Promise<Set<number>> {
  // In the order in which `requeue` locks them.
  const rows = settlements.toSorted((a, b) => a.id - b.id);
  const counted = rows.flatMap((row) => row.counted ?? []);
  // In the same statement: nobody may claim for the webhook before its last request is known.
  const settled = await queue.sql<{ id: number }[]>`
    ${countedWith(queue, counted)}
    select id from settle_deliveries(${rows.map((r) => r.id)}::bigint[], ${rows.map((r) => r.status)}::text[],
      ${rows.map((r) => r.delaySeconds)}::float8[], ${rows.map((r) => r.responseStatus)}::integer[],
      ${rows.map((r) => r.responseBody)}::text[], ${rows.map((r) => r.error)}::text[],
      ${rows.map((r) => Math.round(r.durationMs))}::integer[],
      ${rows.map((r) => r.attemptedAt.toISOString())}::text[]::timestamptz[], ${queue.worker}) as id`;
  return new Set(settled.map(({ id }) => id));
}

/**
 * Extends leases; returns those that this worker still has. Rows that are being settled at this moment are skipped:
 * waiting for them while holding others could be a deadlock.
 */
export async function extend<Row extends { readonly id: number }>(
  { sql, worker }: DeliveryQueue,
  leases: readonly Lease<Row>[],
  leaseSeconds: number,
): Promise<Set<Lease<Row>>> {
  const ids = leases.map(({ row }) => row.id);
  const rows = await sql<{ deliveryId: number }[]>`
    with free as materialized (
      select delivery_id from webhook_queue
      where delivery_id = any(${ids}::bigint[]) and worker = ${worker} for update skip locked
    ), held as (
      update webhook_queue q set due_at = now() + make_interval(secs => ${leaseSeconds})
      from free where q.delivery_id = free.delivery_id
    )
    select delivery_id from webhook_queue where delivery_id = any(${ids}::bigint[]) and worker = ${worker}`;
  const held = new Set(rows.map(({ deliveryId }) => deliveryId));
  return new Set(leases.filter(({ row }) => held.has(row.id)));
}

/** Gives back what was not sent, or was cut off: then its request counts all the same. */
export async function release(queue: DeliveryQueue, ids: readonly number[], counted: readonly Counted[] = []) {
  await queue.sql`
    ${countedWith(queue, counted)}
    update webhook_queue set due_at = now(), waits_since = now(), worker = null
    where delivery_id = any(${ids}::bigint[]) and worker = ${queue.worker}`;
}

/** Writes down the last request of each webhook. A clock that was set back may not forbid requests for long. */
function countedWith({ sql, worker }: DeliveryQueue, counted: readonly Counted[]) {
  if (counted.length === 0) return sql``;
  const last = lastOf(counted);
  const now = performance.now();
  return sql`with counted as (
    insert into webhook_rates as r (webhook_id, sent_at, worker)
    select w.id, now() - make_interval(secs => c.ms_ago / 1000), ${worker}
    from unnest(${last.map((one) => one.accountId)}::bigint[], ${last.map((one) => one.webhookId)}::bigint[],
      ${last.map(({ slot }) => now - slot)}::float8[]) as c (account_id, webhook_id, ms_ago)
    join webhooks w on w.account_id = c.account_id and w.id = c.webhook_id
    -- In order, so that two processes cannot deadlock; locked, so that a webhook that is being deleted is left out.
    order by w.id
    for key share of w
    on conflict (webhook_id) do update set sent_at = excluded.sent_at, worker = excluded.worker
      where excluded.sent_at > r.sent_at or r.sent_at > now())`;
}

function lastOf(counted: readonly Counted[]): readonly Counted[] {
  const last = new Map<number, Counted>();
  for (const one of counted) if (one.slot >= (last.get(one.webhookId)?.slot ?? one.slot)) last.set(one.webhookId, one);
  return [...last.values()];
}
