/** Passkeys through the API: registered, used, attacked, removed. tests/browser/sign-in.test.ts uses them in a browser. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually, otherAccount, person, startTestApp, type Answer, type TestApp } from "../../../tests/harness.ts";
import { tokens } from "../../tokens/api.ts";
import { base64url, softwareAuthenticator } from "../../../tests/fixtures/software-authenticator.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { BASE_URL: "https://core.example.com", TRUSTED_PROXIES: "127.0.0.1" } });
});
afterAll(() => app.stop());
beforeEach(async () => void (await app.sql`delete from sign_in_failures`));

const origin = "https://core.example.com";
const rpId = "core.example.com";
const password = "a password of theirs";
const mine = "/account/me/passkeys";
const at = "/account/session/passkey";

/** As a browser at the account's own address. */
let address = 0;
const here = (cookie = "") => ({
  token: null,
  // Each its own, because challenges are limited per address.
  headers: {
    cookie,
    origin,
    host: rpId,
    "x-forwarded-proto": "https",
    "x-forwarded-for": `203.0.113.${++address % 250}`,
  },
});
const cookieOf = ({ headers }: Answer) => (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
const handleOf = (userId: number) => base64url(new TextEncoder().encode(`1:${userId}`));
type Told = Parameters<Awaited<ReturnType<typeof softwareAuthenticator>>["sign"]>[0];

async function signedIn(login: string): Promise<string> {
  const answer = await app.post("/account/session.json", { login, password }, here());
  expect(answer.status).toBe(201);
  return cookieOf(answer);
}

async function begin(cookie: string): Promise<string> {
  const { status, json } = await app.post(`${mine}/options.json`, undefined, here(cookie));
  expect(status).toBe(200);
  return json.challenge;
}
const register = (cookie: string, passkey: object) =>
  app.post(`${mine}.json`, { passkey: { name: "Laptop", ...passkey } }, here(cookie));

/** Somebody with a session and a passkey. */
async function withPasskey() {
  const { id, login } = await person(app, { password });
  const cookie = await signedIn(login);
  const device = await softwareAuthenticator(handleOf(id));
  const made = await register(cookie, await device.register({ origin, rpId, challenge: await begin(cookie) }));
  expect(made.status).toBe(201);
  return { id, login, cookie, device, passkey: made.json };
}

async function challenge(): Promise<string> {
  const { status, json } = await app.post(`${at}/options.json`, {}, here());
  expect(status).toBe(200);
  return json.challenge;
}
type Device = Awaited<ReturnType<typeof softwareAuthenticator>>;
async function signIn(device: Device, told: Partial<Told> = {}): Promise<Answer> {
  const answer = { origin, rpId, challenge: told.challenge ?? (await challenge()), ...told };
  return app.post(`${at}.json`, await device.sign(answer), here());
}

describe("a passkey", () => {
  test("is registered with a name, and shows recovery codes the first time", async () => {
    const { id, login, cookie, device, passkey } = await withPasskey();
    expect(passkey).toMatchObject({ name: "Laptop", last_used_at: null });
    expect(passkey.recovery_codes).toHaveLength(10);
    const options = (await app.post(`${mine}/options.json`, undefined, here(cookie))).json;
    expect(options).toMatchObject({
      rp: { id: rpId, name: "Main" },
      user: { id: handleOf(id), name: login },
      attestation: "none",
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      excludeCredentials: [{ id: device.id, type: "public-key" }],
    });
    const second = await softwareAuthenticator(handleOf(id));
    const more = await register(cookie, {
      ...(await second.register({ origin, rpId, challenge: options.challenge })),
      name: "Phone",
    });
    expect([more.status, more.json.recovery_codes]).toEqual([201, []]);
    // The log notes the answer that had codes, and not this one.
    const noted = async () => (await app.get("/core/activity.json?action=secret%20shown")).json;
    expect((await app.post("/account/api_tokens.json", { api_token: { name: "Later" } })).status).toBe(201);
    await eventually(async () => (await noted()).some(({ name }: { name: string }) => name.includes("api_tokens")));
    const ofPasskeys = (await noted()).filter(({ name }: { name: string }) => name.endsWith("/passkeys.json"));
    expect(ofPasskeys).toHaveLength(1);
    const { json } = await app.get("/account/me/factors.json", here(cookie));
    expect(json).toMatchObject({ passkeys: [{ name: "Laptop" }, { name: "Phone" }], recovery_codes: 10 });
  });

  test("signs in without login and password, and counts as a fresh sign-in", async () => {
    const { id, device, cookie } = await withPasskey();
    const answer = await signIn(device, { counter: 1 });
    expect([answer.status, answer.json.id]).toEqual([201, id]);
    expect(answer.headers.get("set-cookie")).toContain("HttpOnly; SameSite=Lax");
    const { json } = await app.get("/account/me/factors.json", here(cookieOf(answer)));
    expect(json).toMatchObject({ fresh: true, passkeys: [{ last_used_at: expect.any(String) }] });
    expect((await app.get("/account/me.json", here(cookie))).status).toBe(200);
  });

  test("makes the password alone not enough, in no way that there is to sign in", async () => {
    const { login, passkey } = await withPasskey();
    const answer = await app.post("/account/session.json", { login, password }, here());
    expect([answer.status, answer.json.factors]).toEqual([401, ["passkey", "recovery_code"]]);
    const guess = (code: string) =>
      app.post("/account/session/second_factor.json", { pending: answer.json.pending, code }, here());
    expect((await guess("123456")).status).toBe(401);
    const setup = await app.post("/account/session/second_factor/setup.json", { pending: answer.json.pending }, here());
    expect(setup.status).toBe(401);
    const form = await app.request("POST", "/login", undefined, {
      ...here(),
      raw: new URLSearchParams({ login, password, return_to: "/a?b=1&c=2" }).toString(),
      headers: { ...here().headers, "content-type": "application/x-www-form-urlencoded" },
    });
    expect([form.status, form.headers.get("set-cookie")]).toEqual([200, null]);
    expect(form.text).toContain('href="/login/passkey?return_to=%2Fa%3Fb%3D1%26c%3D2"');
    expect((await guess(passkey.recovery_codes[0])).status).toBe(201);
  });

  test("is renamed and removed by its person alone, with a fresh sign-in", async () => {
    const one = await withPasskey();
    const two = await withPasskey();
    const path = `${mine}/${one.passkey.id}.json`;
    const rename = (cookie: string) => app.patch(path, { passkey: { name: "Old" } }, here(cookie));
    expect((await rename(two.cookie)).status).toBe(404);
    expect((await app.delete(path, here(two.cookie))).status).toBe(404);
    expect((await rename(one.cookie)).json).toMatchObject({ name: "Old" });
    expect((await app.patch(path, { passkey: { name: " " } }, here(one.cookie))).status).toBe(422);
    await app.sql`update api_tokens set created_at = now() - interval '11 minutes' where user_id = ${one.id}`;
    for (const answer of [
      await app.delete(path, here(one.cookie)),
      await app.post(`${mine}/options.json`, undefined, here(one.cookie)),
      await register(one.cookie, await one.device.register({ origin, rpId, challenge: "x" })),
    ])
      expect(answer.status).toBe(403);
    const fresh = cookieOf(await signIn(one.device));
    expect((await app.delete(path, here(fresh))).status).toBe(204);
    expect((await signIn(one.device)).status).toBe(401);
    // The recovery codes of nothing are gone, and the password is enough again.
    expect((await app.get("/account/me/factors.json", here(fresh))).json).toMatchObject({
      passkeys: [],
      recovery_codes: 0,
    });
    await signedIn(one.login);
  });

  test("is not removed if it is the last way in", async () => {
    const { id, cookie, passkey, device } = await withPasskey();
    await app.sql`update users set password_hash = null where id = ${id}`;
    const remove = (which: number) => app.delete(`${mine}/${which}.json`, here(cookie));
    expect([(await remove(passkey.id)).status, (await remove(passkey.id)).json]).toEqual([
      422,
      { base: ["this is your last way in: set a password first"] },
    ]);
    const second = await softwareAuthenticator(handleOf(id));
    const more = await register(cookie, await second.register({ origin, rpId, challenge: await begin(cookie) }));
    const answers = await Promise.all([remove(passkey.id), remove(more.json.id)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 422]);
    const works = [await signIn(device), await signIn(second)].map(({ status }) => status);
    expect(works.toSorted((a, b) => a - b)).toEqual([201, 401]);
  });

  test("goes with all factors that an administrator removes", async () => {
    const { id, login, device } = await withPasskey();
    expect((await app.delete(`/account/users/${id}/factors.json`)).status).toBe(204);
    expect((await signIn(device)).status).toBe(401);
    await signedIn(login);
  });
});

describe("a sign-in is refused", () => {
  const lies: readonly (readonly [string, Partial<Told>])[] = [
    ["made for another site", { origin: "https://evil.com" }],
    ["made for another port of this host", { origin: `${origin}:8443` }],
    ["made for this host over http", { origin: "http://core.example.com" }],
    ["of another relying party", { rpId: "evil.com" }],
    ["whose person was not verified", { verified: false }],
    ["that is a registration", { type: "webauthn.create" }],
    ["with a challenge made up", { challenge: base64url(new Uint8Array(32)) }],
  ];
  test.each(lies)("%s", async (_, told) => {
    const { device } = await withPasskey();
    expect((await signIn(device, told)).status).toBe(401);
    expect((await signIn(device)).status).toBe(201);
  });

  test("with a challenge that was used, has expired, or was made to register", async () => {
    const { cookie, device } = await withPasskey();
    const once = await challenge();
    const sent = await device.sign({ origin, rpId, challenge: once });
    const answers = await Promise.all([1, 2].map(() => app.post(`${at}.json`, sent, here())));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 401]);
    const old = await challenge();
    await app.sql`update passkey_challenges set expires_at = now() - interval '1 second' where challenge = ${old}`;
    for (const wrong of [once, old, await begin(cookie)])
      expect((await signIn(device, { challenge: wrong })).status).toBe(401);
  });

  test("with a counter that does not grow: somebody has a copy", async () => {
    const { device } = await withPasskey();
    expect((await signIn(device, { counter: 5 })).status).toBe(201);
    for (const counter of [5, 4, 0]) expect((await signIn(device, { counter })).status).toBe(401);
    expect((await signIn(device, { counter: 6 })).status).toBe(201);
  });

  test("with another's key, an unknown one, or another person's name on it", async () => {
    const [one, two] = [await withPasskey(), await withPasskey()];
    const stranger = await softwareAuthenticator(handleOf(one.id));
    expect((await signIn(stranger)).status).toBe(401);
    const forged = await stranger.sign({ origin, rpId, challenge: await challenge() });
    expect((await app.post(`${at}.json`, { ...forged, id: one.device.id }, here())).status).toBe(401);
    const renamed = await one.device.sign({ origin, rpId, challenge: await challenge() });
    const asTwo = { ...renamed, response: { ...renamed.response, userHandle: handleOf(two.id) } };
    expect((await app.post(`${at}.json`, asTwo, here())).status).toBe(401);
  });

  test("of somebody switched off, from another site's page, and in another account", async () => {
    const { id, device } = await withPasskey();
    const sent = await device.sign({ origin, rpId, challenge: await challenge() });
    const evil = { ...here(), headers: { ...here().headers, origin: "https://evil.com" } };
    expect((await app.post(`${at}.json`, sent, evil)).status).toBe(403);
    expect((await app.post(`${at}/options.json`, {}, evil)).status).toBe(403);
    const other = await otherAccount(app);
    expect((await other.post(`${at}.json`, sent, { token: null })).status).not.toBe(201);
    await app.patch(`/account/users/${id}.json`, { user: { active: false } });
    expect((await app.post(`${at}.json`, sent, here())).status).toBe(401);
  });

  test.each([
    [{}],
    [{ id: "x" }],
    [{ id: "x", response: {} }],
    [{ id: "<", response: { clientDataJSON: "e", authenticatorData: "e", signature: "e" } }],
  ])("that is no passkey's: %j", async (body) => expect((await app.post(`${at}.json`, body, here())).status).toBe(422));

  test("that is noise", async () => {
    const noise = { id: "abcd", response: { clientDataJSON: "abcd", authenticatorData: "abcd", signature: "abcd" } };
    expect((await app.post(`${at}.json`, noise, here())).status).toBe(401);
    const { device } = await withPasskey();
    const sent = await device.sign({ origin, rpId, challenge: await challenge() });
    const cut = { ...sent, response: { ...sent.response, authenticatorData: "abcd" } };
    expect((await app.post(`${at}.json`, cut, here())).status).toBe(401);
  });
});

