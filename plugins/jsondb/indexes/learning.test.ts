import { afterAll, beforeAll, expect, test } from "bun:test";
import * as indexStore from "./store.ts";
import { eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
let dbId: string;
beforeAll(async () => {
  app = await startTestApp();
  dbId = await database("people", 10_000);
});
afterAll(() => app.stop());

async function database(code: string, records: number): Promise<string> {
  const schema = {
    fields: { city: "string", team: "string", age: "integer" },
    indexed_fields: ["city", "team", "age"],
  };
  const { id } = (await app.post("/core/dbs", { db: { name: code, code, schema } })).json;
  // Every tenth has no age, and ages repeat.
  await app.sql`
    insert into records (db_id, id, account_id, created_at, updated_at, plan_version, rules_version, idx_str_1, idx_str_2,
      idx_int_1, data)
    select d.id, uuidv7(), d.account_id, now(), now(), d.plan_version, d.rules_version, city, team, age,
      jsonb_strip_nulls(jsonb_build_object('city', city, 'team', team, 'age', age))
    from dbs d, generate_series(1, ${records}) n, lateral (
      select 'City ' || n % 50 as city, 'Team ' || n % 7 as team, case when n % 10 > 0 then n % 97 end as age) v
    where d.id = ${id}`;
  await app.sql`analyze records`;
  return id;
}

const search = async (query: string, code = "people") => {
  const answer = await app.get(`/core/dbs/${code}/search.json?${query}`);
  expect([query, answer.status]).toEqual([query, 200]);
  return answer;
};

/** As if the searches of today had cost this much. On a busy machine they have, and the index is there already. */
async function searched(query: string, code = "people"): Promise<void> {
  const most = app.sql`
    select i.id from db_indexes i join dbs d on d.id = i.db_id where d.code = ${code} order by i.calls desc limit 1`;
  for (let n = 0; n < 120; n++) await search(query, code);
  await eventually(async () => {
    const [row] = await app.sql`
      update db_indexes set calls = greatest(calls, 200),
        milliseconds = case status when 'watched' then 6000 else milliseconds end
      where id = (${most}) returning id`;
    return row;
  }, "the searches that were counted");
  for (let n = 0; n < 120; n++) await search(query, code);
}

const indexes = async (code = "people") => (await app.get(`/core/dbs/${code}/indexes.json`)).json;

/** Every record of a search, page by page. */
async function pages(query: string): Promise<unknown[]> {
  const all: unknown[] = [];
  for (let after = "", page = 0; page < 100; page++) {
    const answer = await search(`${query}&limit=9${after}`);
    all.push(...answer.json);
    const next = answer.headers.get("x-next-cursor");
    if (next === null) break;
    after = `&after=${encodeURIComponent(next)}`;
  }
  return all;
}

const queries = [
  "filter[city]=City%203&sort=-age",
  "filter[city]=City%203&sort=age",
  "filter[city]=City%203&sort=age&fields=age&count=true",
  "filter[city]=Nowhere&sort=age",
];

test("a search that costs much gets an index of its own; the answers stay the same", async () => {
  const before = await Promise.all(queries.map(pages));
  expect(before[0]).toHaveLength(200);
  await searched(queries[0] ?? "");
  await eventually(async () => (await indexes())[0]?.status === "ready", "the index", 30_000);
  const [made] = await indexes();
  expect(made).toMatchObject({ searches: [{ table_name: null, filters: ["city"], sort: "age" }], error: null });
  expect(made.calls).toBeGreaterThanOrEqual(200);
  expect(await Promise.all(queries.map(pages))).toEqual(before);
  const name = `records_learned_${made.id.replaceAll("-", "")}`;
  await eventually(async () => {
    const [row] = await app.sql`
      select pg_stat_force_next_flush(), idx_scan from pg_stat_user_indexes where indexrelname = ${name}`;
    return Number(row?.["idxScan"]) > 0;
  });
});

test("what is written later, is changed and is deleted is in it", async () => {
  const made = await app.post("/core/dbs/people/records", { record: { data: { city: "City 3", age: 1000 } } });
  expect((await search("filter[city]=City%203&sort=-age&limit=1")).json[0]).toMatchObject({ age: 1000 });
  await app.patch(`/core/dbs/people/records/${made.json.id}`, { record: { data: { age: -1 } } });
  expect((await search("filter[city]=City%203&sort=age&limit=1")).json[0]).toMatchObject({ age: -1 });
  await app.delete(`/core/dbs/people/records/${made.json.id}`);
  expect((await search("filter[city]=City%203&sort=age&limit=1")).json[0].age).toBeGreaterThanOrEqual(0);
});

test("it refuses no record, however long its strings", async () => {
  const schema = { fields: { a: "string", b: "string", c: "string" }, indexed_fields: ["a", "b", "c"] };
  const { id } = (await app.post("/core/dbs", { db: { name: "long", schema } })).json;
  const shapes = ["idx_str_1,idx_str_2>idx_str_3", "idx_str_1>idx_str_2"];
  const built = shapes.map((shape) => ({ id: crypto.randomUUID(), dbId: id, shape, collation: "und-x-icu" }));
  for (const one of built) await indexStore.build(app.sql, one);
  // Four bytes each, and nothing that PostgreSQL can make smaller.
  const letter = () => String.fromCodePoint(0x20000 + Math.floor(Math.random() * 40_000));
  const letters = () => Array.from({ length: 255 }, letter).join("");
  const data = { a: letters(), b: letters(), c: letters() };
  expect((await app.post("/core/dbs/long/records", { record: { data } })).status).toBe(201);
  const query = `filter[a]=${encodeURIComponent(data.a)}&filter[b]=${encodeURIComponent(data.b)}&sort=c`;
  expect((await search(query, "long")).json).toHaveLength(1);
  for (const one of built) await indexStore.drop(app.sql, one.id);
});

test("one of before, with whole strings, is dropped and watched again", async () => {
  const id = crypto.randomUUID();
  const name = `records_learned_${id.replaceAll("-", "")}`;
  await app.sql`
    insert into db_indexes (id, account_id, db_id, shape, status)
    select ${id}, account_id, id, 'idx_str_1,idx_str_2>', 'ready' from dbs where id = ${dbId}`;
  await app.sql.unsafe(
    `create index ${name} on records (table_name, idx_str_1, idx_str_2, id) where db_id = '${dbId}'`,
  );
  await app.sql.unsafe(await Bun.file(`${import.meta.dir}/../migrations/015_learned_hashes.sql`).text());
  expect(await app.sql`select from pg_class where relname = ${name}`).toHaveLength(0);
  expect((await app.sql`delete from db_indexes where id = ${id} returning status`)[0]).toEqual({ status: "watched" });
});

test("a small database gets none, and its costs are forgotten", async () => {
  await database("few", 2000);
  await searched("filter[city]=City%203&sort=-age", "few");
  await eventually(
    async () => {
      const [found] = await indexes("few");
      return found?.status === "watched" && found.milliseconds < 6000;
    },
    "the decision",
    30_000,
  );
});

test("an index that cannot be built says why, and is dropped", async () => {
  // The name is taken by something that is no index.
  const id = "019a9c1e-0000-7000-8000-000000000009";
  await app.sql`
    insert into db_indexes (id, account_id, db_id, shape, calls, milliseconds)
    select ${id}, account_id, id, 'idx_str_2>idx_int_1', 200, 6000 from dbs where id = ${dbId}`;
  const name = `records_learned_${id.replaceAll("-", "")}`;
  await app.sql.unsafe(`create view ${name} as select 1`);
  for (let n = 0; n < 120; n++) await search("filter[team]=Team%203&sort=-age");
  await eventually(
    async () => {
      const found = (await indexes()).find((one: { id: string }) => one.id === id);
      return found?.status === "failed" && found.error;
    },
    "the failure",
    30_000,
  );
  await app.sql.unsafe(`drop view ${name}`);
  await app.sql`delete from db_indexes where id = ${id}`;
});

const prune = () => app.sql`
  insert into jobs (name, run_at, created_at, payload)
  values ('schedule:jsondb.prune', now(), now(), ${app.sql.json({ dueAt: new Date().toISOString() })})`;

test("one whose builder has died is watched again", async () => {
  const dead = "019a9c1e-0000-7000-8000-00000000000a";
  const living = "019a9c1e-0000-7000-8000-00000000000b";
  await app.sql`
    insert into db_indexes (id, account_id, db_id, shape, calls, milliseconds, status, updated_at)
    select v.id::uuid, account_id, dbs.id, shape, 200, 6000, 'building', now() - age::interval
    from dbs, (values (${dead}, 'idx_str_1,idx_str_2', '11 minutes'), (${living}, 'idx_int_1', '1 minute'))
      v (id, shape, age)
    where dbs.id = ${dbId}`;
  await prune();
  const statusOf = async (id: string) => (await indexes()).find((one: { id: string }) => one.id === id)?.status;
  await eventually(async () => (await statusOf(dead)) === "watched");
  expect(await statusOf(living)).toBe("building");
  await app.sql`delete from db_indexes where id in (${dead}, ${living})`;
});

test("unused ones, and those of a database that is gone, are dropped; what is missing is watched again", async () => {
  const built = async () => {
    const rows = await app.sql`select relname from pg_class where relkind = 'i' and relname ~ '^records_learned_'`;
    return rows.length;
  };
  expect(await built()).toBe(1);
  const made = (await indexes()).find(({ status }: { status: string }) => status === "ready");
  await app.sql.unsafe(`drop index records_learned_${made.id.replaceAll("-", "")}`);
  await prune();
  await eventually(
    async () => (await indexes()).find(({ id }: { id: string }) => id === made.id)?.status === "watched",
  );
  expect((await search("filter[city]=City%203&sort=-age")).json).toHaveLength(20);

  await searched(queries[0] ?? "");
  await eventually(built, "the index again", 30_000);
  await eventually(async () => (await indexes()).find(({ id }: { id: string }) => id === made.id)?.status === "ready");
  await app.sql`update db_indexes set used_at = now() - interval '8 days' where id = ${made.id}`;
  await prune();
  await eventually(async () => (await built()) === 0);
  expect((await search("filter[city]=City%203&sort=-age")).json).toHaveLength(20);
});

test("they are shown to those who may see the database", async () => {
  expect((await app.get("/core/dbs/nothing/indexes.json")).status).toBe(404);
  expect((await app.get("/core/dbs/people/indexes.json", { token: null })).status).toBe(401);
});
