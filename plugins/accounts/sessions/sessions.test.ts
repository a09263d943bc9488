import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminPassword, adminToken, otherAccount, person, startTestApp } from "../../../tests/harness.ts";
import type { Answer, RequestOptions, TestApp } from "../../../tests/harness.ts";
import { accounts } from "../api.ts";
import { sha256 } from "../../../runtime/base/hash.ts";
import { addFailure, pruneFailures, secondsToWait } from "./store.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const path = "/account/session.json";
const me = "/account/me.json";
const password = "a password of theirs";
const anonymous = { token: null };
const signIn = (login: unknown, word: unknown = password, headers: Record<string, string> = {}) =>
  app.post(path, { login, password: word }, { token: null, headers });
const cookieOf = (answer: { headers: Headers }) => (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
const withCookie = (cookie: string, headers: Record<string, string> = {}) => ({
  token: null,
  headers: { cookie, ...headers },
});
const plainHash = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("base64url");
/** Failures of other tests come from this address as well. */
const forgive = () => app.sql`delete from sign_in_failures`;

describe("signing in", () => {
  test("by login or e-mail, letter case aside, gives the person and a cookie that works", async () => {
    const email = `${crypto.randomUUID()}@example.com`;
    const { id, login } = await person(app, { password, email });
    for (const name of [login, login.toUpperCase(), email, email.toUpperCase()]) {
      const answer = await signIn(name);
      expect(answer.status).toBe(201);
      expect(answer.json).toMatchObject({ id, login, email, role: "user", team_ids: [] });
      expect(answer.text).not.toMatch(/argon2|core_/);
      const cookie = answer.headers.get("set-cookie") ?? "";
      expect(cookie).toMatch(/^core_session=core_\w{42}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=12095\d\d$/);
      expect((await app.get(me, withCookie(cookieOf(answer)))).json.id).toBe(id);
    }
  });

  test("is refused in the same words for a wrong password, an unknown login and somebody inactive", async () => {
    const { id, login } = await person(app, { password });
    const inactive = await person(app, { password });
    await app.patch(`/account/users/${inactive.id}.json`, { user: { active: false } });
    const without = await person(app);
    const answers = [
      await signIn(login, "wrong"),
      await signIn("nobody-at-all"),
      await signIn(inactive.login),
      await signIn(without.login, "x"),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.json]).toEqual([401, { error: "wrong login or password" }]);
      expect(answer.headers.get("set-cookie")).toBeNull();
    }
    expect(id).toBeGreaterThan(0);
    await forgive();
  });

  test.each([
    ["login", {}],
    ["login", { password }],
    ["login", { login: "", password }],
    ["login", { login: 5, password }],
    ["login", { login: ["admin"], password }],
    ["login", { login: { $ne: "" }, password }],
    ["login", { login: "a\0", password }],
    ["login", { login: "x".repeat(256), password }],
    ["password", { login: "admin" }],
    ["password", { login: "admin", password: null }],
    ["password", { login: "admin", password: true }],
    ["password", { login: "admin", password: "x".repeat(10_000) }],
  ])("is refused with a wrong %s", async (field, body) => {
    const answer = await app.post(path, body, anonymous);
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.json)).toContain(field);
  });

  test("is refused as no JSON object", async () => {
    expect((await app.post(path, [], anonymous)).status).toBe(400);
    const form = {
      raw: "login=admin&password=x",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      token: null,
    };
    expect((await app.request("POST", path, undefined, form)).status).toBe(415);
  });

  test("is refused from another site's page, where the browser says so", async () => {
    for (const headers of [
      { origin: "https://evil.com" },
      { "sec-fetch-site": "cross-site" },
      { origin: "null" },
      { "sec-fetch-site": "same-site" },
    ])
      expect((await signIn("admin", adminPassword, headers as Record<string, string>)).status).toBe(403);
    expect((await signIn("admin", adminPassword, { origin: app.origin, "sec-fetch-site": "same-origin" })).status).toBe(
      201,
    );
  });

  test("again ends the session that the request carried", async () => {
    const { login } = await person(app, { password });
    const first = cookieOf(await signIn(login));
    const second = cookieOf(await signIn(login, password, { cookie: first, origin: app.origin }));
    expect((await app.get(me, withCookie(first))).status).toBe(401);
    expect((await app.get(me, withCookie(second))).status).toBe(200);
  });

  const forms = { "content-type": "application/x-www-form-urlencoded" };
  const ways: [string, (body: Record<string, string>, options: RequestOptions) => Promise<Answer>, number][] = [
    ["by the API", (body, options) => app.post(path, body, options), 201],
    [
      "by the form",
      (body, options) =>
        app.request("POST", "/login", undefined, {
          ...options,
          raw: new URLSearchParams(body).toString(),
          headers: { ...forms, ...options.headers },
        }),
      303,
    ],
  ];
  test.each(ways)(
    "%s with an Idempotency-Key starts one session, and keeps neither it nor the password",
    async (...way) => {
      const [, send, done] = way;
      const key = crypto.randomUUID();
      const { id, login, token } = await person(app, { password });
      const headers = { "idempotency-key": key };
      const body = { login, password };
      const sessions = () => app.sql`select 1 from api_tokens where user_id = ${id} and purpose = 'session'`;
      expect((await send({ login, password: "wrong" }, { headers, token: null })).status).toBe(401);
      const first = await send(body, { headers, token: null });
      expect(first.status).toBe(done);
      // Whoever else is asking: the key is the person's.
      for (const as of [null, token]) expect((await send(body, { headers, token: as })).status).toBe(409);
      expect((await send({ login, password: "wrong" }, { headers, token: null })).status).toBe(401);
      expect(await sessions()).toHaveLength(1);
      expect((await app.get(me, withCookie(cookieOf(first)))).json.id).toBe(id);

      const kept = await app.sql<{ row: string; fingerprint: string }[]>`
      select k::text as row, fingerprint from idempotency_keys k where key = ${key}`;
      expect(kept).toHaveLength(1);
      expect(kept[0]?.row).not.toContain(cookieOf(first).split("=")[1] ?? "");
      expect(kept[0]?.fingerprint).not.toBe(plainHash(`POST /account/session ${JSON.stringify(body)}`));
      expect(kept[0]?.fingerprint).not.toBe(plainHash(`POST /login ${JSON.stringify(body)}`));
      await forgive();
    },
  );

  test("with the same Idempotency-Key many times at once starts one session", async () => {
    const { id, login } = await person(app, { password });
    const headers = { "idempotency-key": crypto.randomUUID() };
    const answers = await Promise.all(Array.from({ length: 6 }, () => signIn(login, password, headers)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, 409, 409, 409, 409, 409]);
    expect(await app.sql`select 1 from api_tokens where user_id = ${id} and purpose = 'session'`).toHaveLength(1);
  });

  test("with one's own Idempotency-Key is apart from somebody else's of the same text", async () => {
    const headers = { "idempotency-key": "the same text" };
    for (const { login } of [await person(app, { password }), await person(app, { password })])
      expect((await signIn(login, password, headers)).status).toBe(201);
  });

  test("writes neither password nor token into the log", async () => {
    const { login } = await person(app, { password });
    const answer = await signIn(login);
    await signIn(login, "a wrong and secret word");
    const logged = app.logged.join("");
    expect(logged).not.toContain("secret word");
    expect(logged).not.toContain(cookieOf(answer).slice(-20));
    await forgive();
  });
});

