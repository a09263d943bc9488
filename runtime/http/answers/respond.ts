/** The last step of every answer: the common headers, the request's id and 304. behaviour B.3. */
import { shownTo } from "../refusals/error-page.ts";
import { isKnownTag } from "./etag.ts";
import { jsonType, type Reply } from "./reply.ts";
import { withWarnings } from "../refusals/warning.ts";
import type { Log } from "../../system/log.ts";

const commonHeaders = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "SAMEORIGIN",
  "referrer-policy": "same-origin",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "private, no-cache",
  // Browser features that no page of this server needs. A site's pages belong to their author and may allow them.
  "permissions-policy":
    "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), serial=(), usb=()",
  "cross-origin-opener-policy": "same-origin",
};

export const corsHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "etag, x-total-count, x-next-cursor, x-request-id, retry-after, warning",
};

const jsonHeader = { "content-type": jsonType };

/** The headers that most answers share, made once: to copy them costs half of making them from texts. */
const madeHeaders = {
  own: { json: new Headers({ ...commonHeaders, ...jsonHeader }), other: new Headers(commonHeaders) },
  cors: {
    json: new Headers({ ...commonHeaders, ...corsHeaders, ...jsonHeader }),
    other: new Headers({ ...commonHeaders, ...corsHeaders }),
  },
};

/** `hints` go into the header `Warning`. */
export function finish(
  request: Request,
  reply: Reply | Response,
  requestId: string,
  cors = false,
  hints: readonly string[] = [],
): Response {
  if (reply instanceof Response) {
    const warning = withWarnings(undefined, hints);
    if (warning !== undefined) reply.headers.append("warning", warning);
    reply.headers.set("x-request-id", requestId);
    for (const [name, value] of Object.entries(commonHeaders)) {
      if (!reply.headers.has(name)) reply.headers.set(name, value);
    }
    if (cors) for (const [name, value] of Object.entries(corsHeaders)) reply.headers.set(name, value);
    return reply;
  }
  const shown = reply.status < 400 ? reply : shownTo(request, reply);
  const { etag } = reply.headers;
  const reads = request.method === "GET" || request.method === "HEAD";
  const isKnown = etag && reads && reply.status === 200 && isKnownTag(request.headers.get("if-none-match"), etag);
  const [body, status] = isKnown ? [null, 304] : [shown.body, shown.status];
  const isJson = shown.headers["content-type"] === jsonType;
  const made = madeHeaders[cors ? "cors" : "own"][isJson ? "json" : "other"];
  const response = new Response(body, { status, headers: made });
  const { headers } = response;
  for (const name in shown.headers) {
    const value = shown.headers[name];
    if (value !== undefined && !(isJson && name === "content-type")) headers.set(name, value);
  }
  headers.set("x-request-id", requestId);
  const warning = withWarnings(reply.headers["warning"], hints);
  if (warning !== undefined) headers.set("warning", warning);
  return response;
}

/** Made headers, by those of a reply: a page is kept as one reply, and to copy made headers takes a fifth of the time. */
const pageHeaders = new WeakMap<Reply["headers"], Headers>();

/** As `finish`, for a site's page, which may be given again. */
export function finishPage(request: Request, reply: Reply | Response, requestId: string): Response {
  if (reply instanceof Response || reply.status >= 400) return finish(request, reply, requestId);
  const headers = pageHeaders.get(reply.headers) ?? new Headers({ ...commonHeaders, ...reply.headers });
  pageHeaders.set(reply.headers, headers);
  const { etag } = reply.headers;
  const isKnown = etag && reply.status === 200 && isKnownTag(request.headers.get("if-none-match"), etag);
  // The response has a copy of them.
  const response = isKnown
    ? new Response(null, { status: 304, headers })
    : new Response(reply.body, { status: reply.status, headers });
  response.headers.set("x-request-id", requestId);
  return response;
}

const processPrefix = crypto.randomUUID().slice(0, 8);
let counter = 0;

/** The client's request id if it is a plain word, otherwise a new one. */
export function newRequestId(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given && /^[\w-]{8,64}$/.test(given) ? given : `${processPrefix}-${(++counter).toString(36)}`;
}

/** The line that the log gets for every request. */
export function logRequest(
  log: Log,
  { method }: Request,
  route: string,
  { requestId, status, ms }: { requestId: string; status: number; ms: number },
): void {
  // 502 is another server's failure, reported to the caller.
  const level = status < 500 || status === 502 ? "info" : status === 503 ? "warn" : "error";
  log[level]("request", { request_id: requestId, method, route, status, ms: Math.round(ms * 100) / 100 });
}
