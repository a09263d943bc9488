/** A token that ends makes nothing that lasts longer than it does. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminPassword, adminToken, startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const path = "/account/api_tokens.json";
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const make = (api_token: object, token = adminToken) => app.post(path, { api_token }, { token });
const change = (id: number, api_token: object, token: string) =>
  app.patch(`/account/api_tokens/${id}.json`, { api_token }, { token });
const tokens = async () => (await app.sql`select id from api_tokens`).length;
const tooLong = { errors: { expires_at: [expect.stringContaining("when your own token ends")] } };

describe("a token that ends", () => {
  test("neither prolongs itself nor takes its end away", async () => {
    const end = inHours(2);
    const { id, token } = (await make({ expires_at: end })).json;
    for (const expires_at of [null, "", "2099-01-01", inHours(3)]) {
      const answer = await change(id, { expires_at }, token);
      expect([answer.status, answer.json]).toEqual([422, tooLong]);
    }
    expect((await app.get(`/account/api_tokens/${id}.json`)).json.expires_at).toBe(end);
    expect((await change(id, { name: "mine" }, token)).status).toBe(200);
    const sooner = inHours(1);
    expect((await change(id, { expires_at: sooner }, token)).json.expires_at).toBe(sooner);
  });

  test("makes none that lasts longer, whatever its kind, and leaves those alone that do", async () => {
    const { token } = (await make({ expires_at: inHours(2) })).json;
    const before = await tokens();
    for (const given of [{}, { expires_at: null }, { expires_at: inHours(3) }, { kind: "web_token" }]) {
      const answer = await make(given, token);
      expect([answer.status, answer.json]).toEqual([422, tooLong]);
    }
    expect(await tokens()).toBe(before);
    const { token: child, id } = (await make({ expires_at: inHours(1) }, token)).json;
    expect((await make({ expires_at: inHours(2) }, child)).status).toBe(422);
    expect((await change(id, { expires_at: inHours(2) }, child)).status).toBe(422);
    const lasting = (await make({ active: false })).json;
    expect((await change(lasting.id, { active: true }, token)).json).toEqual(tooLong);
    expect((await change(lasting.id, { name: "renamed" }, token)).status).toBe(200);
  });

  test("is bound by the web_token that opened its session, and free where a person signed in", async () => {
    const cookieOf = (headers: Headers) => (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const own = (cookie: string) => ({ token: null, headers: { cookie, origin: app.origin } });
    const web = (await make({ kind: "web_token", expires_at: inHours(2) })).json.token;
    const opened = await app.get(`/account/auto_login?token=${web}`, { token: null });
    expect((await app.post(path, { api_token: {} }, own(cookieOf(opened.headers)))).json).toEqual(tooLong);
    const credentials = { login: "admin", password: adminPassword };
    const signedIn = await app.post("/account/session.json", credentials, { token: null });
    expect((await app.post(path, { api_token: {} }, own(cookieOf(signedIn.headers)))).status).toBe(201);
  });
});

test("a token without an end makes tokens without one", async () => {
  const { token } = (await make({})).json;
  expect((await make({}, token)).json.expires_at).toBeNull();
});
