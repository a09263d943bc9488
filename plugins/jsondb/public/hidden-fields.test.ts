import { beforeAll, describe, expect, test } from "bun:test";
import { person } from "../../../tests/harness.ts";
import { publicServer } from "../../../tests/fixtures/public-methods.ts";

const server = publicServer();
const { call, database, read } = server;

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
    for (const data of rows)
      ids.push((await server.app.post(`/core/dbs/${code}/records`, { record: { data } })).json.id);
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

describe("`expand` of a public method", () => {
  const make = (code: string, fields: object, more: object = {}) =>
    server.app.post("/core/dbs", { db: { name: code, code, schema: { fields }, ...more } });
  const fields = {
    no: "integer",
    customer: { type: "string", link: "x-people" },
    watchers: { type: "list", link: "x-people" },
  };
  const methods = (options: object) => ({ list: options, get: options, search: options });
  let order: { id: string };
  let [ann, bob]: { id: string }[] = [];

  beforeAll(async () => {
    const add = async (db: string, data: object) =>
      (await server.app.post(`/core/dbs/${db}/records`, { record: { data } })).json;
    await make("x-cities", { name: "string", secret: "string" });
    await make("x-people", { name: "string", city: { type: "string", link: "x-cities" }, secret: "string" });
    await make("x-orders", fields);
    const city = await add("x-cities", { name: "Łódź", secret: "canary" });
    ann = await add("x-people", { name: "Ann", city: city.id, secret: "canary" });
    bob = await add("x-people", { name: "Bob", secret: "canary" });
    order = await add("x-orders", { no: 1, customer: ann?.id, watchers: [bob?.id, ann?.id] });
  });
  const open = (options: object) =>
    server.app.patch("/core/dbs/x-orders", { db: { public_methods: methods(options) } });
  const shown = { id: expect.any(String), created_at: expect.any(String), updated_at: expect.any(String) };

  test("shows the ends that it names, and of them the fields that `allowed_fields` names", async () => {
    const allowed = ["no", "customer", "watchers", "customer.name", "watchers.name", "customer.city.name"];
    const saved = await open({ expand: ["customer", "watchers", "customer.city"], allowed_fields: allowed });
    expect([saved.status, saved.headers.get("warning")]).toEqual([200, null]);
    const expand = {
      customer: { ...shown, name: "Ann" },
      watchers: [
        { ...shown, name: "Bob" },
        { ...shown, name: "Ann" },
      ],
      "customer.city": { ...shown, name: "Łódź" },
    };
    const asked = "expand=customer,watchers,customer.city";
    for (const path of [`get?id=${order.id}&${asked}`, `list?${asked}`, `search?${asked}`]) {
      const { json, text } = await read("x-orders", path);
      expect([path, [json].flat()[0].expand]).toEqual([path, expand]);
      expect(text).not.toContain("canary");
    }
    const posted = await call("x-orders", "search", { expand: "watchers" });
    expect(posted.json[0].expand).toEqual({ watchers: expand.watchers });
    expect((await read("x-orders", `get?id=${order.id}`)).json.expand).toBeUndefined();
  });

  test("shows everything of the ends without `allowed_fields`, and nothing that it does not name", async () => {
    await open({ expand: ["customer"] });
    const { json, headers } = await read("x-orders", "list?expand=customer,watchers,customer.city");
    expect(Object.keys(json[0].expand)).toEqual(["customer"]);
    expect(json[0].expand.customer).toMatchObject({ name: "Ann", secret: "canary" });
    expect(headers.get("warning")).toContain('nothing is shown of \\"watchers\\" here');
    await open({ expand: ["customer"], allowed_params: ["limit"] });
    expect((await read("x-orders", "list?expand=customer")).json[0].expand).toBeUndefined();
    await server.app.patch("/core/dbs/x-orders", { db: { public_methods: { list: true } } });
    const none = await read("x-orders", "list?expand=customer");
    expect([none.status, none.json[0].expand]).toEqual([200, undefined]);
  });

  test.each<[options: object, place: string]>([
    [{ expand: "customer" }, "list.expand: must be an array of names"],
    [{ expand: ["no"] }, 'list.expand[0]: "no" is no link of the schema'],
    [{ expand: ["customer", "customer.name"] }, 'list.expand[1]: "name" is no link there'],
    [{ expand: ["customer."] }, 'list.expand[0]: "customer." is no path'],
    [{ expand: ["a.b.c.d"] }, 'list.expand[0]: "a.b.c.d" is more than 3 deep'],
    [{ expand: Array.from({ length: 11 }, () => "customer") }, "list.expand: may have at most 10 paths"],
    [{ expand: ["customer"], allowed_fields: ["no"] }, 'list.expand[0]: needs "customer" in allowed_fields'],
    [{ expand: ["customer"], allowed_fields: ["customer"] }, "list.expand[0]: needs in allowed_fields what is shown"],
  ])("%j is refused", async (options, place) => {
    const { status, json } = await open(options);
    expect([status, json.public_methods[0]]).toEqual([422, expect.stringContaining(place)]);
  });

  test("is refused for a write, and to whoever may not read all of the other database", async () => {
    const write = { create: { expand: ["customer"] } };
    expect((await server.app.patch("/core/dbs/x-orders", { db: { public_methods: write } })).json).toEqual({
      public_methods: ["create.expand: is for list, get and search"],
    });
    const { id, token } = await person(server.app, { role: "user" });
    const access = (grant: object) =>
      server.app.patch("/core/dbs/x-cities", { db: { access: [{ to: `user:${id}`, may: "read", ...grant }] } });
    const save = async (options: object, as: object) =>
      (await server.app.patch("/core/dbs/x-orders", { db: { public_methods: methods(options) } }, as)).status;
    await access({ hide: ["secret"] });
    expect(await save({ expand: ["customer.city"] }, { token })).toBe(403);
    expect(await save({ expand: ["customer"] }, { token })).toBe(200);
    await access({});
    expect(await save({ expand: ["customer.city"] }, { token })).toBe(200);
    await access({ where: { name: "x" } });
    // What was so before stays.
    expect(await save({ expand: ["customer.city", "customer"] }, { token })).toBe(200);
    await server.app.patch("/core/dbs/x-cities", { db: { access: null } });
  });
});
