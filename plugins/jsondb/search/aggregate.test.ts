import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readOn } from "../../../runtime/db/db.ts";
import { startTestApp, type TestApp } from "../../../tests/harness.ts";
import { aggregate as runAggregate } from "./aggregate-routes.ts";
import { databaseOf, type DatabaseRow } from "../databases/database.ts";

let app: TestApp;
let db: string;
let orders: string;

const schema = {
  fields: {
    city: "string",
    age: "integer",
    big: "integer",
    score: "number",
    active: "boolean",
    born: "date",
    seen: "datetime",
    at: "time",
  },
  indexed_fields: ["city", "age"],
};

const people = [
  {
    city: "Łódź",
    age: 34,
    big: "9007199254740993",
    score: 0.1,
    active: true,
    born: "2000-01-31",
    seen: "2026-01-31T23:30:00Z",
    at: "10:00",
  },
  {
    city: "Łódź",
    age: 51,
    big: "9007199254740995",
    score: 0.2,
    active: false,
    born: "2001-02-01",
    seen: "2026-02-01T00:30:00+02:00",
    at: "09:00:30",
  },
  { city: "Gdańsk", age: 20, score: -1, born: "2000-01-01", extra: 5 },
  { city: null, age: null, extra: "7" },
  { extra: 1.5 },
];

beforeAll(async () => {
  app = await startTestApp();
  db = (await app.post("/core/dbs.json", { db: { name: "People", schema } })).json.code;
  await app.post(`/core/dbs/${db}/batch.json`, { operations: people.map((data) => ({ op: "create", data })) });
  const tables = { tables: { orders: { fields: { total: "number" } }, lines: { fields: { name: "string" } } } };
  orders = (await app.post("/core/dbs.json", { db: { name: "Shop", schema: tables } })).json.code;
  for (const [table_name, data] of [
    ["orders", { total: 1 }],
    ["orders", { total: 2 }],
    ["lines", { name: "x" }],
  ])
    await app.post(`/core/dbs/${orders}/records.json`, { record: { data, table_name } });
});
afterAll(() => app.stop());

const aggregate = (query: string, of = db) => app.get(`/core/dbs/${of}/aggregate.json?${query}`);

