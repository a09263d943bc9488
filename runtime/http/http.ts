/**
 * HTTP: mounts routes on Elysia and takes each request through identity, privilege, body, handler and answer.
 * behaviour B.1 and B.3.
 */
import { Elysia } from "elysia";
import type { Answers } from "../openapi/answers.ts";
import { arrivalOf, clientOf, pathOf, routed, type Peer } from "./arrival.ts";
import {
  credentialOf,
  fromSameOrigin,
  plainHost,
  RefusedCredential,
  type Caller,
  type Identify,
  type Identity,
} from "./auth.ts";
import { bodyLimit, readBody, takesBody } from "./body.ts";
import { withActor } from "../events/actor.ts";
import type { Notice } from "../events/notices.ts";
import { causationFromHeader, causationHeader, withCausation } from "../events/causation.ts";
import type { Networks } from "./client-address.ts";
import { isLocalHost, type HostDoor } from "./door.ts";
import { badRequest, forbidden, methodNotAllowed, notFound, unauthorized } from "../errors.ts";
import type { Idempotency } from "./idempotency/idempotency.ts";
import { currentScope } from "./idempotency/keyed.ts";
import { actorOf, noteRefusal, noteReply, type Asked } from "./noting.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { refusalOf } from "./refusals/refusal.ts";
import type { Reply } from "./answers/reply.ts";
import { refusedWithQuota, takeOf, withQuota, type QuotaHeaders } from "./limits/quota.ts";
import { createFinder, innerAnswer } from "./inside.ts";
import { logRequest } from "./request-log.ts";
import { corsHeaders, finish, newRequestId } from "./answers/respond.ts";
import type { RequestInput, Route } from "./route.ts";
import { createSiteAnswer } from "./answers/site-answer.ts";
import type { InnerAnswer } from "./subrequest.ts";
import { queryHints } from "./refusals/unknown.ts";
import { fromAnyOrigin, routeTable, type Endpoint } from "./route-table.ts";

interface Needed {
  readonly routes: readonly Route[];
  readonly identify: Identify;
  readonly idempotency: Idempotency;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Told what the log of activity names though no record changes. */
  readonly notice: (notice: Notice) => void;
  /** For `Strict-Transport-Security`; 0 or undefined omits the header. */
  readonly hstsSeconds?: number;
  /** BASE_URL, or "". */
  readonly baseUrl?: string;
  readonly maxBodyBytes: number;
  readonly trustedProxies: Networks;
  /** Once aborted, a connection ends with its answer: the next request goes to a process that stays. */
  readonly draining?: AbortSignal;
  /** The peer address of a request's connection. */
  readonly peer: (request: Request) => Peer;
  readonly door?: HostDoor | undefined;
}

