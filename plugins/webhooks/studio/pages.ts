import type { StudioPage } from "studio";
import { logPath } from "./log.ts";

const load = () => import("./Webhook.svelte");
const privilege = "webhooks";

export const pages: StudioPage[] = [
  {
    path: "account/webhooks",
    title: { en: "Webhooks", pl: "Webhooki", de: "Webhooks" },
    privilege,
    load: () => import("./Webhooks.svelte"),
  },
  {
    path: "account/webhooks/new",
    title: { en: "New webhook", pl: "Nowy webhook", de: "Neuer Webhook" },
    privilege,
    load,
  },
  {
    path: "account/webhooks/:id",
    title: { en: "Webhook", pl: "Webhook", de: "Webhook" },
    privilege,
    load,
  },
  {
    path: "account/webhooks/:id/deliveries",
    title: { en: "Deliveries", pl: "Doręczenia", de: "Zustellungen" },
    privilege,
    view: "deliveries/index",
    first: ({ id = "" }, query) => [logPath(id, query.get("status") ?? "")],
    load: () => import("./Deliveries.svelte"),
  },
  {
    path: "account/webhooks/:id/deliveries/:delivery_id",
    title: { en: "Delivery", pl: "Doręczenie", de: "Zustellung" },
    privilege,
    view: "deliveries/show",
    load: () => import("./Delivery.svelte"),
  },
];
