import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { RATE_LIMIT_CREATES: "1000" } });
});
afterAll(() => app.stop());

const unique = (type: string) => ({ type, unique: true });
const fields = {
  mail: unique("string"),
  no: unique("integer"),
  at: unique("datetime"),
  day: unique("date"),
  note: "string",
};
const taken = (...names: string[]) => Object.fromEntries(names.map((name) => [name, ["is already taken"]]));

let made = 0;
async function newDb(schema: object = { fields }, more: object = {}): Promise<string> {
  const answer = await app.post("/core/dbs.json", { db: { name: `Unique ${++made}`, schema, ...more } });
  expect([answer.status, answer.text]).toEqual([201, answer.text]);
  return answer.json.code;
}
const create = (db: string, data: unknown, table_name?: string) =>
  app.post(`/core/dbs/${db}/records.json`, { record: { data, table_name } });
const patch = (db: string, id: string, data: unknown, table_name?: string) =>
  app.patch(`/core/dbs/${db}/records/${id}.json`, { record: { data, table_name } });
const remove = (db: string, id: string) => app.delete(`/core/dbs/${db}/records/${id}.json`);
const notes = async (db: string): Promise<string[]> =>
  (await app.get(`/core/dbs/${db}/records.json?limit=100&sort=id`)).json.map(
    (one: { data: { note: string } }) => one.data.note,
  );
const send = (db: string, type: string, body: string, query = "") =>
  app.post(`/core/dbs/${db}/import${query}`, undefined, { raw: body, headers: { "content-type": type } });
const setSchema = (db: string, schema: unknown) => app.patch(`/core/dbs/${db}.json`, { db: { schema } });
const keys = async (db: string) =>
  (await app.sql`select k.id from record_keys k join dbs d on d.id = k.db_id where d.code = ${db}`).length;

