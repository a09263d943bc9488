import { page, type StudioPage } from "studio/page";
import { logPath } from "./log.ts";

const load = () => import("./Webhook.svelte");
const privilege = "webhooks";

export const pages: StudioPage[] = [
  page("account/webhooks", ["Webhooks", "Webhooki", "Webhooks"], () => import("./Webhooks.svelte"), { privilege }),
  page("account/webhooks/new", ["New webhook", "Nowy webhook", "Neuer Webhook"], load, { privilege }),
  page("account/webhooks/:id", ["Webhook", "Webhook", "Webhook"], load, { privilege }),
  page(
    "account/webhooks/:id/deliveries",
    ["Deliveries", "Doręczenia", "Zustellungen"],
    () => import("./Deliveries.svelte"),
    { privilege, view: "deliveries/index", first: ({ id = "" }, query) => [logPath(id, query.get("status") ?? "")] },
  ),
  page(
    "account/webhooks/:id/deliveries/:delivery_id",
    ["Delivery", "Doręczenie", "Zustellung"],
    () => import("./Delivery.svelte"),
    { privilege, view: "deliveries/show" },
  ),
];
