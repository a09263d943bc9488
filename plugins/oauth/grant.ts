/** What an app asks for, what somebody lets it do, and the texts of tokens that it gets for that. */
import {
  addressOf,
  randomToken,
  sha256,
  type Account,
  type BaseContext,
  type Caller,
  type RequestInput,
} from "platform";
import type { Connection } from "../tokens/api.ts";
import { clientById, isRedirectUri, mayRedirect, refusal, type OAuthContext } from "./client.ts";
import { addGrant, findGrant, setRefresh, type Client, type Grant } from "./store.ts";

export const scopes = ["read", "write"] as const;
/** A connection lasts one of these. */
export const lengths = [1, 30, 90, 365] as const;

/** Rights by which an app would outlive its end, or become somebody else: no app gets them. */
const neverGiven: ReadonlySet<string> = new Set(["api_tokens", "users", "sign_in_providers", "backups"]);

/** An app's question, which is in order; `privileges` are those that it may be given at most. */
export type Question = Awaited<ReturnType<typeof questionOf>>;

/** Why an app's question is refused: the app is told so at its address (`back`), and without that the person. */
export class Refused extends Error {
  override name = "Refused";
  readonly back: { readonly redirectUri: string; readonly state: string | null } | undefined;

  constructor(error: string, back?: Refused["back"]) {
    super(error);
    this.back = back;
  }
}

type Asking = Pick<RequestInput, "account" | "host" | "ip">;

/** Throws `Refused`. Nothing leads to an address before that is known to be the app's own. */
export async function questionOf(ctx: OAuthContext, { account, host, ip }: Asking, query: URLSearchParams) {
  const names = [...query.keys()];
  if (names.length !== new Set(names).size) throw new Refused("repeated");
  const client = await clientById(ctx, account.id, query.get("client_id") ?? "", ip);
  if (!client) throw new Refused("client");
  const redirectUri = query.get("redirect_uri") ?? "";
  if (!isRedirectUri(redirectUri) || !mayRedirect(client, redirectUri)) throw new Refused("address");
  const back = { redirectUri, state: query.get("state") };
  const challenge = query.get("code_challenge") ?? "";
  if (query.get("response_type") !== "code") throw new Refused("unsupported_response_type", back);
  if (query.has("request") || query.has("request_uri")) throw new Refused("request_not_supported", back);
  // Without it `plain` would be meant, which shows whoever reads the question what proves the app.
  if (query.get("code_challenge_method") !== "S256" || !/^[\w-]{43}$/.test(challenge))
    throw new Refused("invalid_request", back);
  if (!isOurs(addressOf(account, host), query.get("resource"))) throw new Refused("invalid_target", back);
  const asked = (query.get("scope") ?? "").split(" ").filter(Boolean);
  const all = privilegesOf(ctx);
  if (asked.length > 0 && ![...scopes, ...all].some((name) => asked.includes(name)))
    throw new Refused("invalid_scope", back);
  const named = all.filter((name) => asked.includes(name));
  const privileges = named.length > 0 ? named : all;
  return { client, ...back, challenge, writes: asked.includes("write"), privileges };
}

/** Those that an app may have. */
export const privilegesOf = ({ plugins }: Pick<BaseContext, "plugins">): string[] =>
  plugins.flatMap(({ privileges }) => privileges.map(({ name }) => name)).filter((name) => !neverGiven.has(name));

/** Of those the person's own. */
export const heldOf = (asked: Question, caller: Caller) =>
  asked.privileges.filter((name) => caller.privileges.has(name));

/** RFC 8707: the account as a whole, or its `/mcp`. */
export const isOurs = (address: string, resource: string | null): boolean =>
  resource === null || [address, `${address}/`, `${address}/mcp`].includes(resource);

/** What somebody has chosen on the page. */
export type Choice = Pick<Connection, "privileges" | "databases" | "readOnly"> & { readonly days: number };

/** Makes the token, and returns the code for the app. Throws 403 and 422 as the making of a token does. */
export async function allow(
  ctx: OAuthContext,
  caller: Caller,
  { client, redirectUri, challenge: codeChallenge }: Question,
  { privileges, databases, readOnly, days }: Choice,
): Promise<string> {
  const code = randomToken();
  const scope = [readOnly ? "read" : "read write", ...privileges].join(" ");
  const host = hostOf(client, redirectUri);
  const expiresAt = new Date(Date.now() + days * 86_400_000);
  const token = { name: client.name || host, info: `oauth ${host}`, privileges, databases, readOnly, expiresAt };
  const grant = { accountId: client.accountId, clientId: client.clientId, redirectUri, scope, codeChallenge };
  await ctx.tokens.connect(caller, token, (tokenId, tx) => addGrant(tx, { ...grant, tokenId }, sha256(code)));
  return code;
}

