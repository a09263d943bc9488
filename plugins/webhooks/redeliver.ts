/** Sending again, and sending to try. No HTTP, no SQL. */
import { invalid, notFound, uuidv7, type BaseContext, type Model, type Tx } from "platform";
import { headersOf, type Attempt } from "./attempt.ts";
import type { DeliveryRange, DeliveryRow, DeliveryStore } from "./delivery-store.ts";
import { urgedTopic } from "./fan-out.ts";
import type { QueueStore } from "./queue-store.ts";
import type { WebhookRow, WebhookStore } from "./store.ts";
import type { Hook, Subscriptions } from "./subscriptions.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "committed" | "broadcast">;
  readonly webhookStore: Pick<WebhookStore, "hold">;
  readonly deliveryStore: DeliveryStore;
  readonly queueStore: Pick<QueueStore, "promote">;
  readonly subscriptions: Subscriptions;
  readonly attempt: Attempt;
  readonly models: ReadonlyMap<string, Model>;
}

export type Redelivery = ReturnType<typeof createRedelivery>;

export const maxPerRange = 10_000;

type Queued = readonly { readonly orderKey: string | null }[];

export function createRedelivery(needed: Needed) {
  const { ctx, webhookStore, deliveryStore, queueStore, subscriptions, attempt, models } = needed;

  const requeue = async ({ accountId, id }: WebhookRow, tx: Tx, ids: readonly number[]): Promise<Queued> => {
    // What it has in the queue is cleared away when it is switched off or deleted: nothing may come after that.
    const held = await webhookStore.hold(tx, accountId, id);
    if (!held) throw notFound();
    mustBeActive(held);
    return ids.length === 0 ? [] : deliveryStore.requeue(tx, accountId, ids);
  };
  /** Has those that were queued sent. */
  const send = (row: WebhookRow, queued: Queued): Promise<void> =>
    ctx.committed(async () => {
      const keys = new Set(queued.flatMap(({ orderKey }) => orderKey ?? []));
      if (keys.size > 0) await queueStore.promote([...keys].map((orderKey) => ({ webhookId: row.id, orderKey })));
      if (queued.length > 0) ctx.broadcast.publish(urgedTopic, `${row.accountId}:${row.id}`);
    });
  const hookOf = async (row: WebhookRow): Promise<Hook> => {
    mustBeActive(row);
    const hook = await subscriptions.get(row.accountId, row.id);
    if (!hook) throw notFound();
    return hook;
  };
  /** The model's sample; of a model that nobody registers the latest record, else next to nothing. */
  const sampleOf = async ({ accountId, id, sourceType, kind }: WebhookRow): Promise<string> => {
    const model = models.get(sourceType);
    if (model) return JSON.stringify(model.sample);
    return (await deliveryStore.latestBody(accountId, id, sourceType, kind)) ?? JSON.stringify({ id: 1 });
  };
  const parcelOf = async (row: WebhookRow) => ({
    messageId: `msg_${uuidv7().replaceAll("-", "")}`,
    sourceType: row.sourceType,
    kind: row.kind,
    body: await sampleOf(row),
    causation: null,
    test: true,
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

    /** Sends those of a time range again, the oldest first; whether there were more than fit into one call. */
    async range(row: WebhookRow, range: Omit<DeliveryRange, "most">): Promise<{ count: number; more: boolean }> {
      const { queued, more } = await ctx.transaction(async (tx) => {
        const found = await deliveryStore.idsOf(tx, row.accountId, row.id, { ...range, most: maxPerRange });
        return { queued: await requeue(row, tx, found.ids), more: found.more };
      });
      await send(row, queued);
      return { count: queued.length, more };
    },

    /** Sends the sample now, once; it changes nothing of the webhook's health. */
    async test(row: WebhookRow, signal: AbortSignal): Promise<DeliveryRow> {
      const hook = await hookOf(row);
      const parcel = await parcelOf(row);
      const outcome = await attempt(hook, parcel, signal);
      const sent = await deliveryStore.insertSent({
        ...parcel,
        accountId: row.accountId,
        webhookId: row.id,
        status: outcome.ok ? "delivered" : "failed",
        responseStatus: outcome.status,
        responseBody: outcome.body,
        error: outcome.error,
        durationMs: Math.round(outcome.durationMs),
        attemptedAt: outcome.attemptedAt,
      });
      if (!sent) throw notFound();
      return sent;
    },

    /** What a delivery would look like; the receiver's credential is left out. */
    async preview(row: WebhookRow) {
      const parcel = await parcelOf(row);
      const data: unknown = JSON.parse(parcel.body);
      if (row.targetKind !== "url") {
        const event = { source_type: row.sourceType, kind: row.kind, data };
        const input = { kind: "webhook", source_type: row.sourceType, event: row.kind, data };
        return {
          target_kind: row.targetKind,
          target_code: row.targetCode,
          ...(row.targetKind === "flow" ? { input } : { event }),
        };
      }
      const hook = await subscriptions.get(row.accountId, row.id);
      const keys = hook?.keys ?? [];
      const apiToken = row.apiTokenInfo;
      const headers = await headersOf({ row, keys, apiToken, fault: null }, { ...parcel, test: false });
      return { target_kind: row.targetKind, method: "POST", url: row.url, headers, body: data };
    },
  };
}

function mustBeActive(row: WebhookRow): void {
  // behaviour 2.5: an inactive webhook sends nothing.
  if (!row.active) throw invalid({ base: ["the webhook is not active: switch it on first"] });
}
