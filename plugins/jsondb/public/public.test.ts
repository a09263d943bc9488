import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminPassword, startTestApp, type Answer, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { RATE_LIMIT_REQUESTS: "100000", RATE_LIMIT_CREATES: "100000" } });
});
afterAll(() => app.stop());

let databases = 0;
/** Makes a database with these public methods; its code. */
async function database(public_methods: unknown, schema: unknown = null): Promise<string> {
  const code = `db-${++databases}`;
  const answer = await app.post("/core/dbs", { db: { name: code, code, schema, public_methods } });
  expect([answer.status, answer.text]).toEqual([201, answer.text]);
  return code;
}

interface CallOptions {
  /** The value of `core_key`. */
  cookie?: string;
  token?: string | null;
  headers?: Record<string, string>;
}
const call = (
  code: string,
  method: string,
  body?: unknown,
  { cookie, token = null, headers = {} }: CallOptions = {},
): Promise<Answer> =>
  app.post(`/core/db/${code}/${method}`, body ?? {}, {
    token,
    headers: { ...headers, ...(cookie && { cookie: `core_key=${cookie}` }) },
  });
const read = (code: string, path: string, cookie?: string): Promise<Answer> =>
  app.get(`/core/db/${code}/${path}`, { token: null, headers: cookie ? { cookie: `core_key=${cookie}` } : {} });
const keyOf = (answer: Answer) => /^core_key=([\w-]{43});/.exec(answer.headers.get("set-cookie") ?? "")?.[1] ?? "";
const unknownId = "019a9c1e-0000-7000-8000-000000000001";

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
    const preflight = await app.request("OPTIONS", `/core/db/${code}/create`, undefined, { token: null });
    expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).toEqual([
      204,
      expect.stringContaining("POST"),
    ]);
  });

  test("read by POST on a session cookie from wherever, and change only from the own origin", async () => {
    const all = { list: true, get: true, create: true, update: true, delete: true, search: true };
    const code = await database({ ...all, list: { auto_fields: { by: "{user_id}" }, scope_by: "by" } });
    const { json: me } = await app.get("/account/me");
    const { json: record } = await app.post(`/core/dbs/${code}/records`, { record: { data: { by: `${me.id}` } } });
    const login = await app.post("/account/session", { login: "admin", password: adminPassword }, { token: null });
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
  });

  test("follow a change of the configuration at once", async () => {
    const code = await database({ list: true });
    expect((await read(code, "list")).status).toBe(200);
    await app.patch(`/core/dbs/${code}`, { db: { public_methods: { get: true } } });
    expect((await read(code, "list")).status).toBe(403);
  });
});

