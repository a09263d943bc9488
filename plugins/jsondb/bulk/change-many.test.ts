import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, otherAccount, person, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { follower, traces } from "../../../tests/traces.ts";
import { plugins } from "../../index.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
});
afterAll(() => app.stop());

const schema = {
  fields: { name: { type: "string", required: true }, city: "string", age: "integer" },
  indexed_fields: ["name", "city", "age"],
};
const shop = {
  tables: {
    orders: { fields: { no: { type: "string", required: true }, total: "integer" } },
    lines: { fields: { name: "string", total: "string" } },
  },
};

let made = 0;
async function newDb(rows: readonly object[], dbSchema: object = schema, tableName?: string): Promise<string> {
  const { code } = (await app.post("/core/dbs.json", { db: { name: `Many ${++made}`, schema: dbSchema } })).json;
  await add(code, rows, tableName);
  return code;
}
async function add(db: string, rows: readonly object[], table_name?: string): Promise<void> {
  for (let at = 0; at < rows.length; at += 1000) {
    const operations = rows.slice(at, at + 1000).map((data) => ({ op: "create", data, table_name }));
    expect((await app.post(`/core/dbs/${db}/batch.json`, { operations })).status).toBe(200);
  }
}
const people = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `P${at}`, city: at % 3 === 0 ? "Wien" : "Brno", age: at }));
const bulk = (db: string, query: string, body: unknown) => app.post(`/core/dbs/${db}/bulk.json${query}`, body);
const taskOf = async (db: string, id: string) => (await app.get(`/core/dbs/${db}/tasks/${id}.json`)).json;
const ended = (db: string, id: string) =>
  eventually(async () => {
    const task = await taskOf(db, id);
    return task.status !== "running" && task;
  }, "the end of the task");
const count = async (db: string, query: string) => {
  const { headers } = await app.get(`/core/dbs/${db}/records.json?count=true&limit=1${query}`);
  return Number(headers.get("x-total-count"));
};
const idOf = async (db: string): Promise<string> => (await app.get(`/core/dbs/${db}.json`)).json.id;

