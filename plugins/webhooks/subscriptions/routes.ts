import {
  answer,
  created,
  etag,
  expectedVersion,
  field,
  flagOf,
  integerId,
  list,
  pageReply,
  noContent,
  ok,
  pageOf,
  pageQuery,
  route,
  secret,
  Type,
  warned,
} from "platform";
import type { Mention, Names, Route } from "platform";
import { SourceType, Webhook, WebhookWithSecret } from "../answers.ts";
import type { Management } from "./manage.ts";
import type { Rights } from "./rights.ts";
import { toApi, type WebhookFilter, type WebhookRow, type WebhookStore } from "./store.ts";
import { kindsOf, maxUrlLength } from "./webhook.ts";

const modelsPath = "/account/webhooks/source_types.json";

const WebhookInput = Type.Object({
  source_type: field.from(
    Type.String({
      maxLength: 200,
      pattern: "^[A-Z][A-Za-z0-9]*(?:::[A-Z][A-Za-z0-9]*)+$",
      description: "of the form Module::Model",
    }),
    { path: modelsPath, value: "source_type" },
  ),
  kind: field.from(
    Type.String({
      maxLength: 100,
      pattern: "^[A-Za-z][A-Za-z0-9_.-]*$",
      description: "create, update, destroy or an action of the model",
    }),
    { path: modelsPath, value: "kinds", where: ["source_type"] },
  ),
  target_kind: Type.Optional(field.nullable(field.oneOf(["url", "connector", "flow"]))),
  url: Type.Optional(field.when(field.line(maxUrlLength), { target_kind: ["", "url"] })),
  target_code: Type.Optional(
    field.from(
      field.line(100),
      { path: "/connect/connectors.json", value: "code", when: { target_kind: "connector" } },
      { path: "/connect/flows.json", value: "code", when: { target_kind: "flow" } },
    ),
  ),
  api_token: Type.Optional(field.when(field.line(4000), { target_kind: ["", "url"] })),
  active: Type.Optional(field.flag()),
  filter: Type.Optional(field.nullable(field.object())),
  ordered: Type.Optional(field.flag()),
  rate_limit: Type.Optional(field.nullable(Type.Integer({ minimum: 1, maximum: 10_000 }))),
  rate_period: Type.Optional(field.oneOf(["second", "minute"])),
  concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
});

export const webhookExample = {
  id: 3,
  source_type: "Core::Record",
  kind: "create",
  target_kind: "url",
  url: "https://example.com/hooks/orders",
  target_code: null,
  api_token_info: "abcd...wxyz",
  active: true,
  disabled_reason: null,
  filter: { db_code: "orders" },
  ordered: false,
  rate_limit: null,
  rate_period: "second",
  concurrency: 10,
  failing_since: null,
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};
const { source_type, kind, url, filter } = webhookExample;
const access = { privilege: "webhooks" } as const;
// Made up for the example: a real one has 44 characters after the prefix.
const secretExample = { ...webhookExample, signing_secret: "whsec_…" };

interface Needed {
  readonly names: Names;
  readonly webhookStore: WebhookStore;
  readonly management: Management;
  readonly rights: Pick<Rights, "followed">;
}

/** behaviour 4.5 and B.8; what is sent is in delivery-routes.ts. */
export const webhookRoutes = (needed: Needed): Route[] => [...readingRoutes(needed), ...changingRoutes(needed)];

function readingRoutes({ webhookStore, management, rights }: Needed): Route[] {
  return [
    route(
      "GET",
      "/account/webhooks",
      {
        summary: "List the account's webhooks",
        access,
        query: {
          source_type: "exact",
          kind: "exact",
          target_kind: "exact",
          active: Type.Boolean({ description: "true or false" }),
          ...pageQuery,
        },
        answers: { 200: answer.list(Webhook) },
        responses: { 200: [webhookExample] },
      },
      async ({ account, query }) => {
        return pageReply(await webhookStore.list(account.id, filterOf(query), pageOf(query)), toApi);
      },
    ),
    route(
      "GET",
      "/account/webhooks/source_types",
      {
        summary: "List the models whose events webhooks can follow",
        description:
          "With their kinds, a sample payload and the `privilege` that following them needs (null: the role `admin`); " +
          "models that you may not follow are left out. Any other well-formed `Module::Model` is accepted too.",
        access,
        query: pageQuery,
        answers: { 200: answer.list(SourceType) },
        responses: {
          200: [
            {
              source_type,
              privilege: "dbs",
              kinds: ["create", "update", "destroy"],
              sample: { id: "0198c5d2-…", db_code: "orders" },
            },
          ],
        },
      },
      ({ caller, query }) => {
        const { limit, offset } = pageOf(query);
        const models = rights.followed(caller);
        const shown = models.slice(offset, offset + limit).map((model) => ({
          source_type: model.name,
          privilege: model.privilege ?? null,
          kinds: kindsOf(model),
          sample: model.sample,
        }));
        return list(shown, models.length);
      },
    ),
    route(
      "GET",
      "/account/webhooks/:id",
      { summary: "One webhook", access, answers: { 200: Webhook }, responses: { 200: webhookExample, 304: null } },
      async ({ account, params }) => ok(...tagged(await management.find(account.id, integerId(params.id)))),
    ),
  ];
}

