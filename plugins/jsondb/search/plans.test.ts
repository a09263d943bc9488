/** With enough rows, the planner uses an index for every get, indexed list and search by table. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../../tests/harness.ts";
import { findDb } from "../databases/db.ts";
import { databaseOf, type Database } from "../databases/database.ts";
import { readList, readSearch } from "./query.ts";
import { pageStatement } from "./page-store.ts";

const fields = { name: "string", city: "string", n: "integer", price: "number", at: "datetime", note: "text" };
const table = { fields, indexed_fields: ["name", "city", "n", "price", "at"] };
const perTable = 6000;

let app: TestApp;
let db: Database;
beforeAll(async () => {
  app = await startTestApp();
  const made = await app.post("/core/dbs", {
    db: { name: "big", schema: { tables: { orders: table, lines: table } } },
  });
  const row = await findDb(app.sql, 1, made.json.id);
  if (!row) throw new Error("no database");
  db = databaseOf(row);
  for (const [number, name] of ["orders", "lines", ""].entries()) {
    const columns = [...(db.schema.tables.get(name)?.indexFields ?? [])];
    await app.sql`
      insert into records (db_id, id, account_id, table_name, data, idx_str_1, idx_str_2, idx_str_3, idx_int_1, idx_int_2,
        idx_time_1, idx_time_2, long_strings, inexact_numbers, plan_version, rules_version, created_at, updated_at)
      select ${db.id}, ('019a0000-000' || ${`${number}`} || '-7000-8000-' || lpad(to_hex(g), 12, '0'))::uuid, 1, ${name}, v.data,
        x.*, 1, 1, now(), now()
      from generate_series(1, ${perTable}) g,
        lateral (select jsonb_build_object('name', 'person ' || md5(g::text), 'city', 'city ' || g % 50, 'n', g % 1000,
          'price', g / 7.0, 'at', '2026-01-01T00:00:00Z', 'note', 'note ' || g) as data offset 0) v,
        record_index(v.data, ${columns}::text[]) x`;
  }
  await app.sql`vacuum analyze records`;
});
afterAll(() => app.stop());

async function planOf(query: string, read = readSearch): Promise<string> {
  const asked = read(db, new URLSearchParams(query));
  const { text, values, named } = pageStatement({
    db,
    query: asked,
    form: "flat",
    after: undefined,
    way: "plain",
    longStrings: false,
    measured: false,
  });
  const connection = await app.sql.reserve();
  try {
    // The generic plan, which a prepared statement ends up with; other statements are planned for their values.
    if (named) await connection`set plan_cache_mode = force_generic_plan`;
    const rows = await connection.unsafe(`explain ${text}`, [...values], { prepare: true });
    return rows.map((row) => Object.values(row)[0]).join("\n");
  } finally {
    await connection`reset plan_cache_mode`;
    connection.release();
  }
}

describe("the plan of", () => {
  test.each<[string, string, RegExp]>([
    ["a search by table", "table_name=orders", /Index Scan Backward using records_by_table/],
    ["a filter by a string", "table_name=orders&filter[name]=x", /records_sorted_1_und/],
    ["a filter by a second string", "table_name=orders&filter[city]=city 5", /records_sorted_2_und/],
    ["a filter by an integer", "table_name=orders&filter[n]=5", /records_by_int_1/],
    ["a filter by a number", "table_name=orders&filter[price]=5.5", /records_by_int_2/],
    ["a filter by a time", "table_name=orders&filter[at]=2026-01-01T00:00:00Z", /records_by_time_1/],
    ["a sort by a string", "table_name=orders&sort=name", /Index Scan using records_sorted_1_und/],
    ["a sort downwards", "table_name=orders&sort=-n", /Index Scan Backward using records_by_int_1/],
    ["a sort by a number", "table_name=orders&sort=price", /Index Scan using records_by_int_2/],
    [
      "a filter and a sort by another column, decided in the filter's",
      "table_name=orders&filter[name]=x&sort=-at",
      /Index Only Scan (Backward )?using records_sorted_1_und/,
    ],
    [
      "a filter that many records match, decided in the order's",
      "table_name=orders&filter[city]=city 5&sort=-n&limit=1",
      /using records_by_int_1.*\n +Index Cond: .*hashtext\(idx_str_2\)/,
    ],
    ["a filter and a sort by id", "table_name=orders&filter[city]=city 5&sort=id", /records_sorted_2_und/],
    ["a range of integers", "table_name=orders&filter[n][gt]=995", /records_by_int_1.*\n +Index Cond: .*idx_int_1 >=/],
    ["a range of numbers", "table_name=orders&filter[price][lt]=1.5&sort=price", /Index Scan using records_by_int_2/],
    ["a range with two ends", "table_name=orders&filter[n][gte]=500&filter[n][lt]=503", /records_by_int_1/],
    [
      "a range of strings",
      "table_name=orders&filter[name][gte]=person ff",
      /records_sorted_1_und.*\n +Index Cond: .*idx_str_1\)?.*>=/,
    ],
    [
      "a range of times, decided in the order's",
      "table_name=orders&filter[at][gte]=2026-01-02&sort=-n",
      /using records_by_(int_1|time_1).*\n +Index Cond: .*idx_time_1 >=/,
    ],
    ["one of several values", "table_name=orders&filter[name][in]=a,b,c", /Bitmap Index Scan on records_sorted_1_und/],
    ["values that are there", "table_name=orders&filter[name][null]=true", /records_by_/],
    [
      "groups of which one holds",
      "table_name=orders&any[0][name]=x&any[1][n][gt]=998&any[1][city]=city 49",
      /BitmapOr/,
    ],
    [
      "records by their ids",
      `table_name=orders&filter[id][in]=${crypto.randomUUID()},${crypto.randomUUID()}`,
      /Index Cond: .*\bid = ANY/,
    ],
  ])("%s uses its index", async (_, query, index) => {
    const plan = await planOf(query);
    expect(plan).toMatch(index);
    expect(plan).not.toContain("Seq Scan on records");
  });

  test("a range of created_at begins in the primary key", async () => {
    const plan = await planOf("filter[created_at][lt]=2020-01-01&table_name=orders");
    expect(plan).toMatch(/Index Cond: .*\bid < /);
    expect(plan).not.toContain("Seq Scan on records");
  });

  test("a list of all records reads the newest by the primary key", async () => {
    const plan = await planOf("", readList);
    expect(plan).toMatch(/Index Scan Backward using records_pkey/);
    expect(plan).not.toContain("Seq Scan on records");
  });

  test("a page after a cursor begins in the index", async () => {
    const asked = readSearch(db, new URLSearchParams("table_name=orders&sort=n"));
    const after = { id: "019a0000-0000-7000-8000-000000000001", value: "500" };
    const { text, values } = pageStatement({
      db,
      query: asked,
      form: "flat",
      after,
      way: "plain",
      longStrings: false,
      measured: false,
    });
    const rows = await app.sql.unsafe(`explain ${text}`, [...values]);
    expect(rows.map((row) => Object.values(row)[0]).join("\n")).toMatch(/Index Cond: .*idx_int_1, id\) > ROW/);
  });

  test("a get uses the primary key", async () => {
    const rows =
      await app.sql`explain select data from records where db_id = ${db.id} and id = ${db.id} and account_id = 1`;
    expect(rows.map((row) => Object.values(row)[0]).join("\n")).toContain("records_pkey");
  });
});

test("an entry of an index holds the longest strings beside each other", async () => {
  const text = () =>
    Array.from({ length: 300 }, () => String.fromCodePoint(0x20000 + Math.floor(Math.random() * 0xa000))).join("");
  const made = await app.post("/core/dbs", {
    db: {
      name: "wide",
      schema: {
        tables: {
          ["t".repeat(60)]: {
            fields: { a: "string", b: "string", c: "string", n: "integer", at: "datetime" },
            indexed_fields: ["a", "b", "c", "n", "at"],
          },
        },
      },
    },
  });
  expect(made.status).toBe(201);
  const data = { a: text(), b: text(), c: text(), n: 5, at: "2026-01-01T00:00:00Z" };
  const record = await app.post(`/core/dbs/${made.json.id}/records`, {
    record: { table_name: "t".repeat(60), data },
  });
  expect([record.status, record.json.data]).toEqual([201, data]);
  const path = `/core/dbs/${made.json.id}/search.json?table_name=${"t".repeat(60)}&sort=-at`;
  const found = await app.get(`${path}&filter[b]=${encodeURIComponent(data.b)}`);
  expect(found.json).toHaveLength(1);
  const shorter = await app.get(`${path}&filter[b]=${encodeURIComponent(data.b.slice(0, -2))}`);
  expect(shorter.json).toEqual([]);
});

describe("a phrase", () => {
  const query = (text: string) => readSearch(db, new URLSearchParams(`table_name=orders&${text}`));
  const rowsOf = async (text: string, way: "plain" | "candidates") => {
    const statement = pageStatement({
      db,
      query: query(text),
      form: "flat",
      after: undefined,
      way,
      longStrings: false,
      measured: false,
    });
    const [row] = await app.sql.unsafe<{ raw: string | null; candidates: number | null; total: number | null }[]>(
      statement.text,
      [...statement.values],
    );
    return row;
  };

  test("finds the same by the index of fragments and without", async () => {
    for (const text of [
      "q=c4ca4238",
      "q=city 4",
      "q=*c4*a4*",
      "q=CITY 49",
      "q=nothing such",
      "q=c4c&filter[n]=1",
      "q=8f1&sort=-n",
      "q=8f1&sort=name&offset=3",
      "q=city 7&sort=price&limit=7",
    ]) {
      const [plain, fast] = [
        await rowsOf(`${text}&count=true`, "plain"),
        await rowsOf(`${text}&count=true`, "candidates"),
      ];
      expect([text, fast?.raw, fast?.total]).toEqual([text, plain?.raw, plain?.total]);
    }
  });

  test("that more records have than are worth collecting is found in order of the page", async () => {
    expect((await rowsOf("q=person", "candidates"))?.candidates).toBe(2001);
    const answer = await app.get("/core/dbs/big/search?table_name=orders&q=person&limit=3&count=true");
    expect(answer.json.map(({ note }: { note: string }) => note)).toEqual(["note 6000", "note 5999", "note 5998"]);
    expect(answer.headers.get("x-total-count")).toBe(`${perTable}`);
  });

  test("is answered over HTTP as well, in long strings too", async () => {
    expect((await app.get("/core/dbs/big/search?table_name=lines&q=C4CA4238")).json).toMatchObject([
      { note: "note 1" },
    ]);
    const name = `${"long ".repeat(60)}tail`;
    await app.post("/core/dbs/big/records", { record: { table_name: "orders", data: { name } } });
    for (const q of ["G TAIL", "*tail", "long*tail"])
      expect((await app.get(`/core/dbs/big/search?table_name=orders&q=${q}`)).json).toMatchObject([{ name }]);
    expect((await app.get("/core/dbs/big/search?table_name=orders&q=*long")).json).toEqual([]);
  });
});

test("a server without pg_trgm finds the same", async () => {
  await app.sql`drop function record_candidates`;
  await app.sql`drop extension pg_trgm cascade`;
  const without = await startTestApp({ target: app.target });
  for (const query of ["q=C4CA4238", "q=*tail&sort=name", "filter[name]=*c4ca4238*", "q=city 7&sort=price&limit=7"]) {
    const path = `/core/dbs/big/search?table_name=orders&${query}&count=true`;
    const answer = await without.get(path);
    expect([query, answer.status, answer.json.length > 0]).toEqual([query, 200, true]);
  }
  expect((await without.get("/core/dbs/big/search?table_name=lines&q=C4CA4238")).json).toMatchObject([
    { note: "note 1" },
  ]);
  await without.stop();
});
