/** Sending the sample to try a webhook, and showing what would be sent. No HTTP, no SQL. */
import { notFound, parseExactly, uuidv7, type Model } from "platform";
import { headersOf, type Attempt } from "../sending/attempt.ts";
import type { DeliveryRow, DeliveryStore } from "./delivery-store.ts";
import { mustBeActive } from "./redeliver.ts";
import type { WebhookRow } from "../subscriptions/fields.ts";
import type { Hook, Subscriptions } from "../subscriptions/subscriptions.ts";

interface Needed {
  readonly deliveryStore: Pick<DeliveryStore, "latestBody" | "insertSent">;
  readonly subscriptions: Pick<Subscriptions, "get">;
  readonly attempt: Attempt;
  readonly models: ReadonlyMap<string, Model>;
}

export type Trials = ReturnType<typeof createTrials>;

export function createTrials({ deliveryStore, subscriptions, attempt, models }: Needed) {
  const hookOf = async (row: WebhookRow): Promise<Hook> => {
    mustBeActive(row);
    const hook = await subscriptions.get(row.accountId, row.id);
    if (!hook) throw notFound();
    return hook;
  };
  /** The model's sample. For a model that no plugin registers: the latest record, otherwise a bare id. */
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
    /** Sends the sample now, once; the webhook's health does not change. */
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
      const data = parseExactly(parcel.body);
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
