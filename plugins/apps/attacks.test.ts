import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  otherAccount,
  person,
  startTestApp,
  type Answer,
  type RequestOptions,
  type TestApp,
} from "../../tests/harness.ts";
import { createSecrets } from "../../runtime/base/secrets.ts";
import { issue } from "./serve/token.ts";

/** What the token of an app's page opens, and that it opens nothing else. behaviour B.10. */
let app: TestApp;
let viewer: { id: number; token: string };
beforeAll(async () => {
  app = await startTestApp({
    env: { RATE_LIMIT_ACTIONS: "100000", RATE_LIMIT_REQUESTS: "100000", RATE_LIMIT_CREATES: "100000" },
  });
  const open = { list: true, create: true, get: true, update: true, delete: true, search: true };
  for (const code of ["own", "other"]) {
    await app.post("/core/dbs.json", { db: { name: code, code, public_methods: open } });
    await app.post(`/core/dbs/${code}/records.json`, { record: { data: { in: code } } });
  }
  const scoped = { create: { auto_fields: { who: "{cookie_key}", by: "{user_id}" } }, list: { scope_by: "who" } };
  await app.post("/core/dbs.json", { db: { name: "scoped", code: "scoped", public_methods: scoped } });
  const program = [{ type: "return", value: "{{ input }}" }];
  await app.post("/connect/flows.json", { flow: { name: "echo", code: "echo", fields: { program } } });
  viewer = await person(app);
});
afterAll(() => app.stop());

const actions = [
  { action: "open", flow_code: "echo", public: true },
  { action: "closed", flow_code: "echo" },
];
let made = 0;
const make = async (fields: object = {}) => {
  const one = {
    name: `A${++made}`,
    app_engine: "html",
    source_code: "x",
    db_code: "own",
    actions,
    public: true,
    ...fields,
  };
  return (await app.post("/core/apps.json", { app: one })).json as { id: string; url_code: string };
};
const change = async (id: string, fields: object) =>
  expect((await app.patch(`/core/apps/${id}.json`, { app: fields })).status).toBe(200);

/** The token in the page that this person (null: nobody) is shown. */
async function pageToken(id: string, options: RequestOptions = { token: viewer.token }): Promise<string> {
  const { status, text } = await app.get(`/a/${id}`, options);
  expect(status).toBe(200);
  const data = /id="core-page">([^<]*)</.exec(text)?.[1] ?? "";
  return JSON.parse(data).token.value;
}
const records = (code: string, token: string) => app.get(`/core/dbs/${code}/records.json`, { token });
const opens = async (token: string) => (await records("own", token)).status;
const status = async (answer: Promise<Answer>) => (await answer).status;

