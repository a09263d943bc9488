import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, person, startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

let made = 0;
async function newDb(schema: object): Promise<string> {
  const { status, json } = await app.post("/core/dbs.json", { db: { name: `Renamed ${++made}`, schema } });
  expect(status).toBe(201);
  return json.code;
}
const add = (db: string, data: unknown, table_name?: string) =>
  app.post(`/core/dbs/${db}/records.json`, { record: { data, table_name } });
const rename = (db: string, schema: object, given: unknown) =>
  app.patch(`/core/dbs/${db}.json`, undefined, {
    raw: JSON.stringify({ db: { schema }, rename: given }),
    headers: { "content-type": "application/json" },
  });
const data = async (db: string) =>
  (await app.get(`/core/dbs/${db}/records.json?sort=id&limit=100`)).json.map((one: { data: unknown }) => one.data);

const before = {
  fields: { mail: { type: "string", required: true }, age: "integer" },
  indexed_fields: ["mail", "age"],
};
const after = {
  fields: { email: { type: "string", required: true }, age: "integer" },
  indexed_fields: ["email", "age"],
};

test("a renamed field has its values when the answer comes: shown, found, sorted and checked", async () => {
  const db = await newDb(before);
  for (const mail of ["b", "a"]) await add(db, { mail, age: 1 });
  const [{ id, updated_at }] = (await app.get(`/core/dbs/${db}/records.json?sort=id`)).json;
  const saved = await rename(db, after, { mail: "email" });
  expect([saved.status, saved.json.schema, saved.headers.get("warning")]).toEqual([200, after, null]);
  expect(await data(db)).toEqual([
    { age: 1, email: "b" },
    { age: 1, email: "a" },
  ]);
  const found = await app.get(`/core/dbs/${db}/search.json?sort=email&filter[email][gte]=a`);
  expect(found.json.map(({ email }: { email: string }) => email)).toEqual(["a", "b"]);
  expect((await app.get(`/core/dbs/${db}/records/${id}.json`)).json.updated_at).not.toBe(updated_at);
  expect((await app.patch(`/core/dbs/${db}/records/${id}.json`, { record: { data: { age: 2 } } })).status).toBe(200);
  const [row] = await app.sql`select renames, indexed_version = plan_version as done from dbs where code = ${db}`;
  expect([row?.["renames"], row?.["done"]]).toEqual([[], true]);
});

test("in a database with tables only the records of that table; two fields may swap nothing, but move together", async () => {
  const table = (...names: string[]) => ({ fields: Object.fromEntries(names.map((name) => [name, "string"])) });
  const db = await newDb({ tables: { a: table("x", "y"), b: table("x") } });
  await add(db, { x: "1", y: "2", other: "3" }, "a");
  await add(db, { x: "4" }, "b");
  await add(db, { x: "5" });
  const given = { tables: { a: table("p", "q"), b: table("x") } };
  expect((await rename(db, given, { "a.x": "p", "a.y": "a.q" })).status).toBe(200);
  expect(await data(db)).toEqual([{ p: "1", q: "2", other: "3" }, { x: "4" }, { x: "5" }]);
});

test("what many write meanwhile is kept, under either name", async () => {
  const db = await newDb(before);
  const lines = Array.from({ length: 3000 }, (_, at) => JSON.stringify({ mail: `m${at}`, age: at }));
  await app.post(`/core/dbs/${db}/import`, undefined, {
    raw: lines.join("\n"),
    headers: { "content-type": "application/x-ndjson" },
  });
  const ids = (await app.get(`/core/dbs/${db}/records.json?limit=100`)).json.map(({ id }: { id: string }) => id);
  const renaming = rename(db, after, { mail: "email" });
  const writes = await Promise.all(
    ids.map((id: string, at: number) =>
      app.patch(`/core/dbs/${db}/records/${id}.json`, { record: { data: { age: 10_000 + at } } }),
    ),
  );
  expect((await renaming).status).toBe(200);
  expect(new Set(writes.map(({ status }) => status))).toEqual(new Set([200]));
  const [row] = await app.sql`
    select count(*)::int as records, count(data -> 'email')::int as named, count(data -> 'mail')::int as old,
      count(*) filter (where (data ->> 'age')::int >= 10000)::int as written
    from records where db_id = (select id from dbs where code = ${db})`;
  expect(row).toEqual({ records: 3000, named: 3000, old: 0, written: 100 });
});

test("a unique field stays unique under its new name", async () => {
  const unique = (name: string) => ({ fields: { [name]: { type: "string", unique: true } } });
  const db = await newDb(unique("mail"));
  await add(db, { mail: "a" });
  expect((await rename(db, unique("email"), { mail: "email" })).status).toBe(200);
  expect((await add(db, { email: "a" })).json).toEqual({ email: ["is already taken"] });
  expect((await add(db, { email: "b" })).status).toBe(201);
});