/** By what people know an app, whatever it calls itself: the host of its document, else where its codes go. */
export function hostOf({ clientId, readAt }: Client, redirectUri: string): string {
  const { hostname, protocol } = new URL(readAt === null ? redirectUri : clientId);
  return hostname || protocol;
}

/** A code counts once. Whatever is wrong with it ends what it gave, because somebody else has it. */
export async function redeem(
  ctx: OAuthContext,
  client: Client,
  { code = "", redirect_uri: redirectUri, code_verifier: verifier = "" }: Readonly<Record<string, string | undefined>>,
): Promise<object> {
  const grant = await findGrant(ctx.sql, client.accountId, "code_hash", sha256(code));
  const isRight =
    grant?.familyHash === null &&
    !grant.isLate &&
    grant.clientId === client.clientId &&
    grant.redirectUri === redirectUri &&
    grant.codeChallenge === challengeOf(verifier);
  return give(ctx, grant, isRight ? randomToken(24) : undefined);
}

/**
 * Another text for the same token, with its whole scope, which the answer names; one that asks for more is refused and
 * loses nothing (RFC 6749, 6). A refresh token that was used before ends its family: two have it.
 */
export async function refresh(
  ctx: OAuthContext,
  client: Client,
  { refresh_token: refreshToken = "", scope = "" }: Readonly<Record<string, string | undefined>>,
): Promise<object> {
  const [family, own] = partsOf(refreshToken);
  const grant = await findGrant(ctx.sql, client.accountId, "family_hash", sha256(family));
  if (grant?.clientId !== client.clientId) return give(ctx, undefined, undefined);
  const given = grant.scope.split(" ");
  if (!scope.split(" ").every((name) => name === "" || given.includes(name)))
    throw refusal("invalid_scope", `the scope that was given is "${grant.scope}"`);
  return give(ctx, grant, grant.refreshHash === sha256(own) ? family : undefined);
}

/** RFC 7009: by either token the whole connection ends. */
export async function revoke(
  { sql, tokens }: OAuthContext,
  account: Account,
  client: Client,
  token: string,
): Promise<void> {
  const { caller } = await tokens.identify("", { token, viaCookie: false }, account);
  const grant = caller
    ? await findGrant(sql, account.id, "token_id", `${caller.tokenId}`)
    : await findGrant(sql, account.id, "family_hash", sha256(partsOf(token)[0]));
  if (grant?.clientId === client.clientId) await tokens.endSessions(account.id, async () => [grant.tokenId]);
}

const prefix = "core_refresh_";

/** What all refresh tokens of a family have, and what one has alone. */
function partsOf(refreshToken: string): readonly [string, string] {
  const [family = "", own = ""] = refreshToken.startsWith(prefix) ? refreshToken.slice(prefix.length).split(".") : [];
  return [family, own];
}

/** Without a family, the grant ends. Throws the refusal. */
async function give(ctx: OAuthContext, grant: Grant | undefined, family: string | undefined): Promise<object> {
  const own = randomToken(24);
  const text = await ctx.transaction(async (tx) => {
    if (!grant || family === undefined) return grant && "ends";
    const added = await ctx.tokens.addText(tx, grant.accountId, grant.tokenId, 3600);
    // One that is switched off may be switched on again.
    return added && ((await setRefresh(tx, grant, sha256(family), sha256(own))) ? added : "ends");
  });
  if (grant && text === "ends") await ctx.tokens.endSessions(grant.accountId, async () => [grant.tokenId]);
  if (!grant || text === undefined || text === "ends")
    throw refusal("invalid_grant", "the code or refresh token is not valid");
  return {
    access_token: text.token,
    token_type: "Bearer",
    expires_in: Math.max(1, Math.round((Number(text.expiresAt) - Date.now()) / 1000)),
    refresh_token: `${prefix}${family}.${own}`,
    scope: grant.scope,
  };
}

/** RFC 7636, S256; "" for what is no verifier. */
function challengeOf(verifier: string): string {
  if (!/^[\w.~-]{43,128}$/.test(verifier)) return "";
  return Uint8Array.fromHex(sha256(verifier)).toBase64({ alphabet: "base64url", omitPadding: true });
}
