/** Attacks on signing in by a provider: by whoever holds the browser, by another provider, and by the provider itself. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  eventually,
  otherAccount,
  person,
  startTestApp,
  type OtherAccount,
  type TestApp,
} from "../../../tests/harness.ts";
import { startMailReceiver, type MailReceiver } from "../../../tests/fixtures/mail-receiver.ts";
import { startBrowser, type Browser, type Visit } from "../../../tests/fixtures/oidc-browser.ts";
import { clientId, startHostile, type Hostile } from "../../../tests/fixtures/oidc-hostile.ts";

let app: TestApp;
let other: OtherAccount;
let hostile: Hostile;
let provider: string;
let receiver: MailReceiver;
beforeAll(async () => {
  receiver = await startMailReceiver();
  const mail = { SMTP_URL: `smtp://127.0.0.1:${receiver.port}`, MAIL_FROM: "office@example.com" };
  app = await startTestApp({ env: { TRUSTED_PROXIES: "127.0.0.1", ...mail } });
  hostile = await startHostile();
  other = await otherAccount(app);
  const { issuer, clientSecret: client_secret } = hostile;
  const rules = { create_people: true, email_domains: ["*"] };
  const sign_in_provider = { name: "Hostile", issuer, client_id: clientId, client_secret, ...rules };
  for (const code of ["hostile", "second"]) {
    const made = await app.post("/account/sign_in_providers.json", { sign_in_provider: { ...sign_in_provider, code } });
    expect(made.status).toBe(201);
    if (code === "hostile") provider = made.json.id;
  }
});
beforeEach(() => hostile.honest());
afterAll(async () => {
  await app.stop();
  hostile.stop();
  receiver.stop();
});

let serial = 0;
const browserOf = () => startBrowser(app, { "x-forwarded-for": `203.0.113.${(++serial % 250) + 1}` });
const change = (fields: object) =>
  app.patch(`/account/sign_in_providers/${provider}.json`, { sign_in_provider: fields });
/** The server no longer knows what the provider said before. */
const forgotten = async () => expect((await change({ label: `${++serial}` })).status).toBe(200);

/** Goes as far as the provider; gives what was sent there. */
async function begun(browser: Browser, path = "/login/with/hostile?return_to=%2Faccount%2Fme.json") {
  const visit = await browser.visit(`${app.origin}${path}`);
  expect([visit.status, visit.text]).toEqual([303, ""]);
  const url = new URL(visit.headers.get("location") ?? "");
  const sent = Object.fromEntries(url.searchParams);
  hostile.nonce = sent["nonce"] ?? "";
  return { url, sent, state: sent["state"] ?? "" };
}
/** A right answer with changes; undefined takes a parameter away. */
const callback = (state: string, changes: Record<string, string | undefined> = {}, code = "hostile") => {
  const all = { code: "a code", state, iss: hostile.issuer, ...changes };
  const given = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return `${app.origin}/login/with/${code}/callback?${new URLSearchParams(given)}`;
};
const newcomer = () => {
  const sub = `somebody-${++serial}`;
  hostile.claims = { sub, email: `${sub}@example.com`, email_verified: true };
  hostile.userinfo = { sub };
  return sub;
};
const said = ({ status, text }: Visit) => [status, /role="alert">([^<]{1,300})</.exec(text)?.[1]];
const expired = [400, expect.stringContaining("has expired, was used already, or began in another browser")];
const notValid = [502, expect.stringContaining("answer is not valid")];
const people = async () => (await app.sql`select count(*) as n from users`)[0]?.["n"];