test.each<[unknown, string]>([
  [{ nope: "email" }, "nope: is not a field of the schema as it was"],
  [{ mail: "nope" }, "mail: nope is not a field of the schema given"],
  [{ mail: "age" }, "mail: age was a field already"],
  [{ age: "email" }, "age: is still a field of the schema given"],
])("%j is 422 with its place, and nothing is moved", async (given, message) => {
  const db = await newDb(before);
  await add(db, { mail: "a" });
  const refused = await rename(db, after, given);
  expect([refused.status, refused.json]).toEqual([422, { rename: [expect.stringContaining(message)] }]);
  expect(await data(db)).toEqual([{ mail: "a" }]);
});

test("a field that becomes unique as it is renamed is so by the values that it had", async () => {
  const [mail, email] = [{ type: "string" }, { type: "string", unique: true }];
  const db = await newDb({ fields: { mail } });
  for (const value of ["x", "y", "x"]) await add(db, { mail: value });
  const refused = await rename(db, { fields: { email } }, { mail: "email" });
  expect([refused.status, refused.json]).toEqual([422, { schema: ['fields.email.unique: these values repeat: "x"'] }]);
  expect((await app.get(`/core/dbs/${db}`)).json.schema).toEqual({ fields: { mail } });
  expect((await add(db, { mail: "x" })).status).toBe(201);
  for (const { id } of (await app.get(`/core/dbs/${db}/search?filter[mail]=x`)).json.slice(0, 2))
    await app.delete(`/core/dbs/${db}/records/${id}`);
  expect((await rename(db, { fields: { email } }, { mail: "email" })).status).toBe(200);
  expect((await add(db, { email: "x" })).json).toEqual({ email: ["is already taken"] });
  expect((await add(db, { email: "z" })).status).toBe(201);
  expect((await app.get(`/core/dbs/${db}/search?filter[email]=y`)).json).toHaveLength(1);
});

test("a name that is no text is 422, and one of another type", async () => {
  const db = await newDb(before);
  expect((await rename(db, after, { mail: 5 })).json).toEqual({ rename: [expect.any(String)] });
  expect((await rename(db, after, "mail")).json).toEqual({ rename: [expect.any(String)] });
  const other = { fields: { email: "integer", age: "integer" } };
  expect((await rename(db, other, { mail: "email" })).json).toEqual({
    rename: ["mail: email must have the same type"],
  });
  expect((await app.patch(`/core/dbs/${db}.json`, { db: { name: "x", rename: { mail: "email" } } })).status).toBe(422);
});

test("what names a renamed field goes on meaning it: access, public methods, views, and rollups of other databases", async () => {
  const link = { type: "string", link: "renamed-shops" };
  await app.post("/core/dbs", {
    db: {
      name: "Shops",
      code: "renamed-shops",
      schema: {
        fields: { name: "string", total: { type: "number", rollup: { of: "named.shop", op: "sum", field: "sum" } } },
      },
    },
  });
  const who = await person(app, { role: "user" });
  const access = [{ to: `user:${who.id}`, may: "edit", where: { owner: "ann", sum: { gt: 1 } }, hide: ["cost"] }];
  const list = { allowed_fields: ["owner", "shop", "shop.name"], auto_fields: { owner: "{ip}" }, expand: ["shop"] };
  const public_methods = {
    list: { ...list, scope_by: "owner" },
    create: { required_fields: ["owner"], default_values: { sum: 2 } },
  };
  const fields = { owner: "string", sum: "number", cost: "number", shop: link };
  const saved = await app.post("/core/dbs", {
    db: { name: "Named", code: "named", schema: { fields }, access, public_methods },
  });
  expect([saved.status, saved.json]).toEqual([201, expect.anything()]);
  const shop = (await app.post("/core/dbs/renamed-shops/records", { record: { data: { name: "One" } } })).json.id;
  await add("named", { owner: "ann", sum: 5, cost: 7, shop });
  const view = {
    name: "All",
    shared: true,
    filters: { owner: "ann", "shop.name": "One", sum: { lt: 9 }, any: [{ owner: "ann", sum: 5 }, { cost: { gt: 1 } }] },
    sort: ["-sum", "owner"],
    columns: ["owner", "sum"],
    group_by: "owner",
    cover_field: "cost",
    measure_field: "sum",
  };
  const { json: own } = await app.post("/core/dbs/named/views", { view });
  const now = { fields: { person: "string", amount: "number", price: "number", store: link } };
  const done = await rename("named", now, { owner: "person", sum: "amount", cost: "price", shop: "store" });
  expect([done.status, done.json.access, done.json.public_methods]).toEqual([
    200,
    [{ to: `user:${who.id}`, may: "edit", where: { person: "ann", amount: { gt: 1 } }, hide: ["cost", "price"] }],
    {
      list: {
        allowed_fields: ["person", "store", "store.name"],
        auto_fields: { person: "{ip}" },
        expand: ["store"],
        scope_by: "person",
      },
      create: { required_fields: ["person"], default_values: { amount: 2 } },
    },
  ]);
  const seen = await app.get("/core/dbs/named/records", { token: who.token });
  expect(seen.json.map((one: { data: unknown }) => one.data)).toEqual([{ person: "ann", amount: 5, store: shop }]);
  const shown = await app.get(`/core/dbs/named/views/${own.id}`);
  expect(shown.json).toMatchObject({
    filters: {
      person: "ann",
      "store.name": "One",
      amount: { lt: 9 },
      any: [{ person: "ann", amount: 5 }, { price: { gt: 1 } }],
    },
    sort: ["-amount", "person"],
    columns: ["person", "amount"],
    group_by: "person",
    cover_field: "price",
    measure_field: "amount",
  });
  expect(shown.headers.get("etag")).not.toBe((await app.post("/core/dbs/named/views", { view })).headers.get("etag"));
  expect((await app.get(`/core/dbs/renamed-shops/records/${shop}`)).json.data).toEqual({ name: "One", total: 5 });
  expect((await app.get("/core/dbs/renamed-shops")).json.schema.fields.total.rollup).toEqual({
    of: "named.store",
    op: "sum",
    field: "amount",
  });
});

