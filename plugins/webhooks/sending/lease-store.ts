import type { Causation, Sql } from "platform";

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

export type LeaseStore = ReturnType<typeof createLeaseStore>;

const earliest = (date: Date) => date.toISOString();

/** The SQL of what this process sends, by its name `worker`: taking deliveries, holding on to them and letting them go. */
export function createLeaseStore(sql: Sql, worker: string) {
  /** Writes down the last request of each webhook. A clock that was set back may not forbid requests for long. */
  const count = (counted: readonly Counted[]) => {
    const last = lastOf(counted);
    const now = performance.now();
    return sql`
      insert into webhook_rates as r (webhook_id, sent_at, worker)
      select w.id, now() - make_interval(secs => c.ms_ago / 1000), ${worker}
      from unnest(${last.map((one) => one.accountId)}::bigint[], ${last.map((one) => one.webhookId)}::bigint[],
        ${last.map(({ slot }) => now - slot)}::float8[]) as c (account_id, webhook_id, ms_ago)
      join webhooks w on w.account_id = c.account_id and w.id = c.webhook_id
      -- In order, so that two processes cannot deadlock; locked, so that a webhook that is being deleted is left out.
      order by w.id
      for key share of w
      on conflict (webhook_id) do update set sent_at = excluded.sent_at, worker = excluded.worker
        where excluded.sent_at > r.sent_at or r.sent_at > now()`;
  };

  return {
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

    /**
     * Extends the leases of what is being sent; gives back the ids that this worker still has. Rows that are being
     * settled at this moment are skipped: waiting for them while holding others could be a deadlock.
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
        update webhook_queue set due_at = now(), waits_since = now(), worker = null
        where delivery_id = any(${ids}::bigint[]) and worker = ${worker}`;
    },
  };
}

function lastOf(counted: readonly Counted[]): readonly Counted[] {
  const last = new Map<number, Counted>();
  for (const one of counted) if (one.slot >= (last.get(one.webhookId)?.slot ?? one.slot)) last.set(one.webhookId, one);
  return [...last.values()];
}
