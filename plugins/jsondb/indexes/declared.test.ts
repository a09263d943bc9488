/** Indexes that schemas declare: built, kept and dropped, and the answers with and without. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const table = {
  fields: { city: "string", team: "string", age: "integer", seen: "date" },
  indexed_fields: ["city", "team", "age", "seen"],
};

async function database(code: string, schema: object = table): Promise<string> {
  const made = await app.post("/core/dbs", { db: { name: code, code, schema } });
  expect(made.status).toBe(201);
  return made.json.id;
}

const fill = async (id: string, records: number) => {
  const operations = Array.from({ length: records }, (_, n) => ({
    city: `City ${n % 20}`,
    team: `Team ${n % 7}`,
    ...(n % 10 > 0 && { age: n % 97 }),
  }));
  const rows = operations.map((row) => JSON.stringify(row)).join("\n");
  const headers = { "content-type": "application/x-ndjson" };
  expect((await app.post(`/core/dbs/${id}/import`, undefined, { raw: rows, headers })).status).toBe(201);
};

const setSchema = (id: string, schema: object) => app.patch(`/core/dbs/${id}`, { db: { schema } });
const indexes = async (id: string) => (await app.get(`/core/dbs/${id}/indexes.json`)).json;

/** The definitions of the indexes of this database alone. */
function built(id: string): Promise<string[]> {
  return eventually(async () => {
    try {
      const rows = await app.sql<{ indexdef: string }[]>`
        select indexdef from pg_indexes where tablename = 'records' and indexdef like ${`%${id}%`} order by indexdef`;
      return rows.map(({ indexdef }) => indexdef);
    } catch (error) {
      // PostgreSQL prints the definitions of all, and one was dropped meanwhile.
      if (String(error).includes("cache lookup failed")) return undefined;
      throw error;
    }
  });
}

const ready = (id: string, count: number) =>
  eventually(
    async () => {
      const found: { status: string }[] = await indexes(id);
      return found.length === count && found.every(({ status }) => status === "ready");
    },
    "the indexes",
    30_000,
  );

const answers = (id: string) =>
  Promise.all(
    ["-age", "age", "age&limit=7&count=true"].map(async (sort) => {
      const answer = await app.get(`/core/dbs/${id}/search.json?filter[city]=City%203&sort=${sort}`);
      expect(answer.status).toBe(200);
      return [answer.json, answer.headers.get("x-total-count")];
    }),
  );

const schedule = (name: string) => app.sql`
  insert into jobs (name, run_at, created_at, payload)
  values (${`schedule:${name}`}, now(), now(), ${app.sql.json({ dueAt: new Date().toISOString() })})`;

test("a declared sort gets its index at once, keeps it, and loses it with the declaration", async () => {
  const id = await database("people");
  await fill(id, 1500);
  const before = await answers(id);
  const declared = await setSchema(id, { ...table, sorts: [["city", "-age"]] });
  expect(declared.status).toBe(200);
  expect(declared.headers.get("warning")).toBeNull();
  expect(declared.json.schema.sorts).toEqual([["city", "-age"]]);
  await ready(id, 1);
  const [found] = await indexes(id);
  expect(found).toMatchObject({ declared: true, error: null });
  expect(found.searches).toEqual([{ table_name: null, filters: ["city"], sort: "age" }]);
  const [definition = ""] = await built(id);
  expect(definition).toContain("(table_name, hashtext(idx_str_1), idx_int_1, id) WHERE");
  expect(definition).toContain(`records_learned_${found.id.replaceAll("-", "")}`);
  expect(await answers(id)).toEqual(before);

  // Unused for long, and without a search, it stays; another change of the schema does not build it anew.
  await app.sql`update db_indexes set used_at = now() - interval '30 days' where db_id = ${id}`;
  await schedule("jsondb.prune");
  await eventually(
    async () => (await app.sql`select from jobs where name = 'schedule:jsondb.prune' and run_at <= now()`).length === 0,
  );
  await setSchema(id, {
    ...table,
    fields: { ...table.fields, note: "text" },
    sorts: [
      ["city", "age"],
      ["team", "-seen"],
    ],
  });
  await ready(id, 2);
  expect((await indexes(id)).map((one: { id: string }) => one.id)).toContain(found.id);
  expect(await built(id)).toHaveLength(2);

  await setSchema(id, table);
  expect(await indexes(id)).toEqual([]);
  await eventually(async () => (await built(id)).length === 0, "the drop", 30_000);
  expect(await answers(id)).toEqual(before);
});

test("a small database gets none until it has grown", async () => {
  const id = await database("few", { ...table, sorts: [["city", "-age"]] });
  await fill(id, 900);
  await schedule("jsondb.sorts");
  await eventually(
    async () => (await app.sql`select from jobs where name like '%jsondb.%' and run_at <= now()`).length === 0,
  );
  expect(await indexes(id)).toMatchObject([{ declared: true, status: "watched" }]);
  expect(await built(id)).toEqual([]);
  await schedule("jsondb.prune");
  await fill(id, 100);
  await eventually(
    async () => {
      await schedule("jsondb.sorts");
      return (await indexes(id))[0]?.status === "ready";
    },
    "the index",
    30_000,
  );
  expect(await built(id)).toHaveLength(1);
});

test("it takes the place of the learned one that was used least lately", async () => {
  const id = await database("full");
  await fill(id, 1000);
  const shapes = ["idx_str_1>idx_time_1", "idx_str_2>idx_time_1", "idx_str_2>idx_int_1", "idx_int_1>idx_time_1"];
  for (const [days, shape] of shapes.entries())
    await app.sql`
      insert into db_indexes (id, account_id, db_id, shape, status, used_at)
      select uuidv7(), account_id, id, ${shape}, 'ready', now() - make_interval(days => ${days}) from dbs where id = ${id}`;
  expect((await setSchema(id, { ...table, sorts: [["city", "age"]] })).status).toBe(200);
  await ready(id, 4);
  const left: { declared: boolean; searches: { filters: string[]; sort: string }[] }[] = await indexes(id);
  expect(left[0]).toMatchObject({ declared: true, searches: [{ filters: ["city"], sort: "age" }] });
  expect(left.map(({ searches }) => [...(searches[0]?.filters ?? []), searches[0]?.sort].join(" ")).toSorted()).toEqual(
    ["city age", "city seen", "team age", "team seen"],
  );
});

test("tables declare their own; mistakes name their place", async () => {
  const orders = { fields: { state: "string", total: "number" }, indexed_fields: ["state", "total"] };
  const id = await database("shop", { tables: { orders: { ...orders, sorts: [["state", "-total"]] }, lines: orders } });
  expect(await indexes(id)).toMatchObject([
    {
      declared: true,
      searches: [{ table_name: "orders", filters: ["state"], sort: "total" }, { table_name: "lines" }],
    },
  ]);
  const wrong = await setSchema(id, { ...table, sorts: [["city", "-score"]] });
  expect([wrong.status, wrong.json]).toEqual([422, { schema: ['sorts[0][1]: "score" is not one of the fields'] }]);
  expect(await indexes(id)).toHaveLength(1);
  expect((await app.delete(`/core/dbs/${id}`)).status).toBe(204);
});