describe("what is sent to the provider", () => {
  test("has state, nonce and a PKCE challenge, and neither the verifier nor the secret", async () => {
    newcomer();
    const browser = browserOf();
    const { url, sent, state } = await begun(browser);
    expect(url.origin + url.pathname).toBe(`${hostile.issuer}/authorize`);
    expect(sent).toMatchObject({
      response_type: "code",
      client_id: clientId,
      redirect_uri: `${app.origin}/login/with/hostile/callback`,
      scope: "openid email profile",
      code_challenge_method: "S256",
    });
    expect(url.href).not.toContain(encodeURIComponent(hostile.clientSecret));
    expect((await browser.visit(callback(state))).status).toBe(303);
    const [asked] = hostile.asked;
    const challenge = new Bun.CryptoHasher("sha256").update(asked?.get("code_verifier") ?? "").digest("base64url");
    expect(challenge).toBe(sent["code_challenge"] ?? "");
    expect(asked?.get("redirect_uri")).toBe(sent["redirect_uri"] ?? "");
    expect(await browser.me()).toMatchObject({ login: `somebody-${serial - 1}@example.com` });
  });

  test("is of no use to somebody who reads the database", async () => {
    const { sent } = await begun(browserOf());
    const rows = JSON.stringify(await app.sql`select * from sign_in_attempts`);
    for (const name of ["state", "nonce", "code_challenge"]) expect(rows).not.toContain(sent[name] ?? "");
    const stored = JSON.stringify(await app.sql`select * from sign_in_providers`);
    expect(stored).not.toContain(hostile.clientSecret);
  });

  test("leads back to the account's own address, whatever the Host header says", async () => {
    const headers = { host: "evil.example", "x-forwarded-host": "evil.example" };
    const first = await app.get("/login/with/hostile?return_to=%2Fx", { token: null, headers });
    expect(first.headers.get("location")).toBeNull();
    expect([first.status, first.text]).toEqual([409, expect.stringContaining("BASE_URL")]);
  });
});

describe("a browser at another address than the account's own", () => {
  const host = "core.example.com";
  let served: TestApp;
  beforeAll(async () => {
    served = await startTestApp({ env: { BASE_URL: `https://${host}` } });
    const sign_in_provider = { name: "Hostile", issuer: hostile.issuer, client_id: clientId };
    const made = await served.post("/account/sign_in_providers.json", { sign_in_provider });
    expect(made.json.redirect_uri).toBe(`https://${host}/login/with/hostile/callback`);
  });
  afterAll(() => served.stop());
  const visit = (path: string, headers: Record<string, string>) => served.get(path, { token: null, headers });

  test("is sent there once", async () => {
    const first = await visit("/login/with/hostile?return_to=%2Fx&again=1", {});
    const own = `https://${host}/login/with/hostile?return_to=%2Fx&again=1&here=1`;
    expect([first.status, first.headers.get("location")]).toEqual([303, own]);
    const second = await visit("/login/with/hostile?return_to=%2Fx&here=1", { host });
    expect(second.headers.get("location")).toStartWith(`${hostile.issuer}/authorize?`);
    const cookie = /^__Host-core_sign_in=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/;
    expect(second.headers.get("set-cookie")).toMatch(cookie);
    // A proxy that hides the host would send it on and on.
    const hidden = await visit("/login/with/hostile?here=1", {});
    expect([hidden.status, hidden.text]).toEqual([409, expect.stringContaining("own address")]);
  });
});

describe("a state", () => {
  test("works once, so a code is not sent to the provider again", async () => {
    newcomer();
    const browser = browserOf();
    const { state } = await begun(browser);
    expect((await browser.visit(callback(state))).status).toBe(303);
    expect(said(await browser.visit(callback(state)))).toEqual(expired);
    expect(hostile.asked).toHaveLength(1);
  });

  test.each([
    ["made up", "x".repeat(43)],
    ["empty", ""],
    ["missing", null],
    ["with NUL", "\0"],
  ])("that is %s is refused before anything is asked", async (_, state) => {
    const browser = browserOf();
    await begun(browser);
    expect(said(await browser.visit(callback("", { state: state ?? undefined })))).toEqual(expired);
    expect(hostile.asked).toHaveLength(0);
  });

  test("counts in the browser that began: nobody is signed in as somebody else by a link", async () => {
    newcomer();
    const [attacker, victim] = [browserOf(), browserOf()];
    await begun(victim);
    const { state } = await begun(attacker);
    expect(said(await victim.visit(callback(state)))).toEqual(expired);
    expect(await victim.me()).toBeUndefined();
    // Whoever sends the victim there does not end the attempt of its owner.
    expect((await attacker.visit(callback(state))).status).toBe(303);
  });

  test("counts for the provider that it was made for, in its own account", async () => {
    const browser = browserOf();
    const { state } = await begun(browser);
    expect(said(await browser.visit(callback(state, {}, "second")))).toEqual(expired);
    const cookie = `core_sign_in=${browser.cookie("core_sign_in")}`;
    const path = callback(state).slice(app.origin.length);
    const elsewhere = await other.get(path, { token: null, headers: { cookie } });
    expect([elsewhere.status, elsewhere.text]).toEqual([404, expect.stringContaining("no such way to sign in")]);
    expect(hostile.asked).toHaveLength(0);
  });

  test("ends after ten minutes", async () => {
    const browser = browserOf();
    const { state } = await begun(browser);
    const left = await app.sql`select extract(epoch from max(expires_at) - now()) as seconds from sign_in_attempts`;
    expect(Number(left[0]?.["seconds"])).toBeWithin(500, 601);
    await app.sql`update sign_in_attempts set expires_at = now()`;
    expect(said(await browser.visit(callback(state)))).toEqual(expired);
  });

  test("is not used up by whoever only looks at the address", async () => {
    newcomer();
    const browser = browserOf();
    const { state } = await begun(browser);
    const cookie = `core_sign_in=${browser.cookie("core_sign_in")}`;
    const path = callback(state).slice(app.origin.length);
    await app.request("HEAD", path, undefined, { token: null, headers: { cookie } });
    expect((await browser.visit(callback(state))).status).toBe(303);
  });

  test("of two tabs of one browser works in both", async () => {
    newcomer();
    const browser = browserOf();
    const [first, second] = [await begun(browser), await begun(browser)];
    expect((await browser.visit(callback(second.state))).status).toBe(303);
    hostile.nonce = first.sent["nonce"] ?? "";
    expect((await browser.visit(callback(first.state))).status).toBe(303);
  });
});