test("names that lead there through links follow, in this database and in others, and who else uses it is said", async () => {
  const make = (code: string, fields: object, more: object = {}) =>
    app.post("/core/dbs", { db: { name: code, code, schema: { fields }, ...more } });
  const link = (to: string) => ({ type: "string", link: to });
  const people = { name: "string", boss: link("led-people") };
  const own = {
    list: { allowed_fields: ["name", "boss", "boss.name", "boss.boss.name"], expand: ["boss", "boss.boss"] },
  };
  await make("led-people", people, { public_methods: own });
  const shops = { owner: link("led-people") };
  await make("led-shops", shops);
  const orders = { shop: link("led-shops"), by: link("led-people"), name: "string" };
  const allowed_fields = ["name", "by", "by.name", "by.boss.name", "shop", "shop.owner.boss.name"];
  const list = { allowed_fields, expand: ["by", "by.boss", "shop.owner.boss"] };
  const third = await make("led-orders", orders, { public_methods: { list } });
  expect([third.status, third.json]).toEqual([201, expect.anything()]);
  const view = {
    name: "x",
    filters: { "by.name": "Ann", "shop.owner": "x" },
    columns: ["by.name", "name", "by.other"],
  };
  const { json: theirs } = await app.post("/core/dbs/led-orders/views", { view });
  const { json: mine } = await app.post("/core/dbs/led-people/views", {
    view: { name: "y", filters: { "boss.name": "Bob", name: "Ann" }, sort: ["-name"] },
  });
  const program = [
    { type: "db", op: "search", db: "led-people", params: { filter: { name: "Ann" } }, as: "found" },
    { type: "return", value: "x" },
  ];
  await app.post("/connect/flows", { flow: { name: "Finder", code: "finder", fields: { program } } });
  const done = await rename(
    "led-people",
    { fields: { title: "string", chief: link("led-people") } },
    {
      name: "title",
      boss: "chief",
    },
  );
  expect(done.json.public_methods.list).toEqual({
    allowed_fields: ["title", "chief", "chief.title", "chief.chief.title"],
    expand: ["chief", "chief.chief"],
  });
  expect(done.headers.get("warning")).toBe(
    '299 - "the flow \\"Finder\\" uses the database and may name fields as before"',
  );
  expect((await app.get("/core/dbs/led-orders")).json.public_methods.list).toEqual({
    allowed_fields: ["name", "by", "by.title", "by.chief.title", "shop", "shop.owner.chief.title"],
    expand: ["by", "by.chief", "shop.owner.chief"],
  });
  expect((await app.get(`/core/dbs/led-orders/views/${theirs.id}`)).json).toMatchObject({
    filters: { "by.title": "Ann", "shop.owner": "x" },
    columns: ["by.title", "name", "by.other"],
  });
  expect((await app.get(`/core/dbs/led-people/views/${mine.id}`)).json).toMatchObject({
    filters: { "chief.title": "Bob", title: "Ann" },
    sort: ["-title"],
  });
});

