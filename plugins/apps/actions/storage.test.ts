import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type RequestOptions, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
let id: string;
beforeAll(async () => {
  app = await startTestApp({ env: { RATE_LIMIT_ACTIONS: "100000" } });
  id = await make();
});
afterAll(() => app.stop());

let made = 0;
const make = async (fields: object = {}): Promise<string> =>
  (
    await app.post("/core/apps.json", {
      app: { name: `S${++made}`, app_engine: "html", source_code: "x", public: true, ...fields },
    })
  ).json.id;

const at = (key: string, of = id) => `/core/apps/${of}/storage/${encodeURIComponent(key)}.json`;
const set = (key: string, value: unknown, options: RequestOptions = {}, of = id) =>
  app.request("PUT", at(key, of), { value }, options);
const get = (key: string, options: RequestOptions = {}) => app.get(at(key), options);
const keys = async (options: RequestOptions = {}) => (await app.get(`/core/apps/${id}/storage.json`, options)).json;
const cookieOf = (headers: Headers) => (headers.get("set-cookie") ?? "").split(";")[0] ?? "";

describe("what an app stores", () => {
  test.each([
    ["theme", "dark"],
    ["a.b.json", null],
    ["with/slash and blank", [1, { a: "ł" }]],
    ["%2e%2e", false],
    ["日本", 1.5],
    ["__proto__", { constructor: 1 }],
    ["x".repeat(200), ""],
  ])("under %s is kept as it is, listed and forgotten", async (key, value) => {
    const { token } = await person(app, { role: "guest" });
    expect((await get(key, { token })).json).toEqual({ key, value: null });
    for (const one of [1, value]) {
      const stored = await set(key, one, { token });
      expect([stored.status, stored.json]).toEqual([200, { key, value: one }]);
    }
    expect((await get(key, { token })).json).toEqual({ key, value });
    expect(await keys({ token })).toEqual([key]);
    expect((await app.delete(at(key), { token })).status).toBe(204);
    expect((await app.delete(at(key), { token })).status).toBe(204);
    expect(await keys({ token })).toEqual([]);
  });

  test("is listed in pages, with the count of all", async () => {
    const { token } = await person(app, { role: "guest" });
    for (const key of ["c", "a", "b"]) await set(key, 1, { token });
    const page = await app.get(`/core/apps/${id}/storage.json?limit=2&offset=1`, { token });
    expect([page.json, page.headers.get("x-total-count")]).toEqual([["b", "c"], "3"]);
  });

  test("belongs to one visitor of one app: a person, or a browser", async () => {
    const [one, two] = [await person(app), await person(app)];
    await set("k", 1, { token: one.token });
    expect((await get("k", { token: two.token })).json.value).toBeNull();
    const browser = await set("k", 2, { token: null });
    const cookie = cookieOf(browser.headers);
    expect((await get("k", { token: null, headers: { cookie } })).json.value).toBe(2);
    expect((await get("k", { token: null })).json.value).toBeNull();
    expect((await get("k", { token: one.token })).json.value).toBe(1);
    const other = await make();
    expect((await app.get(at("k", other), { token: one.token })).json.value).toBeNull();
    const page = await app.get(`/a/${id}`, { token: null, headers: { cookie } });
    const { value: token } = JSON.parse(/id="core-page">([^<]*)</.exec(page.text)?.[1] ?? "").token;
    expect((await get("k", { token })).json.value).toBe(2);
  });

  test("is for nobody where the app is private, inactive or another account's", async () => {
    const [secret, off] = [await make({ public: false }), await make({ active: false })];
    expect((await app.get(at("k", secret), { token: null })).status).toBe(401);
    expect((await set("k", 1, {}, off)).status).toBe(404);
    const other = await otherAccount(app);
    expect((await other.get(at("k"))).status).toBe(404);
    expect((await other.request("PUT", at("k"), { value: 1 })).status).toBe(404);
  });

  test("goes with the app", async () => {
    const gone = await make();
    await set("k", 1, {}, gone);
    await app.delete(`/core/apps/${gone}.json`);
    const [row] = await app.sql`select count(*) as n from app_storage where app_id = ${gone}`;
    expect(row?.["n"]).toBe(0);
  });
});

