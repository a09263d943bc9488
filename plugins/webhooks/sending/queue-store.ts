/** The SQL of what waits to be sent and of what this process sends; what must keep its plan is a function of the migrations. */
import { readBounds, type Causation, type Lease, type Sql } from "platform";
import type { WebhookRef } from "../signals.ts";

/** One event for one webhook, to be written. */
export interface NewDelivery {
  readonly accountId: number;
  readonly webhookId: number;
  readonly eventId: number;
  readonly messageId: string;
  readonly sourceType: string;
  readonly kind: string;
  readonly orderKey: string | null;
  readonly body: string;
  readonly causation: Causation | undefined;
}

/** The deliveries of a record for an ordered webhook, sent one after another. */
export interface OrderKey {
  readonly webhookId: number;
  readonly orderKey: string;
}

/** Writes deliveries to be sent, in order. One event makes one for a webhook, however often it is written. */
export async function insertDeliveries(sql: Sql, rows: readonly NewDelivery[]): Promise<void> {
  await sql`
    with made as (
      insert into webhook_deliveries (account_id, webhook_id, event_id, message_id, source_type, kind, order_key,
        body, causation, status, next_attempt_at)
      select r.account_id, r.webhook_id, r.event_id, r.message_id, r.source_type, r.kind, r.order_key, r.body,
        r.causation::json, 'pending', now()
      from unnest(
        ${rows.map((r) => r.accountId)}::bigint[], ${rows.map((r) => r.webhookId)}::bigint[],
        ${rows.map((r) => r.eventId)}::bigint[], ${rows.map((r) => r.messageId)}::text[],
        ${rows.map((r) => r.sourceType)}::text[], ${rows.map((r) => r.kind)}::text[],
        ${rows.map((r) => r.orderKey)}::text[], ${rows.map((r) => r.body)}::text[],
        ${rows.map((r) => (r.causation ? JSON.stringify(r.causation) : null))}::text[]
      ) with ordinality
        as r (account_id, webhook_id, event_id, message_id, source_type, kind, order_key, body, causation, n)
      -- Locked: whoever switches a webhook off or deletes it sees everything that was written before.
      join webhooks w on w.account_id = r.account_id and w.id = r.webhook_id and w.active
      order by r.n
      for share of w
      on conflict do nothing
      returning id, account_id, webhook_id, order_key
    )
    insert into webhook_queue (delivery_id, account_id, webhook_id, order_key, due_at)
    select id, account_id, webhook_id, order_key, case when order_key is null then now() else 'infinity' end from made`;
}

/** Releases what waited behind these; gives back the webhooks that now have something due. */
export function promote(sql: Sql, keys: readonly OrderKey[]) {
  return sql<WebhookRef[]>`
  select distinct account_id, webhook_id
  from promote_deliveries(${keys.map((k) => k.webhookId)}::bigint[], ${keys.map((k) => k.orderKey)}::text[])`;
}

export async function now(sql: Sql): Promise<Date> {
  const [row] = await sql<{ at: Date }[]>`select now() as at`;
  if (!row) throw new Error("a select without a condition gives a row");
  return row.at;
}

/**
 * After the database's clock was set back: what began to wait by the later time waits equally long from now on, and
 * the leases of a process that died then last no longer than other leases.
 */
export async function setBack(sql: Sql, leaseSeconds: number): Promise<void> {
  await sql`
    with wrong as materialized (
      -- Skipped: what is being settled or redelivered, which gets the right time. In the order of those two.
      select delivery_id from webhook_queue
      where waits_since > now() + interval '1 minute'
        or (worker is not null and due_at > now() + make_interval(secs => ${leaseSeconds}))
      order by delivery_id for update skip locked
    ), mended as (
      update webhook_queue q set waits_since = least(q.waits_since, now()), due_at = case
          when q.due_at = 'infinity' then q.due_at
          when q.worker is not null then least(q.due_at, now() + make_interval(secs => ${leaseSeconds}))
          else now() + greatest(q.due_at - q.waits_since, interval '0') end
      from wrong where q.delivery_id = wrong.delivery_id
      returning q.account_id, q.delivery_id, case when q.worker is null and q.due_at <> 'infinity' then q.due_at else now() end as next
    )
    update webhook_deliveries d set next_attempt_at = least(d.next_attempt_at, mended.next)
    from mended where d.account_id = mended.account_id and d.id = mended.delivery_id`;
}

/** The webhooks that have something due, and from when. */
export function due(sql: Sql) {
  return sql<(WebhookRef & { dueAt: Date })[]>`select account_id, webhook_id, due_at from due_webhooks()`;
}

