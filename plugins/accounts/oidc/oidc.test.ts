/** Signing in by `oidc-provider`, a certified provider. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually, person, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { codeAt, stepSeconds } from "../factors/totp.ts";
import { tokens } from "../../tokens/api.ts";
import { startMailReceiver, type MailReceiver } from "../../../tests/fixtures/mail-receiver.ts";
import { startBrowser, type Browser, type Visit } from "../../../tests/fixtures/oidc-browser.ts";
import { startPeer, type Peer } from "../../../tests/fixtures/oidc-peer.ts";

let app: TestApp;
let peer: Peer;
let provider: string;
let elsewhere: string;
const password = "the old password";
let receiver: MailReceiver;
beforeAll(async () => {
  receiver = await startMailReceiver();
  const mail = { SMTP_URL: `smtp://127.0.0.1:${receiver.port}`, MAIL_FROM: "office@example.com" };
  app = await startTestApp({ env: { TRUSTED_PROXIES: "127.0.0.1", ...mail } });
  peer = await startPeer([`${app.origin}/login/with/peer/callback`]);
  const { issuer, clientId: client_id, clientSecret: client_secret } = peer;
  const sign_in_provider = { name: "Peer", issuer, client_id, client_secret };
  const made = await app.post("/account/sign_in_providers.json", { sign_in_provider });
  expect(made.status).toBe(201);
  expect(made.json).toMatchObject({ code: "peer", has_client_secret: true });
  expect(made.json.redirect_uri).toBe(`${app.origin}/login/with/peer/callback`);
  expect(made.text).not.toContain(client_secret);
  provider = made.json.id;
  const another = { name: "Other", issuer: "https://elsewhere.example", client_id, active: false };
  elsewhere = (await app.post("/account/sign_in_providers.json", { sign_in_provider: another })).json.id;
});
const standing = {
  sign_out_there: false,
  create_people: true,
  email_domains: ["example.com"],
  link_by_email: false,
  trust_second_factor: false,
  default_role: "user",
  role_claim: null,
  roles: {},
  team_claim: null,
  teams: {},
  active: true,
};
const rule = async (fields: object) => {
  const answer = await app.patch(`/account/sign_in_providers/${provider}.json`, { sign_in_provider: fields });
  expect(answer.text).toContain('"id"');
};
beforeEach(() => rule(standing));
afterAll(async () => {
  await app.stop();
  peer.stop();
  receiver.stop();
});

let serial = 0;
/** Somebody new at the provider, who sits before the browser from now on. */
function somebody(claims: Record<string, unknown> = {}) {
  const sub = `person-${++serial}`;
  peer.who = { sub, email: `${sub}@example.com`, email_verified: true, name: `Person ${serial}`, ...claims };
  return { sub, email: `${sub}@example.com` };
}
/** Each browser has an address of its own. */
const browserOf = (headers: Record<string, string> = {}) =>
  startBrowser(app, { "x-forwarded-for": `198.51.100.${(serial % 250) + 1}`, ...headers });
const start = "/login/with/peer?return_to=%2Faccount%2Fme.json";
const signIn = (browser: Browser): Promise<Visit> => browser.follow(start);

