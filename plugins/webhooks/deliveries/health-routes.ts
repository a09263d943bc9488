import { answer, pageReply, pageOf, pageQuery, route, type Route, type Static } from "platform";
import { WebhookHealth } from "../answers.ts";
import type { DeliveryStore, HealthRow } from "./delivery-store.ts";

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

/** How webhooks are, in numbers only: so it needs no right to see what they send. behaviour B.8. */
export function healthRoutes({ deliveryStore }: { readonly deliveryStore: Pick<DeliveryStore, "health"> }): Route[] {
  return [
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
        return pageReply(await deliveryStore.health(account.id, latest, pageOf(query)), toApi);
      },
    ),
  ];
}

function toApi({ lastDeliveredAt, lastFailedAt, ...counts }: HealthRow): Static<typeof WebhookHealth> {
  return { ...counts, last_delivered_at: lastDeliveredAt, last_failed_at: lastFailedAt };
}
