/** What protects a token: limits, networks, rotation, and a word before its end. HTTP in, rows and events out. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, otherAccount, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import { startReceiver } from "../../tests/receiver.ts";
import { definePlugin, job, type BaseContext } from "../../runtime/sdk.ts";

let app: TestApp;
let enqueue: BaseContext["enqueue"];
const clockwork = definePlugin({
  name: "clockwork",
  setup(ctx) {
    enqueue = ctx.enqueue;
    return {};
  },
});
beforeAll(async () => {
  app = await startTestApp({ plugin: clockwork, env: { TRUSTED_PROXIES: "127.0.0.1" } });
});
afterAll(() => app.stop());

interface MadeToken {
  readonly id: number;
  readonly token: string;
}
const make = async (fields: object = {}, by?: string): Promise<MadeToken> =>
  (await app.post("/account/api_tokens.json", { api_token: fields }, by === undefined ? {} : { token: by })).json;
const limit = (id: number, token: object, options = {}) => app.patch(`/core/tokens/${id}.json`, { token }, options);
const from = (ip: string) => ({ "x-forwarded-for": ip });
const me = (token: string, ip = "203.0.113.7") => app.get("/account/me.json", { token, headers: from(ip) });
const rotate = (id: number, body: object = {}, options = {}) =>
  app.post(`/core/tokens/${id}/rotate.json`, body, options);

describe("a rate limit", () => {
  test("is told with every answer, and refuses what is beyond", async () => {
    const { id, token } = await make();
    expect((await me(token)).headers.get("ratelimit")).toBeNull();
    expect((await limit(id, { rate_limit: 3 })).json).toMatchObject({ id, rate_limit: 3, networks: [] });
    const first = await me(token);
    expect([first.headers.get("ratelimit-policy"), first.headers.get("ratelimit")]).toEqual([
      '"token";q=3;w=60',
      '"token";r=2',
    ]);
    const missing = await app.get("/core/prompts/0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e20.json", { token });
    expect([missing.status, missing.headers.get("ratelimit")]).toEqual([404, '"token";r=1']);
    await me(token);
    const beyond = await me(token);
    const seconds = Number(beyond.headers.get("retry-after"));
    expect([beyond.status, beyond.headers.get("ratelimit")]).toEqual([429, `"token";r=0;t=${seconds}`]);
    expect(seconds).toBeGreaterThan(0);
    expect((await limit(id, { rate_limit: null })).json.rate_limit).toBeNull();
    expect((await me(token)).status).toBe(200);
  });

  test.each([[0], [-1], [1.5], ["10"], [1_000_001]])("of %p is refused by its name", async (rate_limit) => {
    const { id } = await make();
    const answer = await limit(id, { rate_limit });
    expect([answer.status, Object.keys(answer.json.errors)]).toEqual([422, ["rate_limit"]]);
  });
});

describe("networks", () => {
  test("let a token work from there alone, by version 4 and 6", async () => {
    const { id, token } = await make();
    await limit(id, { networks: ["203.0.113.0/24", "2001:db8::/32", "198.51.100.9"] });
    for (const ip of ["203.0.113.7", "2001:db8::1", "198.51.100.9", "::ffff:203.0.113.8"])
      expect((await me(token, ip)).status).toBe(200);
    for (const ip of ["203.0.114.7", "2001:db9::1", "198.51.100.10"]) {
      const answer = await me(token, ip);
      expect([answer.status, answer.json.error]).toEqual([403, `this token does not work from ${ip}`]);
    }
    const logged = await eventually(async () => {
      const found = (await app.get("/core/activity.json?action=refused&limit=10")).json;
      return found.length >= 3 ? found : undefined;
    });
    expect(logged[0]).toMatchObject({ name: "GET /account/me.json", token_id: id, actor: "person" });
    // A client cannot claim to be elsewhere: only what the proxy adds counts.
    expect((await me(token, "203.0.113.7, 192.0.2.1")).status).toBe(403);
    expect((await limit(id, { networks: null })).json.networks).toEqual([]);
    expect((await me(token, "192.0.2.1")).status).toBe(200);
  });

  test.each([["x"], ["10.0.0.0/33"], ["10.0.0.0/8,0.0.0.0/0"], ["::1/129"], [""]])(
    "are refused by their name: %j",
    async (network) => {
      const { id } = await make();
      const answer = await limit(id, { networks: [network] });
      expect([answer.status, Object.keys(answer.json.errors)]).toEqual([422, ["networks"]]);
    },
  );

  test("and limits are inherited by what a token makes, and not lifted by it", async () => {
    const { id, token } = await make();
    await limit(id, { networks: ["203.0.113.0/24"], rate_limit: 50 });
    const at = { token, headers: from("203.0.113.7") };
    const child: MadeToken = (await app.post("/account/api_tokens.json", { api_token: {} }, at)).json;
    expect((await me(child.token)).headers.get("ratelimit-policy")).toBe('"token";q=50;w=60');
    expect((await me(child.token, "192.0.2.1")).status).toBe(403);
    for (const target of [id, child.id])
      expect((await limit(target, { networks: [], rate_limit: null }, at)).status).toBe(403);
    const web: MadeToken = (await app.post("/account/api_tokens.json", { api_token: { kind: "web_token" } }, at)).json;
    const opened = await app.get(`/account/auto_login?token=${web.token}`, {
      token: null,
      headers: from("203.0.113.7"),
    });
    const cookie = (opened.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const by = (ip: string) => app.get("/account/me.json", { token: null, headers: { cookie, ...from(ip) } });
    expect([(await by("203.0.113.7")).status, (await by("192.0.2.1")).status]).toEqual([200, 403]);
  });

  test("do not lock out whoever sets them, and are for whoever may change the token", async () => {
    const { id, token } = await make();
    const own = await limit(id, { networks: ["10.0.0.0/8"] }, { token, headers: from("192.0.2.1") });
    expect([own.status, own.json.errors.networks]).toEqual([
      422,
      ["must contain 192.0.2.1, from where you use this token"],
    ]);
    const narrowed = await make({ privileges: ["api_tokens"] });
    expect((await limit(id, { rate_limit: 1 }, { token: narrowed.token })).status).toBe(422);
    expect((await limit(999_999, { rate_limit: 1 })).status).toBe(404);
    expect((await limit(id, { rate_limit: 9 }, { headers: { "if-match": '"0"' } })).status).toBe(412);
  });
});

test("a token that only reads changes nothing, and neither does what it makes or has made", async () => {
  const { id, token } = await make({ kind: "web_token" });
  const at = { token: null, headers: { cookie: await cookieOf(token), "sec-fetch-site": "same-origin" } };
  const write = (options: object) => app.post("/core/dbs.json", { db: { name: "Read only" } }, options);
  expect((await limit(id, { read_only: true })).json).toMatchObject({ read_only: true, mcp_delete: false });
  // The session that it had opened could still write.
  expect((await app.get("/account/me.json", at)).status).toBe(401);
  expect((await app.get("/core/dbs.json", { token })).status).toBe(200);
  for (const refused of [
    await write({ token }),
    await app.delete("/core/dbs/nobody.json", { token }),
    await limit(id, { read_only: false }, { token }),
    await app.post("/core/db/nobody/create", { data: {} }, { token }),
    await rotate(id, {}, { token }),
  ])
    expect([refused.status, refused.json.error]).toEqual([403, "this token may only read (`read_only`)"]);
  const other = await make({ kind: "web_token" });
  await limit(other.id, { read_only: true });
  const cookie = await cookieOf(other.token);
  expect((await write({ token: null, headers: { cookie, "sec-fetch-site": "same-origin" } })).status).toBe(403);
  expect((await limit(id, { read_only: "yes" })).json.errors).toEqual({ read_only: ["must be true or false"] });
  await limit(id, { read_only: false });
  expect((await write({ token })).status).toBe(201);
});

async function cookieOf(webToken: string): Promise<string> {
  const opened = await app.get(`/account/auto_login?token=${webToken}`, { token: null });
  return (opened.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

test("the address of the last use is noted", async () => {
  const { id, token } = await make();
  await me(token, "198.51.100.77");
  expect((await app.get(`/core/tokens/${id}.json`)).json).toMatchObject({ last_address: "198.51.100.77" });
});

describe("a rotation", () => {
  test("gives another text; the old one works for the overlap and no longer", async () => {
    const { id, token } = await make({ name: "robot" });
    const next = (await rotate(id, { overlap_minutes: 5 })).json;
    expect([next.id, next.name, next.token.slice(0, 5)]).toEqual([id, "robot", "core_"]);
    const other = await make();
    await rotate(other.id, { overlap_minutes: 5 });
    expect([(await me(other.token)).status, (await me(next.token)).status]).toEqual([200, 200]);
    await app.sql`update api_token_texts set ends_at = now() - interval '1 second' where token_id = ${id}`;
    expect([(await me(token)).status, (await me(next.token)).status]).toEqual([401, 200]);
  });

  test("without an overlap ends the old text at once, and a second rotation the first one's", async () => {
    const { id, token } = await make();
    const second = (await rotate(id)).json.token;
    const third = (await rotate(id)).json.token;
    const statuses = await Promise.all([token, second, third].map(async (one) => (await me(one)).status));
    expect(statuses).toEqual([401, 200, 200]);
    const last = (await rotate(id, { overlap_minutes: 0 })).json.token;
    expect([(await me(third)).status, (await me(last)).status]).toEqual([401, 200]);
    await app.delete(`/account/api_tokens/${id}.json`);
    expect((await me(last)).status).toBe(401);
  });

  test("of two at once leaves the last alone, and one text before it", async () => {
    const { id, token } = await make();
    const both = await Promise.all([rotate(id), rotate(id)]);
    const texts = [token, ...both.map(({ json }) => json.token)];
    const statuses = await Promise.all(texts.map(async (one) => (await me(one)).status));
    expect([statuses[0], statuses.filter((status) => status === 200).length]).toEqual([401, 2]);
  });

  test("is for those who may change the token", async () => {
    const { id } = await make();
    const manager = await person(app, { role: "manager" });
    const stranger = await otherAccount(app);
    for (const token of [manager.token, stranger.adminToken]) {
      expect((await rotate(id, {}, { token })).status).toBe(404);
      expect((await limit(id, { rate_limit: 1 }, { token })).status).toBe(404);
      expect((await app.get(`/core/tokens/${id}.json`, { token })).status).toBe(404);
    }
  });

  test("may be asked for by the token itself, and not for one that can do more", async () => {
    const { id, token } = await make({ privileges: ["api_tokens", "dbs"] });
    const other = await make();
    expect((await rotate(other.id, {}, { token })).status).toBe(422);
    expect((await rotate(id, {}, { token })).status).toBe(200);
    expect((await rotate(id, { overlap_minutes: 43_201 })).status).toBe(422);
    const log = (await app.get("/core/activity/export?model=Account::ApiToken")).text;
    expect(log).not.toContain(token);
  });
});

test("followers are told once that a token ends within a week", async () => {
  const receiver = startReceiver();
  const webhook = { source_type: "Account::ApiToken", kind: "expiring", url: `${receiver.url}/expiring` };
  expect((await app.post("/account/webhooks.json", { webhook })).status).toBe(201);
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  await make({ name: "soon", expires_at: inDays(3) });
  const later = await make({ name: "later", expires_at: inDays(30) });
  await make({ name: "off", expires_at: inDays(3), active: false });
  const warn = () => enqueue(job<{ dueAt: string }>("schedule:tokens.warn"), { dueAt: new Date().toISOString() });
  const told = () => receiver.requests.map(({ body }) => /"name":"(\w{1,20})"/.exec(body)?.[1]);
  // Several processes may look at the same time.
  await Promise.all([warn(), warn(), warn()]);
  await eventually(() => told().length === 1);
  // Whoever moves the end is told of the new one, and each is told of once.
  await app.patch(`/account/api_tokens/${later.id}.json`, { api_token: { expires_at: inDays(2) } });
  await warn();
  await eventually(() => told().length === 2);
  expect(told()).toEqual(["soon", "later"]);
  await receiver.stop();
});

test("whoever is no trusted proxy cannot say where a request comes from", async () => {
  const direct = await startTestApp();
  const { id, token } = (await direct.post("/account/api_tokens.json", { api_token: {} })).json;
  await direct.patch(`/core/tokens/${id}.json`, { token: { networks: ["203.0.113.0/24"] } });
  const answer = await direct.get("/account/me.json", { token, headers: from("203.0.113.7") });
  expect([answer.status, answer.json.error]).toEqual([403, "this token does not work from 127.0.0.1"]);
  await direct.stop();
});

describe("a new token", () => {
  test("is limited at once by what its maker says", async () => {
    const { id, token } = await make({ networks: ["203.0.113.0/24"], read_only: true });
    expect((await app.get(`/core/tokens/${id}.json`)).json).toMatchObject({
      networks: ["203.0.113.0/24"],
      read_only: true,
    });
    expect((await me(token, "198.51.100.1")).status).toBe(403);
    expect((await me(token)).status).toBe(200);
    const teams = { token, headers: from("203.0.113.7") };
    expect((await app.post("/account/teams.json", { team: { name: "No" } }, teams)).status).toBe(403);
    const wrong = await app.post("/account/api_tokens.json", { api_token: { networks: ["here"] } });
    expect([wrong.status, Object.keys(wrong.json.errors)]).toEqual([422, ["networks"]]);
  });

  test("has the limits of a limited one that makes it, and no others", async () => {
    const { id, token } = await make();
    await limit(id, { networks: ["203.0.113.0/24"] });
    const by = { token, headers: from("203.0.113.7") };
    const wider = { api_token: { networks: ["0.0.0.0/0"] } };
    expect((await app.post("/account/api_tokens.json", wider, by)).status).toBe(422);
    const child = await app.post("/account/api_tokens.json", { api_token: { read_only: true } }, by);
    expect((await app.get(`/core/tokens/${child.json.id}.json`)).json).toMatchObject({
      networks: ["203.0.113.0/24"],
      read_only: true,
    });
  });
});
