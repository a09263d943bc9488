import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, person, startTestApp, type Answer, type TestApp } from "../../../tests/harness.ts";
import { follower, traces } from "../../../tests/traces.ts";
import { plugins } from "../../index.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
});
afterAll(() => app.stop());

const schema = {
  fields: { email: { type: "string", required: true }, age: "integer" },
  indexed_fields: ["email", "age"],
};
const tables = {
  tables: {
    orders: { fields: { number: { type: "integer", required: true } } },
    lines: { fields: { name: "string" } },
  },
};
const unknown = "019a9c1e-0000-7000-8000-0000000000ff";

let made = 0;
async function newDb(dbSchema: object | null = schema): Promise<string> {
  return (await app.post("/core/dbs.json", { db: { name: `Batch ${++made}`, schema: dbSchema } })).json.code;
}
const batch = (db: string, operations: unknown, token?: string): Promise<Answer> =>
  app.post(`/core/dbs/${db}/batch.json`, { operations }, token === undefined ? {} : { token });
const create = async (db: string, data: object, table_name?: string): Promise<string> =>
  (await app.post(`/core/dbs/${db}/records.json`, { record: { data, table_name } })).json.id;
const list = async (db: string) => (await app.get(`/core/dbs/${db}/records.json?limit=100&sort=id`)).json;

/** What is refused leaves no row and no event. */
async function refused(ask: () => Promise<Answer>): Promise<Answer> {
  const before = await traces(app, "records");
  const answer = await ask();
  expect(await traces(app, "records")).toEqual(before);
  return answer;
}

describe("a batch", () => {
  test("creates, changes and deletes in order, and answers with each result", async () => {
    const db = await newDb();
    const [first, second] = [await create(db, { email: "a", age: 1 }), await create(db, { email: "b" })];
    const { status, json } = await batch(db, [
      { op: "create", data: { email: "c" } },
      { op: "update", id: first.toUpperCase(), data: { age: 2 } },
      { op: "update", id: first, data: { more: [1] } },
      { op: "delete", id: second },
      { op: "create", data: { email: "d" }, table_name: null },
      { op: "update", id: first },
    ]);
    expect(status).toBe(200);
    expect(json.results).toMatchObject([
      { data: { email: "c" }, table_name: null },
      { id: first, data: { email: "a", age: 2 } },
      { id: first, data: { email: "a", age: 2, more: [1] } },
      { id: second, deleted: true },
      { data: { email: "d" } },
      { id: first, data: { email: "a", age: 2, more: [1] } },
    ]);
    expect(Object.keys(json.results[0])).toEqual(["id", "data", "table_name", "created_at", "updated_at"]);
    const records = await list(db);
    expect(records.map(({ data: { email } }: { data: { email: string } }) => email)).toEqual(["a", "c", "d"]);
    expect(records[0]).toEqual(json.results[5]);
    expect(records[1]).toEqual(json.results[0]);
    expect((await app.get(`/core/dbs/${db}/search.json?filter[age]=2`)).json).toHaveLength(1);
  });

  test("takes a thousand operations and no more", async () => {
    const db = await newDb();
    const operations = Array.from({ length: 1000 }, (_, age) => ({ op: "create", data: { email: "x", age } }));
    const { status, json } = await batch(db, operations);
    expect([status, json.results.length, json.results[999].data.age]).toEqual([200, 1000, 999]);
    expect((await batch(db, [...operations, operations[0]])).json).toEqual({
      operations: ["may have at most 1000 operations"],
    });
    expect((await batch(db, [])).json).toEqual({ operations: ["must have at least one operation"] });
  });

  test("moves records between tables as PATCH does", async () => {
    const db = await newDb(tables);
    const [order, line] = [await create(db, { number: 1 }, "orders"), await create(db, { name: "a" }, "lines")];
    const { json } = await batch(db, [
      { op: "update", id: order, data: { number: 2 }, table_name: "orders" },
      { op: "update", id: line, data: { number: 3 }, table_name: "orders" },
      { op: "update", id: order, data: {} },
    ]);
    expect(json.results.map((one: { table_name: string }) => one.table_name)).toEqual(["orders", "orders", null]);
    const id = await create(db, { name: "b" }, "lines");
    const bad = await refused(() => batch(db, [{ op: "update", id, data: {}, table_name: "orders" }]));
    expect([bad.status, bad.json]).toEqual([422, { "operations[0].data.number": ["is required"] }]);
  });

  test("answers an Idempotency-Key with the first answer again", async () => {
    const db = await newDb();
    const send = () =>
      app.post(
        `/core/dbs/${db}/batch.json`,
        { operations: [{ op: "create", data: { email: "a" } }] },
        { headers: { "idempotency-key": "once" } },
      );
    expect((await send()).json).toEqual((await send()).json);
    expect(await list(db)).toHaveLength(1);
  });
});