describe("a unique field", () => {
  test.each<[string, unknown, unknown]>([
    ["mail", "ann@example.com", "ann@example.com"],
    ["mail", "Zoe\u0301", "Zo\u00e9"],
    ["no", 5, 5],
    ["no", "9223372036854775807", "9223372036854775807"],
    ["at", "2026-01-31T10:00:00Z", "2026-01-31T12:00+02:00"],
    ["day", "2026-01-31", "2026-01-31"],
  ])("%s has %j once", async (field, value, same) => {
    const db = await newDb();
    const first = await create(db, { [field]: value });
    expect(first.status).toBe(201);
    const second = await create(db, { [field]: same });
    expect([second.status, second.json]).toEqual([422, taken(field)]);
    expect((await remove(db, first.json.id)).status).toBe(204);
    expect(await keys(db)).toBe(0);
    expect((await create(db, { [field]: same })).status).toBe(201);
  });

  test("may be empty in any number of records, and differ in case", async () => {
    const db = await newDb();
    for (const data of [
      {},
      {},
      { mail: null },
      { mail: null },
      { mail: "" },
      { mail: "" },
      { mail: "a" },
      { mail: "A" },
    ])
      expect((await create(db, data)).status).toBe(201);
  });

  test("names each field that is taken", async () => {
    const db = await newDb();
    await create(db, { mail: "a", no: 1, day: "2026-01-31" });
    expect((await create(db, { mail: "a", no: 2, day: "2026-01-31" })).json).toEqual(taken("mail", "day"));
    expect((await create(db, { mail: "b", no: 2 })).status).toBe(201);
  });

  test("is of its own table", async () => {
    const table = { fields: { no: unique("integer") } };
    const db = await newDb({ tables: { a: table, b: table } });
    const first = await create(db, { no: 1 }, "a");
    const second = await create(db, { no: 1 }, "b");
    expect([first.status, second.status, (await create(db, { no: 1 }, "a")).status]).toEqual([201, 201, 422]);
    // Nor may a record move in where its value is taken; once it has left, the value is free.
    expect((await patch(db, second.json.id, {}, "a")).json).toEqual(taken("no"));
    expect((await patch(db, first.json.id, { no: 2 }, "b")).status).toBe(200);
    expect((await patch(db, second.json.id, {}, "a")).status).toBe(200);
    expect((await create(db, { no: 1 }, "b")).status).toBe(201);
  });

  test("is checked when it is changed, and frees its old value", async () => {
    const db = await newDb();
    const a = (await create(db, { mail: "a", note: "1" })).json.id;
    const b = (await create(db, { mail: "b" })).json.id;
    const refused = await patch(db, b, { mail: "a", note: "no" });
    expect([refused.status, refused.json]).toEqual([422, taken("mail")]);
    expect((await app.get(`/core/dbs/${db}/records/${b}.json`)).json.data).toEqual({ mail: "b" });
    expect((await patch(db, a, { mail: "a", note: "2" })).json.data).toEqual({ mail: "a", note: "2" });
    expect((await patch(db, a, { mail: "c" })).status).toBe(200);
    expect((await patch(db, b, { mail: "a" })).status).toBe(200);
    expect((await patch(db, a, { mail: null })).status).toBe(200);
    expect((await create(db, { mail: "c" })).status).toBe(201);
    expect(await keys(db)).toBe(2);
  });

  test("holds in batches, bulk changes and public methods", async () => {
    const db = await newDb(undefined, { public_methods: { create: true, update: true } });
    const first = (await create(db, { mail: "a", note: "1" })).json.id;
    const batch = (operations: unknown[]) => app.post(`/core/dbs/${db}/batch.json`, { operations });
    const twice = await batch([
      { op: "create", data: { mail: "x" } },
      { op: "create", data: { mail: "x" } },
    ]);
    expect([twice.status, twice.json]).toEqual([422, { "operations[1].data.mail": ["is already taken"] }]);
    const reused = await batch([
      { op: "delete", id: first },
      { op: "create", data: { mail: "a", note: "2" } },
    ]);
    expect(reused.status).toBe(200);
    const visitor = await app.post(`/core/db/${db}/create`, { data: { mail: "a" } }, { token: null });
    expect([visitor.status, visitor.json.errors]).toEqual([422, taken("mail")]);
    await create(db, { mail: "b", note: "3" });
    const task = await app.post(`/core/dbs/${db}/bulk.json`, { op: "update", data: { mail: "same" }, all: true });
    const ended = await eventually(async () => {
      const found = await app.get(`/core/dbs/${db}/tasks/${task.json.id}.json`);
      return found.json.status === "finished" && found.json;
    }, "the task");
    expect([ended.stored, ended.failed, ended.errors[0]]).toEqual([
      1,
      1,
      expect.objectContaining({ field: "mail", message: "is already taken" }),
    ]);
    const gone = await app.post(`/core/dbs/${db}/bulk.json`, { op: "delete", all: true });
    await eventually(
      async () => (await app.get(`/core/dbs/${db}/tasks/${gone.json.id}.json`)).json.status === "finished",
      "the end",
    );
    expect(await keys(db)).toBe(0);
  });

  test("holds in imports: nothing is stored, or with partial what is free", async () => {
    const db = await newDb();
    await create(db, { mail: "a", note: "first" });
    const csv = "mail,note\nb,2\na,3\nb,4\nc,5\n";
    const refused = await send(db, "text/csv", csv);
    const errors = [
      { row: 2, line: 3, field: "mail", message: "is already taken" },
      { row: 3, line: 4, field: "mail", message: "is already taken" },
    ];
    expect([refused.status, refused.json]).toEqual([422, { errors, failed: 2, total: 4 }]);
    expect(await notes(db)).toEqual(["first"]);
    expect(await keys(db)).toBe(1);
    const partial = await send(db, "text/csv", csv, "?partial=true");
    expect([partial.status, partial.json]).toEqual([200, { imported: 2, errors, failed: 2, total: 4 }]);
    expect(await notes(db)).toEqual(["first", "2", "5"]);
    expect(await keys(db)).toBe(3);
  });

  test("with an Idempotency-Key gets one record, and a refusal that is repeated", async () => {
    const db = await newDb();
    const post = (key: string) =>
      app.post(
        `/core/dbs/${db}/records.json`,
        { record: { data: { mail: "a" } } },
        { headers: { "idempotency-key": key } },
      );
    expect((await post("one-key-of-this-test")).status).toBe(201);
    expect((await post("one-key-of-this-test")).status).toBe(201);
    expect((await post("another-key-of-this-test")).json).toEqual(taken("mail"));
  });

  test("is taken once by many at the same time, whatever else they write", async () => {
    const db = await newDb();
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) => create(db, { mail: `m${at % 10}`, no: at })),
    );
    const statuses = Map.groupBy(answers, ({ status }) => status);
    expect([statuses.get(201)?.length, statuses.get(422)?.length]).toEqual([10, 190]);
    for (const { json } of statuses.get(422) ?? []) expect(json).toEqual(taken("mail"));
    const ids = (statuses.get(201) ?? []).map(({ json }) => json.id);
    const patched = await Promise.all(ids.map((id: string) => patch(db, id, { mail: "all" })));
    expect(patched.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(patched.filter(({ status }) => status === 422)).toHaveLength(9);
  });

  test("is in nobody's way where a key was left behind", async () => {
    const db = await newDb();
    const { id } = (await create(db, { mail: "a" })).json;
    // As a process does that does not know yet that the field is unique.
    await app.sql`delete from records where id = ${id}`;
    expect((await create(db, { mail: "a" })).status).toBe(201);
    const other = (await create(db, { mail: "b" })).json.id;
    await app.sql`update records set data = '{"mail":"z"}' where id = ${other}`;
    const batch = await app.post(`/core/dbs/${db}/batch.json`, { operations: [{ op: "create", data: { mail: "b" } }] });
    expect(batch.status).toBe(200);
  });
});