describe("a public write", () => {
  test("takes only allowed fields, adds defaults and the server's own, and minds what is required", async () => {
    const create = {
      allowed_fields: ["title", "mail"],
      required_fields: ["title"],
      default_values: { status: "new" },
      auto_fields: { from: "{ip}", user: "{user_id}" },
    };
    const code = await database({ create });
    const made = await call(code, "create", { data: { title: "Hi", status: "paid", from: "me", other: 1 } });
    expect(made.json.data).toEqual({ title: "Hi", status: "new", from: "127.0.0.1", user: "" });
    for (const title of [undefined, null, ""]) {
      const answer = await call(code, "create", { data: { title } });
      expect([answer.status, answer.json]).toEqual([
        422,
        { error: "title is required", errors: { title: ["is required"] } },
      ]);
    }
    const [stored] = (await app.get(`/core/dbs/${code}/records`)).json;
    expect(stored.data).toEqual(made.json.data);
  });

  test("knows the signed-in person", async () => {
    const code = await database({ create: { auto_fields: { id: "{user_id}", name: "{user_name}" } } });
    const { json: me } = await app.get("/account/me");
    const { json } = await app.post(`/core/db/${code}/create`, { data: {} });
    expect(json.data).toEqual({ id: `${me.id}`, name: me.name });
    expect((await call(code, "create", { data: {} })).json.data).toEqual({ id: "", name: "" });
  });

  test("is validated by the schema", async () => {
    const code = await database(
      { create: true, update: true },
      { fields: { n: "integer", s: { type: "string", required: true } } },
    );
    const wrong = await call(code, "create", { data: { n: "x" } });
    expect([wrong.status, Object.keys(wrong.json.errors).toSorted()]).toEqual([422, ["n", "s"]]);
    const { id } = (await call(code, "create", { data: { n: 1, s: "a" } })).json;
    expect((await call(code, "update", { id, data: { s: null } })).json.errors).toEqual({ s: ["is required"] });
  });

  test("of a multi-table database goes to the null table; an update keeps the table and is validated by it", async () => {
    const schema = {
      tables: { orders: { fields: { no: { type: "integer", required: true } }, indexed_fields: ["no"] } },
    };
    const code = await database({ create: true, update: true, list: true, get: true, search: true }, schema);
    const made = await call(code, "create", { data: { no: "any" }, table_name: "orders" });
    expect(made.json.data).toEqual({ no: "any" });
    const order = (await app.post(`/core/dbs/${code}/records`, { record: { table_name: "orders", data: { no: 5 } } }))
      .json;
    expect((await read(code, "list")).json.map(({ id }: { id: string }) => id)).toEqual([order.id, made.json.id]);
    expect((await read(code, `get?id=${order.id}`)).json.data).toEqual({ no: 5 });
    expect((await call(code, "update", { id: order.id, data: { no: "x" } })).status).toBe(422);
    expect((await call(code, "update", { id: order.id, data: { no: 6 } })).json.data).toEqual({ no: 6 });
    expect((await app.get(`/core/dbs/${code}/records/${order.id}`)).json.table_name).toBe("orders");
    expect((await read(code, "search")).json).toMatchObject({ available_tables: ["orders"] });
    expect((await read(code, "search?table_name=orders&sort=no")).json).toMatchObject([{ no: 6 }]);
  });

  test.each<[string, unknown, number]>([
    ["no data", {}, 422],
    ["data as a list", { data: [] }, 422],
    ["data as null", { data: null }, 422],
    ["a list as the body", [], 400],
    ["a string as the body", "x", 400],
  ])("with %s is refused", async (_, body, status) => {
    const code = await database({ create: true });
    expect((await call(code, "create", body)).status).toBe(status);
  });

  test("with hostile content does no harm", async () => {
    const code = await database({ create: true, list: true, get: true, update: true, delete: true });
    const send = (raw: string) =>
      app.post(`/core/db/${code}/create`, undefined, {
        token: null,
        raw,
        headers: { "content-type": "application/json" },
      });
    expect((await send('{"data":{"__proto__":{"polluted":1},"a":"x"}}')).status).toBe(201);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect((await send(`{"data":{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}}`)).status).toBe(400);
    expect((await send(`{"data":{"a":"${"x".repeat(1_000_000)}"}}`)).status).toBe(201);
    expect((await send('{"data":{"a":"\'); drop table records; --"}}')).status).toBe(201);
    expect((await send("{")).status).toBe(400);
    for (const id of [5, {}, [], true, "x", "' or true --", "\0", "\ud800", `${unknownId}\0`]) {
      for (const method of ["get", "update", "delete"])
        expect([id, method, (await call(code, method, { id })).status]).toEqual([id, method, 404]);
    }
    for (const id of [undefined, null, ""])
      expect((await call(code, "delete", { id })).json).toHaveProperty("errors.id");
  });

  const character = "has a character that cannot be stored";
  test.each<[string, Record<string, string[]>]>([
    ['{"a":"\\u0000"}', { a: [character] }],
    ['{"a":{"b":["x\\udfff"]}}', { a: [`b.0 ${character}`] }],
    ['{"a\\u0000":1}', { a: [character] }],
    ['{"n":1e309}', { n: ["is a number too large to be kept"] }],
    ['{"a":[-1e999]}', { a: ["0 is a number too large to be kept"] }],
  ])("refuses what cannot be stored, as any other mistake: %s", async (data, errors) => {
    const code = await database({ create: true, update: true }, { fields: { n: "number", s: "string" } });
    const { id } = (await call(code, "create", { data: {} })).json;
    const raw = (method: string) =>
      app.post(`/core/db/${code}/${method}`, undefined, {
        token: null,
        raw: `{"id":"${id}","data":${data}}`,
        headers: { "content-type": "application/json" },
      });
    const error = Object.entries(errors)
      .map(([name, messages]) => `${name} ${messages.join(", ")}`)
      .join("; ");
    for (const method of ["create", "update"]) {
      const answer = await raw(method);
      expect([method, answer.status, answer.json]).toEqual([method, 422, { error, errors }]);
    }
  });

  test("ignores what it does not take, whatever that holds", async () => {
    const only = { allowed_fields: ["a"] };
    const code = await database({ create: only, update: only, list: true, get: true, search: true, delete: true });
    const junk = '"other":"\\u0000","k\\u0000":["\\ud800",1e309]';
    const ask = async (method: string, body: string) => {
      const headers = { "content-type": "application/json" };
      return app.post(`/core/db/${code}/${method}`, undefined, { token: null, raw: `{${body},${junk}}`, headers });
    };
    const made = await ask("create", `"data":{"a":1,${junk}}`);
    expect([made.status, made.json.data]).toEqual([201, { a: 1 }]);
    const id = `"id":"${made.json.id}"`;
    expect((await ask("update", `${id},"data":{"a":2,${junk}}`)).json.data).toEqual({ a: 2 });
    for (const [method, status] of [
      ["list", 200],
      ["search", 200],
      ["get", 200],
      ["delete", 200],
      ["get", 404],
    ] as const)
      expect([method, (await ask(method, id)).status]).toEqual([method, status]);
    for (const name of ["q", "sort"]) expect((await ask("search", `"${name}":"\\u0000"`)).status).toBe(400);
    expect((await ask("list", '"after":"\\u0000"')).status).toBe(400);
    expect((await ask("search", '"table_name":"\\u0000"')).status).toBe(200);
  });
});

