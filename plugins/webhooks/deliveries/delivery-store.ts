/** The SQL of the log. */
import { readPage, readRows } from "platform";
import type { BaseContext, Page, Queryable, Sql, Static, Tx } from "platform";
import type { Delivery } from "../answers.ts";

export type DeliveryStatus = "pending" | "delivered" | "failed";

export interface DeliveryRow {
  readonly id: number;
  readonly messageId: string;
  readonly sourceType: string;
  readonly kind: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  readonly error: string | null;
  readonly durationMs: number | null;
  readonly attemptedAt: Date | null;
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
}

/** A delivery that is written after it was sent: a test. */
export interface SentDelivery extends Omit<DeliveryRow, "id" | "attempts" | "nextAttemptAt" | "createdAt"> {
  readonly accountId: number;
  readonly webhookId: number;
  readonly body: string;
}

export interface DeliveryRange {
  readonly from: Date;
  readonly to: Date;
  readonly status: DeliveryStatus;
  readonly most: number;
}

export interface DeliveryFilter {
  readonly status?: string | undefined;
  /** Only those that are older than the one with this id. */
  readonly before?: number | undefined;
  /** Counting takes long in a long log. */
  readonly counts?: boolean | undefined;
  /** Only among so many of the newest: those of a status may be far apart. */
  readonly within?: number | undefined;
}

export interface HealthRow {
  readonly id: number;
  readonly recent: number;
  readonly delivered: number;
  readonly failed: number;
  readonly pending: number;
  readonly lastDeliveredAt: Date | null;
  readonly lastFailedAt: Date | null;
}

const columns = (on: Queryable) => on`
  id, message_id, source_type, kind, status, attempts, response_status, response_body, error, duration_ms,
  attempted_at, next_attempt_at, created_at`;

/** Puts deliveries back into the queue; those that are being sent are left alone. */
export async function requeueDeliveries(tx: Tx, accountId: number, ids: readonly number[]) {
  // The queue first, in the order of `settle_deliveries`: otherwise the two could deadlock.
  await tx`
    select from webhook_queue where account_id = ${accountId} and delivery_id = any(${ids}::bigint[])
    order by delivery_id for update`;
  await tx`
    update webhook_deliveries set status = 'pending', attempts_before = attempts, next_attempt_at = now()
    where account_id = ${accountId} and id = any(${ids}::bigint[])`;
  return tx<{ webhookId: number; orderKey: string | null }[]>`
    insert into webhook_queue as q (delivery_id, account_id, webhook_id, order_key, due_at)
    select id, account_id, webhook_id, order_key, case when order_key is null then now() else 'infinity' end
    from webhook_deliveries where account_id = ${accountId} and id = any(${ids}::bigint[]) order by id
    on conflict (delivery_id) do update
      set due_at = case when q.worker is null and q.due_at <> 'infinity' then now() else q.due_at end, waits_since = now()
    returning webhook_id, order_key`;
}

/** Newest first. */
export async function listDeliveries(
  { sql, read }: Pick<BaseContext, "sql" | "read">,
  accountId: number,
  webhookId: number,
  wanted: DeliveryFilter,
  page: Page,
) {
  const { status, before, counts = true, within } = wanted;
  const all = sql`
    account_id = ${accountId} and webhook_id = ${webhookId} ${before === undefined ? sql`` : sql`and id < ${before}`}`;
  return read(async (on) => {
    const [edge] =
      within === undefined
        ? []
        : await on<{ id: number }[]>`
            select id from webhook_deliveries where ${all} order by id desc limit 1 offset ${within - 1}`;
    const where = sql`
      ${all} ${status === undefined ? sql`` : sql`and status = ${status}`}
      ${edge === undefined ? sql`` : sql`and id >= ${edge.id}`}`;
    const select = { columns: columns(sql), from: sql`webhook_deliveries where ${where}`, order: sql`id desc` };
    const { rows, next } = await readRows<DeliveryRow>(on, page, select);
    const isFull = rows.length === page.limit || next !== undefined;
    const cursor = within === undefined && next === undefined ? undefined : isFull ? rows.at(-1)?.id : edge?.id;
    if (!counts) return { rows, cursor };
    const [count] = await on<{ total: number }[]>`select count(*) as total from webhook_deliveries where ${where}`;
    return { rows, cursor, total: count?.total ?? 0 };
  });
}