describe("an aggregate", () => {
  test("counts and measures all records where no group is named", async () => {
    const { status, json } = await aggregate("sum=age,score&avg=age&min=age,city&max=score&count=true");
    expect(status).toBe(200);
    expect(json).toEqual([
      {
        group: {},
        count: 5,
        sum: { age: 105, score: -0.7 },
        avg: { age: 35 },
        min: { age: 20, city: "Gdańsk" },
        max: { score: 0.2 },
      },
    ]);
  });

  test("of more records than `most` only counts them, in the one statement", async () => {
    expect((await aggregate("sum=age&most=5")).json).toEqual([{ group: {}, count: 5, sum: { age: 105 } }]);
    expect((await aggregate("sum=age&group_by=city&most=4")).json).toEqual([{ group: {}, count: 5 }]);
    expect((await aggregate("filter[city]=Łódź&sum=age&most=4")).json[0].sum).toEqual({ age: 85 });
    expect((await aggregate("group_by=city&most=5&limit=1")).json).toEqual([{ group: { city: "Łódź" }, count: 2 }]);
    expect((await aggregate("filter[city]=nowhere&group_by=city&most=0")).json).toEqual([]);
    expect((await aggregate("sum=age&most=few")).json).toEqual({ most: ["must be a whole number"] });
  });

  const groups: [string, string, unknown][] = [
    [
      "a text, null and absent being one",
      "group_by=city",
      [
        ["Łódź", 2],
        [null, 2],
        ["Gdańsk", 1],
      ],
    ],
    [
      "a boolean",
      "group_by=active",
      [
        [null, 3],
        [false, 1],
        [true, 1],
      ],
    ],
    [
      "a field outside of the schema, by its JSON",
      "group_by=extra",
      [
        [null, 2],
        ["7", 1],
        [1.5, 1],
        [5, 1],
      ],
    ],
    [
      "the group's own order",
      "group_by=age&sort=group",
      [
        [20, 1],
        [34, 1],
        [51, 1],
        [null, 2],
      ],
    ],
    [
      "the reverse of that",
      "group_by=age&sort=-group",
      [
        [51, 1],
        [34, 1],
        [20, 1],
        [null, 2],
      ],
    ],
    [
      "the rarest first",
      "group_by=city&sort=count",
      [
        ["Gdańsk", 1],
        ["Łódź", 2],
        [null, 2],
      ],
    ],
    ["the first ones only", "group_by=city&limit=1", [["Łódź", 2]]],
    [
      "the month of a date",
      "group_by=born:month&sort=group",
      [
        ["2000-01", 2],
        ["2001-02", 1],
        [null, 2],
      ],
    ],
    [
      "the day of a datetime",
      "group_by=seen:day&sort=group",
      [
        ["2026-01-31", 2],
        [null, 3],
      ],
    ],
    [
      "the year of a datetime",
      "group_by=seen:year&sort=group",
      [
        ["2026", 2],
        [null, 3],
      ],
    ],
    ["what a filter finds", "group_by=city&filter[age]=34", [["Łódź", 1]]],
    ["what a phrase finds", "group_by=city&q=gda", [["Gdańsk", 1]]],
  ];
  for (const [what, query, expected] of groups) {
    test(`groups by ${what}`, async () => {
      const { json } = await aggregate(query);
      expect(
        json.map(({ group, count }: { group: object; count: number }) => [Object.values(group)[0], count]),
      ).toEqual(expected);
    });
  }

  test("groups by several fields, named as they were asked for", async () => {
    const { json } = await aggregate("group_by=city,created_at:year,active&sum=age&filter[city]=*d%25");
    const year = `${new Date().getUTCFullYear()}`;
    expect(json).toContainEqual({
      group: { city: "Łódź", "created_at:year": year, active: true },
      count: 1,
      sum: { age: 34 },
    });
    expect(json).toHaveLength(3);
  });

  test("is exact beyond 2^53, and gives such sums as text", async () => {
    const { json } = await aggregate("sum=big&min=big&max=big");
    expect(json[0]).toMatchObject({
      sum: { big: "18014398509481988" },
      min: { big: "9007199254740993" },
      max: { big: "9007199254740995" },
    });
  });

  test("adds decimal fractions as one does on paper", async () => {
    expect((await aggregate("sum=score&filter[city]=Łódź")).json[0].sum).toEqual({ score: 0.3 });
  });

  test("finds the first and the last of times by instant", async () => {
    const { json } = await aggregate("min=born,seen,at&max=born,seen,at");
    expect(json[0].min).toEqual({ born: "2000-01-01", seen: "2026-01-31T22:30:00.000Z", at: "09:00:30" });
    expect(json[0].max).toEqual({ born: "2001-02-01", seen: "2026-01-31T23:30:00.000Z", at: "10:00:00" });
  });

  test("leaves out what is no number", async () => {
    expect((await aggregate("sum=extra&avg=extra")).json[0]).toMatchObject({
      sum: { extra: 6.5 },
      avg: { extra: 3.25 },
    });
    expect((await aggregate("sum=nothing")).json[0].sum).toEqual({ nothing: null });
  });

  test("of a database with tables needs one of them", async () => {
    expect((await aggregate("sum=total&table_name=orders", orders)).json).toEqual([
      { group: {}, count: 2, sum: { total: 3 } },
    ]);
    const { status, json } = await aggregate("", orders);
    expect([status, json.available_tables]).toEqual([400, ["orders", "lines"]]);
  });

  test("says what cannot be grouped or measured so", async () => {
    const wrong: [string, string][] = [
      ["sum=city", "sum"],
      ["avg=born", "avg"],
      ["sum=created_at", "sum"],
      ["min=active", "min"],
      ["group_by=city,age,score,active", "group_by"],
      ["group_by=created_at", "group_by"],
      ["group_by=created_at:week", "group_by"],
      ["group_by=city:day", "group_by"],
      ["sort=city", "sort"],
      [`sum=${Array.from({ length: 21 }, (_, at) => `f${at}`).join(",")}`, "base"],
    ];
    for (const [query, field] of wrong) {
      const { status, json } = await aggregate(query);
      expect([query, status, Object.keys(json)]).toEqual([query, 422, [field]]);
    }
    for (const query of ["group_by=%00", `sum=${"x".repeat(300)}`]) expect((await aggregate(query)).status).toBe(400);
  });

  test("takes names with quotes and SQL in them as names", async () => {
    for (const name of [`a"b`, "a'b", "x'); drop table records; --", "__proto__", "$1", "\\"]) {
      const { status, json } = await aggregate(`group_by=${encodeURIComponent(name)}&sum=${encodeURIComponent(name)}`);
      expect(status).toBe(200);
      expect(json).toHaveLength(1);
      expect(Object.hasOwn(json[0].group, name)).toBe(true);
    }
  });

  test("uses the account's time zone for days", async () => {
    await app.sql`update accounts set timezone = 'Pacific/Kiritimati'`;
    const other = await startTestApp({ target: app.target });
    const { json } = await other.get(`/core/dbs/${db}/aggregate.json?group_by=seen:day&filter[active]=true`);
    expect(json[0].group).toEqual({ "seen:day": "2026-02-01" });
    expect(
      (await other.get(`/core/dbs/${db}/aggregate.json?group_by=born:day&filter[active]=true`)).json[0].group,
    ).toEqual({ "born:day": "2000-01-31" });
    await other.stop();
  });

  test("that takes too long is refused, and gives its connection back", async () => {
    const [row] = await app.sql<DatabaseRow[]>`select * from dbs where code = ${db}`;
    if (!row) throw new Error("the database is not there");
    const databases = { get: async () => undefined, peek: () => undefined, invalidate: async () => {} };
    const ctx = { sql: app.sql, read: readOn(app.sql), databases };
    const call = { params: new URLSearchParams("sum=age"), timezone: "UTC", signal: new AbortController().signal };
    await app.sql.begin(async (tx) => {
      await tx`lock table records in access exclusive mode`;
      const refused = await Promise.all(
        [1, 2, 3, 4].map(() => runAggregate(ctx, databaseOf(row), call, 50).catch((error) => error)),
      );
      for (const error of refused)
        expect(error).toMatchObject({ status: 422, body: { base: [expect.stringContaining("0.05 s")] } });
    });
    expect(JSON.parse(await runAggregate(ctx, databaseOf(row), call, 50))[0].sum).toEqual({ age: 105 });
  });

  test("of an unknown database is 404", async () => {
    expect((await aggregate("", "nowhere")).status).toBe(404);
  });
});
