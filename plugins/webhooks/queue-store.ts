import type { Causation, Sql } from "platform";

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

/** A delivery that this process is to send. */
export interface ClaimedDelivery {
  readonly id: number;
  readonly webhookId: number;
  readonly messageId: string;
  readonly sourceType: string;
  readonly kind: string;
  readonly orderKey: string | null;
  readonly body: string;
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

export interface Place {
  readonly accountId: number;
  readonly webhookId: number;
}

export type QueueStore = ReturnType<typeof createQueueStore>;

const earliest = (date: Date) => date.toISOString();

/** The SQL of sending; what must keep its plan is a function of the migration. */
export function createQueueStore(sql: Sql, worker: string) {
  /** Writes down the last request of each webhook. A clock that was set back may not forbid requests for long. */
  const count = (counted: readonly Counted[]) => {
    const last = lastSlots(counted);
    const now = performance.now();
    return sql`
      insert into webhook_rates as r (webhook_id, sent_at, worker)
      select w.id, now() - make_interval(secs => c.ms_ago / 1000), ${worker}
      from unnest(${[...last.keys()]}::bigint[], ${[...last.values()].map((slot) => now - slot)}::float8[])
        as c (webhook_id, ms_ago)
      join webhooks w on w.id = c.webhook_id
      -- Two that count for the same webhooks do it in the same order, and one that is being deleted is left out.
      order by w.id
      for key share of w
      on conflict (webhook_id) do update set sent_at = excluded.sent_at, worker = excluded.worker
        where excluded.sent_at > r.sent_at or r.sent_at > now()`;
  };

  return {
    /** Writes deliveries to be sent, in order. One event makes one for a webhook, however often it is written. */
    async insert(rows: readonly NewDelivery[]): Promise<void> {
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
          -- Locked, so that who switches one off or deletes it sees all that was written before.
          join webhooks w on w.id = r.webhook_id and w.active
          order by r.n
          for share of w
          on conflict (webhook_id, event_id) where event_id is not null do nothing
          returning id, account_id, webhook_id, order_key
        )
        insert into webhook_queue (delivery_id, account_id, webhook_id, order_key, due_at)
        select id, account_id, webhook_id, order_key, case when order_key is null then now() else 'infinity' end from made`;
    },

    claim: (wants: readonly Want[], leaseSeconds: number) => sql<ClaimedDelivery[]>`
      select id, webhook_id, message_id, source_type, kind, order_key, body, causation, attempts, attempts_before, due_at,
        sent_ms_ago, sent_here
      from claim_deliveries(${wants.map((w) => w.webhookId)}::bigint[], ${wants.map((w) => w.most)}::integer[],
        ${wants.map((w) => earliest(w.since))}::text[]::timestamptz[], ${leaseSeconds}, ${worker})
      order by webhook_id, due_at, id`,

    /** The ids that were this worker's to settle. */
    async settle(settlements: readonly Settlement[]): Promise<Set<number>> {
      // In the order in which `requeue` locks them.
      const rows = settlements.toSorted((a, b) => a.id - b.id);
      const counted = rows.flatMap((row) => row.counted ?? []);
      // In the same statement: nobody may claim for the webhook before its last request is known.
      const settled = await sql<{ id: number }[]>`
        ${counted.length === 0 ? sql`` : sql`with counted as (${count(counted)})`}
        select id from settle_deliveries(${rows.map((r) => r.id)}::bigint[], ${rows.map((r) => r.status)}::text[],
          ${rows.map((r) => r.delaySeconds)}::float8[], ${rows.map((r) => r.responseStatus)}::integer[],
          ${rows.map((r) => r.responseBody)}::text[], ${rows.map((r) => r.error)}::text[],
          ${rows.map((r) => Math.round(r.durationMs))}::integer[],
          ${rows.map((r) => r.attemptedAt.toISOString())}::text[]::timestamptz[], ${worker}) as id`;
      return new Set(settled.map(({ id }) => id));
    },

    /** Lets go what waited behind these; the webhooks that have something due by it. */
    promote: (keys: readonly { webhookId: number; orderKey: string }[]) => sql<Place[]>`
      select distinct account_id, webhook_id
      from promote_deliveries(${keys.map((k) => k.webhookId)}::bigint[], ${keys.map((k) => k.orderKey)}::text[])`,

    /**
     * Holds on to what is being sent; the ids that this worker still has. It waits for none that is being written down
     * at this moment: two that lock many rows and wait for each other would be a deadlock.
     */
    async extend(ids: readonly number[], leaseSeconds: number): Promise<Set<number>> {
      const rows = await sql<{ deliveryId: number }[]>`
        with free as materialized (
          select delivery_id from webhook_queue
          where delivery_id = any(${ids}::bigint[]) and worker = ${worker} for update skip locked
        ), held as (
          update webhook_queue q set due_at = now() + make_interval(secs => ${leaseSeconds})
          from free where q.delivery_id = free.delivery_id
        )
        select delivery_id from webhook_queue where delivery_id = any(${ids}::bigint[]) and worker = ${worker}`;
      return new Set(rows.map(({ deliveryId }) => deliveryId));
    },

    /** Gives back what was not sent, or was cut off: then its request counts all the same. */
    async release(ids: readonly number[], counted: readonly Counted[] = []): Promise<void> {
      await sql`
        ${counted.length === 0 ? sql`` : sql`with counted as (${count(counted)})`}
        update webhook_queue set due_at = now(), worker = null
        where delivery_id = any(${ids}::bigint[]) and worker = ${worker}`;
    },

    due: () => sql<(Place & { dueAt: Date })[]>`select account_id, webhook_id, due_at from due_webhooks()`,

    /** First deliveries of their order keys that wait behind nothing: a process died before it let them go. */
    async parkedHeads(): Promise<{ webhookId: number; orderKey: string }[]> {
      return sql<{ webhookId: number; orderKey: string }[]>`
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
    },

    /** Whether something waits, or is held, for a webhook that is off or gone. */
    async leftOf({ accountId, webhookId }: Place): Promise<boolean> {
      const [row] = await sql<{ left: boolean }[]>`
        select exists (
          select from webhook_queue q where q.account_id = ${accountId} and q.webhook_id = ${webhookId}
            and not exists (select from webhooks w where w.id = q.webhook_id and w.active)) as left`;
      return row?.left ?? false;
    },

    /** Takes out of the queue what belongs to webhooks that are off or gone; how many there were, at most `most`. */
    async clear(most: number): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        with off as materialized (
          select q.delivery_id from webhook_queue q
          where (q.worker is null or q.due_at < now()) and not exists (select from webhooks w where w.id = q.webhook_id and w.active)
          order by q.delivery_id limit ${most} for update skip locked
        ), gone as (
          delete from webhook_queue q using off where q.delivery_id = off.delivery_id returning q.delivery_id
        ), told as (
          update webhook_deliveries d set status = 'failed', next_attempt_at = null,
            error = 'not sent: the webhook is switched off' || coalesce(' (last: ' || d.error || ')', '')
          from gone where d.id = gone.delivery_id returning d.id
        )
        select count(*) as count from gone`;
      return row?.count ?? 0;
    },
  };
}

function lastSlots(counted: readonly Counted[]): ReadonlyMap<number, number> {
  const last = new Map<number, number>();
  for (const { webhookId, slot } of counted) last.set(webhookId, Math.max(slot, last.get(webhookId) ?? slot));
  return last;
}
