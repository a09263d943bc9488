/** HTTP: mounts routes on Elysia, and gives what handles them (handle.ts) the form of an answer. behaviour B.1 and B.3. */
import { Elysia } from "elysia";
import type { Answers } from "./answers/answers.ts";
import { arrivalOf, clientOf, pathOf, routed } from "./arrival.ts";
import { credentialOf, plainHost, type Caller } from "./auth.ts";
import { isLocalHost } from "./door.ts";
import { badRequest, methodNotAllowed, notFound } from "../base/errors.ts";
import { databaseFault } from "../db/db.ts";
import type { HttpContext } from "./context.ts";
import { handle, safeMethods, type RouteMatch } from "./handle.ts";
import { refusalOf } from "./refusals/refusal.ts";
import type { Reply } from "./answers/reply.ts";
import { logRequest, corsHeaders, finish, newRequestId } from "./answers/respond.ts";
import type { Route, Method } from "./route.ts";
import { answerAtSite, missingAtSite } from "./answers/site-answer.ts";
import type { InnerAnswer } from "./subrequest.ts";
import { fromAnyOrigin, routeTable, together, type Endpoint } from "./route-table.ts";
import { withWarnings } from "./refusals/warning.ts";
import { Memoirist } from "memoirist";

export interface SystemRequest {
  readonly request: Request;
  readonly peer: string;
  readonly caller: () => Promise<Caller | null>;
  /** Whether an administrator of the first account asks, whose the installation is: others are its tenants. */
  readonly isOperator: () => Promise<boolean>;
  /** Whether the Host is a name of this machine or an IP address. */
  readonly localHost: boolean;
  /** Whether the Host belongs to an account, or is just this machine. */
  readonly ownHost: () => Promise<boolean>;
}

/** Answers before the caller is identified: health, metrics, documentation. */
export interface SystemRoute {
  readonly path: string;
  readonly summary: string;
  /** As in a route: a schema and an example by status. */
  readonly answers?: Answers;
  readonly responses: Readonly<Record<number, unknown>>;
  readonly run: (input: SystemRequest) => Promise<Reply | Response> | Reply;
}

/** Answers a request that no route matches. */
type Missing = (request: Request) => Response | Promise<Response>;

export type Fetch = (request: Request) => Promise<Response>;

/** The server's `fetch`. Throws at once if two routes have the same method and path. */
export function mountHttp(ctx: HttpContext, systemRoutes: readonly SystemRoute[]): Fetch {
  const { door, routes, log } = ctx;
  const missing = (request: Request) => finish(request, refusalOf(notFound(), log, ""), newRequestId(request));
  const app = mounted(ctx, routes, systemRoutes, missing);
  const siteRoutes = routes.filter(({ spec }) => spec.onSites);
  const atSite = mounted(ctx, siteRoutes, [], (request) => missingAtSite(log, request));
  const isHttps = ctx.baseUrl?.startsWith("https:") === true;
  return async (request) => {
    if (request.headers.get("host")?.includes(","))
      return finish(request, refusalOf(badRequest("send one Host header"), log, ""), newRequestId(request));
    const client = clientOf(ctx, request);
    const site = door?.find(client.host);
    const response = await (site
      ? answerAtSite(ctx, atSite, request, client, site)
      : app.fetch(routed(request, { client })));
    if (ctx.hstsSeconds && (isHttps || client.secure))
      response.headers.set("strict-transport-security", `max-age=${ctx.hstsSeconds}`);
    if (ctx.draining?.aborted) response.headers.set("connection", "close");
    return response;
  };
}

/** Answers a request that a handler makes of this server itself. */
export async function answerInside(ctx: HttpContext, router: Router, request: Request): Promise<InnerAnswer> {
  const found = findEndpoint(router, request.method, request.url);
  if (found) return answerEndpoint(ctx, innerAnswer, found.endpoint, request, found.params);
  const requestId = newRequestId(request);
  return innerAnswer(request, refusalOf(notFound(), ctx.log, requestId), requestId);
}