describe("a change of all that filters find", () => {
  test("merges the fields into each record, tells of each, and counts them in its task", async () => {
    const db = await newDb(people(700));
    const before = await traces(app);
    const answer = await bulk(db, "?filter[city]=Wien", { op: "update", data: { city: "Łódź", more: [1] } });
    expect(answer.status).toBe(202);
    expect(answer.json).toMatchObject({ kind: "update", status: "running", done: 0, created_by_id: 1 });
    expect(answer.headers.get("x-task-id")).toBe(answer.json.id);
    const task = await ended(db, answer.json.id);
    expect(task).toMatchObject({ status: "finished", done: 234, total: 234, stored: 234, failed: 0, errors: [] });
    expect([await count(db, "&filter[city]=Łódź"), await count(db, "&filter[city]=Wien")]).toEqual([234, 0]);
    const [one] = (await app.get(`/core/dbs/${db}/records.json?filter[name]=P3`)).json;
    expect(one.data).toEqual({ name: "P3", city: "Łódź", age: 3, more: [1] });
    const after = await traces(app);
    expect(Number(after["events"]) - Number(before["events"])).toBe(234);
  });

  test("deletes them, with a phrase, a group and an operator", async () => {
    const db = await newDb(people(30));
    const { json } = await bulk(db, "?q=P2*&any[0][age][gte]=25&any[1][city]=Wien", { op: "delete" });
    expect(await ended(db, json.id)).toMatchObject({ kind: "delete", status: "finished", stored: 7 });
    const left = (await app.get(`/core/dbs/${db}/records.json?limit=100&sort=age&filter[age][gte]=20`)).json;
    expect(left.map(({ data }: { data: { name: string } }) => data.name)).toEqual(["P20", "P22", "P23"]);
  });

  test("leaves records in their tables, and follows the rules of each", async () => {
    const db = await newDb([{ no: "A1" }, { no: "A2" }], shop, "orders");
    await add(db, [{ name: "x" }], "lines");
    const { json } = await bulk(db, "", { op: "update", data: { total: "many" }, all: true });
    const task = await ended(db, json.id);
    expect(task).toMatchObject({ status: "finished", done: 3, stored: 1, failed: 2 });
    const [order] = (await app.get(`/core/dbs/${db}/records.json?table_name=orders&sort=id`)).json;
    expect(task.errors[0]).toEqual({
      row: 1,
      id: order.id,
      field: "total",
      message: expect.stringContaining("whole number"),
    });
    const { id } = (await bulk(db, "?table_name=orders", { op: "update", data: { total: 5 } })).json;
    expect(await ended(db, id)).toMatchObject({ stored: 2, failed: 0 });
    expect(await count(db, "&table_name=orders&filter[total]=5")).toBe(2);
    expect(await count(db, "&table_name=lines&filter[total]=many")).toBe(1);
  });

  test("names the record that PostgreSQL refuses, and goes on with the others", async () => {
    const db = await newDb([], { fields: { note: "text" } });
    await add(db, [{ note: "a" }, { note: "large" }, { note: "b" }]);
    const [, { id: large }] = (await app.get(`/core/dbs/${db}/records.json?sort=id`)).json;
    // Each change is small enough, but not all of them together.
    for (const name of ["one", "two", "three", "four"]) {
      const record = { data: { [name]: "x".repeat(1_950_000) } };
      expect((await app.patch(`/core/dbs/${db}/records/${large}.json`, { record })).status).toBe(200);
    }
    const { json } = await bulk(db, "", { op: "update", data: { five: "x".repeat(300_000) }, all: true });
    const task = await ended(db, json.id);
    expect(task).toMatchObject({ status: "finished", done: 3, total: 3, stored: 2, failed: 1 });
    expect(task.errors).toEqual([{ row: 2, id: large, field: "data", message: expect.stringContaining("bytes") }]);
  });

  test("is begun once by calls with one Idempotency-Key", async () => {
    const db = await newDb(people(5));
    const options = { headers: { "idempotency-key": `bulk-${db}` } };
    const ask = () => app.post(`/core/dbs/${db}/bulk.json?filter[city]=Wien`, { op: "delete" }, options);
    const first = await ask();
    expect(first.status).toBe(202);
    await ended(db, first.json.id);
    await add(db, [{ name: "later", city: "Wien" }]);
    const second = await ask();
    expect([second.status, second.json.id]).toEqual([202, first.json.id]);
    expect((await app.get(`/core/dbs/${db}/tasks.json`)).json).toHaveLength(1);
  });

  test("does not touch what is made later, or no longer matches", async () => {
    const db = await newDb(people(1));
    const { json } = await bulk(db, "?filter[city]=Wien", { op: "delete" });
    await add(db, [{ name: "later", city: "Wien" }]);
    await ended(db, json.id);
    expect(await count(db, "&filter[city]=Wien")).toBe(1);
  });

  test("waits for the record that somebody is changing, and leaves it if it matches no longer", async () => {
    const db = await newDb([
      { name: "Ann", city: "Wien" },
      { name: "Bob", city: "Wien" },
    ]);
    const [{ id: first }] = (await app.get(`/core/dbs/${db}/records.json?sort=id`)).json;
    let answer = "";
    await app.sql.begin(async (tx) => {
      await tx`update records set data = data || '{"city": "Brno"}', idx_str_2 = 'Brno' where id = ${first}`;
      answer = (await bulk(db, "?filter[city]=Wien", { op: "delete" })).json.id;
      await eventually(async () => {
        const waiting = await app.sql`
          select from pg_stat_activity where wait_event_type = 'Lock' and query like '%for no key update%'`;
        return waiting.length > 0;
      }, "a step that waits");
    });
    expect(await ended(db, answer)).toMatchObject({ status: "finished", done: 1, stored: 1 });
    expect(await count(db, "")).toBe(1);
  });
});