describe("a session", () => {
  const start = async (options: Parameters<typeof person>[1] = {}) => {
    const made = await person(app, { password, role: "manager", ...options });
    return { ...made, cookie: cookieOf(await signIn(made.login)) };
  };

  test("changes something from the same origin only", async () => {
    const { cookie } = await start();
    const body = { api_token: { name: "made by a page" } };
    const hosts = { port: new URL(app.origin).host };
    const refused = [
      {},
      { origin: "https://evil.com" },
      { origin: "null" },
      { origin: `https://${hosts.port}.evil.com` },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
      { "sec-fetch-site": "same-origin", origin: "https://evil.com" },
      { "sec-fetch-site": "cross-site", origin: app.origin },
      { referer: app.origin },
    ] as Record<string, string>[];
    for (const headers of refused) {
      const answer = await app.post("/account/api_tokens.json", body, withCookie(cookie, headers));
      expect([JSON.stringify(headers), answer.status]).toEqual([JSON.stringify(headers), 403]);
    }
    const allowed = [{ origin: app.origin }, { "sec-fetch-site": "same-origin" }] as Record<string, string>[];
    for (const headers of allowed)
      expect((await app.post("/account/api_tokens.json", body, withCookie(cookie, headers))).status).toBe(201);
    expect((await app.get("/account/api_tokens.json", withCookie(cookie))).status).toBe(200);
  });

  test("does nothing for a page that was opened for somebody else", async () => {
    const { cookie, id, token } = await start();
    const as = (who: string) => ({ origin: app.origin, "x-signed-in-as": who });
    const body = { user: { name: "Changed" } };
    for (const who of [`${id + 1}`, "", `${id}x`, `0${id}`]) {
      const refused = await app.patch(me, body, withCookie(cookie, as(who)));
      expect([refused.status, refused.json.error]).toEqual([401, "somebody else is signed in in this browser"]);
      expect((await app.get(me, withCookie(cookie, as(who)))).status).toBe(401);
    }
    expect((await app.get(me, withCookie(cookie))).json.name).not.toBe("Changed");
    expect((await app.patch(me, body, withCookie(cookie, as(`${id}`)))).json.name).toBe("Changed");
    // A token is a person's own, whatever the header says.
    expect((await app.get(me, { token, headers: as("0") })).status).toBe(200);
  });

  test("does not stand in for a bearer token that does not work", async () => {
    const { cookie } = await start();
    expect((await app.get(me, withCookie(cookie, { authorization: "Bearer wrong" }))).status).toBe(401);
    expect((await app.get(me, withCookie(cookie, { authorization: "Basic eDp5" }))).status).toBe(401);
  });

  test("is ended by signing out, and is over", async () => {
    const { cookie, token } = await start();
    const from = { origin: app.origin };
    expect((await app.delete(path, withCookie(cookie))).status).toBe(403);
    const out = await app.delete(path, withCookie(cookie, from));
    expect([out.status, out.text]).toEqual([204, ""]);
    expect(out.headers.get("set-cookie")).toBe("core_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
    expect((await app.get(me, withCookie(cookie))).status).toBe(401);
    expect((await app.delete(path, withCookie(cookie, from))).status).toBe(401);
    expect((await app.delete(path, anonymous)).status).toBe(401);
    expect((await app.get(me, { token })).status).toBe(200);
  });

  test("is what ends, not the token of a program that signs out", async () => {
    const { token } = await start();
    expect((await app.delete(path, { token })).status).toBe(204);
    expect((await app.get(me, { token })).status).toBe(200);
  });

  test("ends with the person, and with their being switched off", async () => {
    const [gone, off] = [await start(), await start()];
    await app.delete(`/account/users/${gone.id}.json`);
    await app.patch(`/account/users/${off.id}.json`, { user: { active: false } });
    for (const { cookie } of [gone, off]) expect((await app.get(me, withCookie(cookie))).status).toBe(401);
  });

  test("works beside other cookies", async () => {
    const { cookie } = await start();
    expect((await app.get(me, withCookie(`a=b; ${cookie}; core_session_x=1`))).status).toBe(200);
  });

  test("is Secure where the account's address is https", async () => {
    const secure = await otherAccount(app);
    await app.sql`update accounts set base_url = ${`https://${secure.host}`} where id = ${secure.id}`;
    const fresh = await startTestApp({ target: app.target });
    const theirs = await person(fresh, { of: secure, password });
    const options = { token: null, headers: { host: secure.host } };
    const answer = await fresh.post(path, { login: theirs.login, password }, options);
    expect(answer.headers.get("set-cookie")).toEndWith("; Secure");
    await fresh.stop();
  });
});

describe("failures", () => {
  test("of a login are slowed down after five, in every process, and only that login", async () => {
    await forgive();
    const second = await startTestApp({ target: app.target });
    const { login } = await person(app, { password });
    for (let at = 0; at < 5; at++) expect((await signIn(login, `wrong ${at}`)).status).toBe(401);
    for (const server of [app, second]) {
      const blocked = await server.post(path, { login: login.toUpperCase(), password }, anonymous);
      expect(blocked.status).toBe(429);
      expect(Number(blocked.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      expect(blocked.json.error).toContain("try again");
    }
    const somebodyElse = await person(app, { password });
    expect((await signIn(somebodyElse.login)).status).toBe(201);
    await second.stop();
  });

  test("of a login that nobody has are slowed down as well", async () => {
    await forgive();
    for (let at = 0; at < 5; at++) expect((await signIn("no-such-login")).status).toBe(401);
    expect((await signIn("no-such-login")).status).toBe(429);
  });

  test("do not slip through all at once", async () => {
    await forgive();
    const { login } = await person(app, { password });
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => signIn(login, `guess ${at}`)));
    expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(6);
    expect(answers.every(({ status }) => status === 401 || status === 429)).toBe(true);
  });

  test("are forgotten by signing in, or after a quarter of an hour", async () => {
    await forgive();
    const { login } = await person(app, { password });
    const fail = async (times: number) => {
      for (let at = 0; at < times; at++) expect((await signIn(login, "wrong")).status).toBe(401);
    };
    await fail(4);
    expect((await signIn(login)).status).toBe(201);
    await fail(5);
    expect((await signIn(login)).status).toBe(429);
    await app.sql`update sign_in_failures set last_at = now() - interval '16 minutes', blocked_until = now() - interval '15 minutes'`;
    await fail(4);
    expect((await signIn(login)).status).toBe(201);
  });

  test("wait twice as long each time, a minute at most", async () => {
    await forgive();
    const waits: number[] = [];
    for (let at = 0; at < 14; at++) {
      await addFailure(app.sql, 1, "test", { free: 5, maxSeconds: 60 });
      waits.push(Math.ceil(await secondsToWait(app.sql, 1, ["test"])));
    }
    expect(waits).toEqual([0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
    expect(await secondsToWait(app.sql, 1, ["another"])).toBe(0);
    const other = await otherAccount(app);
    expect(await secondsToWait(app.sql, other.id, ["test"])).toBe(0);
    await app.sql`update sign_in_failures set last_at = now() - interval '2 hours'`;
    await pruneFailures(app.sql);
    expect(await app.sql`select 1 from sign_in_failures`).toHaveLength(0);
  });

  test("from elsewhere lock nobody out: they are counted by login and address, an IPv6 address by its /64", async () => {
    await forgive();
    const proxied = await startTestApp({ target: app.target, env: { TRUSTED_PROXIES: "127.0.0.1" } });
    const { login } = await person(app, { password });
    const from = async (ip: string, word: string) =>
      (await proxied.post(path, { login, password: word }, { token: null, headers: { "x-forwarded-for": ip } })).status;
    const guesses: number[] = [];
    for (let at = 0; at < 10; at++) guesses.push(await from(`2001:db8:1:2::${at}`, `guess ${at}`));
    expect(guesses.slice(0, 6)).toEqual([401, 401, 401, 401, 401, 429]);
    expect(await from("2001:db8:1:2:ffff::1", password)).toBe(429);
    expect(await from("2001:db8:1:3::1", password)).toBe(201);
    expect(await from("203.0.113.7", password)).toBe(201);
    // From many addresses it is slow: a wait of a few seconds, for whoever asks.
    const account = await app.service(accounts).defaultAccount();
    for (let at = 0; at < 120; at++)
      await addFailure(app.sql, account.id, `login:${sha256(login)}`, { free: 100, maxSeconds: 5 });
    const slowed = await proxied.post(
      path,
      { login, password },
      { token: null, headers: { "x-forwarded-for": "203.0.113.8" } },
    );
    expect([slowed.status, Number(slowed.headers.get("retry-after")) <= 5]).toEqual([429, true]);
    await proxied.stop();
  });

  test("that a clock which was ahead has counted lock nobody out", async () => {
    await forgive();
    const { login } = await person(app, { password });
    for (let at = 0; at < 5; at++) await signIn(login, "wrong");
    expect((await signIn(login)).status).toBe(429);
    await app.sql`
      update sign_in_failures set last_at = last_at + interval '1 day', blocked_until = blocked_until + interval '1 day'`;
    expect((await signIn(login, "wrong")).status).toBe(401);
    expect((await signIn(login)).status).toBe(201);
  });

  test("from one address with many logins are slowed down", async () => {
    await forgive();
    const account = await app.service(accounts).defaultAccount();
    for (let at = 0; at < 2; at++)
      await addFailure(app.sql, account.id, "address:127.0.0.1", { free: 2, maxSeconds: 60 });
    expect((await signIn("admin", adminPassword)).status).toBe(429);
    await forgive();
    expect((await signIn("admin", adminPassword)).status).toBe(201);
  });
});

describe("auto_login", () => {
  const open = (token: string, query = "", headers: Record<string, string> = {}) =>
    app.get(`/account/auto_login?token=${encodeURIComponent(token)}${query}`, { token: null, headers });
  const webToken = async (fields: Record<string, unknown> = {}, token = adminToken) =>
    (await app.post("/account/api_tokens.json", { api_token: { kind: "web_token", ...fields } }, { token })).json;

  test("starts a session of the token's person and goes to the path", async () => {
    const { id, token } = await person(app, { role: "manager" });
    const made = await webToken({}, token);
    const answer = await open(made.token, "&return_to=%2Fa%2Fapp%3Fx%3D1");
    expect([answer.status, answer.headers.get("location"), answer.text]).toEqual([303, "/a/app?x=1", ""]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    const cookie = cookieOf(answer);
    expect(cookie).not.toContain(made.token);
    expect((await app.get(me, withCookie(cookie))).json.id).toBe(id);
    await app.delete(path, withCookie(cookie, { origin: app.origin }));
    expect((await app.get(me, withCookie(cookie))).status).toBe(401);
    expect((await open(made.token)).status).toBe(401);
    expect((await app.get(me, { token: made.token })).json.id).toBe(id); // the web_token itself goes on
  });

  test("gives a session no more than the token has, nor longer", async () => {
    const expires_at = new Date(Date.now() + 100_000).toISOString();
    const { token } = await webToken({ privileges: ["api_tokens"], expires_at });
    const answer = await open(token);
    const age = Number(/Max-Age=(\d+)/.exec(answer.headers.get("set-cookie") ?? "")?.[1]);
    expect(age).toBeLessThanOrEqual(100);
    expect((await app.get(me, withCookie(cookieOf(answer)))).json.effective_privileges).toEqual(["api_tokens"]);
  });

  test("refuses every token but a working web_token", async () => {
    const ordinary = (await app.post("/account/api_tokens.json", { api_token: {} })).json.token;
    const inactive = (await webToken({ active: false })).token;
    const expired = await webToken();
    await app.patch(`/account/api_tokens/${expired.id}.json`, { api_token: { expires_at: "2020-01-01" } });
    const off = await person(app);
    const ofOff = (await webToken({}, off.token)).token;
    await app.patch(`/account/users/${off.id}.json`, { user: { active: false } });
    for (const token of [ordinary, inactive, expired.token, ofOff, adminToken, "", "wrong", "x".repeat(9000)]) {
      const answer = await open(token);
      expect([answer.status, answer.headers.get("set-cookie")]).toEqual([401, null]);
    }
    expect((await app.get("/account/auto_login", anonymous)).status).toBe(401);
  });

  test("opens one session, however many ask for it at once, and none for who only looks", async () => {
    const { token } = await webToken();
    const looked = await app.request("HEAD", `/account/auto_login?token=${token}`, undefined, anonymous);
    expect([looked.status, looked.headers.get("set-cookie")]).toEqual([303, null]);
    const answers = await Promise.all(Array.from({ length: 8 }, () => open(token)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([303, ...Array.from({ length: 7 }, () => 401)]);
  });

  test("from another site's page takes nobody's place", async () => {
    const mine = await person(app);
    const theirs = await person(app);
    const cookie = cookieOf(await open((await webToken({}, mine.token)).token));
    for (const site of ["cross-site", "same-site"]) {
      const headers = { cookie, "sec-fetch-site": site };
      const refused = await open((await webToken({}, theirs.token)).token, "", headers);
      expect([refused.status, refused.headers.get("set-cookie")]).toEqual([403, null]);
      const again = (await webToken({}, mine.token)).token;
      const kept = await open(again, "&return_to=/docs", headers);
      expect([kept.status, kept.headers.get("location"), kept.headers.get("set-cookie")]).toEqual([303, "/docs", null]);
      expect((await open(again, "", { "sec-fetch-site": site })).headers.get("set-cookie")).toContain("core_session=");
    }
    const typed = await open((await webToken({}, theirs.token)).token, "", { cookie, "sec-fetch-site": "none" });
    expect((await app.get(me, withCookie(cookieOf(typed)))).json.id).toBe(theirs.id);
  });

  test("refuses a token of another account on its host", async () => {
    const other = await otherAccount(app);
    const { token } = await webToken();
    expect((await open(token, "", { host: other.host })).status).toBe(401);
    const theirs = (await other.post("/account/api_tokens.json", { api_token: { kind: "web_token" } })).json.token;
    expect((await open(theirs, "", { host: other.host })).status).toBe(303);
    const another = (await other.post("/account/api_tokens.json", { api_token: { kind: "web_token" } })).json.token;
    expect((await open(another)).status).toBe(303); // this host is nobody's: the credential says whose
  });

  test.each([
    "https://evil.com",
    "//evil.com",
    "/\\evil.com",
    "javascript:alert(1)",
    "/%09/evil.com",
    "%2F%09%2Fevil.com",
  ])("never goes to %s", async (target) => {
    const { token } = await webToken();
    const answer = await open(token, `&return_to=${target.startsWith("%") ? target : encodeURIComponent(target)}`);
    expect(answer.status).toBe(303);
    const location = new URL(answer.headers.get("location") ?? "", "http://here.test");
    expect(location.origin).toBe("http://here.test");
  });
});
