import { badRequest, integerId, ok, route, type Route } from "platform";
import { Delivery, DeliveryPreview } from "../answers.ts";
import { bodyExample, deliveryExample, inactive } from "./delivery-routes.ts";
import { toApi } from "./delivery-store.ts";
import { findManaged, type Management } from "../subscriptions/manage.ts";
import type { Trials } from "./trial.ts";

const previewExample = {
  target_kind: "url",
  method: "POST",
  url: "https://example.com/hooks/orders",
  headers: { "webhook-id": deliveryExample.message_id, "webhook-timestamp": "1769853600", "x-core-event": "create" },
  body: bodyExample,
};

const access = { privilege: "webhooks" } as const;

interface Needed {
  readonly management: Management;
  readonly trials: Trials;
}

/** Trying a webhook before anything happens. behaviour B.8. */
export function trialRoutes({ management, trials }: Needed): Route[] {
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
        const row = await findManaged(management, caller, integerId(params.id));
        try {
          return ok(toApi(await trials.test(row, request.signal)));
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
        ok(await trials.preview(await findManaged(management, caller, integerId(params.id)))),
    ),
  ];
}