describe("signing in by a provider", () => {
  test("begins with a button on the sign-in page, and goes on to where somebody wanted to go", async () => {
    const { email } = somebody();
    const browser = browserOf({ "accept-language": "de" });
    const login = await browser.visit(`${app.origin}/login?return_to=%2Faccount%2Fme.json`);
    expect(login.text).toContain(
      '<a class="button" href="/login/with/peer?return_to=%2Faccount%2Fme.json">Mit Peer anmelden</a>',
    );
    const end = await signIn(browser);
    expect([end.status, end.url]).toEqual([200, `${app.origin}/account/me.json`]);
    expect(JSON.parse(end.text)).toMatchObject({ login: email, email, name: `Person ${serial}`, role: "user" });
    const next = await browser.follow("/login?return_to=%2Faccount%2Fme.json");
    expect(next.url).toBe(`${app.origin}/account/me.json`);
  });

  test("finds the same person by the subject, whatever their e-mail address is later", async () => {
    const { sub } = somebody();
    const browser = browserOf();
    await signIn(browser);
    const first = await browser.me();
    peer.who = { sub, email: "another@elsewhere.example", email_verified: false };
    const again = browserOf();
    await signIn(again);
    expect((await again.me())?.id).toBe(first?.id ?? 0);
    const identities = await app.get(`/account/sign_in_providers/${provider}/identities.json`);
    expect(identities.json).toContainEqual(
      expect.objectContaining({ user_id: first?.id, subject: sub, issuer: peer.issuer }),
    );
  });

  test("asks for the second factor that somebody has here, unless the provider is trusted with it", async () => {
    somebody();
    const browser = browserOf();
    await signIn(browser);
    const session = browser.cookie("core_session") ?? "";
    const headers = { cookie: `core_session=${session}`, origin: app.origin };
    const { setup, secret } = (await app.post("/account/me/totp.json", {}, { token: null, headers })).json;
    const code = await codeAt(base32(secret), Math.floor(Date.now() / 1000 / stepSeconds));
    const confirmed = await app.post("/account/me/totp/confirm.json", { setup, code }, { token: null, headers });
    expect(confirmed.status).toBe(201);
    const second = browserOf();
    const asked = await signIn(second);
    expect([asked.status, asked.text]).toEqual([200, expect.stringContaining('action="/login/second_factor"')]);
    expect(await second.me()).toBeUndefined();
    const pending = /name="pending" value="([^"]{43})"/.exec(asked.text)?.[1] ?? "";
    const recovery = confirmed.json.recovery_codes[0];
    const done = await app.request("POST", "/login/second_factor", undefined, {
      token: null,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      raw: new URLSearchParams({ pending, code: recovery, return_to: "/account/me.json" }).toString(),
    });
    expect([done.status, done.headers.get("location")]).toEqual([303, "/account/me.json"]);
    await rule({ trust_second_factor: true });
    const trusted = browserOf();
    await signIn(trusted);
    expect(await trusted.me()).toBeDefined();
  });

  test("has a second factor set up first, where the account requires one", async () => {
    const policy = async (second_factor: string | null) =>
      expect((await app.patch("/account/settings.json", { settings: { second_factor } })).status).toBe(200);
    somebody();
    const browser = browserOf();
    await policy("everybody");
    const asked = await signIn(browser);
    await policy(null);
    expect([asked.status, asked.text]).toEqual([200, expect.stringContaining("Set up a second factor")]);
    expect(await browser.me()).toBeUndefined();
  });

  test("is in the log of activity, and so is a refusal", async () => {
    const { email } = somebody();
    await signIn(browserOf());
    await signIn(browserOf());
    somebody({ email_verified: false });
    await signIn(browserOf());
    const notes = async () => (await app.get("/core/activity.json?limit=200")).json;
    const isThere = async () => JSON.stringify(await notes()).includes("sign-in refused");
    await eventually(isThere, "the note of the refusal");
    const log = await notes();
    expect(log).toContainEqual(
      expect.objectContaining({ model: "Account::SignInIdentity", name: email, action: "update" }),
    );
    expect(log).toContainEqual(
      expect.objectContaining({ action: "sign-in refused", model: "Account::SignInProvider", record_id: provider }),
    );
    expect(JSON.stringify(log)).not.toContain("a secret of the peer");
  });
});

test("an invitation is taken up with the provider, and gives the role and the teams that it names", async () => {
  await rule({ create_people: false });
  const { email } = somebody({ name: "Whatever" });
  const team = Number((await app.post("/account/teams.json", { team: { name: "Invited" } })).json.id);
  const invitation = { email: email.toUpperCase(), name: "Zoë", role: "manager", team_ids: [team] };
  const invited = await app.post("/account/invitations.json", { invitation });
  expect(invited.status).toBe(201);
  const mail = await eventually(() => receiver.mails.find(({ to }) => to.toLowerCase() === email), "the invitation");
  const browser = browserOf();
  const page = await browser.follow(/https?:\/\/\S+token=\S+/.exec(mail.text)?.[0] ?? "");
  const button = '<a class="button" href="/login/with/peer?invitation=1">Accept the invitation with Peer</a>';
  expect([page.status, page.text]).toEqual([200, expect.stringContaining(button)]);
  expect((await browser.follow("/login/with/peer?invitation=1&return_to=%2Faccount%2Fme.json")).status).toBe(200);
  const zoe = {
    id: invited.json.user_id,
    login: email.toUpperCase(),
    role: "manager",
    team_ids: [team],
    name: "Zoë",
  };
  expect(await browser.me()).toMatchObject(zoe);
  expect((await app.get("/account/invitations.json")).json).toEqual([]);
  // From now on they sign in by the provider; the link is used.
  const later = browserOf();
  await signIn(later);
  expect((await later.me())?.id).toBe(zoe.id);
  expect((await browser.visit(`${app.origin}/set_password`)).status).toBe(404);
  expect((await browser.visit(`${app.origin}/login/with/peer?invitation=1`)).status).toBe(404);
});