describe("a registration is refused", () => {
  const lies: readonly (readonly [string, Partial<Told>])[] = [
    ["made for another site", { origin: "https://evil.com" }],
    ["of another relying party", { rpId: "evil.com" }],
    ["whose person was not verified", { verified: false }],
    ["that is a sign-in", { type: "webauthn.get" }],
    ["with a challenge made up", { challenge: "AAAA" }],
  ];
  test.each(lies)("%s", async (_, told) => {
    const { id, login } = await person(app, { password });
    const cookie = await signedIn(login);
    const device = await softwareAuthenticator(handleOf(id));
    const asked = { origin, rpId, challenge: await begin(cookie), ...told };
    const answer = await register(cookie, await device.register(asked));
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["response"]]);
    await signedIn(login);
  });

  test("with another person's challenge, that of a sign-in, or one that was used", async () => {
    const [one, two] = [await withPasskey(), await withPasskey()];
    const used = await begin(one.cookie);
    const device = await softwareAuthenticator(handleOf(one.id));
    const sent = await device.register({ origin, rpId, challenge: used });
    expect((await register(one.cookie, sent)).status).toBe(201);
    for (const wrong of [used, await begin(two.cookie), await challenge()]) {
      const more = await softwareAuthenticator(handleOf(one.id));
      expect((await register(one.cookie, await more.register({ origin, rpId, challenge: wrong }))).status).toBe(422);
    }
  });

  test("of a passkey that is registered already, and beyond twenty", async () => {
    const { id, cookie, device } = await withPasskey();
    const again = await device.register({ origin, rpId, challenge: await begin(cookie) });
    expect((await register(cookie, again)).status).toBe(422);
    await app.sql`
      insert into passkeys (account_id, user_id, name, credential_id, public_key, counter)
      select 1, ${id}, 'x', ${`x${id}`} || n, 'x', 0 from generate_series(1, 19) n`;
    const full = await app.post(`${mine}/options.json`, undefined, here(cookie));
    expect([full.status, Object.keys(full.json)]).toEqual([422, ["base"]]);
  });

  test("by a token, which is no session", async () => {
    const { id } = await person(app, { password });
    const token = (await app.service(tokens).issue({ accountId: 1, userId: id }))?.token ?? "";
    expect((await app.post(`${mine}/options.json`, undefined, { token })).status).toBe(403);
  });
});

