/** An account's requirements: a second factor, the length of sessions, good passwords. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { adminPassword, person, startTestApp, type Answer, type TestApp } from "../../../tests/harness.ts";
import { tokens } from "../../tokens/api.ts";
import { codeAt } from "./totp.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());
beforeEach(async () => void (await app.sql`delete from sign_in_failures`));
afterEach(async () => {
  const none = { second_factor: null, session_hours: null, session_idle_minutes: null, password_min_length: null };
  await set({ ...none, breached_passwords_url: null });
});

const password = "a password of theirs";
const session = "/account/session.json";
const second = "/account/session/second_factor.json";
const set = (settings: object, token?: string) =>
  app.patch("/account/settings.json", { settings }, token ? { token } : {});
const cookieOf = ({ headers }: Answer) => (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
const as = (cookie: string) => ({ token: null, headers: { cookie, origin: app.origin } });
const signIn = (login: string, word = password) => app.post(session, { login, password: word }, { token: null });
const bytesOf = (secret: string) => {
  const bits = secret.split("").map((c) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c).toString(2).padStart(5, "0"));
  return Uint8Array.from(bits.join("").match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
};
const code = (secret: string) => codeAt(bytesOf(secret), Math.floor(Date.now() / 30_000));
const pendingIn = ({ text }: Answer) => /name="pending" value="([^"]+)"/.exec(text)?.[1] ?? "";
const setupIn = ({ text }: Answer) => /name="setup" value="([^"]+)"/.exec(text)?.[1] ?? "";
const secretIn = ({ text }: Answer) => (/<code>([A-Z2-7 ]+)<\/code>/.exec(text)?.[1] ?? "").replaceAll(" ", "");
const submit = (path: string, fields: Record<string, string>) =>
  app.request("POST", path, undefined, {
    token: null,
    raw: new URLSearchParams(fields).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });

describe("where a second factor is required", () => {
  test("of everybody, people set one up before they are let in", async () => {
    const { id, login } = await person(app, { password });
    await set({ second_factor: "everybody" });
    const first = await signIn(login);
    expect([first.status, first.headers.get("set-cookie"), first.json.factors]).toEqual([401, null, []]);
    const { pending } = first.json;
    expect((await app.get("/account/me.json", { token: pending })).status).toBe(401);
    const { setup, secret } = (
      await app.post("/account/session/second_factor/setup.json", { pending }, { token: null })
    ).json;
    expect((await app.post(second, { pending, code: await code(secret) }, { token: null })).json).toEqual({
      setup: ["is required"],
    });
    expect((await app.post(second, { pending, setup, code: "abcdef" }, { token: null })).status).toBe(401);
    const done = await app.post(second, { pending, setup, code: await code(secret) }, { token: null });
    expect([done.status, done.json.id]).toEqual([201, id]);
    const made = await app.post("/account/me/recovery_codes.json", undefined, as(cookieOf(done)));
    expect(made.json.recovery_codes).toHaveLength(10);
    expect((await signIn(login)).json.factors).toEqual(["totp", "recovery_code"]);
    const { json } = await app.get("/account/me/factors.json", as(cookieOf(done)));
    expect(json).toMatchObject({ required: true, totp_at: expect.any(String) });
    const removed = await app.delete("/account/me/totp.json", as(cookieOf(done)));
    expect([removed.status, Object.keys(removed.json)]).toEqual([422, ["base"]]);
  });

  test("of administrators, others sign in as before", async () => {
    const [boss, other] = [
      await person(app, { role: "admin", password }),
      await person(app, { role: "manager", password }),
    ];
    await set({ second_factor: "admins" });
    expect((await signIn(boss.login)).status).toBe(401);
    expect((await signIn(other.login)).status).toBe(201);
    // Whoever becomes one must, too.
    await app.patch(`/account/users/${other.id}.json`, { user: { role: "admin" } });
    expect((await signIn(other.login)).status).toBe(401);
    expect((await app.get("/account/me.json", { token: boss.token })).status).toBe(200);
  });

  test("the page shows picture, key and recovery codes, and signs in", async () => {
    const { id, login } = await person(app, { password });
    await set({ second_factor: "everybody" });
    const page = await submit("/login", { login, password, return_to: "/a?x=1&y=2" });
    expect(page.text).toContain('<img src="data:image/svg+xml;base64,');
    expect(page.headers.get("content-security-policy")).toContain("img-src 'self' data:;");
    const fields = { pending: pendingIn(page), setup: setupIn(page), return_to: "/a?x=1&y=2" };
    const wrong = await submit("/login/second_factor", { ...fields, code: "x" });
    // The app has been shown this secret already.
    expect([wrong.status, secretIn(wrong)]).toEqual([401, secretIn(page)]);
    const done = await submit("/login/second_factor", { ...fields, code: await code(secretIn(page)) });
    expect([done.status, done.text.match(/<li>/g)?.length]).toEqual([200, 10]);
    expect(done.text).toContain('href="/a?x=1&amp;y=2"');
    expect((await app.get("/account/me.json", as(cookieOf(done)))).json.id).toBe(id);
  });

  test("nobody else who knows the password replaces the factor that was set up meanwhile", async () => {
    const { login } = await person(app, { password });
    await set({ second_factor: "everybody" });
    const [one, two] = [await submit("/login", { login, password }), await submit("/login", { login, password })];
    const finish = async (page: Answer) =>
      submit("/login/second_factor", {
        pending: pendingIn(page),
        setup: setupIn(page),
        code: await code(secretIn(page)),
      });
    expect((await finish(one)).status).toBe(200);
    expect((await finish(two)).status).toBe(401);
    const { pending } = (await signIn(login)).json;
    expect((await app.post("/account/session/second_factor/setup.json", { pending }, { token: null })).status).toBe(
      401,
    );
  });

  test("an invitation leads through it, and then to a password", async () => {
    const { id } = await person(app);
    await set({ second_factor: "everybody" });
    const { url } = (await app.post(`/account/users/${id}/invitation.json`, { invitation: {} })).json;
    const link = `${new URL(url).pathname}${new URL(url).search}&return_to=/studio`;
    const page = await app.get(link, { token: null });
    expect([page.status, page.headers.get("set-cookie"), page.headers.get("referrer-policy")]).toEqual([
      200,
      null,
      "no-referrer",
    ]);
    const done = await submit("/login/second_factor", {
      pending: pendingIn(page),
      setup: setupIn(page),
      code: await code(secretIn(page)),
    });
    expect(done.status).toBe(200);
    expect((await app.get(link, { token: null })).status).toBe(200); // it asks for the factor again
    const own = await app.patch("/account/me.json", { user: { password } }, as(cookieOf(done)));
    expect(own.status).toBe(200);
    expect((await app.get(link, { token: null })).status).toBe(401);
  });

  test("an invitation does not lead around a factor that somebody has", async () => {
    const { id, login } = await person(app, { password });
    const cookie = cookieOf(await signIn(login));
    const { setup, secret } = (await app.post("/account/me/totp.json", undefined, as(cookie))).json;
    await app.post("/account/me/totp/confirm.json", { setup, code: await code(secret) }, as(cookie));
    const { url } = (await app.post(`/account/users/${id}/invitation.json`, { invitation: {} })).json;
    const page = await app.get(`${new URL(url).pathname}${new URL(url).search}`, { token: null });
    expect([page.status, page.headers.get("set-cookie"), setupIn(page)]).toEqual([200, null, ""]);
    await app.sql`update totp_factors set last_step = 0 where user_id = ${id}`;
    const done = await submit("/login/second_factor", { pending: pendingIn(page), code: await code(secret) });
    expect(done.status).toBe(303);
  });
});

test("only an administrator, with a token that is not narrowed, changes what protects people", async () => {
  const manager = await person(app, { role: "manager" });
  const narrowed = await person(app, { role: "admin", narrowedTo: ["settings"] });
  for (const { token } of [manager, narrowed])
    for (const settings of [{ second_factor: "everybody" }, { session_hours: 1 }, { password_min_length: null }])
      expect((await set(settings, token)).status).toBe(403);
  for (const [name, value] of [
    ["second_factor", "all"],
    ["session_hours", 0],
    ["session_hours", 9000],
    ["session_idle_minutes", 4],
    ["password_min_length", 7],
    ["password_min_length", 129],
    ["breached_passwords_url", "ftp://example.com"],
  ])
    expect(Object.keys((await set({ [`${name}`]: value })).json)).toEqual([`${name}`]);
});

describe("a session", () => {
  test("lasts as long as the account says", async () => {
    const { id, login } = await person(app, { password });
    await set({ session_hours: 2 });
    expect((await signIn(login)).headers.get("set-cookie")).toMatch(/Max-Age=7(200|19\d)$/);
    const { token } = (await app.service(tokens).issue({ accountId: 1, userId: id, kind: "web_token" })) ?? {};
    const opened = await app.get(`/account/auto_login?token=${token}`, { token: null });
    expect(opened.headers.get("set-cookie")).toMatch(/Max-Age=7(200|19\d)$/);
  });

  test("ends when nobody has used it for so long, wherever it was used", async () => {
    const { id, login } = await person(app, { password });
    await set({ session_idle_minutes: 5 });
    const cookie = cookieOf(await signIn(login));
    const get = () => app.get("/account/me/sessions.json", as(cookie));
    await app.sql`update api_tokens set created_at = now() - interval '6 minutes' where user_id = ${id}`;
    expect((await get()).status).toBe(401);
    expect((await get()).status).toBe(401);
    // Another process has seen it.
    await app.sql`update api_tokens set last_used_at = now() - interval '4 minutes' where user_id = ${id}`;
    const answer = await get();
    expect([answer.status, answer.json.length]).toEqual([200, 1]);
    await set({ session_idle_minutes: null });
    const other = cookieOf(await signIn(login));
    await app.sql`update api_tokens set created_at = now() - interval '3 days' where user_id = ${id}`;
    expect((await app.get("/account/me/sessions.json", as(other))).status).toBe(200);
  });
});

describe("a new password", () => {
  const word = "eleven char";
  /** All ways to set one. */
  const tries = async (given: string): Promise<Answer[]> => {
    const { login } = await person(app, { password });
    const { id } = await person(app);
    const own = { user: { password: given, current_password: password } };
    return [
      await app.post("/account/users.json", { user: { login: crypto.randomUUID(), password: given } }),
      await app.patch(`/account/users/${id}.json`, { user: { password: given } }),
      await app.patch("/account/me.json", own, as(cookieOf(await signIn(login)))),
    ];
  };

  test("is as long as the account says", async () => {
    await set({ password_min_length: 12 });
    for (const answer of await tries(word))
      expect([answer.status, answer.json]).toEqual([422, { password: ["must have at least 12 characters"] }]);
    await set({ password_min_length: 11 });
    for (const answer of await tries(word)) expect(answer.status).toBeLessThan(300);
  });

  test("is not one that was stolen, of which only five digits of a hash are told", async () => {
    const hash = new Bun.CryptoHasher("sha1").update(word).digest("hex").toUpperCase();
    const asked: string[] = [];
    let list = "";
    const server = Bun.serve({
      port: 0,
      fetch(request) {
        asked.push(new URL(request.url).pathname);
        return list === "" ? new Response("", { status: 503 }) : new Response(list);
      },
    });
    await set({ breached_passwords_url: `http://127.0.0.1:${server.port}/range` });
    list = `0000000000000000000000000000000000F:3\r\n${hash.slice(5)}:42\r\n`;
    for (const answer of await tries(word))
      expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["password"]]);
    expect(asked).toContain(`/range/${hash.slice(0, 5)}`);
    expect(asked.join()).not.toContain(hash.slice(5, 12));
    list = `${hash.slice(5)}:0\r\n`;
    for (const answer of await tries(word)) expect(answer.status).toBeLessThan(300);
    // A list that does not answer keeps nobody from a new password, and the log says so.
    list = "";
    for (const answer of await tries(word)) expect(answer.status).toBeLessThan(300);
    expect(app.logged.join()).toContain("list of breached passwords");
    await server.stop(true);
  });

  test("needs a fresh sign-in of somebody with a second factor, as a new e-mail address does", async () => {
    const { id, login } = await person(app, { password, email: "fresh@example.com" });
    const cookie = cookieOf(await signIn(login));
    const { setup, secret } = (await app.post("/account/me/totp.json", undefined, as(cookie))).json;
    const changes = [
      { password: word, current_password: password },
      { email: null, current_password: password },
    ];
    const change = (user: object) => app.patch("/account/me.json", { user }, as(cookie));
    await app.post("/account/me/totp/confirm.json", { setup, code: await code(secret) }, as(cookie));
    await app.sql`update api_tokens set created_at = now() - interval '11 minutes' where user_id = ${id}`;
    for (const user of changes) expect((await change(user)).status).toBe(403);
    expect((await change({ name: "Any name" })).status).toBe(200);
    await app.sql`update api_tokens set created_at = now() where user_id = ${id}`;
    for (const user of changes) expect((await change(user)).status).toBe(200);
  });
});

test("the administrator of an untouched account signs in as ever", async () => {
  expect((await signIn("admin", adminPassword)).status).toBe(201);
});
