/** Redelivery: puts deliveries back into the queue. No HTTP, no SQL. */
import { invalid, notFound, type BaseContext, type Tx } from "platform";
import type { DeliveryRange, DeliveryRow, DeliveryStore } from "./delivery-store.ts";
import type { QueueStore } from "../sending/queue-store.ts";
import { urgedTopic } from "../signals.ts";
import type { WebhookRow } from "../subscriptions/fields.ts";
import { holdWebhook } from "../subscriptions/store.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "committed" | "broadcast">;
  readonly deliveryStore: DeliveryStore;
  readonly queueStore: Pick<QueueStore, "promote">;
}

export type Redelivery = ReturnType<typeof createRedelivery>;

export const maxPerRange = 10_000;

type Queued = readonly { readonly orderKey: string | null }[];

export function createRedelivery({ ctx, deliveryStore, queueStore }: Needed) {
  const requeue = async ({ accountId, id }: WebhookRow, tx: Tx, ids: readonly number[]): Promise<Queued> => {
    // Switching it off or deleting it clears its queue: nothing may be written after that.
    const held = await holdWebhook(tx, accountId, id);
    if (!held) throw notFound();
    mustBeActive(held);
    return ids.length === 0 ? [] : deliveryStore.requeue(tx, accountId, ids);
  };
  /** Wakes the senders of what was queued. */
  const send = (row: WebhookRow, queued: Queued): Promise<void> =>
    ctx.committed(async () => {
      const keys = new Set(queued.flatMap(({ orderKey }) => orderKey ?? []));
      if (keys.size > 0) await queueStore.promote([...keys].map((orderKey) => ({ webhookId: row.id, orderKey })));
      if (queued.length > 0) ctx.broadcast.publish(urgedTopic, `${row.accountId}:${row.id}`);
    });

  return {
    /** Sends one again, with the same `webhook-id`. */
    async one(row: WebhookRow, deliveryId: number): Promise<DeliveryRow> {
      const { queued, after } = await ctx.transaction(async (tx) => {
        if (!(await deliveryStore.byId(row.accountId, row.id, deliveryId, tx))) throw notFound();
        return {
          queued: await requeue(row, tx, [deliveryId]),
          after: await deliveryStore.byId(row.accountId, row.id, deliveryId, tx),
        };
      });
      if (!after) throw notFound();
      await send(row, queued);
      return after;
    },

    /** Sends the deliveries of a time range again, oldest first; says whether there were more than fit into one call. */
    async range(row: WebhookRow, range: Omit<DeliveryRange, "most">): Promise<{ count: number; more: boolean }> {
      const { queued, more } = await ctx.transaction(async (tx) => {
        const found = await deliveryStore.idsOf(tx, row.accountId, row.id, { ...range, most: maxPerRange });
        return { queued: await requeue(row, tx, found.ids), more: found.more };
      });
      await send(row, queued);
      return { count: queued.length, more };
    },
  };
}

/** Throws the 422 of a webhook that is off. */
export function mustBeActive(row: WebhookRow): void {
  // behaviour 2.5: an inactive webhook sends nothing.
  if (!row.active) throw invalid({ base: ["the webhook is not active: switch it on first"] });
}