function mounted(ctx: HttpContext, routes: readonly Route[], systemRoutes: readonly SystemRoute[], missing: Missing) {
  const app = new Elysia({ name: "corestead" });
  const endpoints = routeTable(routes);
  for (const endpoint of endpoints) {
    for (const path of endpoint.paths) {
      const mount: Mounted = ({ request, params }) => answerEndpoint(ctx, finish, endpoint, request, params);
      app.route(endpoint.method, path, mount, { parse: "none" });
      // Otherwise Elysia would answer HEAD, and read all of what GET answers to tell its length.
      if (endpoint.method === "GET" && isPlain(path)) app.route("HEAD", path, mount, { parse: "none" });
    }
  }
  const ofSystem = new Map(
    systemRoutes.flatMap((one) => [one.path, one.path.replace(/\.json$/, "")].map((path) => [path, one])),
  );
  for (const [path, system] of ofSystem) {
    for (const method of safeMethods)
      app.route(method, path, ({ request }) => answerSystem(ctx, system, request), { parse: "none" });
  }
  // An entry of the router for every method of every address would be two more of each three.
  const router = routerOf(endpoints);
  app.onError(({ request }) => {
    const url = withoutLastSlash(request.url);
    const got = request.method === "HEAD" ? findEndpoint(router, "GET", url) : undefined;
    if (got) return answerEndpoint(ctx, finish, got.endpoint, request, got.params);
    const others = othersAt(router, url) ?? (ofSystem.has(pathOf(url)) ? systemMethods : undefined);
    const isOther = others && !others.allowed.some((method) => method === request.method);
    return isOther ? answerOthers(request, others) : missing(request);
  });
  // Otherwise the first request would wait for it.
  return app.compile();
}

type Mounted = (context: {
  readonly request: Request;
  readonly params: Record<string, string>;
}) => Response | Promise<Response>;

const systemMethods = { allowed: ["GET", "HEAD"], cors: false, always: {} } as const;

/** Whether Elysia finds it in its table of whole addresses, or by its beginning. */
function isPlain(path: string): boolean {
  return !path.includes(":") || path.endsWith("/*");
}

/** The router takes it for the same address. */
function withoutLastSlash(url: string): string {
  const [address = ""] = url.split("?", 1);
  return address.endsWith("/") && pathOf(address) !== "/" ? address.slice(0, -1) : address;
}

/** `finished` gives the reply the form of an answer. */
async function answerEndpoint<T extends { readonly status: number }>(
  ctx: HttpContext,
  finished: (request: Request, reply: Reply | Response, id: string, cors?: boolean, hints?: string[]) => T | Promise<T>,
  endpoint: Endpoint,
  request: Request,
  rawParams: Record<string, string>,
): Promise<T> {
  const started = performance.now();
  const requestId = newRequestId(request);
  const match = endpoint.pick(rawParams);
  const hints: string[] = [];
  let reply: Reply | Response;
  try {
    if (!match) throw notFound();
    reply = await handle(ctx, match, request, requestId, hints);
  } catch (error) {
    const own = isHungUp(error, request)
      ? badRequest("the client hung up")
      : isNowhere(error, match)
        ? notFound()
        : error;
    const refusal = refusalOf(own, ctx.log, requestId, match?.route.spec.errors);
    reply = { ...refusal, headers: { ...endpoint.always, ...refusal.headers } };
  }
  const response = await finished(request, reply, requestId, match && fromAnyOrigin(match.route.spec), hints);
  const ms = performance.now() - started;
  ctx.metrics.request(request.method, endpoint.name, response.status, ms / 1000);
  logRequest(ctx.log, request, endpoint.name, { requestId, status: response.status, ms });
  return response;
}

/** No text of a database has a NUL, so nothing has such a name. */
function isNowhere(error: unknown, match: RouteMatch | undefined): boolean {
  return (
    databaseFault(error) === "bad-input" && Object.values(match?.params ?? {}).some((value) => value.includes("\0"))
  );
}

/** Nobody is left to be answered, and the server has not failed: what it did for the client has ended with the client. */
function isHungUp(error: unknown, { signal }: Request): boolean {
  return error instanceof Error && error.name === "AbortError" && signal.aborted;
}