describe("a running change", () => {
  /** Holds a record, so that the change cannot get on. */
  async function held(db: string, work: () => Promise<void>): Promise<void> {
    await app.sql.begin(async (tx) => {
      await tx`select from records where db_id = ${await idOf(db)} for update`;
      await work();
    });
  }

  test("is the only one of its database, is found again, and can be stopped", async () => {
    const db = await newDb(people(400));
    const { json: first } = await bulk(db, "?filter[city]=Brno", { op: "update", data: { age: 1 } });
    await ended(db, first.id);
    let task = "";
    await held(db, async () => {
      const begun = await bulk(db, "", { op: "update", data: { age: 2 }, all: true });
      task = begun.json.id;
      expect((await bulk(db, "", { op: "delete", all: true })).status).toBe(409);
      const running = (await app.get(`/core/dbs/${db}/tasks.json?status=running&kind=update`)).json;
      expect(running).toMatchObject([{ id: task }]);
      const stop = app.post(`/core/dbs/${db}/tasks/${task}/stop.json`);
      // The step holds the task until it has its records.
      await Promise.race([stop, eventually(async () => (await taskOf(db, task)).status === "running", "it runs")]);
    });
    expect(await ended(db, task)).toMatchObject({ status: "failed", error: "it was stopped" });
    const stopped = await app.post(`/core/dbs/${db}/tasks/${first.id}/stop.json`);
    expect([stopped.status, stopped.json.status]).toEqual([200, "finished"]);
    expect((await bulk(db, "?filter[age]=none", { op: "delete" })).status).toBe(202);
  });

  test("of several at once one begins, and the others are told so", async () => {
    const db = await newDb(people(3));
    const all = await Promise.all([1, 2, 3, 4].map((age) => bulk(db, "", { op: "update", data: { age }, all: true })));
    const [begun, ...others] = all.toSorted((a, b) => a.status - b.status);
    expect(begun?.status).toBe(202);
    for (const { status, json } of others.filter((other) => other.status !== 202))
      expect([status, json.error]).toEqual([409, expect.stringContaining("being changed already")]);
  });

  /** As a process that died has left it after four of ten records. */
  async function left(db: string, query: string): Promise<string> {
    const ids = (await app.get(`/core/dbs/${db}/records.json?sort=id`)).json.map(({ id }: { id: string }) => id);
    const task = crypto.randomUUID();
    await app.sql`
      insert into db_tasks (id, account_id, db_id, kind, done, stored, total, updated_at)
      values (${task}, 1, ${await idOf(db)}, 'delete', 4, 4, 10, now() - interval '1 hour')`;
    await app.sql`
      insert into bulk_changes (task_id, account_id, query, until_id, after_id)
      values (${task}, 1, ${query}, ${ids[9]}, ${ids[3]})`;
    expect(await taskOf(db, task)).toMatchObject({ status: "running" });
    return task;
  }
  const resume = (task: string) => app.sql`
    insert into jobs (name, account_id, payload, run_at, created_at)
    values ('jsondb.change-many', 1, ${JSON.stringify({ accountId: 1, taskId: task })}::text::json, now(), now())`;

  test("goes on from where its process died, and changes nothing twice", async () => {
    const db = await newDb(people(12));
    const task = await left(db, "");
    await resume(task);
    expect(await ended(db, task)).toMatchObject({ status: "finished", done: 10, total: 10, stored: 10 });
    expect(await count(db, "")).toBe(6);
  });

  test("fails if the schema has made its filters impossible", async () => {
    const db = await newDb(people(10));
    const task = await left(db, "filter[age][gt]=old");
    await resume(task);
    expect(await ended(db, task)).toMatchObject({ status: "failed", error: expect.stringContaining("age"), stored: 4 });
    expect(await count(db, "")).toBe(10);
  });

  test("fails if the database is deleted", async () => {
    const db = await newDb(people(10));
    const task = await left(db, "");
    await app.delete(`/core/dbs/${db}.json`);
    await resume(task);
    const error = await eventually(async () => {
      const [row] = await app.sql`select error from db_tasks where id = ${task} and status = 'failed'`;
      return row?.["error"];
    }, "the end of the task");
    expect(error).toContain("deleted");
  });
});

test("what is refused changes nothing", async () => {
  const db = await newDb(people(3));
  const before = await traces(app, "records", "db_tasks", "bulk_changes");
  const cases: [number, string, unknown, string][] = [
    [422, "", { op: "delete" }, "all"],
    [422, "", { op: "update", data: { age: 1 } }, "all"],
    [422, "?filter[age]=1", { op: "update" }, "data"],
    [422, "?filter[age]=1", { op: "update", data: {} }, "data"],
    [422, "?filter[age]=1", { op: "update", data: [1] }, "data"],
    [422, "?filter[age]=1", { op: "update", data: { age: "x" } }, "age"],
    [422, "?filter[age]=1", { op: "update", data: { name: "" } }, "name"],
    [422, "?filter[age]=1", { op: "update", data: { note: "x".repeat(2_000_001) } }, "data"],
    [422, "?filter[age]=1", { op: "delete", data: { age: 1 } }, "data"],
    [422, "?filter[age]=1", { op: "drop" }, "op"],
    [400, "?filter[age][gt]=x", { op: "delete" }, "age"],
    [400, "?filter[age]=1&filer[city]=Wien", { op: "delete" }, "filer[city]"],
    [400, "?filter[age]=1&limit=5", { op: "delete" }, "limit"],
  ];
  for (const [status, query, body, said] of cases) {
    const answer = await bulk(db, query, body);
    expect([query, answer.status]).toEqual([query, status]);
    expect(JSON.stringify(answer.json)).toContain(said);
  }
  expect(await traces(app, "records", "db_tasks", "bulk_changes")).toEqual(before);
  const stranger = await otherAccount(app);
  expect((await stranger.post(`/core/dbs/${db}/bulk.json?filter[age]=1`, { op: "delete" })).status).toBe(404);
  const { token } = await person(app, { role: "guest" });
  const refused = await app.post(`/core/dbs/${db}/bulk.json?filter[age]=1`, { op: "delete" }, { token });
  expect(refused.status).toBe(403);
  expect((await traces(app, "records"))["records"]).toBe(before["records"] ?? "");
  const hinted = await bulk(db, "?filter[cty][ne]=Wien&filter[age]=7", { op: "delete" });
  expect(hinted.headers.get("warning")).toContain("cty");
});
