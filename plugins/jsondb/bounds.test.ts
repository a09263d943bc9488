/** What is stored is bounded by its text, and what is read by its bytes: counts of records bound neither. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";
import { readOn } from "platform";
import { exportPage } from "./bulk/store.ts";
import { databaseOf, type DatabaseRow } from "./databases/database.ts";
import { noTable } from "./databases/schema.ts";
import { readPage } from "../../runtime/db/page-store.ts";
import { printedLength } from "../../runtime/base/read-bounds.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

let made = 0;
async function newDb(more: object = {}): Promise<string> {
  return (await app.post("/core/dbs.json", { db: { name: `Bounds ${++made}`, ...more } })).json.code;
}
/** Made longer by PostgreSQL, which takes less time than to send them. */
async function enlarge(ids: readonly string[], field: string, length: number): Promise<void> {
  await app.sql`
    update records set data = data || jsonb_build_object(${field}::text, repeat('x', ${length}) || (data ->> 'n'))
    where id = any(${[...ids]}::uuid[])`;
}
const create = (db: string, data: object) => app.post(`/core/dbs/${db}/records.json`, { record: { data } });
const answerBytes = 8_000_000;

describe("a number with an exponent", () => {
  test.each<[string, number]>([
    ["1e300", 301],
    ["-1e300", 302],
    ["1.5e3", 4],
    ["1.2345e2", 6],
    ["1e-3", 5],
    ["-1.5e-3", 7],
    ["12e+1", 3],
    ["123.45e-1", 6],
    ['{"1e300":"1e300 \\"1e300","n":7}', 31],
    ['["a\\\\",1e10]', 19],
    ['["1e10\\\\\\"1e10",1e5]', 23],
  ])("%s is as long as PostgreSQL prints it", async (json, length) => {
    expect(printedLength(json)).toBe(length);
    const [row] = await app.sql<{ text: string }[]>`select ${json}::text::jsonb::text as text`;
    expect(row?.text.replaceAll(/(?<=[:,]) /g, "").length).toBe(length);
  });

  test("counts with all its digits for what a record may have, however it comes", async () => {
    const db = await newDb({ public_methods: { create: true } });
    const raw = `{"data":{"a":[${Array(10_000).fill("1e300").join(",")}]}}`;
    const options = { raw, headers: { "content-type": "application/json" } };
    const refused = [
      await app.post(`/core/dbs/${db}/records.json`, undefined, { ...options, raw: `{"record":${raw}}` }),
      await app.post(`/core/db/${db}/create`, undefined, { ...options, token: null }),
      await app.post(`/core/dbs/${db}/batch.json`, undefined, {
        ...options,
        raw: `{"operations":[{"op":"create",${raw.slice(1)}]}`,
      }),
      await app.post(`/core/dbs/${db}/import?format=ndjson`, undefined, {
        raw: raw.slice(8, -1),
        headers: { "content-type": "application/x-ndjson" },
      }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
    for (const { text } of refused) expect(text).toContain("at most 2000000");
    expect((await app.get(`/core/dbs/${db}/records.json`)).json).toEqual([]);
  });

  test("counts so in whatever else is stored as JSON", async () => {
    const numbers = `[${Array(40_000).fill("1e300").join(",")}]`;
    for (const [path, body] of [
      ["/core/apps.json", `{"app":{"name":"Long","fields":{"a":${numbers}}}}`],
      ["/core/dbs.json", `{"db":{"name":"Long","fields":{"a":${numbers}}}}`],
    ] as const) {
      const headers = { "content-type": "application/json" };
      const { status, json } = await app.post(path, undefined, { raw: body, headers });
      expect([path, status, Object.keys(json)]).toEqual([path, 422, ["fields"]]);
    }
  });

  test("counts so as a record grows by its changes too", async () => {
    const db = await newDb();
    const { id } = (await create(db, { n: 1 })).json;
    const patch = (key: string) =>
      app.patch(`/core/dbs/${db}/records/${id}.json`, undefined, {
        raw: `{"record":{"data":{"${key}":[${Array(6_000).fill("1e300").join(",")}]}}}`,
        headers: { "content-type": "application/json" },
      });
    const statuses: number[] = [];
    for (const key of "abcdef") statuses.push((await patch(key)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 422, 422]);
    expect(Object.keys((await app.get(`/core/dbs/${db}/records/${id}.json`)).json.data)).toEqual([
      "a",
      "b",
      "c",
      "d",
      "n",
    ]);
  });
});

test("a record that stands and is too long is read, indexed anew and made shorter, but not longer", async () => {
  const db = await newDb({ schema: { fields: { n: "integer" } } });
  const { id } = (await create(db, { n: 1 })).json;
  await app.sql`alter table records drop constraint records_size`;
  await app.sql`update records set data = jsonb_build_object('n', 1, 'old', repeat('x', 9000000)),
    updated_at = '2026-01-01T00:00:00Z' where id = ${id}`;
  await app.sql.unsafe(
    await Bun.file(`${import.meta.dir}/migrations/014_text_size.sql`)
      .text()
      .then((text) => text.replace("alter table records drop constraint records_size;", "")),
  );
  const path = `/core/dbs/${db}/records/${id}.json`;
  expect((await app.get(path)).json.data.old).toHaveLength(9_000_000);
  await app.sql`update records set idx_int_1 = 1 where id = ${id}`;
  expect((await app.patch(path, { record: { data: { more: 1 } } })).status).toBe(422);
  expect((await app.patch(path, { record: { data: { old: null } } })).status).toBe(200);
});

describe("a page of large records", () => {
  const count = 7;
  const length = 1_900_000;
  let db = "";
  const ids: string[] = [];
  beforeAll(async () => {
    db = await newDb({
      schema: { fields: { n: "integer", name: "string", note: "string" }, indexed_fields: ["n", "name"] },
      public_methods: { list: true, search: true },
    });
    for (let n = 0; n < count; n++) ids.push((await create(db, { n, name: `needle ${n}`, note: `note ${n}` })).json.id);
    await enlarge(ids, "large", length);
  });

  const lists = [
    `/core/dbs/{db}/records.json?sort=id`,
    `/core/dbs/{db}/records.json?sort=-n`,
    `/core/dbs/{db}/search.json?sort=note`,
    `/core/dbs/{db}/search.json?sort=note&filter[name]=needle*`,
    `/core/dbs/{db}/search.json?q=needle&sort=-updated_at`,
    `/core/db/{db}/list?limit=20`,
  ];
  test.each(lists)("ends early, with its cursor and a warning: %s", async (path) => {
    const [url, found] = [path.replace("{db}", db), [] as string[]];
    let pages = 0;
    for (let after: string | null = ""; after !== null; pages++) {
      const answer = await app.get(`${url}${after && `&after=${encodeURIComponent(after)}`}`);
      expect([answer.status, answer.text.length < answerBytes + length + 10_000]).toEqual([200, true]);
      found.push(...answer.json.map(({ id }: { id: string }) => id));
      after = answer.headers.get("x-next-cursor");
      expect(answer.headers.get("warning")?.includes("the page ends after 5 records") ?? false).toBe(after !== null);
    }
    expect([pages, found.toSorted()]).toEqual([2, ids.toSorted()]);
  });

  test.each([`/core/db/{db}/search?sort=n`, `/core/dbs/{db}/search?sort=n`])(
    "says where to go on without a cursor: %s",
    async (path) => {
      const first = await app.get(path.replace("{db}", db));
      expect(first.headers.get("warning")).toContain("offset=5");
      const second = await app.get(`${path.replace("{db}", db)}&offset=5`);
      const found = [...first.json, ...second.json].map(({ n }: { n: number }) => n);
      expect(found).toEqual([0, 1, 2, 3, 4, 5, 6]);
    },
  );

  test("has them all where it shows only small fields of them", async () => {
    const answer = await app.get(`/core/dbs/${db}/search.json?fields=n&sort=n&count=true`);
    expect(answer.json.map(({ n }: { n: number }) => n)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect([answer.headers.get("x-total-count"), answer.headers.get("warning")]).toEqual(["7", null]);
  });
});

/** Small where they are stored, 30 times as long where they are read. */
const expanding = (numbers: number) => `{"a":[${Array(numbers).fill("1e300").join(",")}]}`;
const ndjson = (db: string, lines: readonly string[]) =>
  app.post(`/core/dbs/${db}/import`, undefined, {
    raw: lines.join("\n"),
    headers: { "content-type": "application/x-ndjson" },
  });

test("an export reads records by the bytes of their text, however small they are stored", async () => {
  const db = await newDb();
  const lines = [...Array(2_000).fill('{"n":1}'), ...Array(40).fill(expanding(3_000)), '{"n":2}'];
  expect((await ndjson(db, lines)).json).toEqual({ imported: lines.length });
  const [row] = await app.sql<DatabaseRow[]>`select * from dbs where code = ${db}`;
  if (!row) throw new Error("the database is not there");
  const ctx = { read: readOn(app.sql) };
  const scope = { table: noTable, allTables: true, filters: [], any: [], phrase: undefined };
  const [last] = await app.sql<{ id: string }[]>`
    select id from records where db_id = ${row.id} and data = '{"n":1}' order by id desc limit 1`;
  const page = await exportPage(ctx, databaseOf(row), scope, { after: last!.id }, 2000);
  expect([page?.isCut, (page?.bytes ?? 0) < 1_000_000]).toEqual([true, true]);
  const { text } = await app.get(`/core/dbs/${db}/export?format=ndjson`);
  expect(text.trim().split("\n")).toHaveLength(lines.length);
});

test("a batch is refused whole where the records that it would answer with are too large", async () => {
  const db = await newDb();
  const ids: string[] = [];
  for (let n = 0; n < 18; n++) ids.push((await create(db, { n })).json.id);
  await enlarge(ids, "large", 1_900_000);
  const operations = ids.map((id) => ({ op: "update", id, data: { more: 1 } }));
  const refused = await app.post(`/core/dbs/${db}/batch.json`, { operations });
  expect([refused.status, Object.keys(refused.json)]).toEqual([422, ["operations"]]);
  expect(await app.sql`select from records where id = any(${ids}::uuid[]) and data ? 'more'`).toHaveLength(0);
  expect((await app.post(`/core/dbs/${db}/batch.json`, { operations: operations.slice(0, 16) })).status).toBe(200);
});

test("groups are refused where they are too large together", async () => {
  const db = await newDb({ schema: { fields: { name: "text" } } });
  const ids: string[] = [];
  for (let n = 0; n < 6; n++) ids.push((await create(db, { n })).json.id);
  await enlarge(ids, "name", 1_900_000);
  const groups = (limit: number) => app.get(`/core/dbs/${db}/aggregate.json?group_by=name&limit=${limit}`);
  expect((await groups(4)).json).toHaveLength(4);
  const refused = await groups(10);
  expect([refused.status, Object.keys(refused.json)]).toEqual([422, ["limit"]]);
});

test("visitors' room is that of the text, before and after it is stored", async () => {
  const small = await startTestApp({
    env: { VISITOR_BYTES_PER_DATABASE: "200000", VISITOR_BYTES_PER_ADDRESS: "10000000" },
  });
  try {
    await small.post("/core/dbs.json", { db: { name: "Room", code: "room", public_methods: { create: true } } });
    const leave = (at: TestApp) =>
      at.post("/core/db/room/create", undefined, {
        raw: `{"data":${expanding(300)}}`,
        headers: { "content-type": "application/json" },
        token: null,
      });
    expect([(await leave(small)).status, (await leave(small)).status, (await leave(small)).status]).toEqual([
      201, 201, 413,
    ]);
    const other = await startTestApp({ target: small.target, env: { VISITOR_BYTES_PER_DATABASE: "200000" } });
    expect((await leave(other)).status).toBe(413);
    await other.stop();
  } finally {
    await small.stop();
  }
});

describe("a list of large things ends early, and says where it goes on", () => {
  const program = [{ type: "return", value: 1 }];
  const large = "x".repeat(40);
  const kinds: readonly (readonly [list: string, body: (n: number) => object, table: string, column: string])[] = [
    ["/core/apps.json", (n) => ({ app: { name: `Large ${n}`, source_code: "<p></p>" } }), "apps", "source_code"],
    [
      "/core/prompts.json",
      (n) => ({ prompt: { name: `Large ${n}`, code: `large_${n}`, content: large } }),
      "prompts",
      "content",
    ],
    ["/core/dbs.json", (n) => ({ db: { name: `Large ${n}` } }), "dbs", "fields"],
    ["/connect/flows.json", (n) => ({ flow: { name: `Large ${n}`, fields: { program } } }), "flows", "fields"],
    [
      "/connect/connectors.json",
      (n) => ({
        connector: { name: `Large ${n}`, kind: "core/custom_connector", url: "https://example.com", fields: {} },
      }),
      "connectors",
      "fields",
    ],
    [
      "/account/webhooks.json",
      (n) => ({
        webhook: { source_type: "Core::Db", kind: "create", target_kind: "url", url: `https://example.com/${n}` },
      }),
      "webhooks",
      "filter",
    ],
  ];
  const enlarged = (column: string) =>
    /fields|filter/.test(column) ? `json_build_object('x', repeat('x', 5000000))` : `repeat('x', 5000000)`;

  test.each(kinds)("%s", async (list, body, table, column) => {
    for (let n = 0; n < 3; n++) expect(await app.post(list, body(n))).toMatchObject({ status: 201 });
    await app.sql.unsafe(`update ${table} set ${column} = ${enlarged(column)}`);
    const [all] = await app.sql.unsafe<{ count: number }[]>(`select count(*)::int as count from ${table}`);
    const first = await app.get(list);
    expect([first.status, first.json.length, first.headers.get("x-total-count")]).toEqual([200, 2, `${all?.count}`]);
    expect(first.headers.get("warning")).toContain("the page ends after 2 rows");
    expect(first.headers.get("warning")).toContain("the next one begins at `offset=2`");
    const last = await app.get(`${list}?offset=${(all?.count ?? 0) - 1}`);
    expect([last.json.length, last.headers.get("warning")]).toEqual([1, null]);
    await app.sql.unsafe(`delete from ${table}`);
  });

  test.each([
    [{ limit: 10, offset: 0 }, [5, undefined, 5]],
    [{ limit: 5, offset: 0 }, [5, undefined, 5]],
    [{ limit: 3, offset: 0 }, [3, undefined, 5]],
    [{ limit: 3, offset: 3 }, [2, undefined, 5]],
    [{ limit: 3, offset: 7 }, [0, undefined, 5]],
  ])("%j has its rows, its end and the count of all", async (page, expected) => {
    const numbers = { columns: app.sql`n`, from: app.sql`generate_series(1, 5) n`, order: app.sql`n` };
    const { rows, next, total } = await readPage<{ n: number }>(app.sql, page, numbers);
    expect([rows.length, next, total]).toEqual(expected);
    expect(rows.map((row) => ({ ...row }))).toEqual(rows.map((_, at) => ({ n: page.offset + at + 1 })));
    const long = { ...numbers, columns: app.sql`n, repeat('x', 5000000) as text` };
    const cut = await readPage<{ n: number }>(app.sql, page, long);
    const shown = Math.min(2, rows.length);
    expect([cut.rows.length, cut.next, cut.total]).toEqual([shown, rows.length > 2 ? page.offset + 2 : undefined, 5]);
    expect(cut.rows[0] && Object.keys(cut.rows[0])).toEqual(shown > 0 ? ["n", "text"] : undefined);
  });

  test.each(["jsonb", "numeric"])("numbers of %s are measured as they are printed", async (type) => {
    const columns = app.sql.unsafe(`'1e100000'::${type} as value`);
    const select = { columns, from: app.sql`generate_series(1, 100) n`, order: app.sql`n` };
    const page = { limit: 100, offset: 0 };
    const { rows, next, total } = await readPage(app.sql, page, select);
    expect([rows.length, next, total]).toEqual([80, 80, 100]);
  });

  test("the log of activity goes on by its cursor", async () => {
    await app.sql`
      insert into activity (account_id, action, actor, changes)
      select 1, 'update', 'flow', jsonb_build_object('x', jsonb_build_object('old', null, 'new', repeat('x', 5000000)))
      from generate_series(1, 3)`;
    const first = await app.get("/core/activity.json?actor=flow");
    expect(first.json).toHaveLength(2);
    const before = first.headers.get("x-next-cursor");
    const second = await app.get(`/core/activity.json?actor=flow&before=${before}`);
    expect([second.json.length, second.headers.get("x-next-cursor")]).toEqual([1, null]);
    expect((await app.get("/core/activity/export?actor=flow")).text.trim().split("\n")).toHaveLength(3);
  });
});
