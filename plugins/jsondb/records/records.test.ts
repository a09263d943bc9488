import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, startTestApp, type Answer, type TestApp } from "../../../tests/harness.ts";
import { follower, traces } from "../../../tests/traces.ts";
import { plugins } from "../../index.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  await app.post("/core/dbs", { db: { name: "people", schema: single } });
  await app.post("/core/dbs", { db: { name: "shop", schema: multi } });
  await app.post("/core/dbs", { db: { name: "free" } });
});
afterAll(() => app.stop());

const single = {
  fields: { email: { type: "string", required: true }, age: "integer", at: "datetime", score: "number" },
  indexed_fields: ["email", "age", "at"],
};
const multi = {
  tables: {
    orders: { fields: { no: { type: "string", required: true }, total: "number" }, indexed_fields: ["no"] },
    lines: { fields: { no: { type: "integer", required: true } }, indexed_fields: ["no"] },
  },
};
const unknownId = "019a9c1e-0000-7000-8000-000000000001";
const post = (db: string, record: unknown) => app.post(`/core/dbs/${db}/records.json`, { record });
const create = async (db: string, record: unknown) => {
  const answer = await post(db, record);
  expect([answer.status, answer.text]).toEqual([201, answer.text]);
  return answer.json;
};
const patch = (db: string, id: string, record: unknown) => app.patch(`/core/dbs/${db}/records/${id}.json`, { record });
const row = async (id: string) => (await app.sql`select * from records where id = ${id}`)[0];

/** What is refused leaves no row and no event. */
async function refused(ask: () => Promise<Answer>): Promise<Answer> {
  const before = await traces(app, "records");
  const answer = await ask();
  expect(await traces(app, "records")).toEqual(before);
  return answer;
}

describe("a record", () => {
  test("is created, read, changed and deleted", async () => {
    const made = await create("people", { data: { email: "ann@x", age: 34, extra: { deep: [1, null] } } });
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      data: { email: "ann@x", age: 34, extra: { deep: [1, null] } },
      table_name: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: made.created_at,
    });
    const path = `/core/dbs/people/records/${made.id}.json`;
    expect((await app.get(path)).json).toEqual(made);
    const changed = await patch("people", made.id, { data: { age: 35 } });
    expect(changed.status).toBe(200);
    expect(changed.json.data).toEqual({ email: "ann@x", age: 35, extra: { deep: [1, null] } });
    expect(changed.json.created_at).toBe(made.created_at);
    expect(changed.json.updated_at >= made.updated_at).toBe(true);
    expect((await app.get(path)).json).toEqual(changed.json);
    const gone = await app.delete(path);
    expect([gone.status, gone.text]).toEqual([204, ""]);
    expect((await app.get(path)).status).toBe(404);
    expect((await refused(() => app.delete(path))).status).toBe(404);
    expect((await refused(() => patch("people", made.id, { data: {} }))).status).toBe(404);
  });

  test("keeps what was sent, whatever its names and values", async () => {
    const text =
      '{"record":{"data":{"__proto__":{"admin":true},"constructor":"c","id":"mine","created_at":1,"n":1e21,"big":"9007199254740993","emoji":"🦊","quote":"\\"\\\\","list":[[],{}],"empty":""}}}';
    const made = await app.post("/core/dbs/free/records", undefined, {
      raw: text,
      headers: { "content-type": "application/json" },
    });
    expect(made.status).toBe(201);
    const read = await app.get(`/core/dbs/free/records/${made.json.id}`);
    expect(read.json.data).toEqual(JSON.parse(text).record.data);
    expect(Object.hasOwn(read.json.data, "__proto__")).toBe(true);
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
  });

  test("fills the index columns from its fields, and anew with every change", async () => {
    const { id } = await create("people", {
      data: { email: "x".repeat(300), age: "9007199254740993", at: "2026-01-31T12:00:00+02:00" },
    });
    expect(await row(id)).toMatchObject({
      idxStr1: "x".repeat(255),
      idxInt1: "9007199254740993",
      idxTime1: new Date("2026-01-31T10:00:00Z"),
      longStrings: 1,
    });
    await patch("people", id, { data: { email: "short", at: null } });
    expect(await row(id)).toMatchObject({
      idxStr1: "short",
      idxInt1: "9007199254740993",
      idxTime1: null,
      longStrings: 0,
    });
  });

  test("is listed with the newest first, by page", async () => {
    await app.post("/core/dbs", { db: { name: "list", code: "list" } });
    for (let n = 0; n < 25; n++) await create("list", { data: { n } });
    const numbers = async (query: string) =>
      (await app.get(`/core/dbs/list/records.json?${query}`)).json.map((r: { data: { n: number } }) => r.data.n);
    expect(await numbers("")).toEqual(Array.from({ length: 20 }, (_, i) => 24 - i));
    expect(await numbers("limit=2&offset=23")).toEqual([1, 0]);
    expect(await numbers("limit=0")).toHaveLength(1);
    expect(await numbers("limit=1000")).toHaveLength(25);
    expect(await numbers("limit=x&offset=-5")).toHaveLength(20);
    expect((await app.get("/core/dbs/list/records?limit=1000&offset=-5")).headers.get("warning")).toBe(
      '299 - "limit: 1000 is out of range, 100 is taken", 299 - "offset: -5 is out of range, 0 is taken"',
    );
    const first = await app.get("/core/dbs/list/records?limit=20&count=true");
    expect(first.headers.get("x-total-count")).toBe("25");
    const next = await app.get(`/core/dbs/list/records?limit=20&after=${first.headers.get("x-next-cursor")}`);
    expect(next.json.map((r: { data: { n: number } }) => r.data.n)).toEqual([4, 3, 2, 1, 0]);
    expect([next.headers.get("x-next-cursor"), next.headers.get("x-total-count")]).toEqual([null, null]);
  });
});