describe("an answer is not valid", () => {
  let answer: Record<string, string | undefined> = {};
  beforeEach(() => void (answer = {}));
  const past = () => Math.floor(Date.now() / 1000) - 3600;
  const lies: [what: string, lie: () => void][] = [
    ["of another issuer, as after a mix-up", () => (answer = { iss: "https://honest.example" })],
    ["without the issuer that this provider always names", () => (answer = { iss: undefined })],
    [
      "with the ID token of another issuer",
      () => (hostile.claims = { ...hostile.claims, iss: "https://honest.example" }),
    ],
    ["with another nonce", () => (hostile.nonce = "another")],
    ["without a nonce", () => (hostile.claims = { ...hostile.claims, nonce: undefined })],
    ["for another client", () => (hostile.claims = { ...hostile.claims, aud: "another client" })],
    ["for several clients, by another", () => (hostile.claims = { ...hostile.claims, aud: [clientId, "b"], azp: "b" })],
    ["that has expired", () => (hostile.claims = { ...hostile.claims, iat: past(), exp: past() + 60 })],
    ["that is not valid yet", () => (hostile.claims = { ...hostile.claims, nbf: past() + 7200 })],
    ["without a subject", () => (hostile.claims = { ...hostile.claims, sub: undefined })],
    ["of a subject with NUL", () => (hostile.claims = { ...hostile.claims, sub: "a\0b" })],
    ["with half a character as its subject", () => (hostile.claims = { ...hostile.claims, sub: "\ud800" })],
    ["without a signature", () => (hostile.signing = "none")],
    ["signed with another key", () => (hostile.signing = "other key")],
    ["signed with the client's secret", () => (hostile.signing = "client secret")],
    ["with the userinfo of somebody else", () => (hostile.userinfo = { sub: "victim", email: "victim@example.com" })],
    ["without an ID token", () => say("/token", () => Response.json({ access_token: "x", token_type: "Bearer" }))],
    ["that is no JSON", () => say("/token", () => new Response("<html>"))],
    ["that is an error of the server", () => say("/token", () => new Response("<html>", { status: 500 }))],
    [
      "because the client is unknown",
      () => say("/token", () => Response.json({ error: "invalid_client" }, { status: 401 })),
    ],
    ["with a redirect to elsewhere", () => say("/token", () => Response.redirect("http://127.0.0.1:1/", 307))],
  ];
  const say = (path: string, reply: () => Response) => (hostile.answers = { [path]: reply });

  test.each(lies)("%s", async (_, lie) => {
    newcomer();
    const before = await people();
    const browser = browserOf();
    const { state } = await begun(browser);
    lie();
    expect(said(await browser.visit(callback(state, answer)))).toEqual(notValid);
    expect(await browser.me()).toBeUndefined();
    expect(await people()).toBe(before);
    // Nor does the state work for a better answer.
    hostile.honest();
    expect(said(await browser.visit(callback(state)))).toEqual(expired);
  });

  test("with an error of the provider's, which is not shown as HTML", async () => {
    const browser = browserOf();
    const { state } = await begun(browser);
    const error = "<script>alert(1)</script>";
    const end = await browser.visit(callback(state, { code: undefined, error, error_description: error }));
    expect(said(end)).toEqual([403, expect.stringContaining("did not sign you in")]);
    expect(end.text).not.toContain("<script>");
  });
});

