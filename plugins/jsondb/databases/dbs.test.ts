import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, person, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { follower, traces } from "../../../tests/traces.ts";
import { plugins } from "../../index.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
});
afterAll(() => app.stop());

const schema = {
  fields: { email: { type: "string", required: true }, age: "integer" },
  indexed_fields: ["email", "age"],
};
const unknownId = "019a9c1e-0000-7000-8000-000000000001";
let names = 0;
const create = async (db: Record<string, unknown> = {}) => {
  const answer = await app.post("/core/dbs.json", { db: { name: `Base ${++names}`, ...db } });
  expect([answer.status, answer.text]).toEqual([201, answer.text]);
  return answer.json;
};

describe("a database", () => {
  test("is created with all its fields and read by id and by code", async () => {
    const public_methods = { list: true };
    const app_id = "019A9C1E-0000-7000-8000-0000000000aa";
    const db = await create({
      name: "Kunden Ä",
      code: "kunden",
      app_id,
      schema,
      public_methods,
      fields: { z: 1, a: 2 },
    });
    expect(db).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      name: "Kunden Ä",
      code: "kunden",
      icon: null,
      color: null,
      app_id: app_id.toLowerCase(),
      schema,
      public_methods,
      access: null,
      fields: { z: 1, a: 2 },
      created_by_id: expect.any(Number),
      updated_by_id: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updated_at: db.created_at,
    });
    for (const key of [db.id, db.id.toUpperCase(), "kunden", "kunden.json"]) {
      const read = await app.get(`/core/dbs/${key}`);
      expect([read.status, read.json]).toEqual([200, db]);
      expect(read.headers.get("etag")).toBe(`"${db.id}-1"`);
    }
    expect((await app.get("/core/dbs?code=kunden")).json).toEqual([db]);
    // The order of keys is kept: the replace endpoint works on this very text.
    expect((await app.get("/core/dbs/kunden")).text).toContain('"fields":{"z":1,"a":2}');
  });

  test("has the one form of schema that is given, if the other is null", async () => {
    const single = await create({ schema: { ...schema, tables: null } });
    expect((await app.get(`/core/dbs/${single.id}/search.json`)).json).toEqual([]);
    const tables = { orders: { fields: { no: "string" }, indexed_fields: null } };
    const db = { name: "Multiple", schema: { tables, fields: null, indexes: null, indexed_fields: null } };
    const multiple = await app.post("/core/dbs.json", { db });
    expect([multiple.status, multiple.headers.get("warning")]).toEqual([201, null]);
    const search = await app.get(`/core/dbs/${multiple.json.id}/search.json`);
    expect([search.status, search.json.available_tables]).toEqual([400, ["orders"]]);
  });

  test("gets a code from its name, with a number where that is taken", async () => {
    expect((await create({ name: "Łódź & Co." })).code).toBe("lodz-co");
    expect((await create({ name: "Łódź & Co." })).code).toBe("lodz-co-2");
    expect((await create({ name: "Łódź: co" })).code).toBe("lodz-co-3");
    expect((await create({ name: "日本", code: null })).code).toBe("db");
    const many = await Promise.all(Array.from({ length: 20 }, () => create({ name: "Crowd", code: "" })));
    expect(new Set(many.map(({ code }) => code)).size).toBe(20);
  });

  test("is listed with the total, by page and by phrase", async () => {
    await create({ name: "Findable One" });
    await create({ name: "Findable Two", code: "other-way" });
    const found = await app.get("/core/dbs.json?q=findable");
    expect(found.json.map(({ name }: { name: string }) => name)).toEqual(["Findable One", "Findable Two"]);
    expect(found.headers.get("x-total-count")).toBe("2");
    expect((await app.get("/core/dbs?q=OTHER-W*")).json).toHaveLength(1);
    const page = await app.get("/core/dbs?q=findable&limit=1&offset=1");
    expect([page.json.length, page.json[0].name, page.headers.get("x-total-count")]).toEqual([1, "Findable Two", "2"]);
  });

  test("is changed in part, remembers who did it, and moves to its new code at once", async () => {
    const db = await create({ code: "before", schema });
    await app.post("/core/dbs/before/records", { record: { data: { email: "x" } } });
    const changed = await app.patch("/core/dbs/before.json", { db: { code: "after", fields: { a: 1 } } });
    expect(changed.status).toBe(200);
    expect(changed.json).toMatchObject({
      id: db.id,
      name: db.name,
      code: "after",
      schema,
      fields: { a: 1 },
      updated_by_id: db.created_by_id,
    });
    expect(changed.headers.get("etag")).toBe(`"${db.id}-2"`);
    expect((await app.get("/core/dbs/before")).status).toBe(404);
    expect((await app.get("/core/dbs/before/records")).status).toBe(404);
    expect((await app.get("/core/dbs/after/records")).json).toHaveLength(1);
    const none = await app.patch("/core/dbs/after", { db: { schema: null, public_methods: null, app_id: null } });
    expect(none.json).toMatchObject({ schema: null, public_methods: null, app_id: null });
  });

  test("is deleted with its records", async () => {
    const db = await create({ code: "doomed" });
    for (let i = 0; i < 3; i++) await app.post("/core/dbs/doomed/records", { record: { data: { i } } });
    const gone = await app.delete("/core/dbs/doomed.json");
    expect([gone.status, gone.text]).toEqual([204, ""]);
    for (const path of ["", "/records", "/search", `/records/${unknownId}`])
      expect([path, (await app.get(`/core/dbs/doomed${path}`)).status]).toEqual([path, 404]);
    expect((await app.delete("/core/dbs/doomed")).status).toBe(404);
    await app.sql`update db_trash set expires_at = now() - interval '1 second'`;
    await app.runSchedule("jsondb.prune");
    await eventually(
      async () => (await app.sql`select from records where db_id = ${db.id}`).length === 0,
      "the records are gone",
    );
    expect((await create({ code: "doomed" })).id).not.toBe(db.id);
  });

  test("is changed only in the version that If-Match names", async () => {
    const { id } = await create();
    const stale = { headers: { "if-match": `"${id}-1"` } };
    expect((await app.patch(`/core/dbs/${id}`, { db: { name: "a" } }, stale)).status).toBe(200);
    expect((await app.patch(`/core/dbs/${id}`, { db: { name: "b" } }, stale)).status).toBe(412);
    const edit = { field: "fields", old_string: "{", new_string: '{"a":1' };
    expect((await app.patch(`/core/dbs/${id}/replace`, edit, stale)).status).toBe(412);
    expect(
      (await app.patch(`/core/dbs/${id}`, { db: { name: "c" } }, { headers: { "if-match": '"x-1"' } })).status,
    ).toBe(412);
    const missing = { field: "fields", old_string: "not there", new_string: "" };
    expect((await app.patch(`/core/dbs/${id}/replace`, missing, stale)).status).toBe(412);
    expect((await app.delete(`/core/dbs/${id}`, stale)).status).toBe(412);
    expect((await app.get(`/core/dbs/${id}`)).json.name).toBe("a");
    for (const change of [
      app.patch(`/core/dbs/${unknownId}`, { db: { name: "b" } }, stale),
      app.patch(`/core/dbs/${unknownId}/replace`, edit, stale),
      app.delete(`/core/dbs/${unknownId}`, stale),
    ])
      expect((await change).status).toBe(404);
    expect((await app.delete(`/core/dbs/${id}`, { headers: { "if-match": `"${id}-2"` } })).status).toBe(204);
  });
});