describe("the token of a viewer with `dbs`", () => {
  test("opens the app's database by code and id, and every record in it", async () => {
    const { id } = await make();
    const token = await pageToken(id);
    const db = (await app.get("/core/dbs/own.json")).json;
    for (const key of ["own", db.id]) {
      const record = await app.post(`/core/dbs/${key}/records.json`, { record: { data: { a: 1 } } }, { token });
      expect(record.status).toBe(201);
      const path = `/core/dbs/${key}/records/${record.json.id}.json`;
      expect((await app.patch(path, { record: { data: { a: 2 } } }, { token })).json.data).toEqual({ a: 2 });
      expect(await status(app.get(path, { token }))).toBe(200);
      expect(await status(app.get(`/core/dbs/${key}/search.json?q=x`, { token }))).toBe(200);
      expect(await status(app.delete(path, { token }))).toBe(204);
    }
    expect(await status(app.get("/core/db/own/list", { token }))).toBe(200);
    expect(await status(app.post("/core/db/own/create", { data: {} }, { token }))).toBe(201);
  });

  test("opens the private records of the databases in fields.dbs too, and of no others", async () => {
    const { id } = await make({ fields: { dbs: ["other"] } });
    const [mine, nobodys] = [await pageToken(id), await pageToken(id, { token: null })];
    expect([await opens(mine), await status(records("other", mine))]).toEqual([200, 200]);
    expect([await status(records("scoped", mine)), await status(records("other", nobodys))]).toEqual([404, 401]);
    const { token: guest } = await person(app, { role: "guest" });
    expect(await status(records("other", await pageToken(id, { token: guest })))).toBe(403);
    await change(id, { fields: {} });
    expect([await opens(mine), await status(records("other", mine))]).toEqual([200, 404]);
    await change(id, { db_code: null, fields: { dbs: ["other"] } });
    expect([await opens(mine), await status(records("other", mine))]).toEqual([404, 200]);
  });

  test("opens the public methods of every database, for its viewer and visitor", async () => {
    const { id } = await make();
    const page = await app.get(`/a/${id}`, { token: null });
    const cookie = (page.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    for (const [token, by] of [
      [null, ""],
      [viewer.token, `${viewer.id}`],
    ] as const) {
      const own = await pageToken(id, { token, headers: { cookie } });
      const first = await app.post("/core/db/scoped/create", { data: {} }, { token: own });
      const second = await app.post("/core/db/scoped/create", { data: {} }, { token: own });
      expect([first.json.data.who, `${first.json.data.by}`]).toEqual([second.json.data.who, by]);
      expect(second.headers.get("set-cookie")).toBeNull();
      const shown = (await app.get("/core/db/scoped/list", { token: own })).json as { id: string }[];
      expect(shown.slice(0, 2).map((one) => one.id)).toEqual([second.json.id, first.json.id]);
      expect((await app.get("/core/db/other/list", { token: own })).json).toHaveLength(1);
    }
  });

  test("opens no other database's records: 404 as if there were none", async () => {
    const token = await pageToken((await make()).id);
    const [record] = (await app.get("/core/dbs/other/records.json")).json;
    const cases: [string, string, unknown?][] = [
      ["GET", "/core/dbs/other/records.json"],
      ["POST", "/core/dbs/other/records.json", { record: { data: {} } }],
      ["GET", `/core/dbs/other/records/${record.id}.json`],
      ["PATCH", `/core/dbs/other/records/${record.id}.json`, { record: { data: {} } }],
      ["DELETE", `/core/dbs/other/records/${record.id}.json`],
      ["GET", `/core/dbs/own/records/${record.id}.json`],
      ["GET", "/core/dbs/other/search.json"],
      ["GET", "/core/dbs/other/events"],
      ["GET", "/core/db/nothing/list"],
      ["GET", "/core/dbs/nothing/records.json"],
    ];
    for (const [method, path, body] of cases)
      expect([method, path, await status(app.request(method, path, body, { token }))]).toEqual([method, path, 404]);
  });

  test("opens on every other route nothing: 403, or 404 where there is nothing of its own", async () => {
    const { id } = await make();
    const token = await pageToken(id, {}); // the administrator's
    const wrong: string[] = [];
    // They name no object: the app's folder is empty, and takes a form only (plugins/media/media.test.ts).
    const ofOwnFolder: Record<string, number> = { "GET /core/media": 200, "POST /core/media": 415 };
    let marked = 0;
    for (const route of app.app.routes) {
      const path = route.path.replaceAll(/:\w+/g, "019a9c1e-0000-7000-8000-000000000003");
      const body =
        route.spec.body || route.spec.input ? { record: { data: {} }, value: 1, media: {}, link: {} } : undefined;
      const answer = await app.request(route.method, path, route.method === "GET" ? undefined : body, { token });
      if (route.spec.apps) marked++;
      const right = route.spec.apps
        ? answer.status === (ofOwnFolder[`${route.method} ${route.path}`] ?? 404)
        : answer.status === 403 && answer.json.error.includes("app's token");
      if (!right) wrong.push(`${route.method} ${route.path}: ${answer.status} ${answer.text.slice(0, 100)}`);
    }
    expect(wrong).toEqual([]);
    expect(marked).toBeGreaterThan(10);
    expect((await app.get("/metrics", { token, headers: { "x-forwarded-for": "9.9.9.9" } })).text).not.toContain(
      "secret",
    );
  });

  test("has no more than the viewer: neither a guest nor a narrowed token opens records", async () => {
    const { id } = await make();
    const guest = await person(app, { role: "guest" });
    const narrowed = await person(app, { narrowedTo: ["prompts"] });
    for (const { token: own } of [guest, narrowed]) {
      const token = await pageToken(id, { token: own });
      expect(await opens(token)).toBe(403);
      expect(await status(app.get("/core/db/own/list", { token }))).toBe(200);
      expect(await status(app.post(`/core/apps/${id}/action/closed`, {}, { token }))).toBe(200);
    }
  });

  test("opens no other app's actions, storage or token", async () => {
    const [one, two] = [await make(), await make()];
    const token = await pageToken(one.id);
    const cases: [string, string, unknown?][] = [
      ["POST", "action/open", {}],
      ["GET", "action/open/status?flow_process_id=019a9c1e-0000-7000-8000-000000000003"],
      ["GET", "storage.json"],
      ["GET", "storage/a.json"],
      ["PUT", "storage/a.json", { value: 1 }],
      ["DELETE", "storage/a.json"],
      ["POST", "token.json"],
    ];
    for (const [method, path, body] of cases)
      for (const key of [two.id, two.url_code])
        expect([path, await status(app.request(method, `/core/apps/${key}/${path}`, body, { token }))]).toEqual([
          path,
          404,
        ]);
  });
});

describe("the token of nobody", () => {
  test("opens public methods, public actions and its own storage only", async () => {
    const { id } = await make();
    const token = await pageToken(id, { token: null });
    expect(await opens(token)).toBe(401);
    expect(await status(app.get("/core/dbs/own/events", { token }))).toBe(401);
    expect(await status(app.get("/core/db/own/list", { token }))).toBe(200);
    expect(await status(app.post(`/core/apps/${id}/action/open`, {}, { token }))).toBe(200);
    expect(await status(app.post(`/core/apps/${id}/action/closed`, {}, { token }))).toBe(401);
    expect(await status(app.request("PUT", `/core/apps/${id}/storage/a`, { value: 1 }, { token }))).toBe(200);
  });

  test("carries the visitor's key: the sandbox sees the records that the browser made, and gets no cookie", async () => {
    const { id } = await make({ db_code: "scoped" });
    const page = await app.get(`/a/${id}`, { token: null });
    const cookie = (page.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const mine = await app.post("/core/db/scoped/create", { data: { n: 1 } }, { token: null, headers: { cookie } });
    const token = await pageToken(id, { token: null, headers: { cookie } });
    const made2 = await app.post("/core/db/scoped/create", { data: { n: 2 } }, { token });
    expect(made2.headers.get("set-cookie")).toBeNull();
    const list = await app.get("/core/db/scoped/list", { token });
    expect(list.json.map((one: { id: string }) => one.id)).toEqual([made2.json.id, mine.json.id]);
    expect(list.headers.get("set-cookie")).toBeNull();
    // A cookie beside the token does not count, nor does another visitor's token show them.
    const other = await pageToken(id, { token: null });
    expect((await app.get("/core/db/scoped/list", { token: other, headers: { cookie } })).json).toEqual([]);
    const signedIn = await pageToken(id, { token: viewer.token, headers: { cookie } });
    const named = await app.post("/core/db/scoped/create", { data: {} }, { token: signedIn });
    expect(named.json.data).toMatchObject({ by: viewer.id, who: mine.json.data.who });
  });
});

describe("a token stops working", () => {
  const ends: [string, (id: string) => Promise<unknown>][] = [
    ["when the app is switched off", (id) => change(id, { active: false })],
    ["when the app is deleted", (id) => app.delete(`/core/apps/${id}.json`)],
  ];
  test.each(ends)("%s", async (_, end) => {
    const { id } = await make();
    const tokens = [await pageToken(id), await pageToken(id, { token: null })];
    await end(id);
    for (const token of tokens)
      for (const path of ["/core/dbs/own/records.json", "/core/db/own/list", `/core/apps/${id}/storage.json`]) {
        const answer = await app.get(path, { token });
        expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      }
  });

  test("when the app is made private: that of nobody; a viewer's goes on", async () => {
    const { id } = await make();
    const [signedIn, nobody] = [await pageToken(id), await pageToken(id, { token: null })];
    await change(id, { public: false });
    expect([await opens(signedIn), await status(app.get("/core/db/own/list", { token: nobody }))]).toEqual([200, 401]);
    await change(id, { public: true });
    expect(await status(app.get("/core/db/own/list", { token: nobody }))).toBe(200);
  });

  test("on the old database when db_code changes, and works on the new one", async () => {
    const { id } = await make();
    const token = await pageToken(id);
    await change(id, { db_code: "other" });
    expect([await opens(token), await status(records("other", token))]).toEqual([404, 200]);
    await change(id, { db_code: null });
    expect([await opens(token), await status(records("other", token))]).toEqual([404, 404]);
  });

  test("when the viewer's session ends, their token is switched off, or they are", async () => {
    const { id } = await make();
    const password = "correct horse battery";
    const someone = await person(app, { password });
    const signIn = await app.post("/account/session.json", { login: someone.login, password }, { token: null });
    const cookie = (signIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const bySession = await pageToken(id, { token: null, headers: { cookie } });
    const api = (await app.post("/account/api_tokens.json", { api_token: { name: "t" } }, { token: someone.token }))
      .json;
    const byToken = await pageToken(id, { token: api.token });
    expect([await opens(bySession), await opens(byToken)]).toEqual([200, 200]);
    await app.patch(`/account/api_tokens/${api.id}.json`, { api_token: { active: false } });
    expect([await opens(bySession), await opens(byToken)]).toEqual([200, 401]);
    await app.request("DELETE", "/account/session.json", undefined, {
      token: null,
      headers: { cookie, origin: app.origin },
    });
    expect(await opens(bySession)).toBe(401);
    const last = await pageToken(id, { token: someone.token });
    await app.patch(`/account/users/${someone.id}.json`, { user: { active: false } });
    expect([await opens(last), await status(app.get("/core/db/own/list", { token: last }))]).toEqual([401, 401]);
  });

  test("when the viewer loses the privilege", async () => {
    const { id } = await make();
    const someone = await person(app, { role: "guest", privileges: ["dbs"] });
    const token = await pageToken(id, { token: someone.token });
    expect(await opens(token)).toBe(200);
    await app.patch(`/account/users/${someone.id}.json`, { user: { privileges: [] } });
    expect(await opens(token)).toBe(403);
  });
});

describe("a token that is not ours", () => {
  const key = "a secret key of the tests, 32 characters or more";
  const claims = (appId: string) => {
    const admin = { userId: 1, tokenId: 1 };
    return { accountId: 1, appId, viewer: admin, visitor: "v", isDraft: false };
  };

  test("forged, changed, cut or of another key is 401", async () => {
    const { id } = await make();
    const good = await pageToken(id);
    const [head = "", tail = ""] = good.split(".");
    const forged = [
      issue(createSecrets("another secret key, as long as it has to be"), claims(id)).token,
      good.replace(`~${viewer.id}~`, "~1~"),
      `${head}.${tail.slice(0, -1)}`,
      head,
      "capp_",
      "capp_..",
      `capp_${"x".repeat(1000)}`,
      `${good}.${tail}`,
      `capp_capp_${good.slice(5)}`,
    ];
    for (const token of forged) {
      expect([token, await opens(token)]).toEqual([token, 401]);
      expect([token, await status(app.get("/core/db/own/list", { token }))]).toEqual([token, 401]);
      expect([token, await status(app.get("/core/apps.json", { token }))]).toEqual([token, 401]);
    }
  });

  test("in a cookie, or at auto_login, is no session", async () => {
    const token = await pageToken((await make()).id, {});
    const me = await app.get("/account/me.json", { token: null, headers: { cookie: `core_session=${token}` } });
    expect(me.status).toBe(401);
    expect(await status(app.get(`/account/auto_login?token=${encodeURIComponent(token)}`, { token: null }))).toBe(401);
  });

  test("on another account's host, or of a viewer there, is 401", async () => {
    const other = await otherAccount(app);
    const { id } = await make();
    const token = await pageToken(id);
    expect(await status(other.get("/core/db/own/list", { token }))).toBe(401);
    const stranger = await person(app, { of: other });
    const mixed = issue(createSecrets(key), {
      ...claims(id),
      viewer: { userId: stranger.id, tokenId: 1 },
    });
    expect(await opens(mixed.token)).toBe(401);
  });

  test("expires after an hour, and is renewed as long as its viewer is signed in", async () => {
    const { id } = await make();
    const [row] = await app.sql`select id from api_tokens where user_id = ${viewer.id} limit 1`;
    const mine = { ...claims(id), viewer: { userId: viewer.id, tokenId: Number(row?.["id"]) } };
    const at = (hours: number) => issue(createSecrets(key), mine, Date.now() + hours * 3_600_000);
    expect(await opens(at(-0.9).token)).toBe(200);
    const expired = at(-1.1).token;
    expect([
      await opens(expired),
      await status(app.post(`/core/apps/${id}/token.json`, undefined, { token: expired })),
    ]).toEqual([401, 401]);
    const renewal = (token: string) => app.post(`/core/apps/${id}/token.json`, undefined, { token });
    const fresh = await renewal(at(-0.9).token);
    expect([fresh.status, await opens(fresh.json.token)]).toEqual([200, 200]);
    expect(fresh.json.expires_in).toBeGreaterThan(3500);
    expect(new Date(fresh.json.expires_at).getTime()).toBeGreaterThan(Date.now() + 3_500_000);
    // What a page that was loaded two days ago has by now, in the form of the release before.
    const second = (hours: number) => Math.floor(Date.now() / 1000 + hours * 3600);
    const old = `1~${id}~${viewer.id}~${row?.["id"]}~${second(-48)}~${second(0.5)}~v`;
    const last = await renewal(`capp_${createSecrets(key).sign("apps.token/1", old)}`);
    expect([last.status, last.json.expires_in > 3500]).toEqual([200, true]);
  });

  test("renewal needs the app's own token", async () => {
    const { id } = await make();
    const renew = (options: RequestOptions) => status(app.post(`/core/apps/${id}/token.json`, undefined, options));
    expect([await renew({}), await renew({ token: null })]).toEqual([401, 401]);
  });
});

describe("any origin", () => {
  test("may send an app's token, never cookies", async () => {
    const { id } = await make();
    const token = await pageToken(id);
    const headers = { origin: "null" };
    for (const path of ["/core/dbs/own/records.json", `/core/apps/${id}/storage.json`]) {
      const answer = await app.get(path, { token, headers });
      expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
      expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
      const preflight = await app.request("OPTIONS", path, undefined, { token: null, headers });
      expect(preflight.headers.get("access-control-allow-headers")).toContain("authorization");
    }
    const denied = await app.get("/core/apps.json", { headers });
    expect(denied.headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("live changes", () => {
  test("are followed with an app's token, and end with it", async () => {
    const { id } = await make();
    const token = await pageToken(id);
    for (const path of ["/core/dbs/own/events", "/core/db/own/events"]) {
      const ending = new AbortController();
      const answer = await fetch(`${app.origin}${path}`, {
        headers: { authorization: `Bearer ${token}` },
        signal: ending.signal,
      });
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
      ending.abort();
    }
  });
});

test("a token for some databases makes no app, draft or change that uses others", async () => {
  for (const code of ["till", "wages"]) await app.post("/core/dbs", { db: { name: code, code } });
  const issued = await app.post("/account/api_tokens", {
    api_token: { name: "few", privileges: ["dbs", "apps"], databases: { till: "read" } },
  });
  expect(issued.status).toBe(201);
  const few = { token: issued.json.token };
  const source = { app_engine: "js", css_engine: "none", source_code: "export {};" };
  const create = (more: object) => app.post("/core/apps", { app: { name: "A", ...source, ...more } }, few);
  const refused = { status: 403, json: { error: expect.stringContaining("your token does not open the database") } };
  expect(await create({ db_code: "wages" })).toMatchObject(refused);
  expect(await create({ db_code: "till", fields: { dbs: ["wages"] } })).toMatchObject(refused);
  expect(await create({ db_code: "issued-later" })).toMatchObject(refused);
  const own = await create({ db_code: "till" });
  expect(own.status).toBe(201);
  const { id } = (await app.post("/core/apps", { app: { name: "B", ...source, db_code: "wages" } })).json;
  const other = { source_code: "export const x = 1;" };
  expect(await app.patch(`/core/apps/${id}`, { app: other }, few)).toMatchObject(refused);
  expect(await app.patch(`/core/apps/${own.json.id}`, { app: { fields: { dbs: ["wages"] } } }, few)).toMatchObject(
    refused,
  );
  expect((await app.patch(`/core/apps/${own.json.id}`, { app: other }, few)).status).toBe(200);
  expect(await app.post("/core/apps/preview", { app: { id, ...other } }, few)).toMatchObject(refused);
});
