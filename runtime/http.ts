/**
 * HTTP: mounts routes on Elysia, and takes each request through identity, privilege, body, handler and answer.
 * CONTRACT 1 and 3.
 */
import { Elysia } from "elysia";
import { credentialOf, fromSameOrigin, type Caller, type Identify, type Identity } from "./auth.ts";
import { readBody } from "./body.ts";
import { causationFromHeader, causationHeader, withCausation } from "./causation.ts";
import { clientAddress, inNetworks, type Networks } from "./client-address.ts";
import { badRequest, forbidden, methodNotAllowed, notFound, unauthorized } from "./errors.ts";
import type { Idempotency } from "./idempotency.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { refusalOf } from "./refusal.ts";
import type { Reply } from "./reply.ts";
import type { Access, RequestInput, Route } from "./route.ts";
import { routeTable, type Endpoint } from "./route-table.ts";

export interface HttpOptions {
  readonly routes: readonly Route[];
  readonly identify: Identify;
  readonly idempotency: Idempotency;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly maxBodyBytes: number;
  readonly trustedProxies: Networks;
  /** The address of the peer of a request's connection. */
  readonly peer: (request: Request) => string;
}

export interface SystemRequest {
  readonly request: Request;
  readonly peer: string;
  readonly caller: () => Promise<Caller | null>;
}

/** Answers before anyone is identified: health, metrics, documentation. */
export interface SystemRoute {
  readonly path: string;
  readonly summary: string;
  readonly run: (input: SystemRequest) => Promise<Reply> | Reply;
}

const commonHeaders = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "SAMEORIGIN",
  "referrer-policy": "same-origin",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "private, no-cache",
};

const corsHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "x-total-count, x-next-cursor, x-request-id, retry-after",
};

export type Fetch = (request: Request) => Promise<Response>;

/** The server's one `fetch`. Throws at once where two routes have the same method and path. */
export function createHttp(options: HttpOptions, systemRoutes: readonly SystemRoute[]): Fetch {
  const app = new Elysia({ name: "corestead" });
  const answer = createAnswer(options);

  for (const endpoint of routeTable(options.routes)) {
    for (const path of endpoint.paths) {
      app.route(endpoint.method, path, ({ request, params }) => answer(endpoint, request, params), { parse: "none" });
      if (endpoint.method === "GET")
        app.route("HEAD", path, ({ request, params }) => answer(endpoint, request, params), { parse: "none" });
    }
  }
  for (const [path, methods] of allowedMethods(options.routes)) {
    app.all(path, ({ request }) => answerOthers(request, methods), { parse: "none" });
  }
  for (const system of systemRoutes) {
    app.get(system.path, ({ request }) => answerSystem(options, system, request), { parse: "none" });
  }
  app.onError(({ request }) => finish(request, refusalOf(notFound(), options.log, ""), newRequestId(request)));
  return async (request) => app.fetch(withLongHost(request));
}

/** Elysia looks for the path behind the first eleven characters of the address: `http://x/` is shorter. */
function withLongHost(request: Request): Request {
  return request.url.indexOf("/", 8) >= 11 ? request : new Request(`http://short.host${pathOf(request.url)}`, request);
}

function createAnswer(options: HttpOptions) {
  return async (endpoint: Endpoint, request: Request, rawParams: Record<string, string>): Promise<Response> => {
    const started = performance.now();
    const requestId = newRequestId(request);
    const found = endpoint.pick(rawParams);
    let reply: Reply | Response;
    try {
      if (!found) throw notFound();
      reply = await handle(options, found.route, found.params, request, requestId);
    } catch (error) {
      reply = refusalOf(error, options.log, requestId, found?.route.spec.errors);
    }
    const response = finish(request, reply, requestId, found?.route.spec.cors);
    const ms = performance.now() - started;
    options.metrics.request(request.method, endpoint.name, response.status, ms / 1000);
    const level = response.status < 500 ? "info" : response.status === 503 ? "warn" : "error";
    options.log[level]("request", {
      request_id: requestId,
      method: request.method,
      route: endpoint.name,
      status: response.status,
      ms: Math.round(ms * 100) / 100,
    });
    return response;
  };
}

async function handle(
  options: HttpOptions,
  route: Route,
  params: Record<string, string>,
  request: Request,
  requestId: string,
): Promise<Reply | Response> {
  const client = clientOf(options, request);
  const { account, caller } = await options.identify(client.host, credentialOf(request.headers));
  admit(route.spec.access, { account, caller }, request, client.host);
  const rawBody = await readBody(request, route.spec, options.maxBodyBytes);
  const input: RequestInput = {
    request,
    requestId,
    account,
    caller,
    params,
    query: queryOf(request.url),
    body: rawBody === undefined ? undefined : route.check(rawBody),
    host: client.host,
    ip: client.ip,
    secure: client.secure || account.baseUrl.startsWith("https:"),
    log: options.log,
    once: (principal, run) => once(options.idempotency, request, rawBody, { accountId: account.id, principal }, run),
  };
  const keyed = route.method === "POST" && route.spec.idempotency !== "own" && route.spec.input !== "stream";
  // A webhook of ours that led here says so: a loop over HTTP is one too.
  const cause = causationFromHeader(request.headers.get(causationHeader));
  const run = () => (cause ? withCausation(cause, () => route.run(input)) : route.run(input));
  if (!keyed || !caller || !request.headers.has("idempotency-key")) return run();
  return input.once(`token:${caller.tokenId}`, async () => storable(await run()));
}