describe("a multi-table database", () => {
  test("validates and indexes a record by its table", async () => {
    const order = await create("shop", { table_name: "orders", data: { no: "A1", total: 5.5 } });
    expect(order.table_name).toBe("orders");
    expect(await row(order.id)).toMatchObject({ tableName: "orders", idxStr1: "A1", idxInt1: null });
    const line = await create("shop", { table_name: "lines", data: { no: 7 } });
    expect(await row(line.id)).toMatchObject({ idxStr1: null, idxInt1: 7 });
    const wrong = await refused(() => post("shop", { table_name: "lines", data: { no: "A1" } }));
    expect(wrong.json).toHaveProperty("no");
    const missing = await refused(() => post("shop", { table_name: "orders", data: {} }));
    expect(missing.json).toEqual({ no: ["is required"] });
  });

  test("has a null table without rules and without indexes", async () => {
    const made = await create("shop", { data: { no: [1], total: "x" } });
    expect(made.table_name).toBeNull();
    expect(await row(made.id)).toMatchObject({ tableName: "", idxStr1: null, idxInt1: null });
  });

  test("refuses an unknown table", async () => {
    for (const table_name of ["nope", "constructor", "__proto__"]) {
      const answer = await refused(() => post("shop", { table_name, data: {} }));
      expect([answer.status, answer.json]).toEqual([422, { table_name: ["must be one of orders, lines"] }]);
    }
    const tableless = await refused(() => post("people", { table_name: "orders", data: { email: "x" } }));
    expect(tableless.status).toBe(422);
  });

  test("moves a record to the null table if a change does not name the table", async () => {
    const { id } = await create("shop", { table_name: "orders", data: { no: "A2" } });
    const kept = await patch("shop", id, { table_name: "orders", data: { total: 1 } });
    expect(kept.json).toMatchObject({ table_name: "orders", data: { no: "A2", total: 1 } });
    const moved = await patch("shop", id, { data: { note: "x" } });
    expect(moved.json).toMatchObject({ table_name: null, data: { no: "A2", total: 1, note: "x" } });
    expect(await row(id)).toMatchObject({ idxStr1: null });
  });

  test("checks the whole record when it moves into a table", async () => {
    const { id } = await create("shop", { data: { no: "not a number" } });
    const wrong = await refused(() => patch("shop", id, { table_name: "lines", data: {} }));
    expect(wrong.json).toHaveProperty("no");
    expect((await patch("shop", id, { table_name: "lines", data: { no: 3 } })).json).toMatchObject({
      table_name: "lines",
      data: { no: 3 },
    });
    expect(await row(id)).toMatchObject({ tableName: "lines", idxInt1: 3 });
  });

  test("lists all tables mixed, or one", async () => {
    const all = await app.get("/core/dbs/shop/records?limit=100");
    expect(new Set(all.json.map((r: { table_name: string }) => r.table_name))).toEqual(
      new Set(["orders", "lines", null]),
    );
    const orders = await app.get("/core/dbs/shop/records?table_name=orders");
    expect(new Set(orders.json.map((r: { table_name: string }) => r.table_name))).toEqual(new Set(["orders"]));
    expect((await app.get("/core/dbs/shop/records?table_name=nope")).status).toBe(400);
  });
});