describe("a visitor's key", () => {
  const scoped = {
    create: { auto_fields: { owner: "{cookie_key}" } },
    list: { scope_by: "owner" },
    get: { scope_by: "owner" },
    search: { scope_by: "owner" },
    update: { scope_by: "owner" },
    delete: { scope_by: "owner" },
  };

  test("is a cookie for a month, renewed, that no script reads", async () => {
    const code = await database(scoped);
    const first = await call(code, "create", { data: {} });
    expect(first.headers.get("set-cookie")).toMatch(
      /^core_key=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/,
    );
    const key = keyOf(first);
    const again = await read(code, "list", key);
    expect(keyOf(again)).toBe(key);
    expect(keyOf(await read(code, "list", "too-short"))).not.toBe("too-short");
    // The stored key is derived from the secret, so it opens nothing.
    expect(first.json.data.owner).not.toContain(key);
    expect((await read(code, "list", first.json.data.owner)).json).toEqual([]);
  });

  test("is not given where nothing needs it", async () => {
    const code = await database({ create: true, list: true });
    expect((await call(code, "create", { data: {} })).headers.get("set-cookie")).toBeNull();
  });

  for (const schema of [null, { fields: { owner: "string", n: "integer" }, indexed_fields: ["owner", "n"] }]) {
    test(`shows each visitor only their own records ${schema ? "by an index" : "without a schema"}`, async () => {
      const code = await database(scoped, schema);
      const [ann, bob] = [
        await call(code, "create", { data: { n: 1 } }),
        await call(code, "create", { data: { n: 2, word: "only bob" } }),
      ];
      const [annKey, bobKey] = [keyOf(ann), keyOf(bob)];
      expect(annKey).not.toBe(bobKey);
      await call(code, "create", { data: { n: 3, owner: bob.json.data.owner } }, { cookie: annKey });
      const own = async (path: string, key?: string) =>
        (await read(code, path, key)).json.map((r: { n?: number; data?: { n: number } }) => r.n ?? r.data?.n);
      expect(await own("list", annKey)).toEqual([3, 1]);
      expect(await own("list", bobKey)).toEqual([2]);
      expect(await own("list")).toEqual([]);
      expect(await own("search?sort=n", annKey)).toEqual([1, 3]);
      expect(await own("search?q=only bob", annKey)).toEqual([]);
      expect(await own("search?offset=1", bobKey)).toEqual([]);
      for (const [method, body] of [
        ["get", {}],
        ["update", { data: { n: 9 } }],
        ["delete", {}],
      ] as const) {
        for (const cookie of [annKey, undefined]) {
          const answer = await call(code, method, { id: bob.json.id, ...body }, cookie ? { cookie } : {});
          expect([method, answer.status]).toEqual([method, 404]);
        }
      }
      expect((await read(code, `get?id=${bob.json.id}`, bobKey)).json.data.n).toBe(2);
      const stolen = await call(
        code,
        "update",
        { id: ann.json.id, data: { owner: bob.json.data.owner, n: 8 } },
        { cookie: annKey },
      );
      expect(stolen.json.data).toEqual({ owner: ann.json.data.owner, n: 8 });
      expect((await call(code, "delete", { id: bob.json.id }, { cookie: bobKey })).json.deleted).toBe(true);
    });
  }

  test("of nobody signed in shows nothing", async () => {
    const code = await database({
      list: { scope_by: "u", auto_fields: { u: "{user_id}" } },
      create: { auto_fields: { u: "{user_id}" } },
    });
    await call(code, "create", { data: { n: 1 } });
    expect((await read(code, "list")).json).toEqual([]);
    await app.post(`/core/db/${code}/create`, { data: { n: 2 } });
    expect((await app.get(`/core/db/${code}/list`)).json.map((r: { data: { n: number } }) => r.data.n)).toEqual([2]);
  });

  test("keeps Idempotency-Keys apart", async () => {
    const code = await database({ create: true });
    const headers = { "idempotency-key": "k1" };
    const first = await call(code, "create", { data: { n: 1 } }, { headers });
    const cookie = keyOf(first);
    expect(cookie).not.toBe("");
    const again = await call(code, "create", { data: { n: 1 } }, { headers, cookie });
    expect([again.status, again.text]).toEqual([201, first.text]);
    const other = await call(code, "create", { data: { n: 1 } }, { headers });
    expect(other.json.id).not.toBe(first.json.id);
    expect((await call(code, "create", { data: { n: 2 } }, { headers, cookie })).status).toBe(409);
    expect(
      await app.sql`select 1 from idempotency_keys where headers::text like '%core_key%' or body like ${`%${cookie}%`}`,
    ).toHaveLength(0);
    expect((await app.get(`/core/dbs/${code}/records`)).json).toHaveLength(2);
  });
});