describe("the quota", () => {
  test("is 1 MB in all, by bytes, and what is over it changes nothing", async () => {
    const { token } = await person(app);
    const big = "ł".repeat(240_000); // 480,002 bytes as JSON
    expect((await set("a", big, { token })).status).toBe(200);
    expect((await set("b", big, { token })).status).toBe(200);
    const over = await set("c", big, { token });
    expect([over.status, Object.keys(over.json)]).toEqual([422, ["value"]]);
    expect((await set("b", `${big}${"x".repeat(50_000)}`, { token })).status).toBe(422);
    expect(await keys({ token })).toEqual(["a", "b"]);
    expect((await get("b", { token })).json.value).toBe(big);
    await app.delete(at("a"), { token });
    expect((await set("c", big, { token })).status).toBe(200);
  });

  test("holds whoever writes at once", async () => {
    const { token, id: userId } = await person(app);
    const value = "x".repeat(100_000);
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => set(`k${n}`, value, { token })));
    const stored = answers.filter(({ status }) => status === 200).length;
    expect([stored, answers.filter(({ status }) => status === 422).length]).toEqual([9, 21]);
    await Promise.all(Array.from({ length: 10 }, () => set("k0", 1, { token })));
    await Promise.all(Array.from({ length: 10 }, (_, n) => app.delete(at(`k${n}`), { token })));
    const owner = `user:${userId}`;
    const [held] = await app.sql`
      select u.bytes, u.entries, (select coalesce(sum(octet_length(key) + octet_length(value)), 0) from app_storage s
        where s.owner = u.owner and s.app_id = u.app_id) as real_bytes,
        (select count(*) from app_storage s where s.owner = u.owner and s.app_id = u.app_id) as real_entries
      from app_storage_usage u where owner = ${owner}`;
    expect([held?.["bytes"], held?.["entries"]]).toEqual([Number(held?.["realBytes"]), held?.["realEntries"]]);
  });

  test("is a bounded share for all visitors without sign-in, and another for each person", async () => {
    const own = await make();
    const first = await set("k", "x".repeat(1000), { token: null }, own);
    const cookie = cookieOf(first.headers);
    const all = () => app.sql`select bytes from app_storage_usage where app_id = ${own} and owner = 'visitors'`;
    expect(await all()).toMatchObject([{ bytes: 1003 }]);
    await app.sql`update app_storage_usage set bytes = 1000000000 - 10 where app_id = ${own} and owner = 'visitors'`;
    const over = await set("k", "x".repeat(20), { token: null }, own);
    expect([over.status, over.json]).toEqual([
      422,
      { value: [expect.stringContaining("storage for its visitors is full")] },
    ]);
    expect((await set("k", "x", { token: null, headers: { cookie } }, own)).status).toBe(200);
    const { token } = await person(app);
    expect((await set("k", "x".repeat(20), { token }, own)).status).toBe(200);
    expect((await app.delete(at("k", own), { token: null, headers: { cookie } })).status).toBe(204);
    expect(await all()).toMatchObject([{ bytes: 1_000_000_000 - 10 - 1003 }]);
  });

  test("is a thousand keys", async () => {
    const { token } = await person(app);
    const row = await app.sql`insert into app_storage_usage (app_id, owner, bytes, entries)
      select ${id}, 'user:' || id, 0, 1000 from users where id = (select max(id) from users) returning owner`;
    expect(row).toHaveLength(1);
    const over = await set("one-more", 1, { token });
    expect([over.status, Object.keys(over.json)]).toEqual([422, ["key"]]);
  });
});

test("the list tells the keys that begin with something, with their values", async () => {
  const { token } = await person(app);
  for (const [key, value] of [
    ["core:a", "1"],
    ["core:b", { n: 2 }],
    ["other", 3],
  ] as const)
    await set(key, value, { token });
  const list = await app.get(`/core/apps/${id}/storage.json?prefix=core:&values=true&limit=1`, { token });
  expect([list.json, list.headers.get("x-total-count")]).toEqual([[{ key: "core:a", value: "1" }], "2"]);
  expect((await app.get(`/core/apps/${id}/storage.json?prefix=o`, { token })).json).toEqual(["other"]);
});

describe("bad input", () => {
  test.each([
    ["a long key", "x".repeat(201), 422, "key"],
    ["a NUL in the key", "a\0b", 422, "key"],
  ])("%s is refused", async (_, key, status, field) => {
    const answer = await app.request("PUT", at(key), { value: 1 });
    expect([answer.status, Object.keys(answer.json)]).toEqual([status, [field]]);
  });

  test("no value, no object, no JSON, a NUL", async () => {
    const put = (raw: string) =>
      app.request("PUT", at("k"), undefined, { raw, headers: { "content-type": "application/json" } });
    expect((await put("{}")).json).toEqual({ value: ["is required"] });
    expect((await put("[]")).status).toBe(400);
    expect((await put("{")).status).toBe(400);
    expect((await put('{"value":"\\u0000"}')).status).toBe(422);
    expect((await put(`{"value":"${"x".repeat(1_000_000)}"}`)).json.value[0]).toContain("1000000 bytes");
  });
});
