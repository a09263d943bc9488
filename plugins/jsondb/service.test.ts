import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../tests/harness.ts";
import { accounts } from "../accounts/api.ts";
import { jsonDatabases } from "./api.ts";
import { mostSearches } from "./service.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

test("searches of other plugins leave connections to requests, however many there are", async () => {
  await app.post("/core/dbs.json", { db: { name: "Stock", code: "stock" } });
  await app.post("/core/dbs/stock/records.json", { record: { data: { sku: "tea" } } });
  const { id } = await app.service(accounts).defaultAccount();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
  const locking = app.sql.begin(async (tx) => {
    await tx`lock table records in access exclusive mode`;
    lock();
    await held;
  });
  await locked;
  const waiting = async () =>
    (await app.sql`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%records%'`).length;
  const search = () => app.service(jsonDatabases).search(id, "stock", { params: { q: "tea" } });
  const found = Promise.all(Array.from({ length: 30 }, search));
  await eventually(async () => (await waiting()) >= mostSearches, "the first searches");
  // Nothing of databases is left to wait for a connection: this one is not about their records.
  expect((await app.get("/core/dbs/stock.json")).status).toBe(200);
  expect(await waiting()).toBe(mostSearches);
  release();
  await locking;
  expect((await found).map((rows) => rows.length)).toEqual(Array(30).fill(1));
});