test("another site's form, which comes without the cookie, does not take the visitor's away", async () => {
  const code = await database({ create: { auto_fields: { owner: "{cookie_key}" } } });
  const cross = { headers: { "sec-fetch-site": "cross-site" } };
  const posted = await call(code, "create", { data: {} }, cross);
  expect([posted.status, posted.headers.get("set-cookie")]).toEqual([201, null]);
  const key = keyOf(await call(code, "create", { data: {} }));
  expect(keyOf(await call(code, "create", { data: {} }, { ...cross, cookie: key }))).toBe(key);
});

describe("a visitor's first request, sent again before the cookie has come", () => {
  const scoped = { create: { auto_fields: { owner: "{cookie_key}" } }, list: { scope_by: "owner" } };
  const headers = { "idempotency-key": crypto.randomUUID() };

  test("is that visitor's, with the first answer and the same cookie", async () => {
    const code = await database(scoped);
    const first = await call(code, "create", { data: { n: 1 } }, { headers });
    const again = await call(code, "create", { data: { n: 1 } }, { headers });
    expect([again.status, again.text, keyOf(again)]).toEqual([201, first.text, keyOf(first)]);
    expect(keyOf(first)).toMatch(/^[\w-]{43}$/);
    expect((await read(code, "list", keyOf(again))).json).toHaveLength(1);
    const withCookie = await call(code, "create", { data: { n: 1 } }, { headers, cookie: keyOf(first) });
    expect([withCookie.status, withCookie.text]).toEqual([201, first.text]);
  });

  test("opens nothing else: another body, method, database or credential is no retry", async () => {
    const code = await database(scoped);
    const key = keyOf(await call(code, "create", { data: { n: 1 } }, { headers }));
    for (const [method, body] of [
      ["create", { data: { n: 2 } }],
      ["list", {}],
    ] as const) {
      const answer = await call(code, method, body, { headers });
      expect([method, answer.status, answer.headers.get("set-cookie")]).toEqual([method, 409, null]);
    }
    // A GET has no Idempotency-Key that could identify the visitor.
    const got = await app.get(`/core/db/${code}/list`, { token: null, headers });
    expect([got.json, keyOf(got) === key]).toEqual([[], false]);
    const signedIn = await app.post(`/core/db/${code}/list`, {}, { headers });
    expect([signedIn.json, keyOf(signedIn) === key]).toEqual([[], false]);
  });

  test("is another visitor's for a key that others may have too", async () => {
    const code = await database(scoped);
    const short = { "idempotency-key": "order-000000017" };
    const [first, second] = [
      await call(code, "create", { data: {} }, { headers: short }),
      await call(code, "create", { data: {} }, { headers: short }),
    ];
    expect([second.status, second.json.id === first.json.id, keyOf(second) === keyOf(first)]).toEqual([
      201,
      false,
      false,
    ]);
  });

  test("is somebody else's from another address", async () => {
    const proxied = await startTestApp({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
    await proxied.post("/core/dbs", { db: { name: "x", public_methods: scoped } });
    const from = (address: string) =>
      proxied.post(
        "/core/db/x/create",
        { data: {} },
        { token: null, headers: { ...headers, "x-forwarded-for": address } },
      );
    const [ann, bob, again] = [await from("203.0.113.1"), await from("203.0.113.2"), await from("203.0.113.1")];
    expect([ann.json.id === bob.json.id, keyOf(ann) === keyOf(bob)]).toEqual([false, false]);
    expect([again.text, keyOf(again)]).toEqual([ann.text, keyOf(ann)]);
    await proxied.stop();
  });
});

describe("a hidden field", () => {
  const schema = {
    fields: { title: "string", secret: "string", age: "integer" },
    indexed_fields: ["title", "secret", "age"],
  };
  const shown = { allowed_fields: ["title"] };
  const rows = [
    { title: "one", secret: "zebra", age: 3 },
    { title: "two", secret: "apple", age: 1 },
    { title: "three", secret: "mango", age: 2 },
  ];
  const fill = async (code: string) => {
    const ids: string[] = [];
    for (const data of rows) ids.push((await app.post(`/core/dbs/${code}/records`, { record: { data } })).json.id);
    return ids;
  };

  for (const [kind, given] of [
    ["an indexed", schema],
    ["a free", null],
  ] as const) {
    test(`of ${kind} database is neither shown, sorted nor searched by`, async () => {
      const code = await database({ list: shown, get: shown, search: shown, update: true, create: true }, given);
      const [id] = await fill(code);
      expect((await read(code, "list")).json.map((r: { data: unknown }) => r.data)).toEqual([
        { title: "three" },
        { title: "two" },
        { title: "one" },
      ]);
      expect((await read(code, `get?id=${id}`)).json.data).toEqual({ title: "one" });
      expect((await call(code, "update", { id, data: { age: 3 } })).json.data).toEqual({ title: "one" });
      expect((await call(code, "create", { data: { title: "x", secret: "y" } })).json.data).toEqual({ title: "x" });
      const titles = async (query: string) =>
        (await read(code, `search?${query}`)).json.map(
          ({ title, ...rest }: { title: string }) => `${title}${Object.keys(rest).length}`,
        );
      const newest = ["x3", "three3", "two3", "one3"];
      for (const query of ["sort=secret", "sort=-secret", "sort=age", "sort=-age", ""])
        expect([query, await titles(query)]).toEqual([query, newest]);
      for (const query of ["q=zebra", "q=z*", "q=*pp*", "q=3", "q=secret"])
        expect([query, await titles(query)]).toEqual([query, []]);
      expect(await titles("q=two&sort=title")).toEqual(["two3"]);
      expect(await titles("sort=title")).toEqual(["one3", "three3", "two3", "x3"]);
      for (const query of ["filter[secret]=zebra", "fields=secret", "search_in=secret&q=zebra&limit=0", "count=true"])
        expect((await read(code, `search?${query}`)).text).not.toContain("zebra");
      expect((await read(code, "search?filter[secret]=zebra")).json).toHaveLength(4);
      expect((await read(code, "search?count=true")).headers.get("x-total-count")).toBeNull();
      expect((await read(code, "search?limit=1")).headers.get("x-next-cursor")).toBeNull();
    });
  }

  test("does not come out through the order where only its title is searched in", async () => {
    const code = await database({ search: { allowed_fields: ["title", "age"] } }, schema);
    await fill(code);
    expect((await read(code, "search?sort=age")).json.map(({ age }: { age: number }) => age)).toEqual([1, 2, 3]);
  });

  test("stays when parameters are narrowed: others are ignored", async () => {
    const code = await database({ search: { allowed_params: ["q", "limit"] }, list: { allowed_params: [] } }, schema);
    await fill(code);
    const titles = async (path: string) =>
      (await read(code, path)).json.map((r: { title?: string; data?: { title: string } }) => r.title ?? r.data?.title);
    expect(await titles("search?sort=age&offset=1&limit=2")).toEqual(["three", "two"]);
    expect(await titles("search?q=one")).toEqual(["one"]);
    expect(await titles("list?limit=1")).toEqual(["three", "two", "one"]);
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
  await database({ list: true });
  const strange = await app.get(`/core/db/db-${databases}/list`, { token: "core_unknown" });
  expect(strange.status).toBe(200); // a token that does not work is nobody's
  const [other] =
    await app.sql`insert into accounts (name, host, timezone, locale) values ('Other', 'other.test', 'UTC', 'en') returning id`;
  expect(other).toBeDefined();
  const elsewhere = await app.get(`/core/db/db-${databases}/list`, { token: null, headers: { host: "other.test" } });
  expect(elsewhere.status).toBe(404);
});