describe("concurrency", () => {
  test("200 changes of different keys of one record are all there", async () => {
    const { id } = await create("free", { data: {} });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => patch("free", id, { data: { [`k${i}`]: i } })),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const { data } = (await app.get(`/core/dbs/free/records/${id}`)).json;
    expect(data).toEqual(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`k${i}`, i])));
  });

  test("changes that move a record between tables lose nothing either", async () => {
    const { id } = await create("shop", { table_name: "orders", data: { no: "A3" } });
    const tables = ["orders", null];
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => patch("shop", id, { table_name: tables[i % 2], data: { [`k${i}`]: i } })),
    );
    expect(answers.map(({ status }) => status).every((status) => status === 200)).toBe(true);
    const { data } = (await app.get(`/core/dbs/shop/records/${id}`)).json;
    expect(Object.keys(data)).toHaveLength(61);
  });
});

describe("bad input", () => {
  test.each<[string, unknown, number, string]>([
    ["no data", {}, 422, "data"],
    ["data as a list", { data: [] }, 422, "data"],
    ["data as text", { data: "x" }, 422, "data"],
    ["data as null", { data: null }, 422, "data"],
    ["a table name of another type", { data: {}, table_name: 5 }, 422, "table_name"],
    ["a field of a wrong type", { data: { email: "x", age: "5" } }, 422, "age"],
    ["a missing required field", { data: {} }, 422, "email"],
    ["a number beyond 2^53", { data: { email: "x", age: 2 ** 53 } }, 422, "age"],
    ["a wrong datetime", { data: { email: "x", at: "2026-02-30T00:00:00Z" } }, 422, "at"],
    ["a NUL", { data: { email: "a\0b" } }, 422, "email"],
    ["half a surrogate pair", { data: { email: "\ud800" } }, 422, "email"],
    ["more than the bound", { data: { email: "x", note: "x".repeat(2_000_001) } }, 422, "data"],
    ["no object", [], 400, "error"],
  ])("%s is refused", async (_, record, status, field) => {
    const answer = await refused(() => post("people", record));
    expect([answer.status, Object.keys(answer.json)]).toEqual([status, [field]]);
  });

  test("infinite numbers, which JSON can spell, are refused", async () => {
    const raw = '{"record":{"data":{"x":{"y":[1e999]}}}}';
    const headers = { "content-type": "application/json" };
    const answer = await refused(() => app.post("/core/dbs/free/records", undefined, { raw, headers }));
    expect([answer.status, answer.json]).toEqual([422, { x: ["y.0 is a number too large to be kept"] }]);
  });

  test("a string of a megabyte is stored whole", async () => {
    const text = "ż".repeat(1_000_000);
    const made = await create("free", { data: { text } });
    const read = await app.get(`/core/dbs/free/records/${made.id}`);
    expect(read.json.data.text === text).toBe(true);
  });

  test("a record cannot grow without an end by changes", async () => {
    const { id } = await create("free", { data: {} });
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++)
      statuses.push((await patch("free", id, { data: { [`k${i}`]: "x".repeat(1_900_000) } })).status);
    expect(statuses).toEqual([200, 200, 200, 200, 422, 422]);
  });

  test("changes are checked: types, required fields, sizes", async () => {
    const { id } = await create("people", { data: { email: "a" } });
    for (const [data, field] of [
      [{ age: "x" }, "age"],
      [{ email: null }, "email"],
      [{ at: "yesterday" }, "at"],
    ] as const) {
      const answer = await refused(() => patch("people", id, { data }));
      expect([answer.status, Object.keys(answer.json)]).toEqual([422, [field]]);
    }
    expect((await patch("people", id, {})).status).toBe(200);
    expect((await refused(() => patch("people", id, { data: [] }))).status).toBe(422);
    expect((await refused(() => app.patch(`/core/dbs/people/records/${id}`, { data: {} }))).status).toBe(400);
  });

  test.each(["nonsense", "5", "019a9c1e", `${unknownId}0`, "%00", "..%2f"])(
    "the malformed id %p is 404",
    async (id) => {
      expect((await app.get(`/core/dbs/people/records/${id}`)).status).toBe(404);
      expect((await refused(() => app.delete(`/core/dbs/people/records/${id}`))).status).toBe(404);
      expect((await refused(() => patch("people", id, { data: { age: 1 } }))).status).toBe(404);
    },
  );

  test("a record of another database is 404", async () => {
    const { id } = await create("free", { data: { a: 1 } });
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const body = method === "PATCH" ? { record: { data: { a: 2 } } } : undefined;
      const answer = await refused(() => app.request(method, `/core/dbs/people/records/${id}`, body));
      expect([method, answer.status]).toEqual([method, 404]);
    }
  });

  test("the same Idempotency-Key makes one record", async () => {
    const options = { headers: { "idempotency-key": "once" } };
    const record = { record: { data: { email: "once" } } };
    const [first, second] = [
      await app.post("/core/dbs/people/records", record, options),
      await app.post("/core/dbs/people/records", record, options),
    ];
    expect([first.status, second.text]).toEqual([201, first.text]);
    expect((await app.get("/core/dbs/people/search?filter[email]=once")).json).toHaveLength(1);
  });
});

