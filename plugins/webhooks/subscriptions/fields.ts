/** The fields of a webhook. behaviour 2.5 and B.8. */
import { column, field, Type, type GivenOf, type PatchOf, type RowOf } from "platform";
import { sealContext, tokenInfo } from "./sign.ts";

const { choice, flag, id, integer, json, secret, text, time } = column;

export const maxUrlLength = 2000;
const modelsPath = "/account/webhooks/source_types.json";
const targetKinds = ["url", "connector", "flow"] as const;

export const fields = {
  source_type: text({
    body: field.from(
      Type.String({
        maxLength: 200,
        pattern: "^[A-Z][A-Za-z0-9]*(?:::[A-Z][A-Za-z0-9]*)+$",
        description: "of the form Module::Model",
      }),
      { path: modelsPath, value: "source_type" },
    ),
    example: "Core::Record",
  }),
  kind: text({
    body: field.from(
      Type.String({
        maxLength: 100,
        pattern: "^[A-Za-z][A-Za-z0-9_.-]*$",
        description: "create, update, destroy or an action of the model",
      }),
      { path: modelsPath, value: "kinds", where: ["source_type"] },
    ),
    example: "create",
  }),
  target_kind: choice(targetKinds, { body: field.nullable(field.oneOf(targetKinds)), blank: "url" }),
  url: text({
    body: field.when(field.line(maxUrlLength), { target_kind: ["", "url"] }),
    orNull: true,
    example: "https://example.com/hooks/orders",
  }),
  target_code: text({
    body: field.from(
      field.line(100),
      { path: "/connect/connectors.json", value: "code", when: { target_kind: "connector" } },
      { path: "/connect/flows.json", value: "code", when: { target_kind: "flow" } },
    ),
    orNull: true,
  }),
  api_token: secret({
    body: field.when(field.line(4000), { target_kind: ["", "url"] }),
    place: (webhookId) => sealContext(webhookId, "api_token"),
    info: tokenInfo,
    example: "abcdefghijklmnopqrstuvwxyz",
  }),
  active: flag({ body: field.flag(), blank: true }),
  /** Why the server has switched it off. */
  disabled_reason: text({ by: "check", orNull: true }),
  filter: json({ body: field.nullable(field.object()), orNull: true, example: { db_code: "orders" } }),
  ordered: flag({ body: field.flag(), blank: false }),
  rate_limit: integer({ body: field.nullable(Type.Integer({ minimum: 1, maximum: 10_000 })), orNull: true }),
  rate_period: choice(["second", "minute"], { blank: "second" }),
  concurrency: integer({ body: Type.Integer({ minimum: 1, maximum: 100 }), blank: 10 }),
  failing_since: time({ by: "check", orNull: true, quiet: true }),
  /** Sealed, the previous one as well. */
  signing_secret: text({ by: "check", hidden: true }),
  previous_secret: text({ by: "server", hidden: true, orNull: true, quiet: false }),
  previous_secret_until: time({ by: "server", hidden: true, orNull: true, quiet: false }),
  /** Whose rights count when it sends. Null = unknown: made before this was kept. */
  created_by_id: id({ by: "check", hidden: true, orNull: true }),
};

export type WebhookRow = RowOf<typeof fields, "integer">;
export type WebhookFields = PatchOf<typeof fields>;
export type WebhookInput = GivenOf<typeof fields>;
export type TargetKind = WebhookRow["targetKind"];
export type RatePeriod = WebhookRow["ratePeriod"];
