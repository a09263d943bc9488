/** OpenID Connect with one provider: discovery, the address to send people to, and what an answer proves. */
import { OutboundFault, type BaseContext } from "platform";
import type { FetchImplementation, JWTVerifyGetKey } from "jose";
import type { ClientAuth, Configuration, CustomFetch } from "openid-client";
import { logoutOf, textOf, type Logout } from "./logout-token.ts";
import type { PeerFacts } from "./places.ts";
import type { Claims } from "./rules.ts";

export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface Proof {
  readonly issuer: string;
  readonly subject: string;
  readonly claims: Claims;
  /** The claims about the address: the one that calls it verified may not be about another address. */
  readonly emailClaims: Claims;
  readonly idToken: string;
  /** The provider's own session. */
  readonly sid: string | null;
}

/** The provider does not answer (`unreachable`), answers what is not to be trusted (`wrong`), or says no (`declined`). */
export class PeerFault extends Error {
  override name = "PeerFault";
  readonly kind: "unreachable" | "wrong" | "declined";

  constructor(kind: PeerFault["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

const timeoutSeconds = 10;
const maxBytes = 1_000_000;
const keptMs = 600_000;
const maxKept = 100;

export type Peers = ReturnType<typeof createPeers>;

export function createPeers(ctx: Pick<BaseContext, "fetch">) {
  const kept = new Map<string, { readonly until: number; readonly config: Promise<Configuration> }>();
  const logoutKeys = new WeakMap<Configuration, JWTVerifyGetKey>();
  const guarded: CustomFetch = async (url, { method, headers, body, signal }) => {
    const content = typeof body === "string" || body instanceof URLSearchParams ? { body: `${body}` } : {};
    const request = { method, headers: { ...headers }, maxBytes, redirect: "refuse", ...content } as const;
    const answer = await ctx.fetch(url, { ...request, ...(signal && { signal }) });
    const taken = new Headers(answer.headers);
    // The body is decompressed already.
    taken.delete("content-encoding");
    taken.delete("content-length");
    const isEmpty = [204, 205, 304].includes(answer.status);
    return new Response(isEmpty ? null : new Uint8Array(answer.body), { status: answer.status, headers: taken });
  };

  const discover = async ({ issuer, clientId, clientSecret }: PeerFacts): Promise<Configuration> => {
    const lib = await import("openid-client");
    const options = {
      [lib.customFetch]: guarded,
      timeout: timeoutSeconds,
      // The signature is checked even though the token comes straight from the provider.
      execute: [lib.enableNonRepudiationChecks, ...(issuer.startsWith("http:") ? [lib.allowInsecureRequests] : [])],
    };
    return lib.discovery(new URL(issuer), clientId, undefined, authOf(lib, clientSecret), options);
  };

  /** Asks the provider at most every ten minutes, and again after a failure. */
  const configOf = (facts: PeerFacts): Promise<Configuration> => {
    const known = kept.get(facts.key);
    if (known && known.until > Date.now()) return known.config;
    const config = discover(facts);
    kept.delete(facts.key);
    kept.set(facts.key, { until: Date.now() + keptMs, config });
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    config.catch(() => kept.get(facts.key)?.config === config && kept.delete(facts.key));
    return config;
  };

  /** As long as the provider's document is kept; an unknown key makes it ask again, at most every half minute. */
  const logoutKeysOf = async (config: Configuration): Promise<JWTVerifyGetKey> => {
    const known = logoutKeys.get(config);
    if (known) return known;
    const jose = await import("jose");
    const { jwks_uri: address, issuer } = config.serverMetadata();
    const fetchKeys: FetchImplementation = (url, { headers, signal }) =>
      guarded(url, { method: "GET", headers: Object.fromEntries(headers), body: null, redirect: "manual", signal });
    const options = { [jose.customFetch]: fetchKeys, timeoutDuration: timeoutSeconds * 1000 };
    const keys = jose.createRemoteJWKSet(new URL(addressOf("jwks_uri", address, issuer)), options);
    logoutKeys.set(config, keys);
    return keys;
  };

  return {
    /** Where to send the browser. Throws a PeerFault. */
    address: (
      facts: PeerFacts,
      request: AuthorizationRequest,
      more: Readonly<Record<string, string>>,
    ): Promise<string> =>
      told(async (lib) => {
        const config = await configOf(facts);
        const challenge = await lib.calculatePKCECodeChallenge(request.verifier);
        return lib.buildAuthorizationUrl(config, {
          ...more,
          redirect_uri: request.redirectUri,
          state: request.state,
          nonce: request.nonce,
          code_challenge: challenge,
          code_challenge_method: "S256",
        }).href;
      }),

    /** The proof in the browser's answer. Throws a PeerFault. */
    proof: (facts: PeerFacts, request: AuthorizationRequest, answer: URLSearchParams): Promise<Proof> =>
      told(async (lib) => {
        const config = await configOf(facts);
        const url = new URL(request.redirectUri);
        url.search = answer.toString();
        const { state: expectedState, nonce: expectedNonce, verifier: pkceCodeVerifier } = request;
        const checks = { expectedState, expectedNonce, pkceCodeVerifier, idTokenExpected: true };
        const tokens = await lib.authorizationCodeGrant(config, url, checks);
        const idClaims = tokens.claims();
        if (!idClaims) throw new PeerFault("wrong", "there is no ID token");
        const { iss: issuer, sub: subject } = idClaims;
        const asks = config.serverMetadata().userinfo_endpoint !== undefined;
        const info: Claims = asks ? await lib.fetchUserInfo(config, tokens.access_token, subject) : {};
        const claims: Claims = { ...info, ...idClaims };
        const emailClaims = emailClaimsOf(idClaims, info, claims);
        const sid = textOf(idClaims["sid"]) ?? null;
        return { issuer, subject, claims, emailClaims, idToken: tokens.id_token ?? "", sid };
      }),

    /** Where to send the browser to sign out; undefined if the provider offers no such page. Throws a PeerFault. */
    signOutAddress: (facts: PeerFacts, params: Readonly<Record<string, string>>): Promise<string | undefined> =>
      told(async (lib) => {
        const config = await configOf(facts);
        const { end_session_endpoint: address, issuer } = config.serverMetadata();
        if (address === undefined) return undefined;
        addressOf("end_session_endpoint", address, issuer);
        return lib.buildEndSessionUrl(config, params).href;
      }),

    /** Whom the provider says to have signed out. Throws a PeerFault. */
    logout: (facts: PeerFacts, token: string): Promise<Logout> =>
      told(async () => {
        const config = await configOf(facts);
        const { issuer } = config.serverMetadata();
        return logoutOf(token, { issuer, clientId: facts.clientId, keys: await logoutKeysOf(config) });
      }),

    /** Asks the provider anew. Throws a PeerFault. */
    test: (facts: PeerFacts, scopes: readonly string[]) =>
      told(async () => {
        const server = (await discover(facts)).serverMetadata();
        const { issuer, userinfo_endpoint = null } = server;
        const named = {
          authorization_endpoint: addressOf("authorization_endpoint", server.authorization_endpoint, issuer),
          token_endpoint: addressOf("token_endpoint", server.token_endpoint, issuer),
        };
        const jwks = addressOf("jwks_uri", server.jwks_uri, issuer);
        const keys = await keysIn(await guarded(jwks, { method: "GET", headers: {}, body: null, redirect: "manual" }));
        const warnings = warningsOf({ ...server, supportsS256: server.supportsPKCE("S256") }, scopes, keys);
        const { end_session_endpoint = null, backchannel_logout_supported: tells } = server;
        const signOut = { end_session_endpoint, backchannel_logout_supported: tells === true };
        return { issuer, ...named, userinfo_endpoint, ...signOut, keys, warnings };
      }),
  };
}

/** A provider with https may not lead elsewhere without. */
function addressOf(name: string, address: string | undefined, issuer: string): string {
  const allowed = issuer.startsWith("http:") ? ["http:", "https:"] : ["https:"];
  if (address !== undefined && allowed.includes(URL.parse(address)?.protocol ?? "")) return address;
  throw new PeerFault("wrong", `its ${name} is not an address that begins with ${allowed.join("// or ")}//`);
}

function emailClaimsOf(idClaims: Claims, info: Claims, both: Claims): Claims {
  if (typeof idClaims["email"] !== "string") return info;
  return idClaims["email"] === info["email"] ? both : idClaims;
}

type Library = typeof import("openid-client");

/** Few providers name what they support rightly but all that name `client_secret_post` take it. */
function authOf(lib: Library, secret: string | null): ClientAuth {
  if (secret === null) return lib.None();
  const [basic, post] = [lib.ClientSecretBasic(secret), lib.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const takesPost = server.token_endpoint_auth_methods_supported?.includes("client_secret_post");
    (takesPost ? post : basic)(server, ...rest);
  };
}

async function keysIn(response: Response): Promise<number> {
  const found: unknown = response.status === 200 ? await response.json() : undefined;
  if (typeof found !== "object" || found === null || !("keys" in found) || !Array.isArray(found.keys))
    throw new PeerFault("wrong", "its jwks_uri gives no keys");
  return found.keys.length;
}

interface Server {
  readonly scopes_supported?: readonly string[] | undefined;
  readonly supportsS256: boolean;
}

function warningsOf({ scopes_supported: known, supportsS256 }: Server, scopes: readonly string[], keys: number) {
  const unknown = known ? scopes.filter((scope) => !known.includes(scope)) : [];
  return [
    ...(supportsS256 ? [] : ["it does not say that it supports PKCE with S256, which is always used"]),
    ...(unknown.length > 0 ? [`it does not say that it supports the scopes ${unknown.join(", ")}`] : []),
    ...(keys === 0 ? ["it has no keys to sign with"] : []),
  ];
}

/** Loads the library when it is first needed, and makes PeerFaults of whatever goes wrong. */
async function told<T>(run: (lib: Library) => Promise<T>): Promise<T> {
  const lib = await import("openid-client");
  try {
    return await run(lib);
  } catch (error) {
    if (error instanceof PeerFault) throw error;
    const causes = chainOf(error);
    const message = [...new Set(causes.flatMap(said))]
      .filter((one) => one !== saysNothing)
      .join(": ")
      .slice(0, 500);
    if (error instanceof lib.AuthorizationResponseError) throw new PeerFault("declined", message, { cause: error });
    const isAway = causes.some(
      (one) => one instanceof OutboundFault || (one instanceof DOMException && one.name === "TimeoutError"),
    );
    throw new PeerFault(isAway ? "unreachable" : "wrong", message, { cause: error });
  }
}

/** The library's message for an error that is not its own. */
const saysNothing = "something went wrong";

function chainOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let one = error; one instanceof Error && chain.length < 5; one = one.cause) chain.push(one);
  return chain;
}

/** With what the provider calls the error. */
function said(error: Error): string[] {
  const code = "error" in error && typeof error.error === "string" ? [error.error] : [];
  const description =
    "error_description" in error && typeof error.error_description === "string" ? [error.error_description] : [];
  return [error.message, ...code, ...description];
}