/** First deliveries of their order keys that wait behind nothing: a process died before it released them. */
export function parkedHeads(sql: Sql) {
  return sql<OrderKey[]>`
    with recursive heads as (
      (select q.webhook_id, q.order_key, q.due_at from webhook_queue q
      where q.order_key is not null order by q.webhook_id, q.order_key, q.delivery_id limit 1)
      union all
      select n.* from heads h cross join lateral (
        select q.webhook_id, q.order_key, q.due_at from webhook_queue q
        where q.order_key is not null and (q.webhook_id, q.order_key) > (h.webhook_id, h.order_key)
        order by q.webhook_id, q.order_key, q.delivery_id limit 1) n
    )
    select webhook_id, order_key from heads where due_at = 'infinity'`;
}

/** Forgets the rate of a webhook that is gone. */
export async function forgetRate(sql: Sql, { accountId, webhookId }: WebhookRef): Promise<void> {
  await sql`
    delete from webhook_rates where webhook_id = ${webhookId}
    and not exists (select from webhooks where account_id = ${accountId} and id = ${webhookId})`;
}

/** Whether something waits, or is held, for a webhook that is off or gone. */
export async function leftOf(sql: Sql, { accountId, webhookId }: WebhookRef): Promise<boolean> {
  const [row] = await sql<{ left: boolean }[]>`
    select exists (
      select from webhook_queue q where q.account_id = ${accountId} and q.webhook_id = ${webhookId}
        and not exists (
          select from webhooks w where w.account_id = q.account_id and w.id = q.webhook_id and w.active)) as left`;
  return row?.left ?? false;
}

/** Takes out of the queue what belongs to webhooks that are off or gone; gives back how many, at most `most`. */
export async function clear(sql: Sql, most: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    with off as materialized (
      select q.delivery_id from webhook_queue q
      where (q.worker is null or q.due_at < now()) and not exists (
        select from webhooks w where w.account_id = q.account_id and w.id = q.webhook_id and w.active)
      order by q.delivery_id limit ${most} for update skip locked
    ), gone as (
      delete from webhook_queue q using off where q.delivery_id = off.delivery_id returning q.account_id, q.delivery_id
    ), told as (
      update webhook_deliveries d set status = 'failed', next_attempt_at = null,
        error = 'not sent: the webhook is switched off' || coalesce(' (last: ' || d.error || ')', '')
      from gone where d.account_id = gone.account_id and d.id = gone.delivery_id returning d.id
    )
    select count(*) as count from gone`;
  return row?.count ?? 0;
}

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

export interface ClaimRequest {
  readonly webhookId: number;
  readonly most: number;
  /** What is due before this time is not looked for. */
  readonly since: Date;
}

/** A request that counts for its webhook's rate. */
export interface SentRequest {
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
  readonly counted: SentRequest | null;
}

/** The queue, as one process sees it. */
export interface DeliveryQueue {
  readonly sql: Sql;
  /** Identifies this process among all live ones. */
  readonly worker: string;
}

/** At most `readBounds.pageBytes`, and the delivery that reaches them. */
export function claim({ sql, worker }: DeliveryQueue, wants: readonly ClaimRequest[], leaseSeconds: number) {
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
export async function release(queue: DeliveryQueue, ids: readonly number[], counted: readonly SentRequest[] = []) {
  await queue.sql`
    ${countedWith(queue, counted)}
    update webhook_queue set due_at = now(), waits_since = now(), worker = null
    where delivery_id = any(${ids}::bigint[]) and worker = ${queue.worker}`;
}

/** Writes down the last request of each webhook. A clock that was set back may not forbid requests for long. */
function countedWith({ sql, worker }: DeliveryQueue, counted: readonly SentRequest[]) {
  if (counted.length === 0) return sql``;
  const last = lastOf(counted);
  const at = performance.now();
  return sql`with counted as (
    insert into webhook_rates as r (webhook_id, sent_at, worker)
    select w.id, now() - make_interval(secs => c.ms_ago / 1000), ${worker}
    from unnest(${last.map((one) => one.accountId)}::bigint[], ${last.map((one) => one.webhookId)}::bigint[],
      ${last.map(({ slot }) => at - slot)}::float8[]) as c (account_id, webhook_id, ms_ago)
    join webhooks w on w.account_id = c.account_id and w.id = c.webhook_id
    -- In order, so that two processes cannot deadlock; locked, so that a webhook that is being deleted is left out.
    order by w.id
    for key share of w
    on conflict (webhook_id) do update set sent_at = excluded.sent_at, worker = excluded.worker
      where excluded.sent_at > r.sent_at or r.sent_at > now())`;
}

function lastOf(counted: readonly SentRequest[]): readonly SentRequest[] {
  const last = new Map<number, SentRequest>();
  for (const one of counted) if (one.slot >= (last.get(one.webhookId)?.slot ?? one.slot)) last.set(one.webhookId, one);
  return [...last.values()];
}
