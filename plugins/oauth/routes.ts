import { addressOf, answer, created, ok, route, secret, sha256, Type } from "platform";
import type { Account, Reply, RequestInput, Route } from "platform";
import { mustWait, refusal, register, type OAuthContext } from "./client.ts";
import { isOurs, privilegesOf, redeem, refresh, revoke, scopes } from "./grant.ts";
import { authMethods, findClient, type Client } from "./store.ts";

const noStore = { "cache-control": "no-store" };
const grantTypes = ["authorization_code", "refresh_token"];
const example = { baseUrl: "https://core.example.com", name: "Example" };
const text = Type.Optional(Type.String());

export const metadataRoutes = (ctx: OAuthContext): Route[] =>
  [
    { place: "protected-resource", summary: "Where an app asks for access (RFC 9728)", of: resourceOf("") },
    { place: "protected-resource/mcp", summary: "Where an app asks for access to `/mcp`", of: resourceOf("/mcp") },
    { place: "authorization-server", summary: "How an app asks (RFC 8414)", of: serverOf },
  ].map(({ place, summary, of }) => {
    const shown = of(example, ["dbs"]);
    return route(
      "GET",
      `/.well-known/oauth-${place}`,
      {
        summary,
        access: { open: "it says where an app asks" },
        cors: true,
        answers: { 200: answer.json() },
        responses: { 200: shown },
      },
      ({ account, host }) => ok(of({ name: account.name, baseUrl: addressOf(account, host) }, privilegesOf(ctx))),
    );
  });

const common = {
  access: { open: "an app has no token before it has asked here" },
  cors: true,
  maxBytes: 16_384,
  idempotency: "own",
} as const;
const refusals = { 400: answer.json(), 401: answer.json() };
const refused = {
  400: { error: "invalid_grant", error_description: "the code is not valid" },
  401: { error: "invalid_client", error_description: "the client is not known, or its secret is wrong" },
  429: { error: "too many requests, try again in 4 s" },
};
const bearer = { token_type: "Bearer", expires_in: 3600 };
const redirects = ["https://notes.example.com/callback"];
const notes = registered({ clientId: "kJ3…", name: "Notes", redirectUris: redirects, authMethod: "none" });
const grantFields = { grant_type: text, code: text, redirect_uri: text, code_verifier: text, refresh_token: text };
const credentials = { client_id: text, client_secret: text };

/** What apps call. */
export function oauthRoutes(ctx: OAuthContext): Route[] {
  return [
    route(
      "POST",
      "/oauth/register",
      {
        ...common,
        summary: "Register an app (RFC 7591)",
        description:
          "`redirect_uris` are https, http of this machine (with any port), or have a scheme with a dot. `token_endpoint_auth_method`: `client_secret_basic` (by default), `client_secret_post` or `none`. Other metadata is left out. Whatever nobody connects in 30 days is forgotten. An app may instead use the address of its metadata document as `client_id`.",
        input: "any",
        takes: [Type.Object({}, { additionalProperties: true, description: "the app's metadata" })],
        request: { client_name: "Notes", redirect_uris: redirects, token_endpoint_auth_method: "none" },
        answers: { 201: answer.json(), ...refusals },
        responses: { 201: { ...notes, client_id_issued_at: 1_800_000_000 }, ...refused },
      },
      async ({ account, body, ip }) => {
        await mustWait(ctx.limits.making, ip);
        const { client, secret: clientSecret } = await register(ctx, account.id, body);
        const once = clientSecret !== undefined && { client_secret: clientSecret, client_secret_expires_at: 0 };
        return secret(created({ ...registered(client), ...once }, noStore));
      },
    ),
    route(
      "POST",
      "/oauth/token",
      {
        ...common,
        summary: "Exchange a code, or a refresh token",
        description:
          "A form (RFC 6749). A code counts once, for a minute, with its `code_verifier`. An access token lasts an hour, at most as long as it was allowed. Each refresh token counts once: using one again ends the connection, and one that asks for more scope is `invalid_scope`.",
        input: "form",
        body: {
          schema: Type.Object({ ...credentials, ...grantFields, resource: text, scope: text }),
        },
        request: { grant_type: "refresh_token", refresh_token: "core_refresh_…", client_id: "kJ3…" },
        answers: { 200: answer.json(), ...refusals },
        responses: {
          200: { ...bearer, access_token: "core_…", refresh_token: "core_refresh_…", scope: "read dbs" },
          ...refused,
        },
      },
      async (input) => {
        const { grant_type: type, resource = null } = input.body;
        const client = await provenClient(ctx, input);
        if (!isOurs(addressOf(input.account, input.host), resource))
          throw refusal("invalid_target", "that resource is not here");
        if (type === "authorization_code") return given(await redeem(ctx, client, input.body));
        if (type === "refresh_token") return given(await refresh(ctx, client, input.body));
        throw refusal("unsupported_grant_type", `grant_type must be one of ${grantTypes.join(", ")}`);
      },
    ),
    route(
      "POST",
      "/oauth/revoke",
      {
        ...common,
        summary: "End a connection by one of its tokens (RFC 7009)",
        input: "form",
        body: {
          schema: Type.Object({ ...credentials, token: text, token_type_hint: text }),
        },
        request: { token: "core_refresh_…", client_id: "kJ3…" },
        answers: { 200: answer.json(), ...refusals },
        responses: { 200: {}, ...refused },
      },
      async (input) => {
        const client = await provenClient(ctx, input);
        await revoke(ctx, input.account, client, input.body.token ?? "");
        return given({});
      },
    ),
  ];
}

