/** The answers of the webhook routes beside the usual five. */
import { answer, field, Type } from "platform";
import { Webhook } from "./subscriptions/webhook.ts";

/** The only answer that shows a signing secret: the secret is new. */
export const WebhookWithSecret = answer.object("WebhookWithSecret", {
  ...Webhook.answers.one.properties,
  signing_secret: Type.String(),
});

export const SourceType = answer.object("SourceType", {
  source_type: Type.String(),
  privilege: field.nullable(Type.String()),
  kinds: answer.list(Type.String()),
  sample: answer.json(),
});

const delivery = {
  id: Type.Integer(),
  message_id: Type.String(),
  source_type: Type.String(),
  event: Type.String(),
  status: field.oneOf(["pending", "delivered", "failed"]),
  attempts: Type.Integer(),
  response_status: field.nullable(Type.Integer()),
  response_body: field.nullable(Type.String()),
  error: field.nullable(Type.String()),
  duration_ms: field.nullable(Type.Integer()),
  attempted_at: field.nullable(answer.time()),
  next_attempt_at: field.nullable(answer.time()),
  created_at: answer.time(),
};

export const Delivery = answer.object("Delivery", delivery);
export const DeliveryWithBody = answer.object("DeliveryWithBody", { ...delivery, body: Type.Unknown() });
export const Redelivered = answer.object("Redelivered", { redelivered: Type.Integer(), more: Type.Boolean() });

export const WebhookHealth = answer.object("WebhookHealth", {
  id: Type.Integer(),
  recent: Type.Integer(),
  delivered: Type.Integer(),
  failed: Type.Integer(),
  pending: Type.Integer(),
  last_delivered_at: field.nullable(answer.time()),
  last_failed_at: field.nullable(answer.time()),
});

/** The target decides what is sent: a request, a connector's event or a flow's input. */
export const DeliveryPreview = answer.object("DeliveryPreview", {
  target_kind: field.oneOf(["url", "connector", "flow"]),
  target_code: Type.Optional(field.nullable(Type.String())),
  event: Type.Optional(answer.json()),
  input: Type.Optional(answer.json()),
  method: Type.Optional(Type.Literal("POST")),
  url: Type.Optional(field.nullable(Type.String())),
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  body: Type.Optional(Type.Unknown()),
});
