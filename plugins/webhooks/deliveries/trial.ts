/** Sending the sample to try a webhook, and showing what would be sent. No HTTP, no SQL. */
import { notFound, parseExactly, uuidv7 } from "platform";
import type { Webhooks } from "../context.ts";
import { attempt, headersOf } from "../sending/attempt.ts";
import type { WebhookRow } from "../subscriptions/fields.ts";
import { insertSent, latestBody, type DeliveryRow } from "./delivery-store.ts";
import { mustBeActive } from "./redeliver.ts";

/** Sends the sample now, once; the webhook's health does not change. */
export async function sendSample(webhooks: Webhooks, row: WebhookRow, signal: AbortSignal): Promise<DeliveryRow> {
  mustBeActive(row);
  const hook = await webhooks.subscriptions.get(row.accountId, row.id);
  if (!hook) throw notFound();
  const parcel = await parcelOf(webhooks, row);
  const outcome = await attempt(webhooks, hook, parcel, signal);
  const sent = await insertSent(webhooks.sql, {
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
}

/** What a delivery would look like; the receiver's credential is left out. */
export async function preview(webhooks: Webhooks, row: WebhookRow) {
  const parcel = await parcelOf(webhooks, row);
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
  const hook = await webhooks.subscriptions.get(row.accountId, row.id);
  const keys = hook?.keys ?? [];
  const apiToken = row.apiTokenInfo;
  const headers = await headersOf({ row, keys, apiToken, fault: null }, { ...parcel, test: false });
  return { target_kind: row.targetKind, method: "POST", url: row.url, headers, body: data };
}

async function parcelOf(webhooks: Webhooks, row: WebhookRow) {
  return {
    messageId: `msg_${uuidv7().replaceAll("-", "")}`,
    sourceType: row.sourceType,
    kind: row.kind,
    body: await sampleOf(webhooks, row),
    causation: null,
    test: true,
  };
}

/** The model's sample. For a model that no plugin registers: the latest record, otherwise a bare id. */
async function sampleOf({ sql, models }: Webhooks, { accountId, id, sourceType, kind }: WebhookRow): Promise<string> {
  const model = models.get(sourceType);
  if (model) return JSON.stringify(model.sample);
  return (await latestBody(sql, accountId, id, sourceType, kind)) ?? JSON.stringify({ id: 1 });
}