/** Where the request comes from; what a proxy says of it counts only from a trusted one. */
function clientOf({ peer: peerOf, trustedProxies }: HttpOptions, request: Request) {
  const { headers } = request;
  const peer = peerOf(request);
  const proxied = inNetworks(peer, trustedProxies);
  const host = (proxied && headers.get("x-forwarded-host")) || headers.get("host") || "";
  return {
    host: host.toLowerCase(),
    ip: clientAddress(peer, headers.get("x-forwarded-for"), trustedProxies),
    secure: proxied && headers.get("x-forwarded-proto") === "https",
  };
}

function once(
  idempotency: Idempotency,
  request: Request,
  body: unknown,
  whose: { accountId: number; principal: string },
  run: () => Promise<Reply>,
): Promise<Reply> {
  const key = request.headers.get("idempotency-key");
  if (!key) return run();
  if (key.length > 255) throw badRequest("Idempotency-Key may have at most 255 characters");
  const content = `${request.method} ${pathOf(request.url)} ${JSON.stringify(body)}`;
  return idempotency.once({ ...whose, key, content }, run);
}

function storable(reply: Reply | Response): Reply {
  if (reply instanceof Response) throw new Error("a route that answers with a Response cannot keep an Idempotency-Key");
  return reply;
}

const safeMethods = new Set(["GET", "HEAD"]);

/** 401 without a working credential, 403 without the privilege or from another origin. */
function admit(access: Access, { account, caller }: Identity, { method, headers }: Request, host: string): void {
  if (!("open" in access) && !caller) throw unauthorized();
  if (caller?.viaCookie && !safeMethods.has(method) && !fromSameOrigin(headers, host, account))
    throw forbidden("a change with a session cookie must come from the same origin");
  if ("privilege" in access && !caller?.privileges.has(access.privilege))
    throw forbidden(`this needs the privilege \`${access.privilege}\``);
}

function finish(request: Request, reply: Reply | Response, requestId: string, cors = false): Response {
  if (reply instanceof Response) {
    reply.headers.set("x-request-id", requestId);
    for (const [name, value] of Object.entries(commonHeaders)) {
      if (!reply.headers.has(name)) reply.headers.set(name, value);
    }
    if (cors) for (const [name, value] of Object.entries(corsHeaders)) reply.headers.set(name, value);
    return reply;
  }
  const headers = { ...commonHeaders, ...(cors ? corsHeaders : {}), ...reply.headers, "x-request-id": requestId };
  const { etag } = reply.headers;
  if (etag && reply.status === 200 && request.headers.get("if-none-match") === etag)
    return new Response(null, { status: 304, headers });
  return new Response(reply.body, { status: reply.status, headers });
}

/** OPTIONS says what is allowed; another method is 405. */
function answerOthers(request: Request, methods: { allowed: string[]; cors: boolean }): Response {
  const requestId = newRequestId(request);
  if (request.method !== "OPTIONS")
    return finish(request, refusalOf(methodNotAllowed(methods.allowed), undefined, requestId), requestId, methods.cors);
  const allow = methods.allowed.join(", ");
  const preflight = {
    ...corsHeaders,
    "access-control-allow-methods": allow,
    "access-control-allow-headers": "content-type, idempotency-key",
    "access-control-max-age": "86400",
  };
  const headers = { allow, ...(methods.cors ? preflight : {}) };
  return finish(request, { status: 204, body: null, headers }, requestId);
}

async function answerSystem(options: HttpOptions, system: SystemRoute, request: Request): Promise<Response> {
  const requestId = newRequestId(request);
  const host = (request.headers.get("host") ?? "").toLowerCase();
  const caller = async () => (await options.identify(host, credentialOf(request.headers))).caller;
  try {
    return finish(request, await system.run({ request, peer: options.peer(request), caller }), requestId);
  } catch (error) {
    return finish(request, refusalOf(error, options.log, requestId), requestId);
  }
}

function allowedMethods(routes: readonly Route[]): Map<string, { allowed: string[]; cors: boolean }> {
  const paths = new Map<string, { allowed: string[]; cors: boolean }>();
  for (const endpoint of routeTable(routes)) {
    for (const path of endpoint.paths) {
      const entry = paths.get(path) ?? { allowed: [], cors: false };
      entry.allowed.push(endpoint.method);
      entry.cors ||= endpoint.cors;
      paths.set(path, entry);
    }
  }
  return paths;
}

const processPrefix = crypto.randomUUID().slice(0, 8);
let counter = 0;

/** The client's own request id where it is a plain word, else a new one. */
function newRequestId(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given && /^[\w-]{8,64}$/.test(given) ? given : `${processPrefix}-${(++counter).toString(36)}`;
}

const noQuery = new URLSearchParams();

function queryOf(url: string): URLSearchParams {
  const at = url.indexOf("?");
  return at < 0 ? noQuery : new URLSearchParams(url.slice(at + 1));
}

function pathOf(url: string): string {
  return url.slice(url.indexOf("/", 8));
}