describe("a batch with a mistake", () => {
  const good = { op: "create", data: { email: "ok" } };
  const cases: [string, unknown, string, RegExp][] = [
    ["a missing field", { op: "create", data: { age: 1 } }, "operations[1].data.email", /required/],
    ["a wrong type", { op: "create", data: { email: "x", age: "1" } }, "operations[1].data.age", /whole number/],
    ["no data", { op: "create" }, "operations[1].data", /object/],
    ["data that is none", { op: "create", data: [1] }, "operations[1].data", /object/],
    ["no operation", { data: {} }, "operations[1].op", /one of/],
    ["an unknown operation", { op: "upsert", data: {} }, "operations[1].op", /one of/],
    ["__proto__ as operation", { op: "__proto__" }, "operations[1].op", /one of/],
    ["no object", "create", "operations[1]", /object/],
    ["null", null, "operations[1]", /object/],
    ["an update without an id", { op: "update", data: {} }, "operations[1].id", /id of a record/],
    ["a malformed id", { op: "delete", id: "5" }, "operations[1].id", /id of a record/],
    ["an id of another type", { op: "delete", id: { x: 1 } }, "operations[1].id", /id of a record/],
    ["an unknown id to update", { op: "update", id: unknown, data: { age: 1 } }, "operations[1].id", /not the id/],
    ["an unknown id to delete", { op: "delete", id: unknown }, "operations[1].id", /not the id/],
    [
      "a table that is none",
      { op: "create", data: { email: "x" }, table_name: 5 },
      "operations[1].table_name",
      /string/,
    ],
    [
      "an unknown table",
      { op: "create", data: { email: "x" }, table_name: "x" },
      "operations[1].table_name",
      /left out/,
    ],
    [
      "a required field made null",
      { op: "update", id: unknown, data: { email: null } },
      "operations[1].data.email",
      /required/,
    ],
    ["too much data", { op: "create", data: { email: "x".repeat(2_000_001) } }, "operations[1].data", /at most/],
  ];
  for (const [what, operation, place, message] of cases) {
    test(`names its place and writes nothing: ${what}`, async () => {
      const db = await newDb();
      const { status, json } = await refused(() => batch(db, [good, operation, good]));
      expect(status).toBe(422);
      expect(Object.keys(json)).toEqual([place]);
      expect(json[place][0]).toMatch(message);
      expect(await list(db)).toEqual([]);
    });
  }

  test("is told of all that can be seen at once", async () => {
    const db = await newDb();
    const operations = [{ op: "create", data: {} }, good, { op: "create", data: { email: 1, age: "x" } }];
    const { json } = await refused(() => batch(db, operations));
    expect(Object.keys(json)).toEqual([
      "operations[0].data.email",
      "operations[2].data.email",
      "operations[2].data.age",
    ]);
  });

  test("undoes what came before it, a deletion too", async () => {
    const db = await newDb();
    const id = await create(db, { email: "a" });
    const operations = [
      { op: "update", id, data: { age: 5 } },
      { op: "delete", id },
      { op: "delete", id },
    ];
    const { status, json } = await refused(() => batch(db, operations));
    expect([status, Object.keys(json)]).toEqual([422, ["operations[2].id"]]);
  });

  test("does not reach records of another database", async () => {
    const [db, other] = [await newDb(), await newDb()];
    const id = await create(other, { email: "a" });
    expect((await refused(() => batch(db, [{ op: "delete", id }]))).status).toBe(422);
    expect(await list(other)).toHaveLength(1);
  });

  test("is refused as a body", async () => {
    const db = await newDb();
    for (const [body, status] of [
      [{}, 422],
      [{ operations: {} }, 422],
      [[], 400],
      ["x", 400],
    ] as const)
      expect([body, (await refused(() => app.post(`/core/dbs/${db}/batch.json`, body))).status]).toEqual([
        body,
        status,
      ]);
    const text = { raw: "a=1", headers: { "content-type": "text/plain" } };
    expect((await refused(() => app.post(`/core/dbs/${db}/batch.json`, undefined, text))).status).toBe(415);
    const guest = await person(app, { role: "guest" });
    expect((await refused(() => batch(db, [good], guest.token))).status).toBe(403);
    expect((await refused(() => batch("nowhere", [good]))).status).toBe(404);
  });
});

