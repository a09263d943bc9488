import { describe, expect, test } from "bun:test";
import { startTestApp } from "../../../tests/harness.ts";
import { keyOf, publicServer } from "../../../tests/fixtures/public-methods.ts";
import { cookieHeader } from "./visitor.ts";

const server = publicServer();
const { call, database, read } = server;

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
    await server.app.post(`/core/db/${code}/create`, { data: { n: 2 } });
    expect((await server.app.get(`/core/db/${code}/list`)).json.map((r: { data: { n: number } }) => r.data.n)).toEqual([
      2,
    ]);
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
      await server.app
        .sql`select 1 from idempotency_keys where headers::text like '%core_key%' or body like ${`%${cookie}%`}`,
    ).toHaveLength(0);
    expect((await server.app.get(`/core/dbs/${code}/records`)).json).toHaveLength(2);
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
    const got = await server.app.get(`/core/db/${code}/list`, { token: null, headers });
    expect([got.json, keyOf(got) === key]).toEqual([[], false]);
    const signedIn = await server.app.post(`/core/db/${code}/list`, {}, { headers });
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

const visitor = { secret: "s".repeat(43), variables: { ip: "", cookie_key: "", user_id: "", user_name: "" } };

test("the cookie is sent back over https only where the client came by it", () => {
  expect(cookieHeader(visitor, true)["set-cookie"]).toEndWith("; SameSite=Lax; Secure");
  expect(cookieHeader(visitor, false)["set-cookie"]).toEndWith("; SameSite=Lax");
});

test("an app's page is given no cookie", () => {
  expect(cookieHeader({ ...visitor, secret: null }, true)).toEqual({});
});
