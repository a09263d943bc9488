/** What a schema says of links and rollups that lead to nothing. behaviour B.7.31. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { person, startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  const make = (db: object) => app.post("/core/dbs", { db });
  await make({ name: "self", code: "self" });
  const back = { type: "string", link: "self" };
  await make({
    name: "one",
    code: "one",
    schema: { fields: { back, other: { type: "string", link: "one" }, n: "integer" } },
  });
  await make({ name: "shop", code: "shop", schema: { tables: { orders: { fields: { back } } } } });
  await make({ name: "secret", code: "secret", schema: { fields: { back } }, access: [] });
});
afterAll(() => app.stop());

const link = (to: string) => ({ type: "string", link: to });
const rollup = (of: string, field?: string) => ({
  type: "integer",
  rollup: { of, op: field ? "sum" : "count", ...(field && { field }) },
});
const warning = async (field: object, token?: string) => {
  const schema = { fields: { x: field } };
  const saved = await app.patch("/core/dbs/self", { db: { schema } }, token ? { token } : {});
  expect([saved.status, saved.json.schema]).toEqual([200, schema]);
  return saved.headers.get("warning");
};

test.each<[string, object, string | null]>([
  ["another database", link("one"), null],
  ["itself", link("self"), null],
  ["a table", link("shop.orders"), null],
  ["any table", link("shop"), null],
  ["no database", link("nope"), 'link: there is no database \\"nope\\"'],
  ["no table", link("shop.nope"), 'link: shop has no table \\"nope\\"'],
  ["a table where there are none", link("one.nope"), 'link: one has no table \\"nope\\"'],
  ["a link back", rollup("one.back"), null],
  ["a link back in a table", rollup("shop.orders.back"), null],
  ["a number beside it", rollup("one.back", "n"), null],
  ["rollup of no database", rollup("nope.back"), 'rollup: there is no database \\"nope\\"'],
  ["rollup of no field", rollup("one.nope"), 'rollup: one has no field \\"nope\\"'],
  ["rollup of no link", rollup("one.n"), '\\"n\\" of one is no link to self'],
  ["rollup of a link elsewhere", rollup("one.other"), '\\"other\\" of one is no link to self'],
  ["rollup of no table", rollup("shop.nope.back"), 'rollup: shop has no table \\"nope\\"'],
  ["rollup without its table", rollup("shop.back"), "rollup: shop has tables: name one, as shop.table.field"],
  ["sum of no field", rollup("one.back", "nope"), 'rollup: one has no field \\"nope\\" there'],
])("%s", async (_, field, expected) => {
  const told = await warning(field);
  expect(told).toEqual(expected === null ? null : expect.stringContaining(expected));
  if (expected !== null) expect(told).toStartWith('299 - "schema.fields.x.');
});

test("nobody is told of a database that does not open for them", async () => {
  const { token } = await person(app, { role: "user" });
  expect(await warning(link("secret"))).toBeNull();
  for (const field of [link("secret"), rollup("secret.back")])
    expect(await warning(field, token)).toContain('there is no database \\"secret\\"');
});

test("a replaced text of the schema says it too, in a table by its place", async () => {
  const schema = { tables: { a: { fields: { x: link("one") } } } };
  const { json } = await app.post("/core/dbs", { db: { name: "replaced", schema } });
  const path = `/core/dbs/${json.code}/replace`;
  const replaced = await app.patch(path, { field: "schema", old_string: '"one"', new_string: '"none"' });
  expect(replaced.headers.get("warning")).toBe(
    '299 - "schema.tables.a.fields.x.link: there is no database \\"none\\""',
  );
});

test("of many it says some, and how many more are not named", async () => {
  const fields = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, link(`nope-${at}`)]));
  const saved = await app.post("/core/dbs", { db: { name: "many", schema: { fields } } });
  expect(saved.headers.get("warning")).toContain("and 12 more");
});