describe("an operation with `if_updated_at`", () => {
  const seen = async (db: string) => (await list(db)) as { id: string; updated_at: string; data: { email: string } }[];
  const ages = async (db: string) => (await list(db)).map(({ data }: { data: { age?: number } }) => data.age);

  test("changes and deletes the record that the caller has seen", async () => {
    const db = await newDb();
    for (const email of ["a", "b"]) await create(db, { email });
    const [a, b] = await seen(db);
    const local = a!.updated_at.replace("Z", "+00:00");
    const { status, json } = await batch(db, [
      { op: "update", id: a!.id, data: { age: 1 }, if_updated_at: local },
      // What was seen is the record before the batch.
      { op: "update", id: a!.id, data: { age: 2 }, if_updated_at: a!.updated_at },
      { op: "delete", id: b!.id, if_updated_at: b!.updated_at },
      { op: "create", data: { email: "c" }, if_updated_at: null },
    ]);
    expect([status, await ages(db)]).toEqual([200, [2, undefined]]);
    // The answer's time is the next one to send.
    const again = { op: "update", id: a!.id, data: { age: 3 }, if_updated_at: json.results[1].updated_at };
    expect((await batch(db, [again])).status).toBe(200);
  });

  test("is refused with all others of that kind if somebody has changed the record since, and nothing is written", async () => {
    const db = await newDb();
    for (const email of ["a", "b", "c"]) await create(db, { email });
    const [a, b, c] = await seen(db);
    const { updated_at: later } = (
      await app.patch(`/core/dbs/${db}/records/${b!.id}.json`, { record: { data: { age: 5 } } })
    ).json;
    await app.patch(`/core/dbs/${db}/records/${c!.id}.json`, { record: { data: { age: 6 } } });
    const operations = [a!, b!, c!].map(({ id, updated_at }, at) =>
      at < 2
        ? { op: "update", id, data: { age: 1 }, if_updated_at: updated_at }
        : { op: "delete", id, if_updated_at: updated_at },
    );
    const { status, json } = await refused(() => batch(db, operations));
    expect([status, Object.keys(json)]).toEqual([422, ["operations[1].if_updated_at", "operations[2].if_updated_at"]]);
    expect(json["operations[1].if_updated_at"][0]).toContain(later);
    expect(await ages(db)).toEqual([undefined, 5, 6]);
    await app.delete(`/core/dbs/${db}/records/${a!.id}.json`);
    const gone = await refused(() => batch(db, operations.slice(0, 1)));
    expect([gone.status, Object.keys(gone.json)]).toEqual([422, ["operations[0].id"]]);
  });

  test("tells two changes apart that come at the same moment", async () => {
    const db = await newDb();
    const id = await create(db, { email: "a" });
    const times = new Set<string>();
    const change = (age: number) => ({ op: "update", id, data: { age } });
    // In one transaction the clock stands still.
    for (const { updated_at } of (
      await batch(
        db,
        Array.from({ length: 20 }, (_, at) => change(at)),
      )
    ).json.results)
      times.add(updated_at);
    expect(times.size).toBe(20);
    const [record] = await seen(db);
    const writers = Array.from({ length: 8 }, (_, at) =>
      batch(db, [{ ...change(at), if_updated_at: record!.updated_at }]),
    );
    const statuses = (await Promise.all(writers)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, ...Array<number>(7).fill(422)]);
  });

  test.each([
    5,
    true,
    {},
    "",
    "yesterday",
    "2026-01-31",
    "2026-01-31T10:00:00",
    "2026-02-31T99:00:00Z",
    `T${"1".repeat(50)}Z`,
  ])("takes no other value: %p", async (value) => {
    const db = await newDb();
    const { status, json } = await refused(() => batch(db, [{ op: "delete", id: unknown, if_updated_at: value }]));
    expect([status, Object.keys(json)]).toEqual([422, ["operations[0].if_updated_at"]]);
  });

  test("is refused for a new record", async () => {
    const db = await newDb();
    const operation = { op: "create", data: { email: "a" }, if_updated_at: "2026-01-31T10:00:00.000Z" };
    expect((await refused(() => batch(db, [operation]))).json).toEqual({
      "operations[0].if_updated_at": ["must be left out for a new record"],
    });
  });
});

describe("batches at the same time", () => {
  test("on the same records in other orders wait for each other and lose nothing", async () => {
    const db = await newDb();
    const ids = await Promise.all(Array.from({ length: 10 }, () => create(db, { email: "x" })));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => {
        const order = at % 2 === 0 ? ids : ids.toReversed();
        return batch(
          db,
          order.map((id) => ({ op: "update", id, data: { [`k${at}`]: at } })),
        );
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    for (const { data } of await list(db)) expect(Object.keys(data)).toHaveLength(21);
  });

  test("fit the schema that is in force when they are written", async () => {
    const db = await newDb();
    const operations = Array.from({ length: 50 }, (_, age) => ({ op: "create", data: { email: "x", age } }));
    const [, ...answers] = await Promise.all([
      app.patch(`/core/dbs/${db}.json`, { db: { schema: { fields: { email: "integer" } } } }),
      ...Array.from({ length: 10 }, () => batch(db, operations)),
    ]);
    for (const { status } of answers) expect([200, 422]).toContain(status);
    const running = async () => (await app.get(`/core/dbs/${db}/tasks.json?status=running`)).json;
    await eventually(async () => (await running()).length === 0, "the index columns of the new schema");
    expect((await refused(() => batch(db, operations))).status).toBe(422);
    expect(await list(db)).toHaveLength(Math.min(100, answers.filter(({ status }) => status === 200).length * 50));
  });
});