export interface SystemRequest {
  readonly request: Request;
  readonly peer: string;
  readonly caller: () => Promise<Caller | null>;
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
export function createHttp(needed: Needed, systemRoutes: readonly SystemRoute[]): Fetch {
  const { door, routes, log } = needed;
  const missing = (request: Request) => finish(request, refusalOf(notFound(), log, ""), newRequestId(request));
  const app = mounted(needed, routes, systemRoutes, missing);
  const siteRoutes = routes.filter(({ spec }) => spec.onSites);
  const mount = (missingAtSite: Missing) => {
    const atSite = mounted(needed, siteRoutes, [], missingAtSite);
    return (request: Request) => atSite.fetch(request);
  };
  const answerAtSite = createSiteAnswer({ log, metrics: needed.metrics, mount });
  const isHttps = needed.baseUrl?.startsWith("https:") === true;
  return async (request) => {
    if (request.headers.get("host")?.includes(","))
      return finish(request, refusalOf(badRequest("send one Host header"), log, ""), newRequestId(request));
    const client = clientOf(needed, request);
    const site = door?.find(client.host);
    const response = await (site ? answerAtSite(request, client, site) : app.fetch(routed(request, { client })));
    if (needed.hstsSeconds && (isHttps || client.secure))
      response.headers.set("strict-transport-security", `max-age=${needed.hstsSeconds}`);
    if (needed.draining?.aborted) response.headers.set("connection", "close");
    return response;
  };
}

/** Answers requests that handlers make of this server itself. */
export function createInside(needed: Needed): (request: Request) => Promise<InnerAnswer> {
  const find = createFinder(needed.routes);
  const answer = createAnswer(needed, innerAnswer);
  return async (request) => {
    const found = find(request);
    if (found) return answer(found.endpoint, request, found.params);
    const requestId = newRequestId(request);
    return innerAnswer(request, refusalOf(notFound(), needed.log, requestId), requestId);
  };
}

const safeMethods = new Set(["GET", "HEAD"]);

function mounted(needed: Needed, routes: readonly Route[], systemRoutes: readonly SystemRoute[], missing: Missing) {
  const app = new Elysia({ name: "corestead" });
  const answer = createAnswer(needed, finish);

  const endpoints = routeTable(routes);
  for (const endpoint of endpoints) {
    for (const path of endpoint.paths) {
      app.route(endpoint.method, path, ({ request, params }) => answer(endpoint, request, params), { parse: "none" });
      if (endpoint.method === "GET")
        app.route("HEAD", path, ({ request, params }) => answer(endpoint, request, params), { parse: "none" });
    }
  }
  for (const [path, methods] of allowedMethods(endpoints)) {
    app.all(path, ({ request }) => answerOthers(request, methods), { parse: "none" });
  }
  for (const system of systemRoutes) {
    const others = { allowed: [...safeMethods], cors: false };
    for (const path of new Set([system.path, system.path.replace(/\.json$/, "")])) {
      for (const method of safeMethods)
        app.route(method, path, ({ request }) => answerSystem(needed, system, request), { parse: "none" });
      app.all(path, ({ request }) => answerOthers(request, others), { parse: "none" });
    }
  }
  app.onError(({ request }) => missing(request));
  // Otherwise the first request would wait for it.
  return app.compile();
}

/** `finished` gives the reply the form of an answer. */
function createAnswer<T extends { readonly status: number }>(
  needed: Needed,
  finished: (request: Request, reply: Reply | Response, id: string, cors?: boolean, hints?: string[]) => T | Promise<T>,
) {
  return async (endpoint: Endpoint, request: Request, rawParams: Record<string, string>): Promise<T> => {
    const started = performance.now();
    const requestId = newRequestId(request);
    const found = endpoint.pick(rawParams);
    const hints: string[] = [];
    let reply: Reply | Response;
    try {
      if (!found) throw notFound();
      reply = await handle(needed, found, request, requestId, hints);
    } catch (error) {
      reply = refusalOf(error, needed.log, requestId, found?.route.spec.errors);
    }
    const response = await finished(request, reply, requestId, found && fromAnyOrigin(found.route.spec), hints);
    const ms = performance.now() - started;
    needed.metrics.request(request.method, endpoint.name, response.status, ms / 1000);
    logRequest(needed.log, request, endpoint.name, { requestId, status: response.status, ms });
    return response;
  };
}

interface Found {
  readonly route: Route;
  readonly params: Record<string, string>;
}

async function handle(
  needed: Needed,
  { route, params }: Found,
  request: Request,
  requestId: string,
  hints: string[],
): Promise<Reply | Response> {
  const { client, site, inner } = arrivalOf(request);
  const same = { request, requestId, client, spec: route.spec };
  let identity: Identity;
  try {
    identity = await needed.identify(client.host, credentialOf(request.headers), site?.account, client);
  } catch (error) {
    if (error instanceof RefusedCredential) noteRefusal(needed.notice, { ...same, identity: error.identity }, error);
    throw error;
  }
  const asked = { ...same, identity };
  let quota: QuotaHeaders | undefined;
  try {
    quota = identity.quota && !inner?.isCounted ? await takeOf(identity.quota) : undefined;
    const reply = await admitted(needed, { route, params }, asked, hints);
    noteReply(needed.notice, asked, reply);
    return quota ? withQuota(reply, quota) : reply;
  } catch (error) {
    noteRefusal(needed.notice, asked, error);
    throw quota ? refusedWithQuota(error, quota) : error;
  }
}

async function admitted(
  needed: Needed,
  { route, params }: Found,
  asked: Asked,
  hints: string[],
): Promise<Reply | Response> {
  const { request, requestId, identity, client } = asked;
  const { host } = client;
  const { account, caller, app = null } = identity;
  const changes = !safeMethods.has(request.method) && !route.spec.reads?.(params);
  admit(route.spec, identity, !changes || fromSameOrigin(request.headers, host, account));
  if (changes && caller?.readOnly) throw forbidden("this token may only read (`read_only`)");
  refuseOtherPerson(request.headers, caller);
  const query = queryOf(request.url);
  if (query !== noQuery) hints.push(...queryHints(route.spec.query, query));
  const maxBytes = bodyLimit(route.spec, caller === null, needed.maxBodyBytes);
  const rawBody = takesBody(route.spec) ? await readBody(request, route.spec, maxBytes, hints) : undefined;
  const input: RequestInput = {
    request,
    requestId,
    account,
    caller,
    app,
    params,
    query,
    body: rawBody === undefined ? undefined : route.check(rawBody),
    host,
    // Few routes ask for it, and it is a call to the operating system.
    get ip() {
      return client.ip;
    },
    get secure() {
      return account.baseUrl.startsWith("https:") || client.secure;
    },
    atSite: arrivalOf(request).site !== undefined,
    log: needed.log,
    once: (principal, run, bodyHash) => {
      const whose = { accountId: account.id, principal };
      const content = { value: rawBody, hash: bodyHash, claim: route.spec.idempotency === "claim" };
      return once(needed.idempotency, request, content, whose, run);
    },
    settle: async (reply) => void (await currentScope()?.finish(reply)),
  };
  const keyed = route.method === "POST" && route.spec.idempotency !== "own" && route.spec.input !== "stream";
  // One of our webhooks says so in a header, so that loops over HTTP are found too.
  const cause = causationFromHeader(request.headers.get(causationHeader));
  const mayWrite = changes || "open" in route.spec.access;
  const actor = mayWrite ? () => actorOf(asked) : undefined;
  const runAs = () => (actor ? withActor(actor, () => route.run(input)) : route.run(input));
  const run = () => (cause ? withCausation(cause, runAs) : runAs());
  if (!keyed || !caller || !request.headers.has("idempotency-key")) return run();
  return input.once(`token:${caller.tokenId}`, async () => storable(await run()));
}

function once(
  idempotency: Idempotency,
  request: Request,
  body: { value: unknown; hash: (() => Promise<string>) | undefined; claim: boolean },
  whose: { accountId: number; principal: string },
  run: () => Promise<Reply>,
): Promise<Reply> {
  const key = request.headers.get("idempotency-key");
  if (!key) return run();
  if (key.length > 255) throw badRequest("Idempotency-Key may have at most 255 characters");
  const target = `${request.method} ${pathOf(request.url)}`;
  const { value, hash, claim } = body;
  const content = hash ? async () => `${target} ${await hash()}` : `${target} ${JSON.stringify(value)}`;
  return idempotency.once({ ...whose, key, content, claim }, run);
}

function storable(reply: Reply | Response): Reply {
  if (reply instanceof Response) throw new Error("a route that answers with a Response cannot keep an Idempotency-Key");
  return reply;
}

/** 401 without a valid credential, 403 without the privilege or from another origin. */
function admit({ access, apps }: Route["spec"], { caller, app }: Identity, takesCookie: boolean): void {
  if (app && apps === undefined) throw forbidden("an app's token opens only the app's own database and actions");
  if (!("open" in access) && !caller) throw unauthorized();
  if (caller?.viaCookie && !takesCookie)
    throw forbidden("a change with a session cookie must come from the same origin");
  if ("privilege" in access && !caller?.privileges.has(access.privilege))
    throw forbidden(`this needs the privilege \`${access.privilege}\``);
}

/**
 * A page names the person whom it was opened for. If somebody else has signed in in the same browser since, their cookie
 * must not do what the first one has typed.
 */
function refuseOtherPerson(headers: Headers, caller: Caller | null): void {
  const expected = caller?.viaCookie ? headers.get("x-signed-in-as") : null;
  if (expected !== null && expected !== String(caller?.user.id))
    throw unauthorized("somebody else is signed in in this browser");
}

/** OPTIONS lists the allowed methods; any other method is 405. */
function answerOthers(request: Request, methods: { allowed: string[]; cors: boolean }): Response {
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
  const headers = { allow, ...(methods.cors ? preflight : {}) };
  return finish(request, { status: 204, body: null, headers }, requestId);
}

async function answerSystem(needed: Needed, system: SystemRoute, request: Request): Promise<Response> {
  const requestId = newRequestId(request);
  const host = plainHost(request.headers.get("host") ?? "");
  const caller = async () => {
    const identity = await needed.identify(host, credentialOf(request.headers));
    return identity.app ? null : identity.caller;
  };
  const ownHost = async () =>
    isLocalHost(host) || host === new URL((await needed.identify(host, null)).account.baseUrl).host;
  try {
    const { peer } = arrivalOf(request).client;
    const asked = { request, peer, caller, ownHost, localHost: isLocalHost(host) };
    return finish(request, await system.run(asked), requestId);
  } catch (error) {
    return finish(request, refusalOf(error, needed.log, requestId), requestId);
  }
}

function allowedMethods(endpoints: readonly Endpoint[]): Map<string, { allowed: string[]; cors: boolean }> {
  const paths = new Map<string, { allowed: string[]; cors: boolean }>();
  for (const endpoint of endpoints) {
    for (const path of endpoint.paths) {
      const entry = paths.get(path) ?? { allowed: [], cors: false };
      entry.allowed.push(endpoint.method);
      entry.cors ||= endpoint.cors;
      paths.set(path, entry);
    }
  }
  return paths;
}

const noQuery = new URLSearchParams();

function queryOf(url: string): URLSearchParams {
  const at = url.indexOf("?");
  return at < 0 ? noQuery : new URLSearchParams(url.slice(at + 1));
}
