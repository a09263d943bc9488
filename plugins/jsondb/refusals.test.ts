/** A refused write leaves nothing: no row and no event. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { otherAccount, startTestApp, type TestApp } from "../../tests/harness.ts";
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
const tooLarge = { record: { data: { text: "x".repeat(2_000_001) } } };
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
  [
    "a database of a code that no address can have",
    422,
    () => ["POST", "/core/dbs", { db: { name: "X", code: "a/b" } }],
  ],
  ["a schema of both forms", 422, () => ["PATCH", "/core/dbs/shop", { db: { schema: { fields: {}, tables: {} } } }]],
  [
    "a replacement that breaks the JSON",
    422,
    () => ["PATCH", "/core/dbs/shop/replace", { field: "schema", old_string: "{", new_string: "" }],
  ],
  [
    "a replacement of nothing",
    422,
    () => ["PATCH", "/core/dbs/shop/replace", { field: "schema", old_string: "zzz", new_string: "" }],
  ],
  [
    "a body without its key",
    400,
    () => ["POST", "/core/dbs/shop/records", { table_name: "orders", data: { no: "A" } }],
  ],
  [
    "a number that JSON cannot keep",
    422,
    () => ["POST", "/core/dbs/shop/records", inOrders({ no: "A", total: "1e999" })],
  ],
  ["a change that is too large", 422, () => ["PATCH", `/core/dbs/notes/records/${note}`, tooLarge]],
  [
    "a batch of 1,001 operations",
    422,
    () => ["POST", "/core/dbs/shop/batch", batch(...Array.from({ length: 1001 }, () => good))],
  ],
  [
    "a batch that changes another database's record",
    422,
    () => ["POST", "/core/dbs/shop/batch", batch(good, { op: "update", id: note, table_name: "orders", data: {} })],
  ],
  [
    "a batch that deletes a record and then changes it",
    422,
    () => ["POST", "/core/dbs/shop/batch", batch({ op: "delete", id: order }, { op: "update", id: order, data: {} })],
  ],
  ["an import of no array", 422, () => ["POST", "/core/dbs/shop/import", { no: "A" }]],
  ["an import into no database", 404, () => ["POST", "/core/dbs/nowhere/import", [{ no: "A" }]]],
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
  ["of no operation", 403, "drop", () => ({})],
  ["without data", 422, "create", () => ({})],
  ["with data that is no object", 422, "create", () => ({ data: [1] })],
  ["with a text that cannot be stored", 422, "create", () => ({ data: { text: "a\u0000" } })],
  ["with too much", 422, "create", () => ({ data: { text: "x".repeat(2_000_001) } })],
  ["without an id", 422, "delete", () => ({})],
  ["of no record", 404, "delete", () => ({ id: unknown })],
])("a visitor's call %s is %d and leaves nothing (%s)", async (_, status, method, body) => {
  const before = await traces(app, "dbs", "records");
  const answer = await app.post(`/core/db/notes/${method}`, body(), { token: null });
  expect([answer.status, answer.text]).toEqual([status, answer.text]);
  expect(await traces(app, "dbs", "records")).toEqual(before);
});

test("another account's records and databases are out of reach, and stay as they are", async () => {
  const other = await otherAccount(app);
  const before = await traces(app, "dbs", "records", "record_imports");
  const calls: [method: string, path: string, body?: unknown][] = [
    ["PATCH", "/core/dbs/shop", { db: { name: "Mine" } }],
    ["PATCH", "/core/dbs/shop/replace", { field: "schema", old_string: "orders", new_string: "mine" }],
    ["DELETE", "/core/dbs/shop"],
    ["POST", "/core/dbs/shop/records", inOrders({ no: "A" })],
    ["PATCH", `/core/dbs/shop/records/${order}`, inOrders({ no: "A" })],
    ["DELETE", `/core/dbs/shop/records/${order}`],
    ["POST", "/core/dbs/shop/batch", batch(good)],
    ["POST", "/core/dbs/shop/import", [{ no: "A" }]],
  ];
  for (const [method, path, body] of calls) {
    const answer = await other.request(method, path, body);
    expect([method, path, answer.status]).toEqual([method, path, 404]);
  }
  expect(await traces(app, "dbs", "records", "record_imports")).toEqual(before);
});