/** Of each webhook, what has become of its latest deliveries. */
export async function healthOf(sql: Sql, accountId: number, latest: number, page: Page) {
  const from = sql`
    webhooks w cross join lateral (
      select count(*) as recent,
        count(*) filter (where d.status = 'delivered') as delivered,
        count(*) filter (where d.status = 'failed') as failed,
        count(*) filter (where d.status = 'pending') as pending,
        max(d.attempted_at) filter (where d.status = 'delivered') as last_delivered_at,
        max(d.attempted_at) filter (where d.error is not null) as last_failed_at
      from (
        select status, error, attempted_at from webhook_deliveries
        where account_id = w.account_id and webhook_id = w.id order by id desc limit ${latest}
      ) d
    ) h
    where w.account_id = ${accountId}`;
  return readPage<HealthRow>(sql, page, {
    columns: sql`w.id, h.recent, h.delivered, h.failed, h.pending, h.last_delivered_at, h.last_failed_at`,
    from,
    order: sql`w.id`,
    counted: sql`webhooks where account_id = ${accountId}`,
  });
}

export async function deliveryById(on: Queryable, accountId: number, webhookId: number, id: number) {
  const [row] = await on<(DeliveryRow & { body: string })[]>`
    select ${columns(on)}, body from webhook_deliveries
    where account_id = ${accountId} and webhook_id = ${webhookId} and id = ${id}`;
  return row;
}

/** The latest record that this webhook had to send. */
export async function latestBody(sql: Sql, accountId: number, webhookId: number, sourceType: string, kind: string) {
  const [row] = await sql<{ body: string }[]>`
    select body from webhook_deliveries
    where account_id = ${accountId} and webhook_id = ${webhookId}
      and source_type = ${sourceType} and kind = ${kind} and event_id is not null
    order by id desc limit 1`;
  return row?.body;
}

/** Undefined if the webhook is gone: nothing would ever delete the row. */
export async function insertSent(sql: Sql, sent: SentDelivery): Promise<DeliveryRow | undefined> {
  const [row] = await sql<DeliveryRow[]>`
    insert into webhook_deliveries (account_id, webhook_id, message_id, source_type, kind, body, status, attempts,
      response_status, response_body, error, duration_ms, attempted_at)
    select w.account_id, w.id, ${sent.messageId}, ${sent.sourceType}, ${sent.kind}, ${sent.body}, ${sent.status}, 1,
      ${sent.responseStatus}::integer, ${sent.responseBody}, ${sent.error}, ${sent.durationMs}::integer,
      ${sent.attemptedAt}::timestamptz
    from webhooks w where w.account_id = ${sent.accountId} and w.id = ${sent.webhookId} for key share
    returning ${columns(sql)}`;
  return row;
}

/** The ids of a time range, oldest first, and whether there are more. */
export async function deliveryIdsOf(
  tx: Tx,
  accountId: number,
  webhookId: number,
  { from, to, status, most }: DeliveryRange,
) {
  const rows = await tx<{ id: number }[]>`
    select id from webhook_deliveries
    where account_id = ${accountId} and webhook_id = ${webhookId} and status = ${status}
      and (status <> 'pending' or attempts > attempts_before) and created_at >= ${from} and created_at <= ${to}
    order by id limit ${most + 1}`;
  return { ids: rows.slice(0, most).map(({ id }) => id), more: rows.length > most };
}

/** Deletes what is older than so many days and not in the queue; gives back how many, at most `most`. */
export async function prune(sql: Sql, days: number, most: number): Promise<number> {
  const result = await sql`
    delete from webhook_deliveries where (account_id, id) in (
      select d.account_id, d.id from webhook_deliveries d
      where d.created_at < now() - make_interval(days => ${days})
        and not exists (select from webhook_queue q where q.delivery_id = d.id)
      order by d.created_at limit ${most} for update skip locked)`;
  return result.count;
}

/** Deletes deliveries of a webhook that is gone; gives back how many, at most `most`. */
export async function forget(sql: Sql, accountId: number, webhookId: number, most: number): Promise<number> {
  const result = await sql`
    delete from webhook_deliveries where account_id = ${accountId} and id in (
      select d.id from webhook_deliveries d
      where d.account_id = ${accountId} and d.webhook_id = ${webhookId}
        and not exists (select from webhooks w where w.account_id = d.account_id and w.id = d.webhook_id)
      order by d.id limit ${most} for update)`;
  return result.count;
}

/** A delivery as the API shows it. behaviour B.8; `message_id` is the `webhook-id` of its requests. */
export function toApi(row: DeliveryRow): Static<typeof Delivery> {
  return {
    id: row.id,
    message_id: row.messageId,
    source_type: row.sourceType,
    event: row.kind,
    status: row.status,
    attempts: row.attempts,
    response_status: row.responseStatus,
    response_body: row.responseBody,
    error: row.error,
    duration_ms: row.durationMs,
    attempted_at: row.attemptedAt,
    next_attempt_at: row.nextAttemptAt,
    created_at: row.createdAt,
  };
}