const given = (body: object): Reply => secret(ok(body, noStore));

type Asking = Pick<RequestInput, "account" | "ip" | "request"> & {
  readonly body: { readonly client_id?: string; readonly client_secret?: string };
};

/** Throws 401, and 429 for too many questions from one address. */
async function provenClient(ctx: OAuthContext, { account, body, ip, request }: Asking): Promise<Client> {
  await mustWait(ctx.limits.asking, ip);
  const basic = basicOf(request.headers.get("authorization"));
  if (basic && body.client_secret !== undefined) throw refusal("invalid_request", "send the secret once");
  const [id = "", sent] = basic ?? [body.client_id, body.client_secret];
  const client = await findClient(ctx.sql, account.id, id);
  if (client?.secretHash === null || (client && sha256(sent ?? "") === client.secretHash)) return client;
  throw refusal("invalid_client", "the client is not known, or its secret is wrong", 401);
}

/** Id and secret, both encoded as in a form (RFC 6749 2.3.1). */
function basicOf(header: string | null): readonly string[] | undefined {
  const encoded = /^Basic ([A-Za-z0-9+/]{1,2000}={0,2})$/i.exec(header ?? "")?.[1];
  if (encoded === undefined || encoded.length % 4 !== 0) return undefined;
  const parts = atob(encoded).split(":");
  return parts.map((part) => new URLSearchParams(`part=${part}`).get("part") ?? "");
}

type Described = Pick<Account, "baseUrl" | "name">;

/** Clients ask for all that is named: for agents that is no more than whether they change something. */
function resourceOf(part: "" | "/mcp") {
  return ({ baseUrl, name }: Described, privileges: readonly string[]) => ({
    resource: `${baseUrl}${part}`,
    resource_name: name,
    authorization_servers: [baseUrl],
    scopes_supported: part === "" ? [...scopes, ...privileges] : scopes,
    bearer_methods_supported: ["header"],
  });
}

function serverOf({ baseUrl }: Described, privileges: readonly string[]) {
  return {
    issuer: baseUrl,
    authorization_endpoint: `${baseUrl}/oauth/authorize`,
    token_endpoint: `${baseUrl}/oauth/token`,
    revocation_endpoint: `${baseUrl}/oauth/revoke`,
    registration_endpoint: `${baseUrl}/oauth/register`,
    scopes_supported: [...scopes, ...privileges],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: grantTypes,
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: authMethods,
    revocation_endpoint_auth_methods_supported: authMethods,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };
}

function registered({ clientId, name, redirectUris, authMethod }: Omit<Client, "accountId" | "secretHash" | "readAt">) {
  return {
    client_id: clientId,
    client_id_issued_at: Math.floor(Date.now() / 1000),
    client_name: name,
    redirect_uris: redirectUris,
    grant_types: grantTypes,
    response_types: ["code"],
    token_endpoint_auth_method: authMethod,
  };
}