describe("a provider that does not answer, or lies about itself, gives a page", () => {
  const wellKnown = "/.well-known/openid-configuration";
  const documents: [what: string, status: number, lie: () => void][] = [
    ["of another issuer", 502, () => (hostile.discovery = { issuer: "https://honest.example" })],
    ["without an authorization endpoint", 502, () => (hostile.discovery = { authorization_endpoint: undefined })],
    ["with a script as an address", 502, () => (hostile.discovery = { authorization_endpoint: "javascript:alert(1)" })],
    [
      "of two megabytes",
      502,
      () => (hostile.answers = { [wellKnown]: () => Response.json({ x: "x".repeat(2_000_000) }) }),
    ],
    ["elsewhere", 502, () => (hostile.answers = { [wellKnown]: () => Response.redirect("http://169.254.169.254/") })],
    ["that is HTML", 502, () => (hostile.answers = { [wellKnown]: () => new Response("<html>") })],
  ];

  test.each(documents)("with a document %s", async (_, status, lie) => {
    await forgotten();
    lie();
    const visit = await browserOf().visit(`${app.origin}/login/with/hostile`);
    expect([visit.status, visit.headers.get("location")]).toEqual([status, null]);
    expect(visit.text).toContain('role="alert"');
    const tried = await app.post(`/account/sign_in_providers/${provider}/test.json`);
    expect([tried.status, Object.keys(tried.json)]).toEqual([422, ["issuer"]]);
  });

  test("with a token endpoint inside our own network", async () => {
    await forgotten();
    hostile.discovery = { token_endpoint: "http://169.254.169.254/latest" };
    const browser = browserOf();
    const { state } = await begun(browser);
    expect(said(await browser.visit(callback(state)))).toEqual([502, expect.stringContaining("does not answer")]);
    await forgotten();
  });

  test("when nobody is there", async () => {
    expect((await change({ issuer: "http://127.0.0.1:1", client_secret: "x" })).status).toBe(200);
    const visit = await browserOf().visit(`${app.origin}/login/with/hostile`);
    expect(said(visit)).toEqual([502, expect.stringContaining("does not answer")]);
    const tried = await app.post(`/account/sign_in_providers/${provider}/test.json`);
    expect(tried.json).toEqual({ issuer: [expect.stringContaining("does not answer")] });
    const { issuer, clientSecret: client_secret } = hostile;
    expect((await change({ issuer, client_secret })).status).toBe(200);
    const again = await app.post(`/account/sign_in_providers/${provider}/test.json`);
    expect(again.json).toMatchObject({ issuer, keys: 1, warnings: [expect.stringContaining("profile")] });
  });
});

