import {
  answer,
  badRequest,
  integerId,
  notFound,
  ok,
  pageOf,
  pageQuery,
  pageReply,
  parseExactly,
  route,
  uuidv7,
} from "platform";
import type { Route, Static } from "platform";
import { Delivery, DeliveryPreview, WebhookHealth } from "../answers.ts";
import type { Webhooks } from "../context.ts";
import { attempt, headersOf } from "../sending/attempt.ts";
import type { WebhookRow } from "../subscriptions/fields.ts";
import { findManaged } from "../subscriptions/manage.ts";
import { hookOf } from "../subscriptions/subscriptions.ts";
import { bodyExample, deliveryExample, inactive } from "./delivery-routes.ts";
import { healthOf, insertSent, latestBody, toApi, type DeliveryRow, type HealthRow } from "./delivery-store.ts";
import { mustBeActive } from "./redeliver.ts";

const previewExample = {
  target_kind: "url",
  method: "POST",
  url: "https://example.com/hooks/orders",
  headers: { "webhook-id": deliveryExample.message_id, "webhook-timestamp": "1769853600", "x-core-event": "create" },
  body: bodyExample,
};

/** So many deliveries of a webhook tell how it is. */
const latest = 100;

const healthExample = {
  id: 3,
  recent: 100,
  delivered: 97,
  failed: 2,
  pending: 1,
  last_delivered_at: "2026-01-31T10:00:00.000Z",
  last_failed_at: "2026-01-30T08:12:00.000Z",
};

const access = { privilege: "webhooks" } as const;

/** Trying a webhook before anything happens, and how webhooks are. behaviour B.8. */
export function trialRoutes(webhooks: Webhooks): Route[] {
  return [
    route(
      "POST",
      "/account/webhooks/:id/test",
      {
        summary: "Send the sample payload now",
        description: "Once, and answers with the delivery. Its requests carry `X-Core-Test: true`.",
        access,
        when: { active: ["true"] },
        idempotency: "claim",
        answers: { 200: Delivery },
        responses: { 200: deliveryExample, 422: inactive },
      },
      async ({ caller, params, request }) => {
        const row = await findManaged(webhooks, caller, integerId(params.id));
        try {
          return ok(toApi(await sendSample(webhooks, row, request.signal)));
        } catch (error) {
          if (request.signal.aborted) throw badRequest("the request was cut off");
          throw error;
        }
      },
    ),
    route(
      "GET",
      "/account/webhooks/:id/preview",
      {
        summary: "What a delivery would look like",
        description: "With the sample payload; of the receiver's credential only `api_token_info`.",
        access,
        answers: { 200: DeliveryPreview },
        responses: { 200: previewExample },
      },
      async ({ caller, params }) =>
        ok(await preview(webhooks, await findManaged(webhooks, caller, integerId(params.id)))),
    ),
    // In numbers only: so it needs no right to see what they send.
    route(
      "GET",
      "/account/webhooks/health",
      {
        summary: "How the account's webhooks are",
        description: `Of each webhook, what has become of its latest ${latest} deliveries. \`last_failed_at\` is of the last attempt that failed, also if it is tried again.`,
        access: { privilege: "webhooks" },
        query: pageQuery,
        answers: { 200: answer.list(WebhookHealth) },
        responses: { 200: [healthExample] },
      },
      async ({ account, query }) => {
        return pageReply(await healthOf(webhooks.sql, account.id, latest, pageOf(query)), healthToApi);
      },
    ),
  ];
}

function healthToApi({ lastDeliveredAt, lastFailedAt, ...counts }: HealthRow): Static<typeof WebhookHealth> {
  return { ...counts, last_delivered_at: lastDeliveredAt, last_failed_at: lastFailedAt };
}

/** Sends the sample now, once; the webhook's health does not change. */
export async function sendSample(webhooks: Webhooks, row: WebhookRow, signal: AbortSignal): Promise<DeliveryRow> {
  mustBeActive(row);
  const hook = await hookOf(webhooks.subscriptions, row.accountId, row.id);
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
  const hook = await hookOf(webhooks.subscriptions, row.accountId, row.id);
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
