/** A new schema indexes existing records in the background, and answers stay right meanwhile. behaviour B.7. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
let other: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  // A second process on the same database, as with WORKERS=2.
  other = await startTestApp({ target: app.target });
});
afterAll(async () => {
  await other.stop();
  await app.stop();
});

const byName = { fields: { name: "string", city: "string", n: "integer" }, indexed_fields: ["name"] };
const byCity = { fields: { name: "string", city: "string", n: "integer" }, indexed_fields: ["city", "n"] };
const record = (n: number) => ({ record: { data: { name: `name ${n % 7}`, city: `city ${n % 5}`, n } } });
const indexed = async (code: string) => {
  const [db] = await app.sql`select plan_version = indexed_version as done from dbs where code = ${code}`;
  return db?.["done"] === true;
};
const isIndexed = (code: string) => eventually(() => indexed(code), `${code} is indexed`);
const numbers = (answer: { json: { n: number }[] }) => answer.json.map(({ n }) => n);

async function fill(code: string, count: number) {
  await app.post("/core/dbs", { db: { name: code, code, schema: byName } });
  for (let n = 0; n < count; n++) await app.post(`/core/dbs/${code}/records`, record(n));
}

describe("a changed schema", () => {
  test("fills the new columns of old records, and leaves their times alone", async () => {
    await fill("plain", 30);
    const before = await app.sql`select id, updated_at from records order by id`;
    await app.patch("/core/dbs/plain", { db: { schema: byCity } });
    await isIndexed("plain");
    const rows = await app.sql`select id, updated_at, data, idx_str_1, idx_int_1 from records order by id`;
    for (const row of rows) expect([row["idxStr1"], row["idxInt1"]]).toEqual([row["data"].city, row["data"].n]);
    const times = rows.map((row) => ({ id: row["id"], updatedAt: row["updatedAt"] }));
    expect(JSON.stringify(times)).toBe(JSON.stringify(before));
  });

  test("that moves no column indexes nothing anew", async () => {
    await fill("same", 3);
    const fields = { ...byName.fields, more: "boolean", name: { type: "text", required: true } };
    await app.patch("/core/dbs/same", { db: { schema: { fields, indexed_fields: ["name"] } } });
    expect(await indexed("same")).toBe(true);
    expect((await app.post("/core/dbs/same/records", { record: { data: {} } })).json).toEqual({
      name: ["is required"],
    });
    expect((await app.get("/core/dbs/same/search?filter[name]=name 1")).json).toHaveLength(1);
  });

  test("holds for the next write in every process, and old records can still be changed", async () => {
    await fill("strict", 2);
    const [old] = (await app.get("/core/dbs/strict/records")).json;
    expect((await other.get("/core/dbs/strict/records")).json).toHaveLength(2);
    const fields = { ...byName.fields, mail: { type: "string", required: true } };
    await app.patch("/core/dbs/strict", { db: { schema: { fields } } });
    for (const process of [app, other])
      expect((await process.post("/core/dbs/strict/records", record(1))).json).toEqual({ mail: ["is required"] });
    const path = `/core/dbs/strict/records/${old.id}`;
    expect((await other.patch(path, { record: { data: { n: 9 } } })).json).toEqual({ mail: ["is required"] });
    expect((await other.patch(path, { record: { data: { mail: "x" } } })).status).toBe(200);
  });

  test("of tables gives each record the columns of its own", async () => {
    const table = (...indexed_fields: string[]) => ({ fields: { a: "string", b: "string" }, indexed_fields });
    await app.post("/core/dbs", { db: { name: "tables", schema: { tables: { x: table("a"), y: table("a") } } } });
    for (const table_name of ["x", "y", null])
      await app.post("/core/dbs/tables/records", { record: { table_name, data: { a: "A", b: "B" } } });
    await app.patch("/core/dbs/tables", { db: { schema: { tables: { x: table("b", "a"), y: table("b") } } } });
    await isIndexed("tables");
    const rows = await app.sql`
      select r.table_name, r.idx_str_1, r.idx_str_2 from records r join dbs d on d.id = r.db_id where d.code = 'tables' order by 1`;
    expect(rows.map((row) => [row["tableName"], row["idxStr1"], row["idxStr2"]])).toEqual([
      ["", null, null],
      ["x", "B", "A"],
      ["y", "B", null],
    ]);
  });

  test("may be followed by another before the records are indexed", async () => {
    await fill("often", 40);
    for (let i = 0; i < 6; i++) await app.patch("/core/dbs/often", { db: { schema: i % 2 ? byName : byCity } });
    await isIndexed("often");
    const rows =
      await app.sql`select r.data, r.idx_str_1, r.idx_int_1 from records r join dbs d on d.id = r.db_id where d.code = 'often'`;
    for (const row of rows) expect([row["idxStr1"], row["idxInt1"]]).toEqual([row["data"].name, null]);
  });
});

describe("while records are being indexed", () => {
  test("answers are right, though the job cannot finish", async () => {
    await fill("held", 25);
    const holder = await app.sql.reserve();
    await holder`begin isolation level repeatable read`;
    await holder`select count(*) from records`;
    try {
      await app.patch("/core/dbs/held", { db: { schema: byCity } });
      for (const process of [app, other]) {
        const found = await process.get("/core/dbs/held/search?filter[city]=city 3&sort=n");
        expect(numbers(found)).toEqual([3, 8, 13, 18, 23]);
        expect(numbers(await process.get("/core/dbs/held/search?q=name 6&search_in=name&sort=-n"))).toEqual([
          20, 13, 6,
        ]);
      }
      await other.post("/core/dbs/held/records", record(28));
      expect(numbers(await app.get("/core/dbs/held/search?filter[city]=city 3&sort=n&offset=5"))).toEqual([28]);
      // An old snapshot may still belong to a statement that writes by the old plan.
      expect(await indexed("held")).toBe(false);
    } finally {
      await holder`rollback`;
      holder.release();
    }
    await isIndexed("held");
    expect(numbers(await app.get("/core/dbs/held/search?filter[city]=city 3&sort=n"))).toEqual([3, 8, 13, 18, 23, 28]);
  });

  test("concurrent writes of two processes are all indexed right, and none is lost", async () => {
    await fill("busy", 60);
    const stop = new AbortController();
    let n = 1000;
    const made: number[] = [];
    const writer = async (process: TestApp) => {
      while (!stop.signal.aborted) {
        const mine = n++;
        const answer = await process.post("/core/dbs/busy/records", record(mine));
        expect(answer.status).toBe(201);
        made.push(mine);
        const changed = await process.patch(`/core/dbs/busy/records/${answer.json.id}`, {
          record: { data: { city: `moved ${mine % 3}` } },
        });
        expect(changed.status).toBe(200);
        const found = await process.get(`/core/dbs/busy/search?filter[n]=${mine}&filter[city]=moved ${mine % 3}`);
        expect([mine, numbers(found)]).toEqual([mine, [mine]]);
      }
    };
    const writers = [app, other, app, other].map(writer);
    for (let i = 0; i < 8; i++) await app.patch("/core/dbs/busy", { db: { schema: i % 2 ? byName : byCity } });
    await app.patch("/core/dbs/busy", { db: { schema: byCity } });
    await isIndexed("busy");
    stop.abort();
    await Promise.all(writers);
    const rows = await app.sql`
      select r.data, r.idx_str_1, r.idx_int_1 from records r join dbs d on d.id = r.db_id where d.code = 'busy'`;
    for (const row of rows) expect([row["idxStr1"], row["idxInt1"]]).toEqual([row["data"].city, row["data"].n]);
    expect(
      rows
        .map((row) => row["data"].n)
        .filter((value) => value >= 1000)
        .toSorted((a, b) => a - b),
    ).toEqual(made.toSorted((a, b) => a - b));
  }, 600_000);

  test("a server that dies is followed by the next one", async () => {
    await fill("crash", 20);
    // As after a killed process: the write has committed, and its job waits.
    const [db] =
      await app.sql`update dbs set schema = ${JSON.stringify(byCity)}::text::json, schema_version = schema_version + 1,
      plan_version = plan_version + 1, plan_xid = pg_current_xact_id() where code = 'crash' returning id, account_id`;
    const payload = JSON.stringify({ accountId: 1, dbId: db?.["id"] });
    await app.sql`insert into jobs (name, run_at, payload, created_at) values ('jsondb.reindex', now(), ${payload}::text::json, now())`;
    await isIndexed("crash");
    // Neither process was notified of this write: their next read finds out by itself.
    expect(numbers(await other.get("/core/dbs/crash/search?sort=-n&limit=2"))).toEqual([19, 18]);
    expect((await other.post("/core/dbs/crash/records", record(20))).status).toBe(201);
    expect(numbers(await other.get("/core/dbs/crash/search?filter[city]=city 0&sort=-n"))).toEqual([20, 15, 10, 5, 0]);
  });
});

test("a deleted database takes nothing more in, from any process", async () => {
  await fill("gone", 3);
  expect((await other.get("/core/dbs/gone/records")).json).toHaveLength(3);
  const writes = Array.from({ length: 20 }, (_, i) => (i % 2 ? app : other).post("/core/dbs/gone/records", record(i)));
  await app.delete("/core/dbs/gone");
  for (const { status } of await Promise.all(writes)) expect([201, 404]).toContain(status);
  for (const process of [app, other])
    expect((await process.post("/core/dbs/gone/records", record(1))).status).toBe(404);
});