describe("a way in", () => {
  test.each([
    "//evil.example",
    "https://evil.example/",
    "/\\evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
    "/.//evil",
  ])("leads nowhere else by return_to=%j", async (to) => {
    newcomer();
    const browser = browserOf();
    const { state } = await begun(browser, `/login/with/hostile?return_to=${encodeURIComponent(to)}`);
    const end = await browser.visit(callback(state));
    expect([end.status, end.headers.get("location")]).toEqual([303, "/"]);
  });

  test("does not replace the session of somebody who is signed in, unless they prove themselves again", async () => {
    newcomer();
    const browser = browserOf();
    const { state } = await begun(browser);
    await browser.visit(callback(state));
    const stays = await browser.visit(`${app.origin}/login/with/hostile?return_to=%2Fx`);
    expect([stays.status, stays.headers.get("location")]).toEqual([303, "/x"]);
    const again = await begun(browser, "/login/with/hostile?again=1");
    expect(again.sent).toMatchObject({ prompt: "login" });
    const login = await browser.visit(`${app.origin}/login?again=1`);
    expect(login.text).toContain('href="/login/with/hostile?return_to=%2F&amp;again=1"');
  });

  test("makes one person of somebody who comes from two browsers at once", async () => {
    const sub = newcomer();
    const browsers = [browserOf(), browserOf(), browserOf()];
    const begins = await Promise.all(browsers.map(async (browser) => ({ browser, ...(await begun(browser)) })));
    hostile.nonce = "";
    const ends = begins.map(({ browser, state, sent }) => browser.visit(callback(state, { code: sent["nonce"] })));
    expect((await Promise.all(ends)).map(({ status }) => status)).toEqual([303, 303, 303]);
    expect(await app.sql`select 1 from users where login = ${`${sub}@example.com`}`).toHaveLength(1);
  });

  test("takes nothing that is said of one address for another one", async () => {
    const sub = newcomer();
    const browser = browserOf();
    hostile.claims = { sub, email: "victim@example.com" };
    hostile.userinfo = { sub, email: `${sub}@example.com`, email_verified: true };
    const first = await begun(browser);
    expect(said(await browser.visit(callback(first.state)))).toEqual([
      403,
      expect.stringContaining("has not verified"),
    ]);
    hostile.claims = { sub, email: `${sub}@example.com` };
    const second = await begun(browser);
    await browser.visit(callback(second.state));
    expect(await browser.me()).toMatchObject({ login: `${sub}@example.com` });
  });

  test("is not there in another account, or when it is switched off", async () => {
    const elsewhere = await other.get("/login/with/hostile", { token: null });
    expect(elsewhere.status).toBe(404);
    expect((await other.get("/login", { token: null })).text).not.toContain("Hostile");
    await change({ active: false });
    expect((await browserOf().visit(`${app.origin}/login/with/hostile`)).status).toBe(404);
    expect((await browserOf().visit(`${app.origin}/login`)).text).not.toContain("/login/with/hostile");
    await change({ active: true });
  });

  test("can be begun sixty times a minute from one address", async () => {
    const headers = { "x-forwarded-for": "192.0.2.9" };
    const tries = Array.from({ length: 61 }, () => app.get("/login/with/none", { token: null, headers }));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  });
});

