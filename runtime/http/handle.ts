/** Takes a request through identity, quota, privilege, body and handler. behaviour B.1 and B.3. */
import { arrivalOf, pathOf, type Client } from "./arrival.ts";
import { credentialOf, fromSameOrigin, RefusedCredential, type Caller, type Identity } from "./auth.ts";
import type { HttpContext } from "./context.ts";
import { bodyLimit, readBody, refuseEncoded, takesBody } from "./body.ts";
import { logged, withActor, type Actor } from "../scope/actor.ts";
import type { Notice } from "../events/models.ts";
import { causationHeader, readSealed, withCausation } from "../scope/causation.ts";
import { badRequest, forbidden, unauthorized, HttpError } from "../base/errors.ts";
import type { Idempotency } from "./idempotency/idempotency.ts";
import { currentScope } from "../scope/keyed.ts";
import type { Reply } from "./answers/reply.ts";
import { refusedWithQuota, takeOf, withQuota, type QuotaHeaders } from "./limits/quota.ts";
import type { RequestInput, Route } from "./route.ts";
import { addressOf } from "./door.ts";
import { queryHints, refuseUnlisted } from "./refusals/unknown.ts";
import { isObject } from "../base/values.ts";

export const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD"]);

export interface RouteMatch {
  readonly route: Route;
  readonly params: Record<string, string>;
}

/** The reply of a route, or what it throws: identity, quota, privilege, body and Idempotency-Key. */
export async function handle(
  ctx: HttpContext,
  { route, params }: RouteMatch,
  request: Request,
  requestId: string,
  hints: string[],
): Promise<Reply | Response> {
  const { client, site, inner } = arrivalOf(request);
  const same = { request, requestId, client, spec: route.spec };
  let identity: Identity;
  try {
    identity = await ctx.identify(client.host, credentialOf(request.headers), site?.account, client);
  } catch (error) {
    if (error instanceof RefusedCredential) noteRefusal(ctx.notice, { ...same, identity: error.identity }, error);
    throw error;
  }
  const identified = { ...same, identity };
  let quota: QuotaHeaders | undefined;
  try {
    quota = identity.quota && !inner?.isCounted ? await takeOf(identity.quota) : undefined;
    const reply = await admitted(ctx, { route, params }, identified, hints);
    noteReply(ctx.notice, identified, reply);
    return quota ? withQuota(reply, quota) : reply;
  } catch (error) {
    noteRefusal(ctx.notice, identified, error);
    if (route.spec.challenge && error instanceof HttpError && error.status === 401)
      error.headers["www-authenticate"] = route.spec.challenge(addressOf(identity.account, client.host));
    throw quota ? refusedWithQuota(error, quota) : error;
  }
}

async function admitted(
  ctx: HttpContext,
  { route, params }: RouteMatch,
  identified: IdentifiedRequest,
  hints: string[],
): Promise<Reply | Response> {
  const { request, requestId, identity, client } = identified;
  const { host } = client;
  const { account, caller, app = null } = identity;
  const changes = !safeMethods.has(request.method) && !route.spec.reads?.(params);
  admit(route.spec, identity, !changes || fromSameOrigin(request.headers, host, account));
  if (changes && caller?.readOnly) throw forbidden("this token may only read (`read_only`)");
  refuseOtherPerson(request.headers, caller);
  refuseEncoded(request, route.spec);
  const query = queryOf(request.url);
  refuseUnlisted(route.spec.query, query);
  if (query !== noQuery) hints.push(...queryHints(route.spec.query, query));
  const maxBytes = bodyLimit(route.spec, caller === null, ctx.maxBodyBytes);
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
    log: ctx.log,
    once: (principal, run, bodyHash) => {
      const whose = { accountId: account.id, principal };
      const content = { value: rawBody, hash: bodyHash, claim: route.spec.idempotency === "claim" };
      return once(ctx.idempotency, request, content, whose, run);
    },
    settle: async (reply) => void (await currentScope()?.finish(reply)),
  };
  const keyed = route.method === "POST" && route.spec.idempotency !== "own" && route.spec.input !== "stream";
  // One of our webhooks says so in a header, so that loops over HTTP are found too.
  const cause = readSealed(ctx.secrets, request.headers.get(causationHeader));
  const actor = () => actorOf(identified);
  const runAs = () => withActor(actor, () => answered(route, input));
  const run = () => (cause ? withCausation(cause, runAs) : runAs());
  if (!keyed || !caller || !request.headers.has("idempotency-key")) return run();
  return input.once(`token:${caller.tokenId}`, async () => storable(await run()));
}

