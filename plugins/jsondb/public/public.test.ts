import { describe, expect, test } from "bun:test";
import { adminPassword, startTestApp } from "../../../tests/harness.ts";
import { publicServer, unknownId } from "../../../tests/fixtures/public-methods.ts";

const server = publicServer();
const { call, database, read } = server;

describe("public methods", () => {
  test("store, list, show, change, search and delete a record", async () => {
    const all = Object.fromEntries(["list", "get", "create", "update", "delete", "search"].map((name) => [name, true]));
    const code = await database(all, { fields: { name: "string", n: "integer" }, indexed_fields: ["name"] });
    const made = await call(code, "create", { data: { name: "Ann", n: 1 } });
    expect(made.status).toBe(201);
    expect(made.json).toEqual({
      id: made.json.id,
      data: { name: "Ann", n: 1 },
      created_at: expect.any(String),
      updated_at: made.json.created_at,
    });
    const { id } = made.json;
    await call(code, "create", { data: { name: "Bob", n: 2 } });
    for (const list of [await read(code, "list"), await call(code, "list")])
      expect(list.json.map((r: { data: { n: number } }) => r.data.n)).toEqual([2, 1]);
    expect((await read(code, "list?limit=1&offset=1")).json).toEqual([made.json]);
    expect((await call(code, "list", { limit: 1, offset: 1 })).json).toEqual([made.json]);
    for (const get of [await read(code, `get?id=${id}`), await call(code, "get", { id })])
      expect([get.status, get.json]).toEqual([200, made.json]);
    const changed = await call(code, "update", { id, data: { n: 5 } });
    expect([changed.status, changed.json.data]).toEqual([200, { name: "Ann", n: 5 }]);
    expect(Object.keys(changed.json)).toEqual(["id", "data", "created_at", "updated_at"]);
    for (const search of [
      await read(code, "search?q=ann&sort=-name"),
      await call(code, "search", { q: "ANN", limit: "5" }),
    ])
      expect(search.json).toEqual([
        { id, name: "Ann", n: 5, created_at: made.json.created_at, updated_at: changed.json.updated_at },
      ]);
    expect((await call(code, "delete", { id })).json).toEqual({ id, deleted: true });
    expect((await call(code, "get", { id })).status).toBe(404);
    expect((await call(code, "delete", { id })).status).toBe(404);
  });

  test("answer any origin, without credentials", async () => {
    const code = await database({ list: true });
    for (const answer of [await read(code, "list"), await call(code, "create", { data: {} })]) {
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    }
    const preflight = await server.app.request("OPTIONS", `/core/db/${code}/create`, undefined, { token: null });
    expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).toEqual([
      204,
      expect.stringContaining("POST"),
    ]);
  });

  test("read by POST on a session cookie from wherever, and change only from the own origin", async () => {
    const all = { list: true, get: true, create: true, update: true, delete: true, search: true };
    const code = await database({ ...all, list: { auto_fields: { by: "{user_id}" }, scope_by: "by" } });
    const { json: me } = await server.app.get("/account/me");
    const { json: record } = await server.app.post(`/core/dbs/${code}/records`, {
      record: { data: { by: `${me.id}` } },
    });
    const login = await server.app.post(
      "/account/session",
      { login: "admin", password: adminPassword },
      { token: null },
    );
    const cookie = login.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
    const cross = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
    for (const from of [{}, cross]) {
      const ask = (method: string, body: unknown) => call(code, method, body, { headers: { cookie, ...from } });
      for (const method of ["list", "search", "get"]) {
        const answer = await ask(method, { id: record.id });
        expect([method, answer.status, answer.text.includes(record.id)]).toEqual([method, 200, true]);
        // A browser shows an answer with `*` only if the request had no cookies.
        expect(answer.headers.get("access-control-allow-origin")).toBe("*");
        expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
      }
      for (const method of ["create", "update", "delete", "drop"])
        expect([method, (await ask(method, { id: record.id, data: {} })).status]).toEqual([method, 403]);
    }
    const own = await call(code, "create", { data: {} }, { headers: { cookie, "sec-fetch-site": "same-origin" } });
    expect(own.status).toBe(201);
  });

  test("are closed unless they are configured: 403, an unknown database 404, then a write by GET 405", async () => {
    const code = await database({ list: true, get: false });
    for (const method of ["get", "create", "update", "delete", "search"])
      expect([method, (await call(code, method, { data: {} })).status]).toEqual([method, 403]);
    expect((await read("nowhere", "list")).status).toBe(404);
    expect((await call("%00", "list")).status).toBe(404);
    for (const method of ["drop", "constructor", "LIST", "%00"])
      expect([method, (await call(code, method)).status]).toEqual([method, 403]);
    const open = await database({ create: true, update: true, delete: true });
    for (const method of ["create", "update", "delete"]) {
      const answer = await read(open, `${method}?id=${unknownId}`);
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
      expect((await read("nowhere", method)).status).toBe(404);
      expect((await read(code, method)).status).toBe(403);
    }
  });

  test("take `limit` and `offset` that are no numbers for none", async () => {
    const code = await database({ list: true, search: true, create: true });
    for (const n of [1, 2]) await call(code, "create", { data: { n } });
    for (const none of [[1], { a: 1 }, true, "x", "\0", null, 1.5]) {
      for (const method of ["list", "search"]) {
        const answer = await call(code, method, { limit: none, offset: none });
        expect([none, answer.status, answer.json?.length]).toEqual([none, 200, 2]);
      }
    }
    for (const name of ["q", "sort"]) expect((await call(code, "search", { [name]: [] })).status).toBe(400);
    const corrected = (await call(code, "list", { limit: 500, offset: [1] })).headers.get("warning") ?? "";
    expect(corrected).toContain("limit: 500 is out of range, 100 is taken");
    expect(corrected).toContain("offset: [1] is no whole number, 0 is taken");
    expect((await call(code, "search", { limit: "1", offset: null })).headers.get("warning")).toBeNull();
  });

  test("follow a change of the configuration at once", async () => {
    const code = await database({ list: true });
    expect((await read(code, "list")).status).toBe(200);
    await server.app.patch(`/core/dbs/${code}`, { db: { public_methods: { get: true } } });
    expect((await read(code, "list")).status).toBe(403);
  });
});