describe("signing out", () => {
  beforeAll(() => change({ sign_out_there: true }));
  const signedIn = async (sid?: string) => {
    const sub = newcomer();
    hostile.claims = { ...hostile.claims, ...(sid && { sid }) };
    const browser = browserOf();
    const { state } = await begun(browser);
    expect((await browser.visit(callback(state))).status).toBe(303);
    return { sub, browser };
  };
  const out = (browser: Browser) => browser.visit(`${app.origin}/logout`, {});
  const nextOf = ({ headers }: Visit) => URL.parse(headers.get("refresh")?.slice("0; url=".length) ?? "");
  const told = (logout_token: string, code = "hostile") =>
    browserOf().visit(`${app.origin}/login/with/${code}/backchannel_logout`, { logout_token });

  test("sends the ID token to its own issuer, with the account's own address to come back to", async () => {
    const { browser } = await signedIn();
    const evil = { post_logout_redirect_uri: "https://evil.example/", return_to: "//evil.example" };
    const next = nextOf(await browser.visit(`${app.origin}/logout?return_to=//evil.example`, evil));
    expect(next?.href).toStartWith(`${hostile.issuer}/logout?a=b&`);
    expect(next?.searchParams.get("post_logout_redirect_uri")).toBe(`${app.origin}/login/with/hostile/signed_out`);
    expect(next?.href).not.toContain("evil");
    // The provider becomes another one: nothing of the old one is sent there.
    const before = await signedIn();
    const { issuer, clientSecret: client_secret } = hostile;
    const another = `${issuer}/another`;
    const document = { issuer: another, authorization_endpoint: another, end_session_endpoint: another };
    hostile.answers = { "/another/.well-known/openid-configuration": () => Response.json(document) };
    await change({ issuer: another, client_secret });
    const end = await out(before.browser);
    await change({ issuer, client_secret });
    expect([end.status, end.headers.get("location")]).toEqual([303, "/login"]);
  });

  test.each(["javascript:alert(1)", "data:text/html,x", "//evil.example/", "", 7])(
    "leads nowhere by an end_session_endpoint %j",
    async (end_session_endpoint) => {
      const { browser } = await signedIn();
      await forgotten();
      hostile.discovery = { end_session_endpoint };
      const end = await out(browser);
      expect([end.status, end.headers.get("location"), end.headers.get("refresh")]).toEqual([303, "/login", null]);
      expect(await browser.me()).toBeUndefined();
      await forgotten();
    },
  );

  test("is not done by another site, nor by whoever opens an address", async () => {
    const { browser } = await signedIn();
    const cookie = `core_session=${browser.cookie("core_session")}`;
    const evil = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    const post = (headers: Record<string, string>) =>
      app.request("POST", "/logout", undefined, { token: null, headers });
    // Browsers send no cookie with such a form, and must not lose it by the answer.
    const without = await post(evil);
    expect([without.status, without.headers.get("location"), without.headers.get("set-cookie")]).toEqual([
      303,
      "/logout",
      null,
    ]);
    expect((await post({ ...evil, cookie })).headers.get("set-cookie")).toBeNull();
    for (const path of ["/logout", "/login/with/hostile/signed_out", "/login/with/hostile/backchannel_logout"])
      await browser.visit(`${app.origin}${path}`);
    expect(await browser.me()).toBeDefined();
  });

  test("gives a state that works once, for signing out alone, at its provider", async () => {
    const { browser } = await signedIn();
    const state = nextOf(await out(browser))?.searchParams.get("state") ?? "";
    expect(JSON.stringify(await app.sql`select * from sign_in_attempts`)).not.toContain(state);
    const back = async (value: string, code = "hostile") =>
      (await browser.visit(`${app.origin}/login/with/${code}/signed_out?state=${value}`)).status;
    expect(said(await browser.visit(callback(state)))).toEqual(expired);
    const { state: signIn } = await begun(browser);
    const tries = [
      await back(state, "second"),
      await back(signIn),
      await back(state),
      await back(state),
      await back(""),
    ];
    expect(tries).toEqual([303, 303, 200, 303, 303]);
    newcomer();
    expect((await browser.visit(callback(signIn))).status).toBe(303);
    expect(await back(state)).toBe(303);
  });

  const past = () => Math.floor(Date.now() / 1000) - 3600;
  const lies: [what: string, claims: () => object, signing?: Hostile["signing"], typ?: string][] = [
    ["without a signature", () => ({}), "none"],
    ["signed with another key", () => ({}), "other key"],
    ["signed with the client's secret", () => ({}), "client secret"],
    ["of another issuer, as after a mix-up", () => ({ iss: "https://honest.example" })],
    ["for another client", () => ({ aud: "another client" })],
    ["that is an ID token", () => ({ events: undefined, nonce: "n" }), "right", "JWT"],
    ["with a nonce", () => ({ nonce: "n" })],
    ["of another kind", () => ({}), "right", "at+jwt"],
    ["about another event", () => ({ events: { "https://honest.example/event": {} } })],
    ["with events that are no object", () => ({ events: "http://schemas.openid.net/event/backchannel-logout" })],
    ["that has expired", () => ({ exp: past() })],
    ["that is old", () => ({ iat: past() })],
    ["of the future", () => ({ iat: past() + 7200 })],
    ["without a time", () => ({ iat: undefined })],
    ["without a jti", () => ({ jti: undefined })],
    ["of nobody", () => ({ sub: undefined })],
    ["of a subject with NUL", () => ({ sub: "a\0b" })],
    ["of a sid that is no text", () => ({ sid: 7 })],
  ];

  test("by a logout token ends the sessions that it names, once, and nothing by a token that is not right", async () => {
    const { sub, browser } = await signedIn("sid-1");
    for (const [what, claims, signing = "right", typ] of lies) {
      hostile.signing = signing;
      const answer = await told(await hostile.logoutToken({ sub, ...claims() }, typ));
      expect([what, answer.status, answer.text]).toEqual([what, 400, expect.stringContaining("is not valid")]);
    }
    for (const text of ["x", "a.b.c", "eyJ.eyJ."]) expect((await told(text)).status).toBe(400);
    const elsewhere = { "content-type": "application/x-www-form-urlencoded" };
    const right = await hostile.logoutToken({ sub, sid: "sid-1" });
    const raw = new URLSearchParams({ logout_token: right }).toString();
    const path = "/login/with/hostile/backchannel_logout";
    expect((await other.request("POST", path, undefined, { token: null, headers: elsewhere, raw })).status).toBe(404);
    // Of another person, of another session, of another provider, of nobody here.
    for (const [claims, code] of [
      [{ sub: "victim" }, "hostile"],
      [{ sub, sid: "sid-2" }, "hostile"],
      [{ sub, sid: "sid-1" }, "second"],
    ] as const)
      expect((await told(await hostile.logoutToken(claims), code)).status).toBe(200);
    expect(await browser.me()).toBeDefined();
    expect((await told(right)).status).toBe(200);
    expect(await browser.me()).toBeUndefined();
    const { browser: again, sub: whose } = await signedIn();
    const token = await hostile.logoutToken({ sub: whose });
    const answers = await Promise.all([told(token), told(token), told(token)]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await again.me()).toBeUndefined();
  });

  test("at the provider ends a sign-in that still owes its second factor", async () => {
    const policy = (second_factor: string | null) =>
      app.patch("/account/settings.json", { settings: { second_factor } });
    const sub = newcomer();
    const browser = browserOf();
    await policy("everybody");
    const { state } = await begun(browser);
    expect((await browser.visit(callback(state))).status).toBe(200);
    await policy(null);
    expect(await app.sql`select 1 from sign_in_origins where subject = ${sub}`).toHaveLength(1);
    expect((await told(await hostile.logoutToken({ sub }))).status).toBe(200);
    expect(await app.sql`select 1 from sign_in_origins where subject = ${sub}`).toHaveLength(0);
  });
});