test("challenges for strangers are limited per address", async () => {
  const from = { token: null, headers: { "x-forwarded-for": "198.51.100.77" } };
  const answers = await Promise.all(Array.from({ length: 61 }, () => app.post(`${at}/options.json`, {}, from)));
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(1);
});

test("the page has one script, by its hash, and the way back", async () => {
  const page = await app.get("/login/passkey?return_to=//evil.com", { token: null });
  const policy = page.headers.get("content-security-policy") ?? "";
  const script = /<script>([^]*)<\/script>/.exec(page.text)?.[1] ?? "";
  const hash = new Bun.CryptoHasher("sha256").update(script).digest("base64");
  expect(policy).toContain(`script-src 'sha256-${hash}'; connect-src 'self'`);
  expect(policy).not.toContain("unsafe");
  expect(page.text).toContain('data-return-to="/"');
  expect((await app.get("/login", { token: null })).text).toContain('href="/login/passkey?return_to=%2F"');
});

test("where the account has no host's name nobody can register one", async () => {
  const bare = await startTestApp({ env: { BASE_URL: "http://10.0.0.1:3000" } });
  const answer = await bare.post(`${at}/options.json`, {}, { token: null });
  expect([answer.status, answer.json.base?.[0]]).toEqual([422, expect.stringContaining("set BASE_URL")]);
  await bare.stop();
});
