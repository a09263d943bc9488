import { afterAll, beforeAll, expect, test } from "bun:test";
import { parseExactly } from "../../runtime/base/exact-number.ts";
import { eventually, otherAccount, startTestApp, type TestApp } from "../../tests/harness.ts";
import { accounts } from "../accounts/api.ts";
import { jsonDatabases } from "./api.ts";
import { mostSearches } from "./service.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

test("searches of other plugins leave connections to requests and places to other accounts, however many there are", async () => {
  await app.post("/core/dbs.json", { db: { name: "Stock", code: "stock" } });
  await app.post("/core/dbs/stock/records.json", { record: { data: { sku: "tea" } } });
  const { id } = await app.service(accounts).defaultAccount();
  const other = await otherAccount(app);
  await other.post("/core/dbs.json", { db: { name: "Stock", code: "stock" } });
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
  const search = (accountId = id) => app.service(jsonDatabases).search(accountId, "stock", { params: { q: "tea" } });
  const found = Promise.all(Array.from({ length: 30 }, () => search()));
  await eventually(async () => (await waiting()) >= mostSearches / 2, "the first searches");
  // Nothing of databases is left to wait for a connection: this one is not about their records.
  expect((await app.get("/core/dbs/stock.json")).status).toBe(200);
  expect(await waiting()).toBe(mostSearches / 2);
  const others = search(other.id);
  await eventually(async () => (await waiting()) > mostSearches / 2, "the other account's search");
  release();
  await locking;
  expect(await others).toEqual([]);
  expect((await found).map((rows) => rows.length)).toEqual(Array(30).fill(1));
});

const numbers = { fields: { whole: "integer", any: "number", day: "date" } };
const added: [data: string, increment: string, result: string][] = [
  ["{}", '{"whole":1,"constructor":2,"__proto__":3}', '{"whole":1,"__proto__":3,"constructor":2}'],
  ['{"any":null}', '{"any":0.5}', '{"any":0.5}'],
  ['{"any":0.1}', '{"any":0.2}', '{"any":0.3}'],
  ['{"free":7615917337495251231}', '{"free":-1}', '{"free":7615917337495251230}'],
  ['{"free":1}', '{"free":0.12345678901234567890}', '{"free":1.1234567890123456789}'],
  ['{"any":1}', '{"any":1e21}', '{"any":1000000000000000000001}'],
  ['{"whole":9007199254740991}', '{"whole":2}', '{"whole":"9007199254740993"}'],
  ['{"whole":"9007199254740993"}', '{"whole":-2}', '{"whole":9007199254740991}'],
];
test.each(added)("to %s can be added %s", async (data, increment, result) => {
  await app.post("/core/dbs.json", { db: { name: "Numbers", code: "numbers", schema: numbers } });
  const { id: accountId } = await app.service(accounts).defaultAccount();
  const service = app.service(jsonDatabases);
  const { id } = await service.create(accountId, "numbers", { data: Object(parseExactly(data)) });
  const change = { data: {}, increment: Object(parseExactly(increment)) };
  const changed = await service.update(accountId, "numbers", id, change);
  expect(JSON.stringify(changed.data)).toBe(result);
});

const refusedSums: [data: object, increment: Record<string, number>, status: number, message: string][] = [
  [{ free: "5" }, { free: 1 }, 422, "is no number"],
  [{ free: [1] }, { free: 1 }, 422, "is no number"],
  [{ free: true }, { free: 1 }, 422, "is no number"],
  [{ day: "2026-01-31" }, { day: 1 }, 422, "is no number"],
  [{}, { day: 1 }, 422, "must be a date"],
  [{ whole: 1 }, { whole: 0.5 }, 422, "must be a whole number"],
  [{ whole: "9223372036854775807" }, { whole: 1 }, 422, "must be a whole number within"],
];
test.each(refusedSums)("to %j is not added %j: %i, %s", async (data, increment, status, message) => {
  const { id: accountId } = await app.service(accounts).defaultAccount();
  const service = app.service(jsonDatabases);
  const { id } = await service.create(accountId, "numbers", { data: { ...data } });
  const update = () => service.update(accountId, "numbers", id, { data: {}, increment });
  const error = await update().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status });
  expect(JSON.stringify(error)).toContain(message);
  expect((await service.get(accountId, "numbers", id)).data).toEqual({ ...data });
});