describe("a record of a database with tables that ends in none of them", () => {
  const order = { table_name: "orders", data: { no: "A1" } };
  const hint =
    '299 - "the record is in no table, where no search looks: send table_name inside \\"record\\", one of orders, lines"';
  const told = (answer: { status: number; headers: Headers }) => [answer.status, answer.headers.get("warning")];

  test("is told of by the header Warning, whatever took it there", async () => {
    expect(told(await post("shop", order))).toEqual([201, null]);
    expect(told(await post("shop", { data: { no: "A2" } }))).toEqual([201, hint]);
    const { id } = await create("shop", order);
    expect(told(await patch("shop", id, { ...order, data: { total: 1 } }))).toEqual([200, null]);
    expect(told(await patch("shop", id, { data: { total: 2 } }))).toEqual([200, hint]);
    expect((await app.get(`/core/dbs/shop/records/${id}`)).json).toMatchObject({
      table_name: null,
      data: { total: 2 },
    });
    expect(told(await patch("shop", id, order))).toEqual([200, null]);
    expect(told(await patch("shop", id, { table_name: null, data: {} }))).toEqual([200, hint]);
    expect(told(await post("people", { data: { email: "x" } }))).toEqual([201, null]);
    expect(told(await post("free", { data: {} }))).toEqual([201, null]);
  });

  test("is told of in batches, imports and public creates", async () => {
    const operations = [
      { op: "create", ...order },
      { op: "create", data: {} },
      { op: "create", data: {}, table_name: null },
    ];
    const batch = await app.post("/core/dbs/shop/batch", { operations });
    const many = (place: string) =>
      `299 - "2 records are in no table, where no search looks: send table_name ${place}, one of orders, lines"`;
    expect(told(batch)).toEqual([200, many("with each operation")]);
    const rows = [order, { data: { no: "B" } }, { data: { no: "C" } }];
    expect(told(await app.post("/core/dbs/shop/import", rows))).toEqual([
      201,
      many("with each row, or in the address"),
    ]);
    expect(told(await app.post("/core/dbs/shop/import?table_name=orders", [{ no: "D" }]))).toEqual([201, null]);
    await app.patch("/core/dbs/shop", { db: { public_methods: { create: true, update: true } } });
    const made = await app.post("/core/db/shop/create", { data: { no: "E" } }, { token: null });
    expect(told(made)).toEqual([201, '299 - "the record is in no table, where no search looks"']);
    const { id } = await create("shop", order);
    expect(told(await app.post("/core/db/shop/update", { id, data: { no: "F" } }, { token: null }))).toEqual([
      200,
      null,
    ]);
  });

  test("does not end there if keep_table is asked for", async () => {
    const { id } = await create("shop", order);
    const kept = await app.patch(`/core/dbs/shop/records/${id}?keep_table=true`, { record: { data: { total: 3 } } });
    expect([...told(kept), kept.json.table_name, kept.json.data]).toEqual([
      200,
      null,
      "orders",
      { no: "A1", total: 3 },
    ]);
    const path = `/core/dbs/shop/records/${id}?keep_table=true`;
    const wrong = await refused(() => app.patch(path, { record: { data: { no: null } } }));
    expect([wrong.status, wrong.json]).toEqual([422, { no: ["is required"] }]);
    const named = { record: { table_name: "lines", data: { no: 5 } } };
    const moved = await app.patch(path, named);
    expect([moved.status, moved.json.table_name]).toEqual([200, "lines"]);
    const left = await app.patch(`/core/dbs/shop/records/${id}?keep_table=false`, { record: { data: {} } });
    expect([...told(left), left.json.table_name]).toEqual([200, hint, null]);
    const maybe = await refused(() => app.patch(`/core/dbs/shop/records/${id}?keep_table=maybe`, { record: {} }));
    expect(maybe.json).toEqual({ keep_table: ["must be true or false"] });
    const nobody = `/core/dbs/shop/records/${unknownId}?keep_table=true`;
    const missing = await refused(() => app.patch(nobody, { record: {} }));
    expect(missing.status).toBe(404);
  });
});

