/** Attacks on connecting an app: by another app, by another server, by a page, and by whoever has read a code or a token. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as openid from "openid-client";
import { adminToken, otherAccount, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import {
  answered,
  answersOf,
  connected,
  postForm,
  question,
  redeemed,
  redirectUri,
  refreshed,
  registered,
  sentTo,
  signedIn,
  verifier,
  type Fields,
} from "../../tests/fixtures/oauth-app.ts";
import type { Browser, Visit } from "../../tests/fixtures/oidc-browser.ts";

let app: TestApp;
let browser: Browser;
let id: string;
beforeAll(async () => {
  app = await startTestApp();
  browser = await signedIn(app);
  id = (await registered(app)).id;
});
afterAll(() => app.stop());

const look = (changes: Fields = {}, clientId = id) => browser.visit(`${app.origin}${question(clientId, changes)}`);
const codeOf = async (changes: Fields = {}) =>
  sentTo(await answered(app, browser, question(id, changes))).searchParams.get("code") ?? "";
const works = async (token: string) => (await app.get("/core/dbs.json", { token })).status === 200;
const staysHere = ({ status, headers }: Visit) => expect([status, headers.get("location")]).toEqual([400, null]);
const count = async () => (await app.sql<{ n: number }[]>`select count(*)::int as n from api_tokens`)[0]?.n;

describe("redirect tricks", () => {
  test.each([
    "https://evil.example/callback",
    `${redirectUri}/`,
    `${redirectUri}?next=https://evil.example`,
    `${redirectUri}#fragment`,
    "https://notes.example.com.evil.example/callback",
    "https://notes.example.com@evil.example/callback",
    "https://notes.example.com/callback/../evil",
    "https://NOTES.example.com/callback",
    "javascript:alert(1)",
    "",
  ])("%s, which is not registered, is shown a page and gets nothing", async (uri) => {
    staysHere(await look({ redirect_uri: uri }));
    // Neither is a refusal sent there.
    staysHere(await look({ redirect_uri: uri, response_type: "token" }));
  });

  test("a link with a mistake leads nobody to an app's address who is not signed in", async () => {
    const { status, headers } = await app.get(question(id, { response_type: "token" }), { token: null });
    expect([status, headers.get("location")?.startsWith("/login?")]).toEqual([303, true]);
  });

  test("a parameter that is given twice is not sent anywhere", async () => {
    staysHere(await look({ redirect_uri: [redirectUri, "https://evil.example/callback"] }));
    staysHere(await look({ client_id: [id, id] }));
  });

  test.each([
    "http://notes.example.com/callback",
    "http://127.0.0.1.evil.example/callback",
    "http://127.0.0.1@evil.example/",
    "javascript:alert(1)",
    "data:text/html,hello",
    "myapp:/callback",
    "https://user@notes.example.com/",
    "https://notes.example.com/#x",
    "//notes.example.com/callback",
    "https://notes.example.com/a b",
    `https://notes.example.com/${"a".repeat(500)}`,
    7,
  ])("%j cannot be registered", async (uri) => {
    const answer = await app.post("/oauth/register", { redirect_uris: [uri] }, { token: null });
    expect([answer.status, answer.json.error]).toEqual([400, "invalid_redirect_uri"]);
  });

  test("at this machine any port is right, and nothing else", async () => {
    const uris = ["http://127.0.0.1/callback", "http://[::1]:80/callback?a=1", "com.example.notes:/callback"];
    const { id: local } = await registered(app, { redirect_uris: uris });
    for (const uri of [
      "http://127.0.0.1:51234/callback",
      "http://[::1]:51234/callback?a=1",
      "com.example.notes:/callback",
    ])
      expect([uri, (await look({ redirect_uri: uri }, local)).status]).toEqual([uri, 200]);
    for (const uri of [
      "http://localhost:51234/callback",
      "http://127.0.0.1:51234/other",
      "https://127.0.0.1:51234/callback",
      "http://127.0.0.1:99999/callback",
      "com.example.notes:/other",
    ])
      staysHere(await look({ redirect_uri: uri }, local));
    const back = sentTo(await answered(app, browser, question(local, { redirect_uri: "http://[::1]:9/callback?a=1" })));
    expect([back.host, back.searchParams.get("a"), back.searchParams.has("code")]).toEqual(["[::1]:9", "1", true]);
  });
});

describe("a downgrade of PKCE", () => {
  test.each([
    { code_challenge: undefined, code_challenge_method: undefined },
    { code_challenge_method: "plain" },
    { code_challenge_method: undefined },
    { code_challenge: "short" },
    { response_type: "token" },
    { request_uri: "https://evil.example/request" },
    { resource: "https://elsewhere.example/mcp" },
    { scope: "everything" },
  ])("%j is refused", async (changes) => {
    const back = sentTo(await look(changes));
    expect(back.origin + back.pathname).toBe(redirectUri);
    expect(back.searchParams.get("error")).toMatch(/^(invalid|unsupported|request_not)_/);
    expect([back.searchParams.get("state"), back.searchParams.get("iss")]).toEqual(["the app's state", app.origin]);
  });

  test.each([undefined, "", "another-verifier-that-is-as-long-as-it-must-be-0123456789"])(
    "a code with the verifier %j gives nothing, and is no good afterwards",
    async (code_verifier) => {
      const code = await codeOf();
      const before = await count();
      const { status, json } = await redeemed(app, id, code, { code_verifier });
      expect([status, json.error]).toEqual([400, "invalid_grant"]);
      expect((await redeemed(app, id, code)).json.error).toBe("invalid_grant");
      expect(await count()).toBe((before ?? 0) - 1);
    },
  );
});

describe("a code that somebody else has read", () => {
  test("works for its own app and address alone", async () => {
    const { id: other } = await registered(app);
    expect((await redeemed(app, other, await codeOf())).json.error).toBe("invalid_grant");
    expect((await redeemed(app, id, await codeOf(), { redirect_uri: "https://evil.example/" })).json.error).toBe(
      "invalid_grant",
    );
    expect((await redeemed(app, id, await codeOf(), { resource: "https://elsewhere.example/" })).json.error).toBe(
      "invalid_target",
    );
  });

  test("works for a minute", async () => {
    const code = await codeOf();
    await app.sql`update oauth_grants set code_ends_at = now() - interval '1 second' where family_hash is null`;
    expect((await redeemed(app, id, code)).json.error).toBe("invalid_grant");
  });

  test("ends what it gave when it is used again", async () => {
    const { access_token, refresh_token, code } = await connected(app, browser, id);
    expect(await works(access_token)).toBe(true);
    expect((await redeemed(app, id, code)).json.error).toBe("invalid_grant");
    expect(await works(access_token)).toBe(false);
    expect((await refreshed(app, id, refresh_token)).json.error).toBe("invalid_grant");
  });

  test("gives one token, however many ask at once", async () => {
    const code = await codeOf();
    const answers = await Promise.all([1, 2, 3, 4].map(() => redeemed(app, id, code)));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    for (const { json } of answers) if (json.access_token) expect(await works(json.access_token)).toBe(false);
  });
});

test("what one account has given is unknown at another's address", async () => {
  const other = await otherAccount(app);
  const at = { host: other.host };
  const form = { grant_type: "authorization_code", client_id: id, redirect_uri: redirectUri, code_verifier: verifier };
  const code = await codeOf();
  expect((await postForm(app, "/oauth/token", { ...form, code }, at)).json.error).toBe("invalid_client");
  const { json } = await app.post(
    "/oauth/register",
    { redirect_uris: [redirectUri], token_endpoint_auth_method: "none" },
    { token: null, headers: at },
  );
  expect((await postForm(app, "/oauth/token", { ...form, client_id: json.client_id, code }, at)).json.error).toBe(
    "invalid_grant",
  );
  expect(
    (await app.get("/.well-known/oauth-authorization-server", { token: null, headers: at })).json.issuer,
  ).toContain(other.host);
  const { access_token } = (await redeemed(app, id, code)).json;
  expect((await app.get("/core/dbs.json", { token: access_token, headers: at })).status).toBe(401);
});

describe("a refresh token that somebody else has read", () => {
  test("ends its whole family when it is used again", async () => {
    const first = await connected(app, browser, id);
    const second = (await refreshed(app, id, first.refresh_token)).json;
    expect(await works(second.access_token)).toBe(true);
    expect((await refreshed(app, id, first.refresh_token)).json.error).toBe("invalid_grant");
    for (const token of [first.access_token, second.access_token]) expect(await works(token)).toBe(false);
    expect((await refreshed(app, id, second.refresh_token)).json.error).toBe("invalid_grant");
  });

  test("is no use to another app, and is no token", async () => {
    const { refresh_token, access_token } = await connected(app, browser, id);
    const { id: other } = await registered(app);
    expect((await refreshed(app, other, refresh_token)).json.error).toBe("invalid_grant");
    await postForm(app, "/oauth/revoke", { client_id: other, token: access_token });
    expect(await works(access_token)).toBe(true);
    expect(await works(refresh_token)).toBe(false);
    expect((await refreshed(app, id, refresh_token)).status).toBe(200);
  });

  test("is of no use without the app's secret", async () => {
    const { id: own, secret = "" } = await registered(app, { token_endpoint_auth_method: "client_secret_basic" });
    const code = sentTo(await answered(app, browser, question(own))).searchParams.get("code") ?? "";
    for (const changes of [{}, { client_secret: "wrong" }, { client_secret: "" }]) {
      const { status, json } = await redeemed(app, own, code, changes);
      expect([status, json.error]).toEqual([401, "invalid_client"]);
    }
    expect((await redeemed(app, own, code, { client_secret: secret })).status).toBe(200);
  });

  test("stands nowhere as it is, and neither do codes and secrets", async () => {
    const { secret = "" } = await registered(app, { token_endpoint_auth_method: "client_secret_post" });
    const { refresh_token, access_token, code } = await connected(app, browser, id);
    const rows = JSON.stringify([
      await app.sql`select * from oauth_grants`,
      await app.sql`select * from oauth_clients`,
      await app.sql`select * from api_token_texts`,
      await app.sql`select * from api_tokens`,
    ]);
    for (const text of [secret, code, access_token, ...refresh_token.slice(13).split(".")])
      expect(rows).not.toContain(text);
  });
});

test("a mix-up: an app that talks to two servers sees whose answer it has", async () => {
  const config = await openid.discovery(new URL(app.origin), id, undefined, openid.None(), {
    algorithm: "oauth2",
    execute: [openid.allowInsecureRequests],
  });
  const back = sentTo(await answered(app, browser, question(id)));
  const asking = (url: URL) =>
    openid.authorizationCodeGrant(config, url, { pkceCodeVerifier: "v".repeat(43), expectedState: "the app's state" });
  for (const iss of ["https://evil.example", undefined]) {
    const mixed = new URL(back);
    mixed.searchParams.delete("iss");
    if (iss !== undefined) mixed.searchParams.set("iss", iss);
    const fault = await asking(mixed).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(Bun.inspect(fault)).toMatch(/"iss" \(issuer\)/);
  }
  // It passes with ours, and only then asks for tokens.
  expect(
    await asking(back).then(
      () => "",
      ({ error }: { error: string }) => error,
    ),
  ).toBe("invalid_grant");
});

describe("consent", () => {
  test("cannot be framed, kept or sent elsewhere", async () => {
    const { headers } = await look();
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("form-action");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("same-origin");
    const { headers: sent } = await answered(app, browser, question(id));
    expect([sent.get("referrer-policy"), sent.get("cache-control")]).toEqual(["no-referrer", "no-store"]);
  });

  test("is not given by another site's form, another session's page, or a changed question", async () => {
    const grants = async () => (await app.sql`select count(*)::int as n from oauth_grants`)[0]?.["n"];
    const before = await grants();
    const page = await look();
    const form = answersOf(page).toString();
    const type = { "content-type": "application/x-www-form-urlencoded" };
    const cookie = `core_session=${browser.cookie("core_session")}`;
    const post = (headers: Record<string, string>, raw = form) =>
      app.post("/oauth/authorize", undefined, { token: null, raw, headers: { ...type, ...headers } });
    expect((await post({ cookie, origin: "https://evil.example" })).status).toBe(403);
    expect((await post({ cookie, origin: app.origin, "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await post({ cookie })).status).toBe(403);
    expect((await post({})).status).toBe(400);
    const password = "a long enough password";
    const { login } = await person(app, { password });
    const other = `core_session=${(await signedIn(app, login, password)).cookie("core_session")}`;
    expect((await post({ cookie: other, origin: app.origin })).status).toBe(400);
    const changed = form.replace("notes.example.com", "evil.example.com");
    expect((await post({ cookie, origin: app.origin }, changed)).status).toBe(400);
    expect((await post({ cookie, origin: app.origin }, "request=&decision=allow")).status).toBe(400);
    // A token allows nothing either.
    const bearer = await app.post("/oauth/authorize", undefined, { token: adminToken, raw: form, headers: type });
    expect(bearer.status).toBe(400);
    expect(await grants()).toBe(before);
  });

  test("never gives what would outlast its end or make somebody else of it", async () => {
    const page = await look();
    for (const name of ["users", "api_tokens", "sign_in_providers", "backups"])
      expect(page.text).not.toContain(`value="${name}"`);
    const sent = await browser.visit(
      `${app.origin}/oauth/authorize`,
      answersOf(page, { areas: ["dbs", "users", "api_tokens"] }),
    );
    const { json } = await redeemed(app, id, sentTo(sent).searchParams.get("code") ?? "");
    expect(json.scope).toBe("read write dbs");
    for (const path of ["/account/users.json", "/account/api_tokens.json"])
      expect((await app.get(path, { token: json.access_token })).status).toBe(403);
  });

  test("lasts no longer than the session's own link lets it, with its rights", async () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const made = await app.post("/account/api_tokens.json", {
      api_token: { kind: "web_token", privileges: ["api_tokens", "dbs"], expires_at: soon },
    });
    const entered = await app.get(`/account/auto_login?token=${made.json.token}`, { token: null });
    const cookie = entered.headers
      .getSetCookie()
      .map((one) => one.split(";")[0])
      .join("; ");
    const page = await app.get(question(id), { token: null, headers: { cookie } });
    expect(page.text).not.toContain('value="apps"');
    const raw = answersOf({ ...page, url: "" }).toString();
    const headers = { cookie, origin: app.origin, "content-type": "application/x-www-form-urlencoded" };
    const answer = await app.post("/oauth/authorize", undefined, { token: null, raw, headers });
    expect([answer.status, answer.text]).toEqual([
      422,
      expect.stringContaining("More was chosen than your own sign-in may give"),
    ]);
  });
});

describe("an app that calls itself", () => {
  test.each(["Corestead", "C o r e s t e a d", "Сorestead", "Main", "Claude"])(
    "%s is said to do so",
    async (client_name) => {
      const { id: claims } = await registered(app, { client_name });
      expect((await look({}, claims)).text).toContain(`An app that calls itself “${client_name}”`);
    },
  );

  test("something with markup, signs that turn the text, or at length is shown as plain text", async () => {
    const { id: claims } = await registered(app, { client_name: `<b>x</b>\u202Eevil\n${"y".repeat(200)}` });
    const { text } = await look({}, claims);
    expect(text).toContain(`calls itself “&lt;b&gt;x&lt;/b&gt; evil ${"y".repeat(46)}”`);
  });
});

describe("a metadata document", () => {
  const documents = () => {
    const receiver = app.receiver();
    return { receiver, address: `${receiver.url}/app.json` };
  };

  test("is what the app says about itself, for a day", async () => {
    const { receiver, address } = documents();
    let name = "Agent";
    receiver.answer = () => Response.json({ client_id: address, client_name: name, redirect_uris: [redirectUri] });
    const page = await look({}, address);
    expect(page.text).toContain("<strong>Agent (127.0.0.1)</strong>");
    name = "Corestead Agent";
    expect((await look({}, address)).text).toContain("Agent (127.0.0.1)");
    expect(receiver.requests.length).toBe(1);
    await app.sql`update oauth_clients set read_at = now() - interval '25 hours' where client_id = ${address}`;
    expect((await look({}, address)).text).toContain("An app that calls itself “Corestead Agent”");
    const code = sentTo(await answered(app, browser, question(address))).searchParams.get("code") ?? "";
    expect((await redeemed(app, address, code)).status).toBe(200);
    staysHere(await look({ redirect_uri: "https://evil.example/" }, address));
  });

  test.each([
    ["of another app", (address: string) => Response.json({ client_id: `${address}2`, redirect_uris: [redirectUri] })],
    [
      "that is too large",
      (address: string) => Response.json({ client_id: address, redirect_uris: [redirectUri], more: "x".repeat(6000) }),
    ],
    ["that leads elsewhere", () => new Response(null, { status: 302, headers: { location: "/other.json" } })],
    [
      "with a secret",
      (address: string) =>
        Response.json({
          client_id: address,
          redirect_uris: [redirectUri],
          token_endpoint_auth_method: "client_secret_post",
        }),
    ],
    ["that is no JSON", () => new Response("<html>")],
    ["without addresses", (address: string) => Response.json({ client_id: address })],
  ])("%s is not taken", async (_what, answer) => {
    const { receiver, address } = documents();
    const other = () => Response.json({ client_id: address, redirect_uris: [redirectUri] });
    receiver.answer = ({ path }) => (path === "/other.json" ? other() : answer(address));
    staysHere(await look({}, address));
  });

  test("is asked for at no other address of ours than those that are allowed, and says nothing of them", async () => {
    const said = new Set<string>();
    const hosts = ["127.0.0.2", "[::1]", "0.0.0.0", "169.254.169.254", "10.0.0.1", "[fd12:3456::1]", "[::ffff:7f00:2]"];
    for (const host of hosts) {
      await app.sql`delete from oauth_clients where read_at is not null`;
      const page = await look({}, `https://${host}/app.json`);
      staysHere(page);
      said.add(page.text);
    }
    expect(said.size).toBe(1);
    expect(app.logged.join("").split("outbound request refused").length - 1).toBe(hosts.length);
  });

  test.each([
    "ftp://app.example/a.json",
    "http://app.example/a.json",
    "https://u@app.example/a",
    "https://app.example/",
    "https://app.example/a#b",
  ])("at %s is none", async (address) => staysHere(await look({}, address)));
});

describe("the token endpoint", () => {
  test("says what is wrong in the words of OAuth, and is kept nowhere", async () => {
    const { id: own, secret = "" } = await registered(app, { token_endpoint_auth_method: "client_secret_basic" });
    const basic = { authorization: `Basic ${btoa(`${own}:${secret}`)}` };
    for (const [fields, headers, status, error] of [
      [{ client_id: id, grant_type: "password" }, {}, 400, "unsupported_grant_type"],
      [{ client_id: id }, {}, 400, "unsupported_grant_type"],
      [{ client_id: "nobody", grant_type: "refresh_token" }, {}, 401, "invalid_client"],
      [{ grant_type: "refresh_token" }, {}, 401, "invalid_client"],
      [{ grant_type: "refresh_token" }, { authorization: "Basic !" }, 401, "invalid_client"],
      [{ grant_type: "refresh_token" }, { authorization: "Basic A===" }, 401, "invalid_client"],
      [{ grant_type: "refresh_token", client_secret: secret }, basic, 400, "invalid_request"],
      [{ grant_type: "refresh_token" }, basic, 400, "invalid_grant"],
      [{ client_id: id, grant_type: "refresh_token", refresh_token: "core_refresh_" }, {}, 400, "invalid_grant"],
    ] as const) {
      const answer = await postForm(app, "/oauth/token", fields, headers);
      expect([fields, answer.status, answer.json.error]).toEqual([fields, status, error]);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("www-authenticate")).toBe(status === 401 ? 'Basic realm="oauth"' : null);
    }
  });

  // The last test: it uses up what this address may make.
  test("and the making of apps are limited by address", async () => {
    const statuses = new Set<number>();
    for (let tries = 0; tries < 61; tries++)
      statuses.add((await app.post("/oauth/register", {}, { token: null })).status);
    expect(statuses).toEqual(new Set([400, 429]));
    // Neither is a document asked for.
    const receiver = app.receiver();
    expect((await look({}, `${receiver.url}/app.json`)).status).toBe(429);
    expect(receiver.requests).toEqual([]);
  });
});