describe("replace", () => {
  test("edits each of the three values and answers with the whole database", async () => {
    const { id } = await create({ schema, public_methods: { list: true }, fields: { title: "old old" } });
    const edit = (body: Record<string, unknown>) => app.patch(`/core/dbs/${id}/replace.json`, body);
    const first = await edit({ field: "fields", old_string: "old", new_string: "new" });
    expect([first.status, first.json.fields]).toEqual([200, { title: "new old" }]);
    const all = await edit({ field: "fields", old: "o", new: "0", replace_all: true });
    expect(all.json.fields).toEqual({ title: "new 0ld" });
    const indented = await edit({ field: "schema", old_string: '"age": "integer"', new_string: '"age": "number"' });
    expect(indented.json.schema.fields.age).toBe("number");
    expect(
      (await edit({ field: "public_methods", old_string: '"list"', new_string: '"get"' })).json.public_methods,
    ).toEqual({ get: true });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["another field", { field: "name", old_string: "a", new_string: "b" }, "field"],
    ["no field", { old_string: "a", new_string: "b" }, "field"],
    ["a text that is not there", { field: "schema", old_string: "nowhere", new_string: "b" }, "old_string"],
    ["an empty text", { field: "schema", old_string: "", new_string: "b" }, "old_string"],
    ["no text", { field: "schema", new_string: "b" }, "old_string"],
    ["no new text", { field: "schema", old_string: "age" }, "new_string"],
    ["a text of another type", { field: "schema", old_string: 5, new_string: "b" }, "old_string"],
    ["a result that is no JSON", { field: "schema", old_string: "{", new_string: "" }, "new_string"],
    ["a result that is no object", { field: "fields", old_string: "{}", new_string: "5" }, "fields"],
    ["a schema that is wrong then", { field: "schema", old_string: '"integer"', new_string: '"float"' }, "schema"],
    [
      "public methods that are wrong then",
      { field: "public_methods", old_string: '"list"', new_string: '"lost"' },
      "public_methods",
    ],
  ])("refuses %s", async (_, body, field) => {
    const { id } = await create({ schema, public_methods: { list: true } });
    const answer = await app.patch(`/core/dbs/${id}/replace`, body);
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, [field]]);
    expect((await app.get(`/core/dbs/${id}`)).json.schema).toEqual(schema);
  });
});

