import {
  answer,
  create,
  created,
  field,
  integerId,
  list,
  ok,
  pageOf,
  pageQuery,
  resourceRoutes,
  route,
  secret,
  toApi,
  warned,
  type Route,
} from "platform";
import { SourceType, WebhookWithSecret } from "../answers.ts";
import type { WebhookRow } from "./fields.ts";
import { changeWebhook, rotate, secretOf, type Management } from "./manage.ts";
import { followed } from "./rights.ts";
import { kindsOf, Webhook, webhookHints } from "./webhook.ts";

const access = { privilege: "webhooks" } as const;
// Made up for the example: a real one has 44 characters after the prefix.
const secretExample = { ...Webhook.examples.one, signing_secret: "whsec_…" };

/** behaviour 4.5 and B.8; what is sent is in delivery-routes.ts. */
export function webhookRoutes(around: Management): Route[] {
  const usual = resourceRoutes(Webhook, around, { change: changeWebhook });
  return [usual.list, sourceTypeRoute(around), usual.get, ...secretRoutes(around), usual.change, usual.delete];
}

function sourceTypeRoute({ rights }: Management): Route {
  return route(
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
            source_type: Webhook.fields.source_type.example,
            privilege: "dbs",
            kinds: ["create", "update", "destroy"],
            sample: { id: "0198c5d2-…", db_code: "orders" },
          },
        ],
      },
    },
    ({ caller, query }) => {
      const { limit, offset } = pageOf(query);
      const models = followed(rights, caller);
      const shown = models.slice(offset, offset + limit).map((model) => ({
        source_type: model.name,
        privilege: model.privilege ?? null,
        kinds: kindsOf(model),
        sample: model.sample,
      }));
      return list(shown, models.length);
    },
  );
}

/** The two that answer with a new signing secret. */
function secretRoutes(around: Management): Route[] {
  const withSecret = (row: WebhookRow) => ({ ...toApi(Webhook, row), signing_secret: secretOf(around, row) });
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
        body: { key: "webhook", schema: field.needs(Webhook.bodies.create, [["url"], ["target_code"]]) },
        request: { ...Webhook.examples.request, api_token: "a token of the receiver" },
        answers: { 201: WebhookWithSecret },
        responses: { 201: secretExample, 422: { url: ["is already taken"] } },
      },
      async ({ caller, body }) => {
        const row = await create(Webhook, { ...around, caller }, body);
        return warned(secret(created(withSecret(row))), await webhookHints(around, row));
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
      async ({ caller, params }) => secret(ok(withSecret(await rotate(around, caller, integerId(params.id))))),
    ),
  ];
}