describe("signing out", () => {
  const out = (browser: Browser) => browser.visit(`${app.origin}/logout`, {});
  /** Where the page leads by itself. */
  const nextOf = ({ headers }: Visit) => /^0; url=(.{1,9000})$/.exec(headers.get("refresh") ?? "")?.[1] ?? "";
  /** Says yes to the provider's question whether to sign out. */
  const signOutThere = async (browser: Browser, address: string) => {
    const { text } = await browser.visit(address);
    const xsrf = /name="xsrf" value="([^"]{1,100})"/.exec(text)?.[1] ?? "";
    return browser.visit(`${peer.issuer}/session/end/confirm`, { xsrf, logout: "yes" });
  };

  test("ends the session here alone, unless the provider is to be told", async () => {
    somebody();
    const browser = browserOf();
    await signIn(browser);
    const end = await out(browser);
    expect([end.status, end.headers.get("location"), end.headers.get("refresh")]).toEqual([303, "/login", null]);
    expect(await browser.me()).toBeUndefined();
  });

  test("leads to the provider, which sends people back", async () => {
    await rule({ sign_out_there: true });
    somebody();
    const browser = browserOf({ "accept-language": "de" });
    await signIn(browser);
    const [kept] = await app.sql`select id_token, sid from sign_in_origins order by created_at desc limit 1`;
    expect(kept).toEqual({ idToken: expect.not.stringMatching(/^eyJ/), sid: expect.any(String) });
    const end = await out(browser);
    expect([end.status, end.text]).toEqual([200, expect.stringContaining("Auch bei Peer abmelden")]);
    expect(end.headers.get("referrer-policy")).toBe("no-referrer");
    expect(await browser.me()).toBeUndefined();
    const next = new URL(nextOf(end));
    expect(next.origin + next.pathname).toBe(`${peer.issuer}/session/end`);
    const { state, id_token_hint, ...sent } = Object.fromEntries(next.searchParams);
    const back = `${app.origin}/login/with/peer/signed_out`;
    expect(sent).toEqual({ client_id: peer.clientId, post_logout_redirect_uri: back, ui_locales: "de" });
    expect([state?.length, id_token_hint]).toEqual([43, expect.stringMatching(/^eyJ/)]);
    const there = await signOutThere(browser, next.href);
    expect(there.headers.get("location")).toBe(`${back}?state=${state}`);
    const last = await browser.visit(there.headers.get("location") ?? "");
    expect([last.status, last.text]).toEqual([200, expect.stringContaining("Sie sind hier und bei Peer abgemeldet.")]);
  });

  test("through the API names the address, also after a second factor here", async () => {
    await rule({ sign_out_there: true });
    somebody();
    const browser = browserOf();
    const setting = (second_factor: string | null) =>
      app.patch("/account/settings.json", { settings: { second_factor } });
    await setting("everybody");
    const asked = await signIn(browser);
    await setting(null);
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]{1,2000})"`).exec(asked.text)?.[1] ?? "";
    const secret = /<code>([A-Z2-7 ]{16,80})<\/code>/.exec(asked.text)?.[1]?.replaceAll(" ", "") ?? "";
    const code = await codeAt(base32(secret), Math.floor(Date.now() / 1000 / stepSeconds));
    const sent = { pending: field("pending"), setup: field("setup"), code, return_to: "/" };
    expect((await browser.visit(`${app.origin}/login/second_factor`, sent)).status).toBe(200);
    const headers = { cookie: `core_session=${browser.cookie("core_session")}`, origin: app.origin };
    const ended = await app.delete("/account/session.json", { token: null, headers });
    expect([ended.status, ended.json]).toEqual([200, { next: expect.stringContaining("id_token_hint=eyJ") }]);
    // Nobody was shown a secret by that: the log says that they have signed out.
    expect((await app.post("/account/api_tokens.json", { api_token: { name: "Later" } })).status).toBe(201);
    const noted = await eventually(async () => {
      const { json } = await app.get("/core/activity.json?action=secret%20shown");
      return json.some(({ name }: { name: string }) => name.includes("api_tokens")) && json;
    });
    expect(JSON.stringify(noted)).not.toContain("DELETE /account/session");
    expect(await browser.me()).toBeUndefined();
  });

  test("at the provider ends the session here that it began, and no other", async () => {
    somebody();
    const [one, other] = [browserOf(), browserOf()];
    await signIn(one);
    await signIn(other);
    await signOutThere(one, `${peer.issuer}/session/end`);
    expect(await one.me()).toBeUndefined();
    expect(await other.me()).toBeDefined();
  });

  test("works while the provider is away", async () => {
    somebody();
    const browser = browserOf();
    await signIn(browser);
    await app.sql`update sign_in_providers set sign_out_there = true, issuer = 'http://127.0.0.1:1', version = version + 1`;
    await app.sql`update sign_in_origins set issuer = 'http://127.0.0.1:1'`;
    const end = await out(browser);
    await app.sql`update sign_in_providers set issuer = ${peer.issuer}, version = version + 1`;
    expect([end.status, end.headers.get("location")]).toEqual([303, "/login"]);
    expect(await browser.me()).toBeUndefined();
  });
});

