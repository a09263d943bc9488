/** Answers requests to the hosts of sites. */
import { arrivalOf, routed, type Client } from "../arrival.ts";
import type { SiteDoor } from "../door.ts";
import { notFound } from "../../base/errors.ts";
import type { HttpContext } from "../context.ts";
import type { Log } from "../../system/log.ts";
import { refusalOf } from "../refusals/refusal.ts";
import type { Reply } from "./reply.ts";
import { logRequest, finish, finishPage, newRequestId } from "./respond.ts";

/** A site's pages come first, then `routes`, those that are also served on sites' hosts. */
export async function answerAtSite(
  { log, metrics }: Pick<HttpContext, "log" | "metrics">,
  routes: { readonly fetch: (request: Request) => Response | Promise<Response> },
  request: Request,
  client: Client,
  site: SiteDoor,
): Promise<Response> {
  const started = performance.now();
  const requestId = newRequestId(request);
  let reply: Reply | Response | null;
  try {
    reply = request.method === "GET" || request.method === "HEAD" ? await site.page({ request, requestId, log }) : null;
  } catch (error) {
    reply = refusalOf(error, log, requestId);
  }
  if (!reply) return routes.fetch(routed(request, { client, site }));
  const response = finishPage(request, reply, requestId);
  const ms = performance.now() - started;
  metrics.request(request.method, "site page", response.status, ms / 1000);
  logRequest(log, request, "site page", { requestId, status: response.status, ms });
  return response;
}

/** The site's own "not found", if none of those routes matches either. */
export async function missingAtSite(log: Log, request: Request): Promise<Response> {
  const { site } = arrivalOf(request);
  const requestId = newRequestId(request);
  try {
    if (!site) throw notFound();
    return finish(request, await site.missing({ request, requestId, log }), requestId);
  } catch (error) {
    return finish(request, refusalOf(error, log, requestId), requestId);
  }
}
