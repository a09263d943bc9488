/** Apps for which people sign in: those that registered themselves, and those whose id is the address of what they say. */
import { HttpError, isObject, limitKey, OutboundFault, parseJson, randomToken, sha256, tooMany } from "platform";
import type { BaseContext } from "platform";
import type { Sessions } from "../accounts/sessions/api.ts";
import type { Tokens } from "../tokens/api.ts";
import { authMethods, findClient, saveClient, type AuthMethod, type Client } from "./store.ts";

export interface OAuthContext extends BaseContext {
  readonly sessions: Sessions;
  readonly tokens: Tokens;
  /** Of what makes rows, and of the rest. */
  readonly limits: Readonly<Record<"making" | "asking", ReturnType<BaseContext["limiter"]>>>;
}

/** A refusal as RFC 6749 5.2 writes it. */
export function refusal(error: string, description: string, status = 400): HttpError {
  const basic = status === 401 && { "www-authenticate": 'Basic realm="oauth"' };
  return new HttpError(status, { error, error_description: description }, { "cache-control": "no-store", ...basic });
}

export async function mustWait(limiter: OAuthContext["limits"]["asking"], ip: string): Promise<void> {
  const { allowed, retryAfterSeconds } = await limiter.take(limitKey(ip));
  if (!allowed) throw tooMany(retryAfterSeconds);
}

const maxUris = 10;
const maxUriChars = 500;

/** RFC 7591. Fields that we do not know are left out. Returns the client and its secret, if it has one. */
export async function register(ctx: OAuthContext, accountId: number, given: unknown) {
  const client = { ...clientOf(accountId, given, "client_secret_basic"), clientId: randomToken(16) };
  const secret = client.authMethod === "none" ? undefined : randomToken();
  await saveClient(ctx.sql, { ...client, secretHash: secret === undefined ? null : sha256(secret) }, false);
  return { client, secret };
}

/** Undefined if there is none. Throws a refusal if its metadata document cannot be used. */
export async function clientById(ctx: OAuthContext, accountId: number, clientId: string, ip: string) {
  const known = await findClient(ctx.sql, accountId, clientId.slice(0, maxUriChars));
  if (known?.isRecent) return known;
  if (!isDocumentAddress(clientId)) return undefined;
  await mustWait(ctx.limits.making, ip);
  const client = { ...clientOf(accountId, await documentAt(ctx, clientId), "none"), clientId };
  if (client.authMethod !== "none")
    throw wrong("who has a metadata document has no secret: token_endpoint_auth_method is none");
  await saveClient(ctx.sql, { ...client, secretHash: null }, true);
  return findClient(ctx.sql, accountId, clientId);
}

/** Over plain http only at this machine, which `OUTBOUND_ALLOW` must name. */
function isDocumentAddress(clientId: string): boolean {
  const url = clientId.length <= maxUriChars ? URL.parse(clientId) : null;
  if (!url || url.href !== clientId || url.username !== "" || url.password !== "" || url.hash !== "") return false;
  return url.pathname !== "/" && (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url)));
}

async function documentAt(ctx: OAuthContext, address: string): Promise<unknown> {
  const asking = { headers: { accept: "application/json" }, timeoutMs: 5000, maxBytes: 5120 } as const;
  try {
    const answer = await ctx.fetch(address, { ...asking, redirect: "refuse" });
    const document = answer.status === 200 ? parseJson(answer.text()) : undefined;
    if (isObject(document) && document["client_id"] === address) return document;
  } catch (error) {
    if (!(error instanceof OutboundFault || error instanceof HttpError)) throw error;
    // What an address of ours answers, or whether it does, is told to nobody.
  }
  throw wrong("the client's metadata document cannot be read");
}

const wrong = (description: string) => refusal("invalid_client_metadata", description);

function clientOf(accountId: number, given: unknown, standard: AuthMethod): Omit<Client, "clientId" | "readAt"> {
  if (!isObject(given)) throw wrong("send a JSON object");
  const { redirect_uris: uris, token_endpoint_auth_method: asked = standard } = given;
  const isRight = Array.isArray(uris) && uris.length > 0 && uris.length <= maxUris && uris.every(isRedirectUri);
  if (!isRight)
    throw refusal(
      "invalid_redirect_uri",
      `redirect_uris must be a list of 1 to ${maxUris} addresses without a fragment: https, http of this machine (127.0.0.1, [::1], localhost), or a scheme of their own with a dot`,
    );
  const authMethod = authMethods.find((one) => one === asked);
  if (!authMethod) throw wrong(`token_endpoint_auth_method must be one of ${authMethods.join(", ")}`);
  return { accountId, name: nameOf(given["client_name"]), redirectUris: uris, authMethod, secretHash: null };
}

/** In one line and without what is invisible or turns the direction of a text. */
function nameOf(given: unknown): string {
  const text = typeof given === "string" ? given.normalize("NFKC") : "";
  const line = text.replaceAll(/[\p{C}\p{Z}]+/gu, " ").trim();
  return line.slice(0, 60).replace(/[\ud800-\udbff]$/, "");
}

/** Neither `javascript:` nor any other scheme that browsers know has a dot. */
export function isRedirectUri(text: unknown): text is string {
  if (typeof text !== "string" || text.length > maxUriChars || /[^\x21-\x7e]|#/.test(text)) return false;
  const url = URL.parse(text);
  if (!url || url.username !== "" || url.password !== "") return false;
  if (url.protocol === "http:") return isLoopback(url);
  return url.protocol === "https:" || url.protocol.includes(".");
}

/** One that is registered, exactly; at this machine with any port (RFC 8252). */
export function mayRedirect({ redirectUris }: Client, given: string): boolean {
  return redirectUris.some((uri) => uri === given || (isRedirectUri(given) && withoutPort(uri) === withoutPort(given)));
}

const isLoopback = ({ hostname }: URL) => ["127.0.0.1", "[::1]", "localhost"].includes(hostname);
const withoutPort = (uri: string) =>
  uri.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)):\d{1,5}(?=[/?]|$)/, "$1");