describe("who comes in", () => {
  const refused = async (said: string, headers: Record<string, string> = {}) => {
    const browser = browserOf(headers);
    const end = await signIn(browser);
    const alert = /role="alert">([^<]{1,300})</.exec(end.text)?.[1];
    expect([end.status, alert]).toEqual([403, expect.stringContaining(said)]);
    expect(await browser.me()).toBeUndefined();
  };

  test("is nobody new without the rule, from another domain, or without a verified address", async () => {
    somebody({ email: "somebody@elsewhere.example" });
    await refused("of this domain");
    somebody({ email: "somebody@example.com.evil.example" });
    await refused("of this domain");
    for (const email_verified of [false, undefined, "false", "yes"]) {
      somebody({ email_verified });
      await refused("has not verified your e-mail address");
    }
    somebody({ email: undefined });
    await refused("nicht bestätigt", { "accept-language": "de-AT" });
    somebody();
    await rule({ create_people: false });
    await refused("Poproś administratora", { "accept-language": "pl" });
    expect(await app.sql`select 1 from users where email like '%evil%' or email like '%elsewhere%'`).toHaveLength(0);
  });

  test("is not whoever is here already with that address, unless the rule says so", async () => {
    const { email } = somebody();
    const here = await person(app, { email });
    await refused("Sign in with your password");
    await rule({ link_by_email: true });
    const browser = browserOf();
    await signIn(browser);
    expect((await browser.me())?.id).toBe(here.id);
    // The address is given to somebody else at the provider.
    somebody({ email: email.toUpperCase() });
    await refused("Somebody else of this provider");
    somebody({ email, email_verified: false });
    await refused("has not verified");
  });

  test("is linked to nobody by an address that is not confirmed, which keeps nobody out", async () => {
    await rule({ link_by_email: true, role_claim: "groups", roles: { boss: "manager" } });
    const { email } = somebody({ groups: ["boss"] });
    const here = await person(app, { password });
    const session = await app.service(tokens).startSession({ accountId: 1, userId: here.id, seconds: 3600 });
    const headers = { cookie: `core_session=${session?.token}`, origin: app.origin };
    const asked = await app.patch("/account/me.json", { user: { email } }, { token: null, headers });
    expect(asked.json).toMatchObject({ email: null, pending_email: email });
    const browser = browserOf();
    await signIn(browser);
    expect(await browser.me()).toMatchObject({ login: email, role: "manager" });
    expect((await browser.me())?.id).not.toBe(here.id);
    expect((await app.get("/account/me.json", { token: here.token })).json.role).toBe("user");
  });

  test("who was here already has nothing left by which they came in before", async () => {
    await rule({ link_by_email: true, role_claim: "groups", roles: { boss: "manager" } });
    const { email } = somebody({ groups: ["boss"] });
    const here = await person(app, { email, password });
    const { id: userId } = here;
    const issue = async (kind?: "web_token") =>
      (await app.service(tokens).issue({ accountId: 1, userId, ...(kind && { kind }) }))?.token ?? "";
    const session = await app.service(tokens).startSession({ accountId: 1, userId, seconds: 3600 });
    const link = (await app.post(`/account/users/${userId}/invitation.json`, { invitation: {} })).json.url;
    const held = [here.token, await issue(), await issue("web_token"), session?.token ?? ""];
    const works = async () =>
      Promise.all(held.map(async (token) => (await app.get("/account/me.json", { token })).status));
    expect(await works()).toEqual([200, 200, 200, 200]);
    await app.sql`
      insert into sign_in_identities (account_id, provider_id, user_id, issuer, subject, email)
      select 1, id, ${userId}, 'https://elsewhere.example', 'x', 'another@example.com' from sign_in_providers where id = ${elsewhere}`;
    const browser = browserOf();
    await signIn(browser);
    expect(await browser.me()).toMatchObject({ id: userId, role: "manager" });
    expect(await works()).toEqual([401, 401, 401, 401]);
    const theirs = `The login ${here.login} is theirs from now on.`;
    const isTold = () => receiver.mails.some(({ to, text }) => to === email && text.includes(theirs));
    await eventually(isTold, "the mail to whose login it was");
    for (const login of [here.login, email])
      expect((await app.post("/account/session.json", { login, password }, { token: null })).status).toBe(401);
    expect((await app.get(link.slice(app.origin.length), { token: null })).status).toBe(401);
    expect(await app.sql`select subject from sign_in_identities where user_id = ${userId}`).toHaveLength(1);
    // Their person can see them, and switch them on again.
    const seen = await app.sql`select 1 from api_tokens where user_id = ${userId} and purpose is null and not active`;
    expect(seen).toHaveLength(3);
    await signIn(browserOf());
    expect((await browser.me())?.id).toBe(userId);
  });

  test("who signs in by a passkey is linked by a provider that stands for both factors, and the passkey ends", async () => {
    await rule({ link_by_email: true });
    const { email } = somebody();
    const here = await person(app, { email, password });
    const passkeys = () => app.sql`select 1 from passkeys where user_id = ${here.id}`;
    await app.sql`
      insert into passkeys (account_id, user_id, credential_id, public_key, counter, name)
      values (1, ${here.id}, 'held', 'x', 0, 'Held')`;
    await refused("signs in by a passkey");
    expect([(await passkeys()).length, (await app.get("/account/me.json", { token: here.token })).status]).toEqual([
      1, 200,
    ]);
    await rule({ trust_second_factor: true });
    const browser = browserOf();
    await signIn(browser);
    expect([(await browser.me())?.id, (await passkeys()).length]).toEqual([here.id, 0]);
  });

  test("is nobody whose login only looks like the address, or who is switched off", async () => {
    await rule({ link_by_email: true });
    const { email } = somebody();
    await person(app, { login: email });
    await refused("Sign in with your password");
    const other = somebody();
    const here = await person(app, { email: other.email });
    await app.patch(`/account/users/${here.id}.json`, { user: { active: false } });
    await refused("switched off");
    expect(await app.sql`select 1 from sign_in_identities where user_id = ${here.id}`).toHaveLength(0);
  });

  test("has the role and the teams that the claims give, at each sign-in", async () => {
    const team = async (name: string) => Number((await app.post("/account/teams.json", { team: { name } })).json.id);
    const [red, blue, own] = [await team("Red"), await team("Blue"), await team("Own")];
    const roles = { boss: "manager", all: "guest" };
    await rule({ role_claim: "groups", roles, default_role: null, team_claim: "groups", teams: { red, blue } });
    const { sub, email } = somebody({ groups: ["all", "boss", "red"] });
    const browser = browserOf();
    await signIn(browser);
    const made = await browser.me();
    expect(made).toMatchObject({ role: "manager", team_ids: [red] });
    await app.patch(`/account/users/${made?.id}.json`, { user: { team_ids: [red, own] } });
    peer.who = { sub, email, groups: ["all", "blue", "unknown"] };
    await signIn(browserOf());
    expect(await browser.me()).toMatchObject({ role: "guest", team_ids: [blue, own].toSorted((a, b) => a - b) });
    peer.who = { sub, email, groups: ["unknown"] };
    await refused("gives you no role");
  });

  test("stays the last administrator whatever the claims say", async () => {
    await rule({ link_by_email: true, role_claim: "groups", roles: { boss: "admin" } });
    const { email } = somebody({ groups: ["nobody"] });
    const [{ id } = { id: 0 }] = await app.sql<{ id: number }[]>`select id from users where login = 'admin'`;
    await app.sql`update users set email = ${email} where id = ${id}`;
    const browser = browserOf();
    await signIn(browser);
    expect(await browser.me()).toMatchObject({ id, role: "admin" });
    // The other tests go on with the administrator's token.
    await app.sql`update api_tokens set active = true where user_id = ${id}`;
  });

  test("is told when the provider says no", async () => {
    somebody();
    peer.cancels = true;
    await refused("did not sign you in");
    peer.cancels = false;
  });
});

function base32(text: string): Uint8Array<ArrayBuffer> {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = Array.from(text)
    .map((letter) => letters.indexOf(letter).toString(2).padStart(5, "0"))
    .join("");
  return Uint8Array.from({ length: Math.floor(bits.length / 8) }, (_, at) =>
    Number.parseInt(bits.slice(at * 8, at * 8 + 8), 2),
  );
}
