/** Deliveries that are sent again, and those that are cleared away in pieces. No HTTP, no SQL. */
import { invalid, notFound, type Sql, type Tx } from "platform";
import type { Webhooks } from "../context.ts";
import { promote } from "../sending/queue-store.ts";
import * as queueStore from "../sending/queue-store.ts";
import { urgedTopic, type WebhookRef } from "../signals.ts";
import type { WebhookRow } from "../subscriptions/fields.ts";
import { holdWebhook } from "../subscriptions/store.ts";
import { deliveryById, deliveryIdsOf, forget, prune, requeueDeliveries } from "./delivery-store.ts";
import type { DeliveryRange, DeliveryRow } from "./delivery-store.ts";

export const maxPerRange = 10_000;

type Queued = readonly { readonly orderKey: string | null }[];

/** Sends one again, with the same `webhook-id`. */
export async function redeliver(webhooks: Webhooks, row: WebhookRow, deliveryId: number): Promise<DeliveryRow> {
  const { accountId, id } = row;
  const { queued, after } = await webhooks.transaction(async (tx) => {
    if (!(await deliveryById(tx, accountId, id, deliveryId))) throw notFound();
    return {
      queued: await requeue(row, tx, [deliveryId]),
      after: await deliveryById(tx, accountId, id, deliveryId),
    };
  });
  if (!after) throw notFound();
  await send(webhooks, row, queued);
  return after;
}

/** Sends the deliveries of a time range again, oldest first; says whether there were more than fit into one call. */
export async function redeliverRange(
  webhooks: Webhooks,
  row: WebhookRow,
  range: Omit<DeliveryRange, "most">,
): Promise<{ count: number; more: boolean }> {
  const { queued, more } = await webhooks.transaction(async (tx) => {
    const found = await deliveryIdsOf(tx, row.accountId, row.id, { ...range, most: maxPerRange });
    return { queued: await requeue(row, tx, found.ids), more: found.more };
  });
  await send(webhooks, row, queued);
  return { count: queued.length, more };
}

async function requeue({ accountId, id }: WebhookRow, tx: Tx, ids: readonly number[]): Promise<Queued> {
  // Switching it off or deleting it clears its queue: nothing may be written after that.
  const held = await holdWebhook(tx, accountId, id);
  if (!held) throw notFound();
  mustBeActive(held);
  return ids.length === 0 ? [] : requeueDeliveries(tx, accountId, ids);
}

/** Wakes the senders of what was queued. */
function send({ committed, sql, broadcast }: Webhooks, row: WebhookRow, queued: Queued): Promise<void> {
  return committed(async () => {
    const keys = new Set(queued.flatMap(({ orderKey }) => orderKey ?? []));
    if (keys.size > 0)
      await promote(
        sql,
        [...keys].map((orderKey) => ({ webhookId: row.id, orderKey })),
      );
    if (queued.length > 0) broadcast.publish(urgedTopic, `${row.accountId}:${row.id}`);
  });
}

/** Throws the 422 of a webhook that is off. */
export function mustBeActive(row: WebhookRow): void {
  // behaviour 2.5: an inactive webhook sends nothing.
  if (!row.active) throw invalid({ base: ["the webhook is not active: switch it on first"] });
}

const piece = 2000;

/** Clears away all that one webhook leaves when it is off or gone. False while a sender or writer still holds a part. */
export async function clearWebhook(sql: Sql, webhook: WebhookRef, signal: AbortSignal): Promise<boolean> {
  await clearAll(sql, signal);
  await inPieces(() => forget(sql, webhook.accountId, webhook.webhookId, piece), signal);
  await queueStore.forgetRate(sql, webhook);
  return !(await queueStore.leftOf(sql, webhook));
}

/** Clears away everything that waits for webhooks that are off or gone. */
const clearAll = (sql: Sql, signal: AbortSignal) => inPieces(() => queueStore.clear(sql, piece), signal);

/** Clears what waits for nothing, and forgets deliveries older than so many days. */
export async function tidy(sql: Sql, days: number, signal: AbortSignal): Promise<void> {
  await clearAll(sql, signal);
  await inPieces(() => prune(sql, days, piece), signal);
}

async function inPieces(run: () => Promise<number>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) if ((await run()) < piece) return;
}
