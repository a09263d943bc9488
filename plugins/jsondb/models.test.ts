/** The events of `Core::Db` and `Core::Record`. behaviour B.8. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { definePlugin, modelChanged, onEvent, type ModelEvent } from "platform";
import { eventually, startTestApp, type TestApp } from "../../tests/harness.ts";
import { plugins } from "../index.ts";
import { jsonDatabases } from "./api.ts";

const told: ModelEvent[] = [];
const follower = definePlugin({
  name: "follower",
  setup: () => ({
    handlers: [
      onEvent(modelChanged, "follower", async (change) => void told.push(change), {
        when: ({ sourceType }) => sourceType.startsWith("Core::Db") || sourceType === "Core::Record",
      }),
    ],
  }),
});

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
});
afterAll(() => app.stop());

const next = async (sourceType: string, kind: string) => {
  const change = await eventually(
    () => told.find((one) => one.sourceType === sourceType && one.kind === kind),
    `${sourceType} ${kind}`,
  );
  told.splice(told.indexOf(change), 1);
  return change;
};

test("a database tells of its creation, change and end", async () => {
  const { json: db } = await app.post("/core/dbs", { db: { name: "Told", schema: { fields: { a: "string" } } } });
  expect(await next("Core::Db", "create")).toMatchObject({ accountId: 1, id: db.id, data: { ...db } });
  const { json: changed } = await app.patch("/core/dbs/told", { db: { name: "Still told" } });
  expect(await next("Core::Db", "update")).toMatchObject({ id: db.id, data: { ...changed } });
  await app.delete("/core/dbs/told");
  expect(await next("Core::Db", "destroy")).toMatchObject({ id: db.id, data: { code: "told" } });
});

describe("a record", () => {
  beforeAll(async () => {
    const table = { fields: { no: { type: "string", required: true } } };
    const public_methods = { create: true, update: true, delete: true };
    await app.post("/core/dbs", { db: { name: "shop", schema: { tables: { orders: table } }, public_methods } });
    await next("Core::Db", "create");
  });

  test("tells flat, with the code of its database and its table", async () => {
    const path = "/core/dbs/shop/records";
    const { json: made } = await app.post(path, {
      record: { table_name: "orders", data: { no: "A1", id: "own", db_code: "own" } },
    });
    const times = { created_at: made.created_at, updated_at: made.created_at };
    const data = { no: "A1", id: made.id, db_code: "shop", table_name: "orders", ...times };
    expect(await next("Core::Record", "create")).toEqual({
      accountId: 1,
      sourceType: "Core::Record",
      kind: "create",
      id: made.id,
      data,
    });
    const { json: changed } = await app.patch(`${path}/${made.id}`, { record: { data: { more: 1 } } });
    expect((await next("Core::Record", "update")).data).toEqual({
      ...data,
      more: 1,
      table_name: null,
      updated_at: changed.updated_at,
    });
    await app.delete(`${path}/${made.id}`);
    expect((await next("Core::Record", "destroy")).data).toMatchObject({
      no: "A1",
      more: 1,
      db_code: "shop",
      table_name: null,
    });
  });

  test("tells of what visitors do, too", async () => {
    const call = (method: string, body: unknown) => app.post(`/core/db/shop/${method}`, body, { token: null });
    const { id } = (await call("create", { data: { n: 1 } })).json;
    expect(await next("Core::Record", "create")).toMatchObject({ id, data: { n: 1, table_name: null } });
    await call("update", { id, data: { n: 2 } });
    expect(await next("Core::Record", "update")).toMatchObject({ id, data: { n: 2 } });
    await call("delete", { id });
    expect(await next("Core::Record", "destroy")).toMatchObject({ id });
  });

  test("that is refused tells nothing", async () => {
    const path = "/core/dbs/shop/records";
    await app.post(path, { record: { table_name: "orders", data: {} } });
    await app.post(path, { record: { table_name: "nope", data: {} } });
    const { json: made } = await app.post(path, { record: { table_name: "orders", data: { no: "A2" } } });
    await app.patch(`${path}/${made.id}`, { record: { table_name: "orders", data: { no: null } } });
    await app.delete(`${path}/${made.id}`);
    await next("Core::Record", "destroy");
    expect(told.map(({ kind, id }) => [kind, id])).toEqual([["create", made.id]]);
    told.length = 0;
  });

  test("goes through the service of other plugins the same way", async () => {
    const service = app.service(jsonDatabases);
    const made = await service.create(1, "shop", { tableName: "orders", data: { no: "B1" } });
    expect(await next("Core::Record", "create")).toMatchObject({ id: made.id });
    expect(await service.get(1, "shop", made.id)).toEqual(made);
    const changed = await service.update(1, "shop", made.id, { tableName: "orders", data: { n: 5 } });
    expect(changed.data).toEqual({ no: "B1", n: 5 });
    const params = { table_name: "orders", "filter[no]": "B1" };
    expect(await service.search(1, "shop", { params, limit: 1 })).toMatchObject([{ id: made.id, n: 5 }]);
    await service.delete(1, "shop", made.id);
    for (const [account, db] of [
      [1, "shop"],
      [1, "nope"],
      [2, "shop"],
    ] as const)
      expect(await service.get(account, db, made.id).catch(({ status }: { status: number }) => status)).toBe(404);
    const refused = await service.create(1, "shop", { tableName: "orders", data: {} }).catch(({ body }) => body);
    expect(refused).toEqual({ no: ["is required"] });
    expect(await service.find(1, "shop")).toMatchObject({ code: "shop" });
    expect(await service.find(2, "shop")).toBeUndefined();
  });
});