/** Plugins in JavaScript have not been checked by a compiler. */
async function answered(route: Route, input: RequestInput): Promise<Reply | Response> {
  const reply: unknown = await route.run(input);
  if (reply instanceof Response || isReply(reply)) return reply;
  throw new Error(
    `plugin "${route.plugin}": the handler of ${route.method} ${route.path} must return ok(…), created(…), list(…), noContent() or a Response`,
  );
}

function isReply(value: unknown): value is Reply {
  if (!isObject(value) || typeof value["status"] !== "number" || !isObject(value["headers"])) return false;
  return value["body"] === null || typeof value["body"] === "string";
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
    throw forbidden("a change with a session cookie must come from the same origin, as its header `Origin` says");
  if ("privilege" in access && !caller?.privileges.has(access.privilege) && !mayWithout(access, caller))
    throw forbidden(`this needs the privilege \`${access.privilege}\``);
}

function mayWithout({ privilege, or }: { privilege: string; or?: string }, caller: Caller | null): boolean {
  const narrowedTo = caller?.narrowedTo ?? [];
  return or !== undefined && (narrowedTo.length === 0 || narrowedTo.includes(privilege));
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

const noQuery = new URLSearchParams();

function queryOf(url: string): URLSearchParams {
  const at = url.indexOf("?");
  return at < 0 ? noQuery : new URLSearchParams(url.slice(at + 1));
}

/** A request with its identity, for the log of activity: it also notes requests that change no record. */
export interface IdentifiedRequest {
  readonly request: Request;
  readonly requestId: string;
  readonly identity: Identity;
  readonly client: Client;
  readonly spec: Route["spec"];
}

type Tell = (notice: Notice) => void;

const maxChars = 300;

export function actorOf({ request, requestId, identity, client }: IdentifiedRequest): Actor {
  const { account, caller, app } = identity;
  return {
    kind: app ? "app" : "person",
    account: account.id,
    user: caller?.user.id,
    login: caller?.user.login,
    name: caller?.user.name,
    token: caller?.tokenId,
    // Seldom asked for, and a call to the operating system.
    get ip() {
      return client.ip;
    },
    agent: request.headers.get("user-agent")?.slice(0, maxChars),
    request: requestId,
    app: app?.appId,
    source: app ? "app" : caller?.viaCookie ? "studio" : "api",
  };
}

/** An export, or an answer that has a secret in it. Signing in and out, whose cookies are one too, have entries of their own. */
export function noteReply(tell: Tell, identified: IdentifiedRequest, reply: Reply | Response): void {
  if (identified.spec.exports) tell(noticeOf("export", identified));
  else if (
    !(reply instanceof Response) &&
    reply.secret &&
    !reply.headers["set-cookie"] &&
    !("open" in identified.spec.access)
  )
    tell(noticeOf("secret shown", identified));
}

/** A person who may not do what they tried. */
export function noteRefusal(tell: Tell, identified: IdentifiedRequest, error: unknown): void {
  if (identified.identity.caller && error instanceof HttpError && error.status === 403)
    tell(noticeOf("refused", identified));
}

/** Without the query: it may hold a secret. */
function noticeOf(action: Notice["action"], identified: IdentifiedRequest): Notice {
  const { method, url } = identified.request;
  const path = pathOf(url).split("?", 1)[0] ?? "";
  const name = `${method} ${path}`.slice(0, maxChars);
  return { accountId: identified.identity.account.id, action, name, actor: logged(actorOf(identified)) };
}
