/** Links and rollups name databases by code, and go on meaning the same ones. behaviour B.7.31. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { relinked } from "./relinks.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const make = async (code: string, schema: object) => {
  const made = await app.post("/core/dbs", { db: { name: code, code, schema } });
  expect([made.status, made.json]).toEqual([201, expect.anything()]);
  return made.json;
};
const add = (db: string, data: object) => app.post(`/core/dbs/${db}/records`, { record: { data } });
const rename = async (from: string, code: string, more: object = {}) => {
  const saved = await app.patch(`/core/dbs/${from}`, { db: { code, ...more } });
  expect([saved.status, saved.json]).toEqual([200, expect.anything()]);
  return saved.json;
};
const schemaOf = async (db: string) => (await app.get(`/core/dbs/${db}`)).json.schema;
const linkTo = (link: string) => ({ type: "string", link });
const counting = (of: string) => ({ type: "integer", rollup: { of, op: "count" } });

test("a link and a rollup follow the database whose code changes, and mean nobody who takes the old one", async () => {
  await make("people", {
    fields: { name: "string", boss: linkTo("people"), orders: counting("orders.customer") },
  });
  await make("orders", { fields: { customer: linkTo("people"), link: "string" } });
  const ann = (await add("people", { name: "Ann" })).json.id;
  await add("orders", { customer: ann, link: "people" });
  const { schema } = await rename("people", "clients");
  expect(schema.fields.boss.link).toBe("clients");
  expect(await schemaOf("orders")).toEqual({ fields: { customer: linkTo("clients"), link: "string" } });
  await rename("orders", "sales", { name: "Sales" });
  await make("people", { fields: { name: "string" } });
  await make("orders", { fields: { customer: linkTo("clients") } });
  const stranger = (await add("people", { name: "Eve" })).json.id;
  expect((await add("sales", { customer: stranger })).json).toEqual({
    customer: [`${stranger} is not the id of a record of clients`],
  });
  expect((await add("sales", { customer: ann })).status).toBe(201);
  await add("orders", { customer: ann });
  expect((await app.get(`/core/dbs/clients/records/${ann}`)).json.data.orders).toBe(2);
});

test("a link that is being saved follows a code that changes at that moment", async () => {
  await make("goods", { fields: { name: "string" } });
  const waiting = async () => {
    const [row] = await app.sql<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`;
    return row?.count ?? 0;
  };
  const schema = { fields: { goods: linkTo("goods") } };
  let saving: Promise<unknown> | undefined;
  let renaming: Promise<unknown> | undefined;
  const other = new Error("rolled back");
  const held = app.sql.begin(async (tx) => {
    // Whoever takes the same code waits for the end of this.
    await tx`insert into dbs (id, account_id, name, code) values (gen_random_uuid(), 1, 'Stock', 'stock')`;
    saving = make("stock", schema);
    await eventually(async () => (await waiting()) === 1, "the saving");
    let isRenamed = false;
    renaming = rename("goods", "wares").then(() => (isRenamed = true));
    await eventually(async () => isRenamed || (await waiting()) === 2, "the new code");
    throw other;
  });
  expect(await held.catch((error: unknown) => error)).toBe(other);
  await Promise.all([saving, renaming]);
  expect(await schemaOf("stock")).toEqual({ fields: { goods: linkTo("wares") } });
});

test("a schema that is sent with the new code may still call itself by the old one", async () => {
  const fields = { parent: linkTo("old-self.t") };
  await make("old-self", { tables: { t: { fields } } });
  const { schema } = await rename("old-self", "new-self", { schema: { tables: { t: { fields } } } });
  expect(schema.tables.t.fields.parent.link).toBe("new-self.t");
});

test("links to a deleted database mean no other of its code, and it when it is restored", async () => {
  const cities = await make("cities", { fields: { name: "string", twin: linkTo("cities") } });
  await make("streets", { fields: { city: linkTo("cities") } });
  const twin = (await add("cities", { name: "Gdańsk" })).json.id;
  const street = (await add("streets", { city: twin })).json.id;
  expect((await app.delete("/core/dbs/cities")).status).toBeLessThan(300);
  await make("cities", { fields: { name: "string" } });
  const other = (await add("cities", { name: "Brno" })).json.id;
  expect((await schemaOf("streets")).fields.city.link).toBe(cities.id);
  expect((await add("streets", { city: other })).status).toBe(422);
  const restored = await app.post(`/core/db_trash/${cities.id}/restore`);
  expect([restored.json.code, restored.json.schema.fields.twin.link]).toEqual(["cities-2", "cities-2"]);
  expect((await schemaOf("streets")).fields.city.link).toBe("cities-2");
  expect((await app.get(`/core/dbs/streets/records/${street}?expand=city`)).json.expand.city.name).toBe("Gdańsk");
  expect((await add("cities-2", { twin })).status).toBe(201);
});

test("a database in the trash learns of new codes", async () => {
  await make("parts", { fields: { name: "string" } });
  const { id } = await make("stores", { fields: { part: linkTo("parts") } });
  await app.delete("/core/dbs/stores");
  await rename("parts", "items");
  await make("parts", { fields: { name: "string" } });
  expect((await app.post(`/core/db_trash/${id}/restore`)).json.schema.fields.part.link).toBe("items");
});

const id = "019a9c1e-0000-7000-8000-000000000001";
test.each<[unknown, unknown]>([
  [{ fields: { link: "a" } }, { fields: { link: "a" } }],
  [{ fields: { x: { type: "string", link: "a.b" } } }, { fields: { x: { type: "string", link: "z.b" } } }],
  [{ tables: { link: { fields: { x: { link: "a" } } } } }, { tables: { link: { fields: { x: { link: "z" } } } } }],
  [{ fields: { x: { link: "A" }, y: { link: "ab" } } }, { fields: { x: { link: "A" }, y: { link: "ab" } } }],
  [{ fields: { x: { rollup: { of: "a.b.c" } } } }, { fields: { x: { rollup: { of: "z.b.c" } } } }],
  [null, null],
])("%j with a as z is %j", (schema, expected) => {
  expect(relinked(schema, "a", "z")).toEqual(expected);
});

test("an id means the same in either case, and what has no such link is the same object", () => {
  expect(relinked({ fields: { x: { link: id.toUpperCase() } } }, id, "z")).toEqual({ fields: { x: { link: "z" } } });
  const schema = { fields: { x: { link: "b" } } };
  expect(relinked(schema, "a", "z")).toBe(schema);
});
