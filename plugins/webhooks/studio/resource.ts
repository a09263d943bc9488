import { session, type Resource } from "studio";

/** Webhooks, or their deliveries, as the API describes them. */
export function resourceAt(path: "/account/webhooks" | "/account/webhooks/{id}/deliveries"): Resource {
  const found = session.resources.find((one) => one.path === path);
  if (!found) throw new Error(`the API describes no ${path}`);
  return found;
}