describe("a field that becomes unique", () => {
  const plain = { fields: { mail: "string", note: "string" } };
  const strict = { fields: { mail: unique("string"), note: "string" } };
  const rows = (count: number) =>
    Array.from({ length: count }, (_, at) => JSON.stringify({ mail: `m${at}` })).join("\n");

  test("holds from the answer on, also for what was there", async () => {
    const db = await newDb(plain);
    await send(db, "application/x-ndjson", rows(5000));
    const saved = await setSchema(db, strict);
    expect([saved.status, saved.json.schema]).toEqual([200, strict]);
    expect(await keys(db)).toBe(5000);
    expect((await create(db, { mail: "m4999" })).json).toEqual(taken("mail"));
    expect((await setSchema(db, plain)).status).toBe(200);
    expect((await create(db, { mail: "m4999" })).status).toBe(201);
    const again = await setSchema(db, strict);
    expect([again.status, again.json]).toEqual([422, { schema: ['fields.mail.unique: these values repeat: "m4999"'] }]);
    expect((await app.get(`/core/dbs/${db}.json`)).json.schema).toEqual(plain);
    expect((await create(db, { mail: "m4999" })).status).toBe(201);
  });

  test("may be one of a table, or of a schema that is edited as text", async () => {
    const db = await newDb({ tables: { t: plain } });
    for (const mail of ["a", "b", "a", null]) await create(db, { mail }, "t");
    const edit = {
      field: "schema",
      old_string: '"mail":"string"',
      new_string: '"mail":{"type":"string","unique":true}',
    };
    const refused = await app.patch(`/core/dbs/${db}/replace.json`, edit);
    expect([refused.status, refused.json]).toEqual([
      422,
      { schema: ['tables.t.fields.mail.unique: these values repeat: "a"'] },
    ]);
    const [record] = (await app.get(`/core/dbs/${db}/search.json?table_name=t&filter[mail]=a`)).json;
    await remove(db, record.id);
    expect((await app.patch(`/core/dbs/${db}/replace.json`, edit)).status).toBe(200);
    expect((await create(db, { mail: "b" }, "t")).json).toEqual(taken("mail"));
  });

  test("is never given twice by those who write meanwhile", async () => {
    const db = await newDb(plain);
    await send(db, "application/x-ndjson", rows(3000));
    const isDone = new AbortController();
    const writer = async (name: number) => {
      const statuses: number[] = [];
      for (let at = 0; !isDone.signal.aborted; at++)
        statuses.push((await create(db, { mail: `w${at}`, note: `${name}` })).status);
      return statuses;
    };
    const writing = Promise.all([1, 2, 3, 4].map(writer));
    let answer = await setSchema(db, strict);
    // Before it holds, all four may write the same.
    for (let tries = 0; answer.status === 422 && tries < 3; tries++) {
      await app.sql`delete from records where data ->> 'note' is not null and db_id = (select id from dbs where code = ${db})`;
      answer = await setSchema(db, strict);
    }
    isDone.abort();
    await writing;
    const repeated = await app.sql`
      select data ->> 'mail' from records where db_id = (select id from dbs where code = ${db}) group by 1 having count(*) > 1`;
    if (answer.status === 200) expect(repeated).toHaveLength(0);
    else expect(answer.status).toBe(422);
  });

  test("that was stored unread by an older version counts once its schema is saved", async () => {
    const db = await newDb(plain);
    await app.sql`update dbs set schema = ${JSON.stringify(strict)}::text::json where code = ${db}`;
    await setSchema(db, strict);
    await create(db, { mail: "a" });
    expect((await create(db, { mail: "a" })).json).toEqual(taken("mail"));
  });

  test("of another type has other keys", async () => {
    const db = await newDb({ fields: { at: unique("string") } });
    await create(db, { at: "2026-01-31T10:00:00Z" });
    await create(db, { at: "2026-01-31T12:00:00+02:00" });
    const refused = await setSchema(db, { fields: { at: unique("datetime") } });
    expect([refused.status, Object.keys(refused.json)]).toEqual([422, ["schema"]]);
    expect((await create(db, { at: "2026-01-31T10:00:00Z" })).json).toEqual(taken("at"));
  });

  test("whose process has died is taken back", async () => {
    const db = await newDb(plain);
    const begun = [
      {
        table: "",
        field: "mail",
        id: crypto.randomUUID(),
        type: "string",
        filled: false,
        since: "2026-01-01T00:00:00Z",
      },
    ];
    await app.sql`update dbs set key_sets = ${JSON.stringify(begun)}::text::jsonb, schema_version = schema_version + 1 where code = ${db}`;
    expect((await setSchema(db, strict)).status).toBe(503);
    await app.runSchedule("jsondb.prune");
    expect((await setSchema(db, strict)).status).toBe(200);
    const [row] = await app.sql`select key_sets from dbs where code = ${db}`;
    expect(row?.["keySets"]).toEqual([expect.objectContaining({ field: "mail", filled: true })]);
  });
});