test("a required text is more than blanks, whoever writes it", async () => {
  const schema = { fields: { name: { type: "string", required: true }, note: { type: "text", required: true } } };
  const open = { required_fields: ["free"] };
  const public_methods = { create: open, update: open };
  await app.post("/core/dbs", { db: { name: "strict", schema, public_methods } });
  const good = { name: "x", note: "y", free: "z" };
  const made = await post("strict", { data: good });
  expect(made.status).toBe(201);
  const { id } = made.json;
  const told = { name: ["is required"] };
  for (const name of ["", "  ", "\n"]) {
    const data = { ...good, name };
    const answers = [
      await post("strict", { data }),
      await patch("strict", id, { data: { name } }),
      await app.post("/core/dbs/strict/batch", { operations: [{ op: "create", data }] }),
      await app.post("/core/dbs/strict/batch", { operations: [{ op: "update", id, data: { name } }] }),
      await app.post("/core/dbs/strict/import", [data]),
      await app.post("/core/db/strict/create", { data }, { token: null }),
      await app.post("/core/db/strict/update", { id, data: { ...data, name } }, { token: null }),
      await app.post("/core/db/strict/create", { data: { ...good, free: name } }, { token: null }),
      await app.post("/core/db/strict/update", { id, data: { free: name } }, { token: null }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 422));
    expect(answers.slice(0, 7).map(({ json }) => json)).toEqual([
      told,
      told,
      { "operations[0].data.name": told.name },
      { "operations[0].data.name": told.name },
      { errors: [{ row: 1, field: "name", message: "is required" }], failed: 1, total: 1 },
      { error: "name is required", errors: told },
      { error: "name is required", errors: told },
    ]);
    for (const { json } of answers.slice(7)) expect(json.errors).toEqual({ free: ["is required"] });
  }
  const csv = { raw: 'name,note\n"",a\n" ",b\n,c\n', headers: { "content-type": "text/csv" } };
  const blank = await refused(() => app.post("/core/dbs/strict/import", undefined, csv));
  expect([blank.status, blank.json.errors.map(({ message }: { message: string }) => message)]).toEqual([
    422,
    ["is required", "is required", "is required"],
  ]);
  const { json } = await app.get("/core/dbs/strict/records");
  expect(json.map(({ data }: { data: unknown }) => data)).toEqual([good]);
});

