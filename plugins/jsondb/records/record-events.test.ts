import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { followStream } from "../../../tests/event-stream.ts";
import { eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { uuidv7 } from "platform";
import { databaseOf } from "../databases/database.ts";
import { eventOf, partialEventOf, type PartialRecord } from "./events.ts";

const db = databaseOf({
  id: "019a9c1e-0000-7000-8000-000000000001",
  accountId: 1,
  code: "shop",
  schema: null,
  publicMethods: null,
  version: 1,
  schemaVersion: 1,
  rulesVersion: 1,
  planVersion: 1,
  timezone: "UTC",
  collation: "C",
  equalsBy: "C",
  indexedVersion: 1,
  live: false,
});
const id = "019a9c1e-0000-7000-8000-000000000002";
const known = { id, db_code: "shop", created_at: undefined, updated_at: undefined };

test.each<[string, Omit<PartialRecord, "id">, Record<string, unknown>]>([
  ["of a table", { tableName: "orders", data: { n: 1 } }, { ...known, n: 1, table_name: "orders" }],
  ["of the null table", { tableName: "", data: {} }, { ...known, table_name: null }],
  ["of a table that is not known", { tableName: undefined, data: {} }, { ...known, table_name: undefined }],
  [
    "whose fields are named like its own values",
    { tableName: "", data: { created_at: "x", updated_at: "x", id: "x", db_code: "x", table_name: "x" } },
    { ...known, table_name: null },
  ],
])("before the write of a record %s no time is known", (_, partial, data) => {
  const event = partialEventOf(db, "update", { id, ...partial });
  const changed = Object.keys(partial.data);
  expect(event).toStrictEqual({ accountId: 1, sourceType: "Core::Record", kind: "update", id, data, changed });
});

test("every value that is known before the write is that of the event", () => {
  const [createdAt, updatedAt] = [new Date(1), new Date(2)];
  for (const data of [{}, { n: 1, created_at: "x" }, { id: "x" }]) {
    for (const tableName of ["", "orders"]) {
      const whole = eventOf(db, "create", { id, tableName, data, createdAt, updatedAt });
      const partial = partialEventOf(db, "create", { id, tableName, data });
      for (const [key, value] of Object.entries(partial.data))
        if (value !== undefined) expect([key, whole.data[key]]).toEqual([key, value]);
      expect(whole.data).toMatchObject({ created_at: createdAt.toJSON(), updated_at: updatedAt.toJSON() });
    }
  }
});

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

test("a webhook narrowed to a table hears of its records' creation, change and end", async () => {
  const schema = { tables: { orders: {}, lines: {} } };
  await app.post("/core/dbs", { db: { name: "Shop", code: "shop", schema } });
  const heardBy = async (kind: string, table_name: string | null) => {
    const url = `https://receiver.example/${kind}/${table_name}`;
    const webhook = { source_type: "Core::Record", kind, url, filter: { db_code: "shop", table_name } };
    const made = await app.post("/account/webhooks.json", { webhook });
    expect([made.status, made.text]).toEqual([201, made.text]);
    return async () => (await app.get(`/account/webhooks/${made.json.id}/deliveries.json`)).json.length;
  };
  const kinds = ["create", "update", "destroy"];
  const ofOrders = await Promise.all(kinds.map((kind) => heardBy(kind, "orders")));
  const ofLines = await Promise.all(kinds.map((kind) => heardBy(kind, "lines")));
  const records = "/core/dbs/shop/records";
  for (const table_name of ["lines", "orders"]) {
    const { json } = await app.post(records, { record: { table_name, data: { n: 1 } } });
    await app.patch(`${records}/${json.id}`, { record: { table_name, data: { n: 2 } } });
    expect((await app.delete(`${records}/${json.id}`)).status).toBe(204);
  }
  for (const count of [...ofLines, ...ofOrders]) await eventually(async () => (await count()) === 1, "one delivery");
});

describe("a webhook with `changed`", () => {
  const records = "/core/dbs/bills/records";
  const events = async (hook: { id: number }) =>
    (await app.get(`/account/webhooks/${hook.id}/deliveries.json`)).json.length;
  const follow = async (fields: object) => {
    const webhook = { source_type: "Core::Record", kind: "update", ...fields };
    return app.post("/account/webhooks.json", { webhook: { url: `https://receiver.example/${uuidv7()}`, ...webhook } });
  };

  test("hears of a field that gets another value, by every way of changing it", async () => {
    const fields = { status: "string", note: "string", n: "integer" };
    await app.post("/core/dbs", { db: { name: "Bills", code: "bills", schema: { fields, history: true } } });
    const paid = (await follow({ filter: { db_code: "bills", status: "paid" }, changed: ["status"] })).json;
    const other = (await follow({ filter: { db_code: "bills" }, changed: ["n", "note"] })).json;
    expect(paid.changed).toEqual(["status"]);
    const { id: billId } = (await app.post(records, { record: { data: { status: "open", note: "a" } } })).json;
    const count = async () => [await events(paid), await events(other)];
    const change = async (data: object) => (await app.patch(`${records}/${billId}`, { record: { data } })).status;

    expect(await change({ status: "paid", note: "a" })).toBe(200);
    await eventually(async () => same(await count(), [1, 0]), "paid");
    for (const data of [
      { status: "paid" },
      { status: "paid", note: "b" },
      { status: "open" },
      { n: 1 },
      { note: null },
    ])
      expect(await change(data)).toBe(200);
    await eventually(async () => same(await count(), [1, 3]), "three others");
    const update = { op: "update", id: billId, data: { status: "paid" } };
    expect((await app.post("/core/dbs/bills/batch", { operations: [update] })).status).toBe(200);
    await eventually(async () => same(await count(), [2, 3]), "paid by a batch");
    // The first entry of its history: open, with its note.
    expect((await app.post(`${records}/${billId}/history/1/restore`, {})).status).toBe(200);
    await eventually(async () => same(await count(), [2, 4]), "restored");
  });

  test("is told the same of a database that others follow", async () => {
    const schema = { fields: { status: "string" } };
    await app.post("/core/dbs", { db: { name: "Live", code: "live", schema } });
    const hook = (await follow({ filter: { db_code: "live" }, changed: ["status"] })).json;
    const follower = await followStream(`${app.origin}/core/dbs/live/events`);
    const { id: liveId } = (await app.post("/core/dbs/live/records", { record: { data: { status: "a" } } })).json;
    for (const data of [{ status: "a" }, { other: 1 }, { status: "b" }])
      await app.patch(`/core/dbs/live/records/${liveId}`, { record: { data } });
    await eventually(() => follower.events.length >= 4, "all changes");
    await eventually(async () => (await events(hook)) === 1, "one delivery");
    await follower.close();
  });

  test.each([
    ["another kind", { kind: "create", changed: ["a"] }],
    ["another model", { source_type: "Core::Prompt", changed: ["a"] }],
    ["no names", { changed: [] }],
    ["what is no name", { changed: [4] }],
  ])("is refused for %s", async (_, fields) => {
    const { status, json } = await follow(fields);
    expect([status, Object.keys(json)[0]?.split("/")[0]]).toEqual([422, "changed"]);
  });

  test("warns of a field that the table does not have", async () => {
    const { headers } = await follow({ filter: { db_code: "bills" }, changed: ["statsu"] });
    expect(headers.get("warning")).toContain("statsu");
  });
});

const same = (a: readonly number[], b: readonly number[]) => a.join() === b.join();