describe("bad input", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["a missing name", { name: undefined }, "name"],
    ["a blank name", { name: " " }, "name"],
    ["a name of another type", { name: 5 }, "name"],
    ["a long name", { name: "x".repeat(256) }, "name"],
    ["a code of another type", { code: {} }, "code"],
    ["a code with a slash", { code: "a/b" }, "code"],
    ["a code with a dot", { code: "a.json" }, "code"],
    ["a long code", { code: "x".repeat(101) }, "code"],
    ["a code in the form of an id", { code: unknownId }, "code"],
    ["an app_id that is no UUID", { app_id: "5" }, "app_id"],
    ["a schema as text", { schema: "{}" }, "schema"],
    ["a schema as a list", { schema: [] }, "schema"],
    ["a wrong schema", { schema: { fields: { a: "float" } } }, "schema"],
    ["a schema beyond its bound", { schema: { fields: {}, note: "x".repeat(200_001) } }, "schema"],
    ["public methods as text", { public_methods: "all" }, "public_methods"],
    ["an unknown operation", { public_methods: { drop: true } }, "public_methods"],
    ["fields as a list", { fields: [] }, "fields"],
    ["fields beyond their bound", { fields: { note: "x".repeat(1_000_001) } }, "fields"],
    ["a NUL in the name", { name: "a\0b" }, "name"],
  ])("%s is 422 under its field", async (_, db, field) => {
    const post = await app.post("/core/dbs", { db: { name: "Bad", ...db } });
    expect([post.status, Object.keys(post.json)]).toEqual([422, [field]]);
    if (db["name"] === undefined && field === "name") return;
    const { id } = await create();
    const patch = await app.patch(`/core/dbs/${id}`, { db });
    expect([patch.status, Object.keys(patch.json)]).toEqual([422, [field]]);
  });

  test("an explicit code that is taken is 422, of 200 at once too", async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => app.post("/core/dbs", { db: { name: "One", code: "only-one" } })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 422)).toHaveLength(199);
    expect(answers.find(({ status }) => status === 422)?.json).toEqual({ code: ["is already taken"] });
    const { id } = await create();
    expect((await app.patch(`/core/dbs/${id}`, { db: { code: "only-one" } })).json).toEqual({
      code: ["is already taken"],
    });
  });

  test("a schema is not taken away from under a public method that fixes a table of it", async () => {
    const shop = { tables: { orders: { fields: { no: "string" } } } };
    const { id } = await create({ schema: shop, public_methods: { create: { table_name: "orders" } } });
    const patch = await app.patch(`/core/dbs/${id}`, { db: { schema: null } });
    expect([patch.status, Object.keys(patch.json)]).toEqual([422, ["public_methods"]]);
    expect((await app.get(`/core/dbs/${id}`)).json.schema).toEqual(shop);
    expect((await app.patch(`/core/dbs/${id}`, { db: { schema: null, public_methods: null } })).status).toBe(200);
  });

  test.each([
    ["GET", unknownId],
    ["GET", "no-such-code"],
    ["GET", "%00"],
    ["GET", "x".repeat(120)],
    ["PATCH", unknownId],
    ["PATCH", "%00"],
    ["DELETE", "no-such-code"],
  ])("%s of an unknown database %p is 404", async (method, key) => {
    const body = method === "PATCH" ? { db: { name: "x" } } : undefined;
    expect((await app.request(method, `/core/dbs/${key}`, body)).status).toBe(404);
  });

  test("needs the privilege", async () => {
    expect((await app.get("/core/dbs", { token: null })).status).toBe(401);
    expect((await app.get("/core/dbs", { token: "core_wrong" })).status).toBe(401);
    const narrowed = await app.post("/account/api_tokens", { api_token: { name: "n", privileges: ["prompts"] } });
    const answer = await app.get("/core/dbs", { token: narrowed.json.token });
    expect([answer.status, answer.json.error]).toEqual([403, "this needs the privilege `dbs`"]);
  });
});

test("linking an app takes `apps`; the app that a database is linked to stays", async () => {
  const { token } = await person(app, { role: "admin", narrowedTo: ["dbs"] });
  const app_id = unknownId;
  const linked = await create({ app_id });
  const bare = await create();
  for (const [method, path, db] of [
    ["POST", "/core/dbs.json", { name: "Linked", app_id }],
    ["PATCH", `/core/dbs/${bare.id}.json`, { app_id }],
    ["PATCH", `/core/dbs/${linked.id}.json`, { app_id: unknownId.replace(/1$/, "2") }],
  ] as const) {
    const before = await traces(app, "dbs");
    const refused = await app.request(method, path, { db }, { token });
    expect([refused.status, refused.json.error]).toEqual([403, expect.stringContaining("`apps`")]);
    expect(await traces(app, "dbs")).toEqual(before);
  }
  const path = `/core/dbs/${linked.id}.json`;
  expect((await app.patch(path, { db: { name: "New", app_id } }, { token })).json.app_id).toBe(app_id);
  expect((await app.patch(path, { db: { app_id: null } }, { token })).json.app_id).toBeNull();
});