test("an empty text is null in a field that holds no text, whoever writes it", async () => {
  const types = ["integer", "number", "boolean", "date", "time", "datetime"];
  const optional = Object.fromEntries(types.map((type) => [type, type]));
  const fields = { ...optional, s: "string", must: { type: "integer", required: true } };
  const rows = { fields, indexed_fields: ["integer", "datetime"] };
  const open = { create: true, update: true };
  await app.post("/core/dbs", { db: { name: "forms", schema: rows, public_methods: open } });
  await app.post("/core/dbs", { db: { name: "moved", schema: { tables: { rows } } } });
  const empty = Object.fromEntries(types.map((type) => [type, ""]));
  const given = { ...empty, s: "", free: "", must: 1 };
  const stored = { ...given, ...Object.fromEntries(types.map((type) => [type, null])) };
  const { id } = (await post("forms", { data: given })).json;
  const { id: freed } = (await post("moved", { data: given })).json;
  const program = [
    { type: "db", op: "create", db: "forms", data: given, as: "made" },
    { type: "return", value: "{{ made }}" },
  ];
  await app.post("/connect/flows", { flow: { name: "forms", code: "forms", fields: { program } } });
  const imported = await app.post("/core/dbs/forms/import", [given]);
  expect(imported.json).toEqual({ imported: 1 });
  const visitor = { token: null };
  const answers = [
    await app.get(`/core/dbs/forms/records/${id}`),
    await patch("forms", id, { data: empty }),
    await patch("moved", freed, { table_name: "rows", data: { s: "" } }),
    await app.post("/core/db/forms/create", { data: given }, visitor),
    await app.post("/core/db/forms/update", { id, data: empty }, visitor),
  ];
  expect(answers.map(({ json }) => json.data)).toEqual(answers.map(() => stored));
  expect((await app.post("/connect/flows/forms/run?wait=10", {})).json.data.data).toEqual(stored);
  const operations = [
    { op: "create", data: given },
    { op: "update", id, data: empty },
  ];
  const batch = await app.post("/core/dbs/forms/batch", { operations });
  expect(batch.json.results.map(({ data }: { data: unknown }) => data)).toEqual([stored, stored]);
  const task = await app.post("/core/dbs/forms/bulk?filter[must]=1", { op: "update", data: empty });
  expect(task.status).toBe(202);
  const end = () => app.get(`/core/dbs/forms/tasks/${task.json.id}`);
  await eventually(async () => (await end()).json.status === "finished", "the change");
  const found = await app.get(
    "/core/dbs/forms/search?filter[integer][null]=true&filter[datetime][null]=true&count=true",
  );
  expect([found.headers.get("x-total-count"), (await end()).json]).toEqual([
    "5",
    expect.objectContaining({ failed: 0, stored: 5 }),
  ]);
  for (const missing of [await post("forms", { data: { must: "" } }), await patch("forms", id, { data: { must: "" } })])
    expect([missing.status, missing.json]).toEqual([422, { must: ["is required"] }]);
});
