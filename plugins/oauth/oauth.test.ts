/** Apps for which people sign in: by the MCP client's own flow, and by `openid-client` as a plain OAuth client. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import * as openid from "openid-client";
import { adminToken, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import {
  answered,
  answersOf,
  connected,
  question,
  redeemed,
  redirectUri,
  refreshed,
  registered,
  sentTo,
  signedIn,
} from "../../tests/fixtures/oauth-app.ts";
import { sha256 } from "../../runtime/base/hash.ts";
import type { Browser } from "../../tests/fixtures/oidc-browser.ts";

let app: TestApp;
let browser: Browser;
const ids: Record<string, string> = {};
beforeAll(async () => {
  app = await startTestApp();
  browser = await signedIn(app);
  for (const code of ["orders", "people", "salaries"]) {
    const made = await app.post("/core/dbs.json", {
      db: { name: code, code, schema: { type: "object", properties: {} } },
    });
    expect(made.status).toBe(201);
    ids[code] = String(made.json.id);
  }
});
afterAll(() => app.stop());

const tokensListed = async () =>
  (await app.get("/account/api_tokens.json?limit=200")).json as Record<string, unknown>[];

test("an agent finds its way from a 401 to a narrowed token by itself, and it ends where it is deleted", async () => {
  let verifier = "";
  let asked: URL | undefined;
  let information: StoredOAuthClientInformation | undefined;
  let kept: StoredOAuthTokens | undefined;
  let discovered: OAuthDiscoveryState | undefined;
  const provider: OAuthClientProvider = {
    redirectUrl: "http://127.0.0.1:7777/callback",
    clientMetadata: {
      client_name: "Agent",
      redirect_uris: ["http://127.0.0.1/callback"],
      token_endpoint_auth_method: "none",
    },
    state: () => "state",
    clientInformation: () => information,
    saveClientInformation: (given) => void (information = given),
    tokens: () => kept,
    saveTokens: (given) => void (kept = given),
    redirectToAuthorization: (url) => void (asked = url),
    saveCodeVerifier: (text) => void (verifier = text),
    codeVerifier: () => verifier,
    invalidateCredentials: () => void (kept = undefined),
    saveDiscoveryState: (given) => void (discovered = given),
    discoveryState: () => discovered,
  };
  const transportOf = () => new StreamableHTTPClientTransport(new URL("/mcp", app.origin), { authProvider: provider });
  const clientOf = () =>
    new Client({ name: "tests", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const first = transportOf();
  expect(
    await clientOf()
      .connect(first)
      .then(
        () => "connected",
        (error: unknown) => error,
      ),
  ).toBeInstanceOf(UnauthorizedError);
  expect(asked?.searchParams.get("resource")).toBe(`${app.origin}/mcp`);

  const databases = [`${ids["orders"]}:read`, `${ids["people"]}:edit`];
  const choice = { areas: "dbs", tables: "some", databases: databases, reads: "yes" };
  const { searchParams } = sentTo(await answered(app, browser, asked?.href ?? "", choice));
  await first.finishAuth(searchParams);
  const client = clientOf();
  await client.connect(transportOf());
  const { content } = await client.callTool({ name: "list", arguments: { resource: "dbs" } });
  const text = JSON.stringify(content);
  expect(text).toContain("orders");
  expect(text).toContain("people");
  expect(text).not.toContain("salaries");
  expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("create");

  const row = (await tokensListed()).find(({ name }) => name === "Agent");
  expect(row).toMatchObject({
    privileges: ["dbs"],
    databases: { [ids["orders"] ?? ""]: "read", [ids["people"] ?? ""]: "edit" },
    read_only: true,
    token_info: "oauth 127.0.0.1",
    last_used_at: expect.any(String),
  });
  expect((await app.delete(`/account/api_tokens/${String(row?.["id"])}.json`)).status).toBe(204);
  const { refresh_token: last = "" } = kept ?? {};
  const refused = await client
    .callTool({ name: "list", arguments: { resource: "dbs" } })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(UnauthorizedError);
  expect((await refreshed(app, information?.client_id ?? "", last)).json.error).toBe("invalid_grant");
});

test.each(["client_secret_basic", "client_secret_post"])(
  "a plain OAuth client with %s connects, refreshes and ends it",
  async (method) => {
    const { id, secret = "" } = await registered(app, {
      token_endpoint_auth_method: method,
      client_name: `Plain ${method}`,
    });
    const authentication =
      method === "client_secret_basic" ? openid.ClientSecretBasic(secret) : openid.ClientSecretPost(secret);
    const config = await openid.discovery(new URL(app.origin), id, undefined, authentication, {
      algorithm: "oauth2",
      execute: [openid.allowInsecureRequests],
    });
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const parameters = {
      redirect_uri: redirectUri,
      scope: "read write dbs",
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: "S256",
      state: "a state",
    };
    const url = openid.buildAuthorizationUrl(config, parameters);
    const back = sentTo(await answered(app, browser, url.href));
    const given = await openid.authorizationCodeGrant(config, back, { pkceCodeVerifier, expectedState: "a state" });
    expect(given).toMatchObject({ scope: "read write dbs", expires_in: 3600 });
    expect((await app.get("/core/dbs.json", { token: given.access_token })).status).toBe(200);
    // Nothing beyond the one area.
    expect((await app.get("/core/prompts.json", { token: given.access_token })).status).toBe(403);

    // More than was given is refused, and the refresh token still counts.
    const more = openid.refreshTokenGrant(config, given.refresh_token ?? "", { scope: "read write dbs mails" });
    expect(await more.catch((error: unknown) => error)).toMatchObject({ error: "invalid_scope" });
    const second = await openid.refreshTokenGrant(config, given.refresh_token ?? "", { scope: "read dbs" });
    expect(second.scope).toBe("read write dbs");
    expect(second.access_token).not.toBe(given.access_token);
    for (const token of [given.access_token, second.access_token])
      expect((await app.get("/core/dbs.json", { token })).status).toBe(200);
    await openid.tokenRevocation(config, second.access_token);
    for (const token of [given.access_token, second.access_token])
      expect((await app.get("/core/dbs.json", { token })).status).toBe(401);
    expect((await tokensListed()).map(({ name }) => name)).not.toContain(`Plain ${method}`);
  },
);

test("/mcp says where to ask, with no token and with a wrong one", async () => {
  for (const token of [null, "core_wrong"]) {
    const { status, headers } = await app.post("/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }, { token });
    const resource = `${app.origin}/.well-known/oauth-protected-resource/mcp`;
    expect([status, headers.get("www-authenticate")]).toEqual([401, `Bearer resource_metadata="${resource}"`]);
    expect((await fetch(resource).then((answer) => answer.json())).resource).toBe(`${app.origin}/mcp`);
  }
});

test("by whichever name of this machine an app comes, where nobody has named the account's address", async () => {
  const host = new URL(app.origin).host.replace("127.0.0.1", "localhost");
  const at = (path: string) => app.get(path, { token: null, headers: { host } });
  const { headers } = await app.post("/mcp", { jsonrpc: "2.0" }, { token: null, headers: { host } });
  expect(headers.get("www-authenticate")).toContain(`"http://${host}/.well-known/`);
  expect((await at("/.well-known/oauth-protected-resource/mcp")).json.resource).toBe(`http://${host}/mcp`);
  expect((await at("/.well-known/oauth-authorization-server")).json.issuer).toBe(`http://${host}`);
  for (const [name, issuer] of [
    ["evil.example", app.origin],
    ["127.0.0.1.evil.example:80", app.origin],
  ]) {
    const { json } = await app.get("/.well-known/oauth-authorization-server", {
      token: null,
      headers: { host: name ?? "" },
    });
    expect(json.issuer).toBe(issuer);
  }
});

test("metadata, registration and tokens are open to pages of any origin, the page of the person is not", async () => {
  for (const path of [
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource",
    "/oauth/token",
  ]) {
    const { status, headers } = await app.request("OPTIONS", path, undefined, { token: null });
    expect([path, status, headers.get("access-control-allow-origin")]).toEqual([path, 204, "*"]);
  }
  const { headers } = await browser.visit(`${app.origin}${question((await registered(app)).id)}`);
  expect(headers.get("access-control-allow-origin")).toBeNull();
});

describe("the page", () => {
  test("asks for a sign-in first, and comes back", async () => {
    const { id } = await registered(app);
    const path = question(id);
    const { headers } = await app.get(path, { token: null });
    const login = new URL(headers.get("location") ?? "", app.origin);
    expect([login.pathname, login.searchParams.get("return_to")]).toEqual(["/login", path]);
    // A token is nobody who looks at a page.
    expect((await app.get(path, { token: adminToken })).headers.get("location")).toContain("/login");
  });

  test.each([
    ["en", "An app that calls itself “Notes”", "Tables and records", "Until I end it, at most a year"],
    ["pl", "Aplikacja, która przedstawia się jako „Notes”", "Tabele i rekordy", "Aż to zakończę, najwyżej rok"],
    ["de", "Eine App, die sich „Notes“ nennt", "Tabellen und Einträge", "Bis ich es beende, höchstens ein Jahr"],
  ])("says in %s who asks, for what and where it goes", async (language, from, tables, end) => {
    const { id } = await registered(app);
    const cookie = `core_session=${browser.cookie("core_session")}`;
    const { text } = await app.get(question(id), { token: null, headers: { cookie, "accept-language": language } });
    for (const words of ["notes.example.com", from, tables, end]) expect(text).toContain(words);
  });

  test("of what is asked for is the most that can be given", async () => {
    const { id } = await registered(app);
    const page = await browser.visit(`${app.origin}${question(id, { scope: "read dbs" })}`);
    expect(page.text).not.toContain('value="apps"');
    const changes = { areas: ["dbs", "apps", "users"], databases: `${ids["orders"]}:manage`, tables: "some" };
    const sent = await browser.visit(`${app.origin}/oauth/authorize`, answersOf(page, changes));
    const { json } = await redeemed(app, id, sentTo(sent).searchParams.get("code") ?? "");
    expect(json.scope).toBe("read dbs");
    const orders = `/core/dbs/${ids["orders"]}`;
    expect((await app.get(`${orders}.json`, { token: json.access_token })).status).toBe(200);
    expect(
      (await app.post(`${orders}/records.json`, { record: { data: {} } }, { token: json.access_token })).status,
    ).toBe(403);
    expect((await app.get(`/core/dbs/${ids["salaries"]}.json`, { token: json.access_token })).status).toBe(404);
  });

  test("gives nothing where nothing is chosen, as no name would mean all", async () => {
    const { id } = await registered(app, { client_name: "Nothing" });
    for (const [changes, said] of [
      [{ areas: undefined }, "Choose at least one area"],
      [{ areas: "dbs", tables: "some" }, "Choose at least one table"],
      [{ areas: "dbs", tables: undefined, databases: "" }, "Choose at least one table"],
    ] as const) {
      const { status, text } = await answered(app, browser, question(id), changes);
      expect([status, text]).toEqual([422, expect.stringContaining(said)]);
      // What was chosen stays: nobody allows more at the second press.
      expect(text).not.toContain('value="apps" checked');
    }
    expect((await tokensListed()).map(({ name }) => name)).not.toContain("Nothing");
  });

  test("a person who may make no tokens connects no apps", async () => {
    const password = "a long enough password";
    const { login } = await person(app, { role: "guest", password });
    const guest = await signedIn(app, login, password);
    const { status, text } = await guest.visit(`${app.origin}${question((await registered(app)).id)}`);
    expect([status, text]).toEqual([403, expect.stringContaining("You may not make access tokens here")]);
  });

  test("tells the app that it was denied", async () => {
    const { id } = await registered(app);
    const back = sentTo(await answered(app, browser, question(id), { decision: "deny" }));
    expect(Object.fromEntries(back.searchParams)).toEqual({
      error: "access_denied",
      state: "the app's state",
      iss: app.origin,
    });
  });
});

test("a connection is a token with limits, whose access ends with it", async () => {
  const { id } = await registered(app, { client_name: "Limited" });
  const { access_token: token, refresh_token } = await connected(app, browser, id, { days: "1" });
  const row = (await tokensListed()).find(({ name }) => name === "Limited");
  const until = Date.parse(String(row?.["expires_at"])) - Date.now();
  expect(Math.round(until / 3_600_000)).toBe(24);
  const care = `/core/tokens/${String(row?.["id"])}.json`;
  await app.patch(care, { token: { rate_limit: 1000, networks: ["203.0.113.0/24"] } });
  expect((await app.get("/core/dbs.json", { token })).status).toBe(403);
  await app.patch(care, { token: { networks: [] } });
  expect((await app.get("/core/dbs.json", { token })).headers.get("ratelimit-policy")).toContain("1000");
  // What it did is found by the one token.
  const log = await app.get(`/core/activity.json?token_id=${String(row?.["id"])}`);
  expect(log.json.length).toBeGreaterThan(0);

  await app.patch(`/account/api_tokens/${String(row?.["id"])}.json`, { api_token: { active: false } });
  expect((await app.get("/core/dbs.json", { token })).status).toBe(401);
  expect((await refreshed(app, id, refresh_token)).json.error).toBe("invalid_grant");
  await app.patch(`/account/api_tokens/${String(row?.["id"])}.json`, { api_token: { active: true } });
  expect((await refreshed(app, id, refresh_token)).status).toBe(200);
});

test("an app's token is kept in memory like any, and forgotten in every process", async () => {
  const second = await startTestApp({ target: app.target });
  const { id } = await registered(app, { client_name: "Twice" });
  const { access_token: token, refresh_token } = await connected(app, browser, id);
  const statuses = () =>
    Promise.all([app, second].map(async (server) => (await server.get("/core/dbs.json", { token })).status));
  expect(await statuses()).toEqual([200, 200]);
  // From now on a request asks the database for neither the text nor the token.
  const { id: tokenId } = (await tokensListed()).find(({ name }) => name === "Twice") ?? {};
  const texts = await app.sql`delete from api_token_texts where token_id = ${Number(tokenId)} returning *`;
  expect(texts.length).toBe(1);
  expect(await statuses()).toEqual([200, 200]);
  expect((await app.post("/core/tokens/" + String(tokenId) + "/rotate.json", {})).status).toBe(200);
  expect(await statuses()).toEqual([401, 401]);

  const next = (await refreshed(app, id, refresh_token)).json;
  const now = () =>
    Promise.all(
      [app, second].map(async (server) => (await server.get("/core/dbs.json", { token: next.access_token })).status),
    );
  expect(await now()).toEqual([200, 200]);
  await app.delete(`/account/api_tokens/${String(tokenId)}.json`);
  expect(await now()).toEqual([401, 401]);
  await second.stop();
});

test("an access token ends after its hour", async () => {
  const { id } = await registered(app);
  const { access_token: token } = await connected(app, browser, id);
  await app.sql`update api_token_texts set ends_at = now() - interval '1 second' where token_hash = ${sha256(token)}`;
  expect((await app.get("/core/dbs.json", { token })).status).toBe(401);
});

test("what nobody used is forgotten: codes at once, apps after 30 days", async () => {
  const { id } = await registered(app, { client_name: "Unused" });
  const { id: other } = await registered(app, { client_name: "Used" });
  await connected(app, browser, other);
  await answered(app, browser, question(id));
  await app.sql`update oauth_grants set code_ends_at = now() - interval '1 second'`;
  await app.sql`update oauth_clients set created_at = now() - interval '31 days' where client_id in (${id}, ${other})`;
  await app.runSchedule("oauth.prune");
  expect((await tokensListed()).map(({ name }) => name)).toContain("Used");
  expect((await tokensListed()).map(({ name }) => name)).not.toContain("Unused");
  const left = await app.sql<{ name: string }[]>`select name from oauth_clients where client_id in (${id}, ${other})`;
  expect(left.map(({ name }) => name)).toEqual(["Used"]);
});