describe("limits by address", () => {
  test("answer 429 with Retry-After, for creates sooner than for the rest", async () => {
    const limited = await startTestApp({
      env: { RATE_LIMIT_REQUESTS: "20", RATE_LIMIT_CREATES: "5", RATE_LIMIT_WINDOW_SECONDS: "3600" },
    });
    await limited.post("/core/dbs", { db: { name: "x", public_methods: { list: true, create: true } } });
    const statuses: number[] = [];
    for (let i = 0; i < 7; i++)
      statuses.push((await limited.post("/core/db/x/create", { data: {} }, { token: null })).status);
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429, 429]);
    for (let i = 0; i < 13; i++) await limited.get("/core/db/x/list", { token: null });
    const refused = await limited.get("/core/db/x/list", { token: null });
    expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
    // A header that no trusted proxy has sent does not make another client.
    expect(
      (await limited.get("/core/db/x/list", { token: null, headers: { "x-forwarded-for": "9.9.9.9" } })).status,
    ).toBe(429);
    expect((await limited.get("/core/dbs/x/records")).status).toBe(200);
    await limited.stop();
  });
});

test("another account's database is not there", async () => {
  const code = await database({ list: true });
  const strange = await server.app.get(`/core/db/${code}/list`, { token: "core_unknown" });
  expect(strange.status).toBe(200); // a token that does not work is nobody's
  const [other] = await server.app
    .sql`insert into accounts (name, host, timezone, locale) values ('Other', 'other.test', 'UTC', 'en') returning id`;
  expect(other).toBeDefined();
  const elsewhere = await server.app.get(`/core/db/${code}/list`, {
    token: null,
    headers: { host: "other.test" },
  });
  expect(elsewhere.status).toBe(404);
});