function changingRoutes({ names, management }: Pick<Needed, "names" | "management">): Route[] {
  const hints = (row: WebhookRow) => names.unknown(row.accountId, mentionsOf(row));
  return [
    route(
      "POST",
      "/account/webhooks",
      {
        summary: "Make a webhook",
        description:
          "The answer shows `signing_secret`, once. `filter`: exact values that the record must have. `ordered`: the " +
          "deliveries of one record are sent one after another. `rate_limit`: at most so many requests in a " +
          "`rate_period`. Following a model needs its `privilege`, for you now and for the webhook's maker whenever it " +
          "sends; a connector or flow as the target needs `flows`.",
        access,
        body: { key: "webhook", schema: field.needs(WebhookInput, [["url"], ["target_code"]]) },
        request: { source_type, kind, url, filter, api_token: "a token of the receiver" },
        answers: { 201: WebhookWithSecret },
        responses: { 201: secretExample, 422: { url: ["is already taken"] } },
      },
      async ({ caller, body }) => {
        const made = await management.create(caller, body);
        const reply = secret(created({ ...toApi(made.row), signing_secret: made.secret }));
        return warned(reply, [...(await hints(made.row)), ...management.hints(made.row, body)]);
      },
    ),
    route(
      "PATCH",
      "/account/webhooks/:id",
      {
        summary: "Change a webhook",
        description:
          "Switching it on again clears `disabled_reason`. Switching it off cancels what still waits. If `url` changes " +
          "to another origin, `api_token` must be given again.",
        access,
        ifMatch: true,
        body: { key: "webhook", schema: Type.Partial(WebhookInput) },
        request: { active: false },
        answers: { 200: Webhook },
        responses: { 200: { ...webhookExample, active: false } },
      },
      async ({ request, caller, params, body }) => {
        const id = integerId(params.id);
        const row = await management.update(caller, id, body, expectedVersion(request, id));
        return warned(ok(...tagged(row)), [...(await hints(row)), ...management.hints(row, body)]);
      },
    ),
    route(
      "DELETE",
      "/account/webhooks/:id",
      { summary: "Delete a webhook with its deliveries", access, ifMatch: true, responses: { 204: null } },
      async ({ request, account, params }) => {
        const id = integerId(params.id);
        await management.remove(account.id, id, expectedVersion(request, id));
        return noContent();
      },
    ),
    route(
      "POST",
      "/account/webhooks/:id/rotate_secret",
      {
        summary: "Make a new signing secret",
        description:
          "The answer shows it, once. For 24 hours deliveries carry a signature of the previous one as well.",
        access,
        answers: { 200: WebhookWithSecret },
        responses: { 200: secretExample },
      },
      async ({ caller, params }) => {
        const rotated = await management.rotate(caller, integerId(params.id));
        return secret(ok({ ...toApi(rotated.row), signing_secret: rotated.secret }));
      },
    ),
  ];
}

/** `failing_since` changes without a new version: the server notes it while it delivers. */
function tagged(row: WebhookRow): Parameters<typeof ok> {
  const webhook = toApi(row);
  return [webhook, { etag: etag(row.id, row.version, webhook) }];
}

function mentionsOf({ sourceType, targetKind, targetCode, ...row }: WebhookRow): Mention[] {
  const code = sourceType === "Core::Record" ? row.filter?.["db_code"] : undefined;
  const model = { url: undefined, flow: "Core::Flow", connector: "Core::Connector" }[targetKind];
  return [
    ...(code === undefined
      ? []
      : [{ place: "filter.db_code", model: "Core::Db", key: typeof code === "string" ? code : JSON.stringify(code) }]),
    ...(model === undefined || targetCode === null ? [] : [{ place: "target_code", model, key: targetCode }]),
  ];
}

function filterOf(query: URLSearchParams): WebhookFilter {
  return {
    sourceType: query.get("source_type") || undefined,
    kind: query.get("kind") || undefined,
    targetKind: query.get("target_kind") || undefined,
    active: flagOf(query, "active"),
  };
}
