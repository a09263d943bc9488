import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminPassword, person, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { tokens } from "../../tokens/api.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
});
afterAll(() => app.stop());

const path = "/account/me/sessions.json";
const password = "a password of theirs";
const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

const cookieOf = ({ headers }: { readonly headers: Headers }) => (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
const withCookie = (cookie: string) => ({
  token: null,
  headers: { cookie, "sec-fetch-site": "same-origin", origin: app.origin },
});
const signIn = async (login: string, headers: Record<string, string> = {}, word = password) => {
  const answer = await app.post("/account/session.json", { login, password: word }, { token: null, headers });
  expect(answer.status).toBe(201);
  return withCookie(cookieOf(answer));
};
const end = (id: number, options: ReturnType<typeof withCookie>) =>
  app.delete(`/account/me/sessions/${id}.json`, options);

describe("one's own sessions", () => {
  test("are listed, the newest first, with address, browser and last use", async () => {
    const { login } = await person(app, { password });
    await signIn(login, { "x-forwarded-for": "203.0.113.7", "user-agent": browser });
    const here = await signIn(login, { "x-forwarded-for": "2001:db8::1", "user-agent": "x".repeat(1000) });
    const answer = await app.get(path, here);
    expect([answer.status, answer.headers.get("x-total-count")]).toEqual([200, "2"]);
    expect(answer.json).toEqual([
      {
        id: expect.any(Number),
        created_at: expect.any(String),
        last_used_at: expect.any(String),
        address: "2001:db8::1",
        browser: "x".repeat(300),
        device: "x".repeat(40),
        current: true,
      },
      {
        id: expect.any(Number),
        created_at: expect.any(String),
        last_used_at: null,
        address: "203.0.113.7",
        browser,
        device: "Firefox, Linux",
        current: false,
      },
    ]);
    expect((await app.get(`${path}?limit=1&offset=1`, here)).json).toEqual([answer.json[1]]);
  });

  test("keep where the form and auto_login were used from", async () => {
    const { id, login } = await person(app, { password });
    const from = { "x-forwarded-for": "198.51.100.9", "user-agent": browser };
    const form = await app.post("/login", { login, password }, { token: null, headers: from });
    expect(form.status).toBe(303);
    const webToken = await app.service(tokens).issue({ accountId: 1, userId: id, kind: "web_token" });
    const link = `/account/auto_login?token=${webToken?.token}&return_to=/docs`;
    const opened = await app.get(link, { token: null, headers: { ...from, "x-forwarded-for": "198.51.100.10" } });
    expect(opened.status).toBe(303);
    const { json } = await app.get(path, withCookie(cookieOf(form)));
    expect(json.map((row: { address: string; browser: string }) => [row.address, row.browser])).toEqual([
      ["198.51.100.10", browser],
      ["198.51.100.9", browser],
    ]);
  });

  test("end at once, with what was made from them", async () => {
    const { login } = await person(app, { password });
    const [there, here] = [await signIn(login), await signIn(login)];
    const { json } = await app.get(path, here);
    const ended = await end(json[1].id, here);
    expect([ended.status, ended.headers.get("set-cookie")]).toEqual([204, null]);
    expect((await app.get("/account/me.json", there)).status).toBe(401);
    expect((await app.get(path, here)).json).toMatchObject([{ id: json[0].id, current: true }]);
    expect((await end(json[1].id, here)).status).toBe(404);
  });

  test("the current one too, and its cookie goes with it", async () => {
    const { login } = await person(app, { password });
    const here = await signIn(login);
    const [{ id }] = (await app.get(path, here)).json;
    const ended = await end(id, here);
    expect(ended.status).toBe(204);
    expect(ended.headers.get("set-cookie")).toContain("core_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
    expect((await app.get(path, here)).status).toBe(401);
  });

  test("are nobody else's: not even an administrator sees them or ends one", async () => {
    const { login } = await person(app, { password });
    const theirs = await signIn(login);
    const [{ id }] = (await app.get(path, theirs)).json;
    const admin = await signIn("admin", {}, adminPassword);
    const ids = (await app.get(path, admin)).json.map((row: { id: number }) => row.id);
    expect(ids).not.toContain(id);
    expect((await end(id, admin)).status).toBe(404);
    expect((await app.delete(`/account/me/sessions/${id}.json`)).status).toBe(404);
    expect((await app.get(path, theirs)).status).toBe(200);
  });

  test("end all but the one of the request", async () => {
    const { login, token } = await person(app, { password });
    const [one, two, here] = [await signIn(login), await signIn(login), await signIn(login)];
    const other = await signIn((await person(app, { login: "bystander", password })).login);
    expect((await app.delete(path, here)).status).toBe(204);
    for (const gone of [one, two]) expect((await app.get(path, gone)).status).toBe(401);
    expect((await app.get(path, here)).json).toMatchObject([{ current: true }]);
    for (const kept of [other, { token }]) expect((await app.get(path, kept)).status).toBe(200);
    // A token is no session: with it they end everywhere.
    expect((await app.delete(path, { token })).status).toBe(204);
    expect((await app.get(path, here)).status).toBe(401);
    expect((await app.get(path, other)).status).toBe(200);
  });

  test("all end by whoever may change the person, and by nobody else", async () => {
    const { id, login, token } = await person(app, { password });
    const admin = await person(app, { role: "admin" });
    const helper = await person(app, { privileges: ["users"] });
    const [one, two] = [await signIn(login), await signIn(login)];
    const everywhere = (userId: number, by: string) =>
      app.delete(`/account/users/${userId}/sessions.json`, { token: by });
    expect((await everywhere(admin.id, helper.token)).status).toBe(403);
    expect((await everywhere(id, token)).status).toBe(403);
    expect((await everywhere(999_999, admin.token)).status).toBe(404);
    expect((await app.get(path, one)).status).toBe(200);
    expect((await everywhere(id, helper.token)).status).toBe(204);
    for (const gone of [one, two]) expect((await app.get(path, gone)).status).toBe(401);
    expect((await app.get("/account/me.json", { token })).status).toBe(200);
  });

  test("do not include tokens, expired sessions or malformed ids", async () => {
    const { id: userId, login, token } = await person(app, { password, role: "user" });
    const here = await signIn(login);
    await signIn(login);
    const rows = (await app.get(path, here)).json;
    await app.sql`update api_tokens set expires_at = now() - interval '1 minute' where id = ${rows[0].id}`;
    const left = (await app.get(path, here)).json;
    expect(left.map((row: { id: number }) => row.id)).toEqual([rows[1].id]);
    expect((await app.get(path, { token })).json).toMatchObject([{ id: rows[1].id, current: false }]);
    const [own] = await app.sql<{ id: number }[]>`
      select id from api_tokens where user_id = ${userId} and purpose is null order by id limit 1`;
    for (const wrong of [own?.id, 0, 999_999_999, "x", "1e3"])
      expect((await app.delete(`/account/me/sessions/${wrong}.json`, here)).status).toBe(404);
    expect((await app.get("/account/me.json", { token })).status).toBe(200);
  });

  test("a narrowed token ends with all others only what can do no more than it", async () => {
    const { id, login } = await person(app, { password });
    const full = await signIn(login);
    const narrowed = await app.service(tokens).issue({ accountId: 1, userId: id, privileges: ["prompts"] });
    expect((await app.delete(path, { token: narrowed?.token ?? "" })).status).toBe(204);
    expect((await app.get(path, full)).status).toBe(200);
  });

  test("a narrowed token sees and ends only what can do no more than it", async () => {
    const { id, login } = await person(app, { password });
    const full = await signIn(login);
    const narrowed = await app.service(tokens).issue({ accountId: 1, userId: id, privileges: ["prompts"] });
    const web = await app
      .service(tokens)
      .issue({ accountId: 1, userId: id, privileges: ["prompts"], kind: "web_token" });
    const opened = await app.get(`/account/auto_login?token=${web?.token}`, { token: null });
    expect(opened.status).toBe(303);
    const all = (await app.get(path, full)).json.map((row: { id: number }) => row.id);
    expect(all).toHaveLength(2);
    const token = narrowed?.token ?? "";
    expect((await app.get(path, { token })).json.map((row: { id: number }) => row.id)).toEqual([all[0]]);
    expect((await app.delete(`/account/me/sessions/${all[1]}.json`, { token })).status).toBe(404);
    expect((await app.delete(`/account/me/sessions/${all[0]}.json`, { token })).status).toBe(204);
    expect((await app.get("/account/me.json", withCookie(cookieOf(opened)))).status).toBe(401);
    expect((await app.get("/account/me.json", full)).status).toBe(200);
  });

  test("from before addresses were kept have none", async () => {
    const { login } = await person(app, { password });
    const here = await signIn(login);
    await app.sql`update api_tokens set address = null, browser = null where purpose = 'session'`;
    expect((await app.get(path, here)).json).toMatchObject([{ address: null, browser: null, current: true }]);
  });
});

test("somebody who is not signed in has none", async () => {
  expect((await app.get(path, { token: null })).status).toBe(401);
  expect((await app.delete("/account/me/sessions/1.json", { token: null })).status).toBe(401);
});