describe("an invitation", () => {
  const accept = "/login/with/hostile?invitation=1";
  /** Somebody is invited, and a browser has followed the link; at the provider sits somebody with that address. */
  const invited = async (fields: object = {}) => {
    const sub = newcomer();
    const email = `${sub}@example.com`;
    const made = await app.post("/account/invitations.json", { invitation: { email, ...fields } });
    expect(made.status).toBe(201);
    const link = await linkTo(email);
    const browser = browserOf();
    expect((await browser.follow(link)).status).toBe(200);
    return { sub, email, link, browser, id: Number(made.json.id), userId: Number(made.json.user_id) };
  };
  const linkTo = async (email: string) => {
    const mail = await eventually(() => receiver.mails.findLast(({ to }) => to === email), `a mail to ${email}`);
    return /https?:\/\/\S+token=\S+/.exec(mail.text)?.[0] ?? "";
  };
  const taken = async (browser: Browser) => {
    const { state } = await begun(browser, accept);
    return browser.visit(callback(state));
  };
  const identities = async (userId: number) =>
    (await app.sql`select 1 from sign_in_identities where user_id = ${userId}`).length;
  const ended = [404, expect.stringContaining("was used, has expired, or was replaced")];
  const elsewhere = [403, expect.stringContaining("another e-mail address")];

  test("is taken up by nobody but who has the invited address, verified, and stays for them", async () => {
    const { sub, email, userId, browser } = await invited();
    const right = { sub, email, email_verified: true };
    for (const [claims, refusal] of [
      [{ ...right, email_verified: false }, [403, expect.stringContaining("has not verified")]],
      [{ ...right, email_verified: undefined }, [403, expect.stringContaining("has not verified")]],
      [{ ...right, email: undefined }, [403, expect.stringContaining("has not verified")]],
      [{ ...right, email: "victim@example.com" }, elsewhere],
      [{ ...right, email: `${email}.evil.example` }, elsewhere],
    ] as const) {
      hostile.claims = claims;
      expect(said(await taken(browser))).toEqual([...refusal]);
    }
    await change({ email_domains: ["elsewhere.example"] });
    expect((await browser.visit(`${app.origin}/set_password`)).text).not.toContain("hostile?invitation");
    hostile.claims = right;
    expect(said(await taken(browser))).toEqual([403, expect.stringContaining("of this domain")]);
    await change({ email_domains: ["*"] });
    const before = (await app.get(`/account/users/${userId}.json`)).json;
    expect([before.active, await identities(userId)]).toEqual([false, 0]);
    expect(await browser.me()).toBeUndefined();
    expect((await taken(browser)).status).toBe(303);
    expect((await browser.me())?.id).toBe(userId);
  });

  test("of somebody else, by a link that is sent to a victim, leaves the victim who they are", async () => {
    const victim = newcomer();
    const browser = browserOf();
    const { state } = await begun(browser);
    await browser.visit(callback(state));
    const before = await browser.me();
    const claims = hostile.claims;
    const { link, userId } = await invited();
    hostile.claims = claims;
    hostile.userinfo = { sub: victim };
    await browser.follow(link);
    expect(said(await taken(browser))).toEqual(elsewhere);
    expect(await browser.me()).toEqual(before);
    // Nor with the invited address: this subject is somebody here already.
    const sub = victim;
    const { email, browser: second } = await invited();
    hostile.claims = { sub, email, email_verified: true };
    hostile.userinfo = { sub };
    expect(said(await taken(second))).toEqual([403, expect.stringContaining("is linked")]);
    expect([await identities(userId), await second.me()]).toEqual([0, undefined]);
  });

  test("is taken up once: a link, a state or several browsers at once do not do it again", async () => {
    const { sub, email, link, browser, userId } = await invited();
    const browsers = [browser, browserOf(), browserOf()];
    for (const one of browsers.slice(1)) await one.follow(link);
    const begins = [];
    for (const one of browsers) begins.push({ one, ...(await begun(one, accept)) });
    hostile.nonce = "";
    const ends = begins.map(({ one, state, sent }) => one.visit(callback(state, { code: sent["nonce"] })));
    const answers = await Promise.all(ends);
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(2);
    expect(await identities(userId)).toBe(1);
    for (const { one, state } of begins) expect(said(await one.visit(callback(state)))).toEqual(expired);
    // Another subject with the same address, by the same link.
    hostile.claims = { sub: `${sub}-2`, email, email_verified: true };
    const late = browserOf();
    await late.follow(link);
    expect(said(await late.visit(`${app.origin}${accept}`))).toEqual(ended);
  });

  test("that was withdrawn, sent anew or has expired on the way opens nothing", async () => {
    const ways: ((id: number) => Promise<unknown>)[] = [
      (id) => app.delete(`/account/invitations/${id}.json`),
      (id) => app.post(`/account/invitations/${id}/resend.json`),
      (id) => app.sql`update password_links set expires_at = now() where id = ${id}`,
      async (id) => {
        const { user_id } = (await app.get(`/account/invitations/${id}.json`)).json;
        await app.patch(`/account/users/${user_id}.json`, { user: { active: true } });
      },
    ];
    for (const way of ways) {
      const { id, browser } = await invited();
      const { state } = await begun(browser, accept);
      await way(id);
      expect(said(await browser.visit(callback(state)))).toEqual(ended);
      expect(await browser.me()).toBeUndefined();
    }
  });

  test("takes over nobody who is here already, and a link for a new password is none", async () => {
    const sub = newcomer();
    const email = `${sub}@example.com`;
    const { id, login } = await person(app, { email, password: "the old password" });
    const asks = [
      () => app.post("/account/invitations.json", { invitation: { user_id: id } }),
      () => app.post("/account/password_resets.json", { login }, { token: null }),
    ];
    for (const ask of asks) {
      receiver.mails.length = 0;
      expect((await ask()).status).toBeWithin(200, 300);
      const browser = browserOf();
      const page = await browser.follow(await linkTo(email));
      expect([page.status, page.text]).toEqual([200, expect.not.stringContaining("invitation=1")]);
      expect(said(await browser.visit(`${app.origin}${accept}`))).toEqual(ended);
    }
    expect(await identities(id)).toBe(0);
  });

  test("of another account, or without its link, opens nothing", async () => {
    const { browser } = await invited();
    expect(said(await browserOf().visit(`${app.origin}${accept}`))).toEqual(ended);
    const cookie = `core_password_link=${browser.cookie("core_password_link")}`;
    const sign_in_provider = { name: "Hostile", code: "hostile", issuer: hostile.issuer, client_id: clientId };
    const made = await other.post("/account/sign_in_providers.json", { sign_in_provider });
    const there = await other.get(accept, { token: null, headers: { cookie } });
    expect(there.status).toBe(404);
    await other.delete(`/account/sign_in_providers/${made.json.id}.json`);
  });
});
