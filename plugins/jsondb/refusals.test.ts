/** A refused write leaves nothing: no row and no event. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";
import { follower, traces } from "../../tests/traces.ts";
import { plugins } from "../index.ts";

let app: TestApp;
let order = "";
let note = "";
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  const orders = { fields: { no: { type: "string", required: true }, total: "number" } };
  await app.post("/core/dbs", { db: { name: "shop", schema: { tables: { orders } } } });
  const public_methods = {
    create: { required_fields: ["text"], auto_fields: { by: "{cookie_key}" } },
    update: { required_fields: ["text"], scope_by: "by" },
    delete: { scope_by: "by" },
  };
  await app.post("/core/dbs", { db: { name: "notes", public_methods } });
  order = (await app.post("/core/dbs/shop/records", { record: { table_name: "orders", data: { no: "A1" } } })).json.id;
  note = (await app.post("/core/dbs/notes/records", { record: { data: { text: "x" } } })).json.id;
});
afterAll(() => app.stop());

const unknown = "019a9c1e-0000-7000-8000-000000000001";
const inOrders = (data: unknown) => ({ record: { table_name: "orders", data } });
const batch = (...operations: object[]) => ({ operations });
const good = { op: "create", table_name: "orders", data: { no: "A2" } };
const wide = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`f${n}`, n]));

type Call = () => [method: string, path: string, body?: unknown];
test.each<[string, number, Call]>([
  ["a database without a name", 422, () => ["POST", "/core/dbs", { db: {} }]],
  ["a database whose code is taken", 422, () => ["POST", "/core/dbs", { db: { name: "Shop", code: "shop" } }]],
  ["a code in the form of an id", 422, () => ["POST", "/core/dbs", { db: { name: "X", code: unknown } }]],
  ["a schema of an unknown type", 422, () => ["PATCH", "/core/dbs/shop", { db: { schema: { fields: { a: "x" } } } }]],
  ["an unknown operation", 422, () => ["PATCH", "/core/dbs/notes", { db: { public_methods: { drop: true } } }]],
  ["a deletion of no database", 404, () => ["DELETE", "/core/dbs/nowhere"]],
  ["a record without what is required", 422, () => ["POST", "/core/dbs/shop/records", inOrders({})]],
  ["a required field of blanks", 422, () => ["POST", "/core/dbs/shop/records", inOrders({ no: " " })]],
  ["a value of another type", 422, () => ["POST", "/core/dbs/shop/records", inOrders({ no: "A", total: "x" })]],
  ["too many fields", 422, () => ["POST", "/core/dbs/shop/records", inOrders({ no: "A", ...wide })]],
  ["an unknown table", 422, () => ["POST", "/core/dbs/shop/records", { record: { table_name: "x", data: {} } }]],
  ["data that is no object", 422, () => ["POST", "/core/dbs/shop/records", inOrders([1])]],
  ["a record of no database", 404, () => ["POST", "/core/dbs/nowhere/records", inOrders({ no: "A" })]],
  ["a change to null", 422, () => ["PATCH", `/core/dbs/shop/records/${order}`, inOrders({ no: null })]],
  ["a move into a table", 422, () => ["PATCH", `/core/dbs/shop/records/${order}`, { record: { table_name: "x" } }]],
  ["a change of no record", 404, () => ["PATCH", `/core/dbs/shop/records/${unknown}`, inOrders({ no: "A" })]],
  ["a change of another database's", 404, () => ["PATCH", `/core/dbs/shop/records/${note}`, inOrders({ no: "A" })]],
  ["a deletion of no record", 404, () => ["DELETE", `/core/dbs/shop/records/${unknown}`]],
  ["a deletion of another database's", 404, () => ["DELETE", `/core/dbs/notes/records/${order}`]],
  ["a batch of none", 422, () => ["POST", "/core/dbs/shop/batch", batch()]],
  ["a batch with one bad record", 422, () => ["POST", "/core/dbs/shop/batch", batch(good, { ...good, data: {} })]],
  [
    "a batch that fails at its end",
    422,
    () => ["POST", "/core/dbs/shop/batch", batch(good, { op: "delete", id: unknown })],
  ],
  ["an import with one bad row", 422, () => ["POST", "/core/dbs/shop/import?table_name=orders", [{ no: "A" }, {}]]],
  ["an import into no table", 422, () => ["POST", "/core/dbs/shop/import?table_name=x", [{ no: "A" }]]],
])("%s is %d and leaves nothing", async (_, status, call) => {
  const [method, path, body] = call();
  const before = await traces(app, "dbs", "records", "record_imports");
  const answer = await app.request(method, path, body);
  expect([answer.status, answer.text]).toEqual([status, answer.text]);
  expect(await traces(app, "dbs", "records", "record_imports")).toEqual(before);
});

test.each<[string, number, string, () => object]>([
  ["without what is required", 422, "create", () => ({ data: {} })],
  ["with what is required blank", 422, "create", () => ({ data: { text: " " } })],
  ["of another visitor's", 404, "update", () => ({ id: note, data: { text: "y" } })],
  ["of another visitor's", 404, "delete", () => ({ id: note })],
  ["that is not open", 403, "list", () => ({})],
])("a visitor's call %s is %d and leaves nothing (%s)", async (_, status, method, body) => {
  const before = await traces(app, "dbs", "records");
  const answer = await app.post(`/core/db/notes/${method}`, body(), { token: null });
  expect([answer.status, answer.text]).toEqual([status, answer.text]);
  expect(await traces(app, "dbs", "records")).toEqual(before);
});