/** OPTIONS lists the allowed methods; any other method is 405. */
function answerOthers(request: Request, methods: Alternatives | typeof systemMethods): Response {
  const requestId = newRequestId(request);
  if (request.method !== "OPTIONS")
    return finish(request, refusalOf(methodNotAllowed(methods.allowed), undefined, requestId), requestId, methods.cors);
  const allow = methods.allowed.join(", ");
  const preflight = {
    ...corsHeaders,
    "access-control-allow-methods": allow,
    "access-control-allow-headers": "authorization, content-type, idempotency-key, if-match",
    "access-control-max-age": "86400",
  };
  const headers = { allow, ...methods.always, ...(methods.cors ? preflight : {}) };
  return finish(request, { status: 204, body: null, headers }, requestId);
}

async function answerSystem(ctx: HttpContext, system: SystemRoute, request: Request): Promise<Response> {
  const requestId = newRequestId(request);
  const host = plainHost(request.headers.get("host") ?? "");
  const caller = async () => {
    const identity = await ctx.identify(host, credentialOf(request.headers));
    return identity.app ? null : identity.caller;
  };
  const isOperator = async () => {
    const asking = await caller();
    if (asking?.user.role !== "admin") return false;
    return (await ctx.identify("", null)).account.id === asking.account.id;
  };
  const ownHost = async () =>
    isLocalHost(host) || host === new URL((await ctx.identify(host, null)).account.baseUrl).host;
  try {
    const { peer } = arrivalOf(request).client;
    const asked = { request, peer, caller, isOperator, ownHost, localHost: isLocalHost(host) };
    return finish(request, await system.run(asked), requestId);
  } catch (error) {
    return finish(request, refusalOf(error, ctx.log, requestId), requestId);
  }
}

// Requests of a handler to this server itself: the answer without what only the network needs.

/** As `finish` does it for the network. */
export async function innerAnswer(
  _request: Request,
  reply: Reply | Response,
  _requestId: string,
  _cors = false,
  hints: readonly string[] = [],
): Promise<InnerAnswer> {
  if (reply instanceof Response)
    return { status: reply.status, headers: Object.fromEntries(reply.headers), body: await reply.text() };
  const { status, body, headers } = reply;
  const warning = withWarnings(headers["warning"], hints);
  return { status, body: body ?? "", headers: warning === undefined ? headers : { ...headers, warning } };
}

// Finds endpoints by address: for requests of handlers to this server itself, and for methods that a router does not know.

interface FoundEndpoint {
  readonly endpoint: Endpoint;
  readonly params: Record<string, string>;
}

export interface Alternatives {
  readonly allowed: readonly Method[];
  readonly cors: boolean;
  readonly always: Readonly<Record<string, string>>;
}

export interface Router {
  readonly byMethod: Memoirist<Endpoint>;
  readonly byAddress: Memoirist<readonly Endpoint[]>;
}

/** As Elysia's own, so that both find the same; it is built at the first question, after the start. */
export function routerOf(endpoints: readonly Endpoint[]): Router {
  const byMethod = new Memoirist<Endpoint>({ onParam: decodeURIComponent, lazy: true });
  const byAddress = new Memoirist<readonly Endpoint[]>({ lazy: true });
  const pairs = endpoints.flatMap((endpoint) => endpoint.paths.map((path) => ({ path, endpoint })));
  for (const { path, endpoint } of pairs) byMethod.add(endpoint.method, path, endpoint);
  for (const [path, all] of Map.groupBy(pairs, (pair) => pair.path))
    byAddress.add(
      "",
      path,
      all.map(({ endpoint }) => endpoint),
    );
  return { byMethod, byAddress };
}

export function findEndpoint({ byMethod }: Router, method: string, url: string): FoundEndpoint | undefined {
  try {
    const found = byMethod.find(method, addressOf(url));
    return found ? { endpoint: found.store, params: found.params } : undefined;
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** Other methods that this address supports. */
function othersAt({ byAddress }: Router, url: string): Alternatives | undefined {
  const own = byAddress.find("", addressOf(url))?.store;
  return (
    own && {
      allowed: own.map(({ method }) => method),
      cors: own.some(({ cors }) => cors),
      always: together(own.map(({ always }) => always)),
    }
  );
}

function addressOf(url: string): string {
  return pathOf(url).split("?", 1)[0] ?? "";
}
