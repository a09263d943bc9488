import {
  answer,
  field,
  flagOf,
  integerId,
  invalid,
  isDateTime,
  list,
  notFound,
  ok,
  pageOf,
  pageQuery,
  parseExactly,
  route,
  Type,
  type Route,
} from "platform";
import { Delivery, DeliveryWithBody, Redelivered } from "../answers.ts";
import type { Webhooks } from "../context.ts";
import { findManaged } from "../subscriptions/manage.ts";
import { mustSee } from "../subscriptions/rights.ts";
import { deliveryById, listDeliveries, toApi } from "./delivery-store.ts";
import { maxPerRange, redeliver, redeliverRange } from "./redeliver.ts";

const RangeInput = Type.Object({
  from: field.name(64),
  to: Type.Optional(field.line(64)),
  status: Type.Optional(field.oneOf(["failed", "delivered", "pending"])),
});

export const deliveryExample = {
  id: 811,
  message_id: "msg_0198c5d27a1b7c3d8e4f5a6b7c8d9e0f",
  source_type: "Core::Record",
  event: "create",
  status: "delivered",
  attempts: 1,
  response_status: 200,
  response_body: "ok",
  error: null,
  duration_ms: 12,
  attempted_at: "2026-01-31T10:00:00.020Z",
  next_attempt_at: null,
  created_at: "2026-01-31T10:00:00.000Z",
};
export const bodyExample = { id: "0198c5d2-…", db_code: "orders" };
const pendingExample = { ...deliveryExample, status: "pending", next_attempt_at: "2026-01-31T11:00:00.000Z" };
export const inactive = { base: ["the webhook is not active: switch it on first"] };
const access = { privilege: "webhooks" } as const;
const maxId = 999_999_999_999_999;
const maxWithin = 100_000;

/** The log of deliveries, and sending them again. behaviour B.8. */
export function deliveryRoutes(webhooks: Webhooks): Route[] {
  return [
    route(
      "GET",
      "/account/webhooks/:id/deliveries",
      {
        summary: "List a webhook's deliveries, the newest first",
        access,
        query: {
          status: field.oneOf(["pending", "delivered", "failed"]),
          before: Type.Integer({ minimum: 1, description: "only older ones than the delivery with this id" }),
          within: Type.Integer({
            minimum: 1,
            maximum: maxWithin,
            description: "only among so many of the newest: `X-Next-Cursor` is the `before` that goes on",
          }),
          count: Type.Boolean({ description: "false: without `X-Total-Count`, which takes long in a long log" }),
          ...pageQuery,
        },
        answers: { 200: answer.list(Delivery) },
        responses: { 200: [deliveryExample] },
      },
      async ({ account, caller, params, query }) => {
        const { id } = await findManaged(webhooks, caller, integerId(params.id));
        const wanted = {
          status: query.get("status") || undefined,
          before: wholeOf(query, "before", maxId),
          within: wholeOf(query, "within", maxWithin),
          counts: flagOf(query, "count"),
        };
        const { rows, total, cursor } = await listDeliveries(webhooks, account.id, id, wanted, pageOf(query));
        const headers = cursor === undefined ? {} : { "x-next-cursor": `${cursor}` };
        return total === undefined ? ok(rows.map(toApi), headers) : list(rows.map(toApi), total, headers);
      },
    ),
    route(
      "GET",
      "/account/webhooks/:id/deliveries/:delivery_id",
      {
        summary: "One delivery, with what was sent",
        access,
        answers: { 200: DeliveryWithBody },
        responses: { 200: { ...deliveryExample, body: bodyExample } },
      },
      async ({ account, caller, params }) => {
        const { id } = await findManaged(webhooks, caller, integerId(params.id));
        const row = await deliveryById(webhooks.sql, account.id, id, integerId(params.delivery_id));
        if (!row) throw notFound();
        const body = parseExactly(row.body) as Record<string, unknown>; // what an event tells is an object
        await mustSee(webhooks.rights, caller, row.sourceType, body);
        return ok({ ...toApi(row), body });
      },
    ),
    route(
      "POST",
      "/account/webhooks/:id/deliveries/:delivery_id/redeliver",
      {
        summary: "Send a delivery again",
        description: "Soon, with the same `webhook-id`. If it fails, it is tried again like a new delivery.",
        access,
        answers: { 200: Delivery },
        responses: { 200: pendingExample, 422: inactive },
      },
      async ({ caller, params }) => {
        const row = await findManaged(webhooks, caller, integerId(params.id));
        return ok(toApi(await redeliver(webhooks, row, integerId(params.delivery_id))));
      },
    ),
    route(
      "POST",
      "/account/webhooks/:id/redeliver",
      {
        summary: "Send the deliveries of a time range again",
        description: `Chosen by the time they were made. \`status\` defaults to failed, \`to\` to now; \`pending\`: those that wait for another attempt. At most ${maxPerRange} at a time: while \`more\` is true, call again.`,
        access,
        when: { active: ["true"] },
        body: { schema: RangeInput },
        request: { from: "2026-01-31T10:00:00Z", to: "2026-01-31T12:00:00Z", status: "failed" },
        answers: { 200: Redelivered },
        responses: { 200: { redelivered: 17, more: false } },
      },
      async ({ caller, params, body }) => {
        const row = await findManaged(webhooks, caller, integerId(params.id));
        const from = timeOf("from", body.from);
        const to = body.to ? timeOf("to", body.to) : new Date();
        if (from > to) throw invalid({ to: ["must not be before from"] });
        const { count, more } = await redeliverRange(webhooks, row, { from, to, status: body.status ?? "failed" });
        return ok({ redelivered: count, more });
      },
    ),
  ];
}

/** Undefined if it is missing. */
function wholeOf(query: URLSearchParams, name: string, most: number): number | undefined {
  const given = query.get(name);
  if (!given) return undefined;
  if (!/^[1-9]\d{0,14}$/.test(given) || Number(given) > most)
    throw invalid({ [name]: [`must be a whole number from 1 to ${most}`] });
  return Number(given);
}

function timeOf(name: string, text: string): Date {
  if (!isDateTime(text)) throw invalid({ [name]: ["must be a time with offset, e.g. 2026-01-31T10:00:00Z"] });
  return new Date(
    text
      .toUpperCase()
      .replace(" ", "T")
      .replace(/([+-]\d{2})(\d{2})$/, "$1:$2"),
  );
}