test("a name that another table still has stays beside the new one", async () => {
  const tables = { a: { fields: { x: "string" } }, b: { fields: { x: "string" } } };
  const { json: db } = await app.post("/core/dbs", {
    db: { name: "Two", schema: { tables }, access: [{ to: "everyone", may: "read", hide: ["x"] }] },
  });
  await app.post(`/core/dbs/${db.code}/views`, { view: { name: "B", table_name: "b", sort: ["x"] } });
  const schema = { tables: { ...tables, a: { fields: { y: "string" } } } };
  expect((await rename(db.code, schema, { "a.x": "y" })).json.access[0].hide).toEqual(["x", "y"]);
  expect((await app.get(`/core/dbs/${db.code}/views`)).json[0].sort).toEqual(["x"]);
});

test("a change says nothing of a required field that is hidden from who makes it", async () => {
  const who = await person(app, { role: "user" });
  const access = [{ to: `user:${who.id}`, may: "edit", hide: ["salary"] }];
  const fields = { name: "string", salary: "number" };
  const { json: db } = await app.post("/core/dbs", { db: { name: "Pay", schema: { fields }, access } });
  const { json: record } = await add(db.code, { name: "Ann" });
  const required = { fields: { ...fields, salary: { type: "number", required: true } } };
  await app.patch(`/core/dbs/${db.code}`, { db: { schema: required } });
  const path = `/core/dbs/${db.code}/records/${record.id}`;
  expect((await app.patch(path, { record: { data: { name: "Eve" } } })).json).toEqual({ salary: ["is required"] });
  const { status, json } = await app.patch(path, { record: { data: { name: "Eve" } } }, { token: who.token });
  expect([status, json.data]).toEqual([200, { name: "Eve" }]);
});

test("the private views of people who are gone are deleted", async () => {
  const who = await person(app, { role: "user" });
  const db = await newDb(before);
  const view = (shared: boolean) =>
    app.post(`/core/dbs/${db}/views`, { view: { name: "x", shared } }, { token: who.token });
  expect([(await view(false)).status, (await view(true)).status]).toEqual([201, 201]);
  expect((await app.delete(`/account/users/${who.id}`)).status).toBeLessThan(300);
  await app.runSchedule("jsondb.prune");
  const views = await app.sql`select shared from db_views where created_by_id = ${who.id}`;
  expect([...views]).toEqual([{ shared: true }]);
});

test("deleted fields are told with their definition and values, others by what their values are", async () => {
  const city = { type: "string", label: "City", choices: ["Berlin", "Łódź"] };
  const db = await newDb({ fields: { name: "string", city, empty: { type: "date", help: "none" } } });
  const when = {
    seen: "2026-01-31T10:00:00Z",
    mail: "a@example.com",
    tags: ["x", { y: 1 }],
    odd: [1],
    day: "2026-01-31",
  };
  const { json: ann } = await add(db, { name: "Ann", city: "Berlin", ...when, none: null, blank: "" });
  await add(db, { name: "Bob", city: "Łódź", day: "2026-02-28", odd: "x" });
  await app.patch(`/core/dbs/${db}`, { db: { schema: { fields: { name: "string" } } } });
  const deleted = async () => (await app.get(`/core/dbs/${db}/deleted_fields.json`)).json;
  const guess = (name: string, definition: object) => ({
    table_name: null,
    name,
    records: 1,
    definition,
    guessed: true,
    position: null,
  });
  expect(await deleted()).toEqual([
    { table_name: null, name: "city", records: 2, definition: city, guessed: false, position: 1 },
    { ...guess("day", { type: "date" }), records: 2 },
    { ...guess("odd", { type: "text" }), records: 2 },
    guess("mail", { type: "string", format: "email" }),
    guess("seen", { type: "datetime" }),
    guess("tags", { type: "list" }),
    {
      table_name: null,
      name: "empty",
      records: 0,
      definition: { type: "date", help: "none" },
      guessed: false,
      position: 2,
    },
  ]);
  const change = { op: "update", data: { tags: null } };
  expect((await app.post(`/core/dbs/${db}/bulk.json?filter[tags][ne]=`, change)).status).toBe(202);
  await eventually(async () => !(await deleted()).some(({ name }: { name: string }) => name === "tags"));
  expect((await app.get(`/core/dbs/${db}/records/${ann.id}`)).json.data.city).toBe("Berlin");
  const reader = await person(app, { role: "user" });
  await app.patch(`/core/dbs/${db}`, { db: { access: [{ to: `user:${reader.id}`, may: "edit" }] } });
  expect((await app.get(`/core/dbs/${db}/deleted_fields.json`, { token: reader.token })).status).toBe(403);
});
