/** Strings are in the order of the account's language, in every database, with an index and without. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { findDb } from "../databases/db.ts";

const words = ["żaba", "Zebra", "apple", "Łoś", "łódź", "Banan", "ćma", "Cena", "ąć", "Ala", "chata", "hala", "Ó", "o"];
const polish = [
  "Ala",
  "apple",
  "ąć",
  "Banan",
  "Cena",
  "chata",
  "ćma",
  "hala",
  "Łoś",
  "łódź",
  "o",
  "Ó",
  "Zebra",
  "żaba",
];
const czech = ["ąć", "Ala", "apple", "Banan", "Cena", "ćma", "hala", "chata", "łódź", "Łoś", "o", "Ó", "żaba", "Zebra"];
const databases = { indexed: ["title", "n"], plain: [], free: null };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { CORE_LOCALE: "pl" } });
  for (const [code, indexed_fields] of Object.entries(databases)) {
    const schema = indexed_fields && { fields: { title: "string", n: "integer", group: "string" }, indexed_fields };
    await app.post("/core/dbs", { db: { name: code, code, schema } });
    const rows = words.map((title, n) => ({ title, n, group: title.slice(0, 1) }));
    expect((await app.post(`/core/dbs/${code}/import`, rows)).status).toBe(201);
  }
});
afterAll(() => app.stop());

type Row = { title: string };
const titles = async (code: string, query: string, on = app) => {
  const answer = await on.get(`/core/dbs/${code}/search?${query}`);
  expect([query, answer.status]).toEqual([query, 200]);
  return answer.json.map(({ title }: Row) => title);
};
const indexNames = async (on = app) =>
  (
    await on.sql<{ name: string }[]>`
    select relname as name from pg_class where relname like 'records_sorted_%' and relkind = 'i' order by 1`
  ).map(({ name }) => name);

/** Those of the root stay: equal strings are found by them. */
const indexesOf = (language: string) =>
  [1, 2, 3].flatMap((column) => [language, "und"].map((name) => `records_sorted_${column}_${name}`));

test("a language gets its indexes at the start, and those that nobody speaks are dropped", async () => {
  const wanted = indexesOf("pl");
  await eventually(async () => (await indexNames()).join() === wanted.join(), "the indexes", 30_000);
  const [built] = await app.sql`
    select obj_description('records_sorted_1_pl'::regclass) = pg_collation_actual_version(c.oid) as is_told
    from pg_collation c where collname = 'pl-x-icu'`;
  expect(built).toEqual({ isTold: true });
});

test.each(Object.keys(databases))(
  "lists, pages, ranges, exports and measures of %s follow the language",
  async (code) => {
    expect(await titles(code, "sort=title")).toEqual(polish);
    expect(await titles(code, "sort=-title")).toEqual(polish.toReversed());
    const pages: string[] = [];
    for (let after: string | null = ""; after !== null;) {
      const page = await app.get(`/core/dbs/${code}/search?sort=-title&limit=3&after=${encodeURIComponent(after)}`);
      pages.push(...page.json.map(({ title }: Row) => title));
      after = page.headers.get("x-next-cursor");
    }
    expect(pages).toEqual(polish.toReversed());
    expect(await titles(code, "filter[title][gt]=ćma&filter[title][lte]=Łoś&sort=title")).toEqual(["hala", "Łoś"]);
    const exported = await app.get(`/core/dbs/${code}/export?format=json&sort=title`);
    expect(exported.json.map(({ data }: { data: Row }) => data.title)).toEqual(polish);
  },
);

test("the smallest, the greatest and the groups are those of the language", async () => {
  const { json } = await app.get("/core/dbs/plain/aggregate?min=title&max=title");
  expect(json).toMatchObject([{ min: { title: "Ala" }, max: { title: "żaba" } }]);
  const groups = await app.get("/core/dbs/indexed/aggregate?group_by=group&sort=group");
  const order = groups.json.map(({ group }: { group: { group: string } }) => group.group);
  expect(order).toEqual(["a", "A", "ą", "B", "c", "C", "ć", "h", "ł", "Ł", "o", "Ó", "Z", "ż"]);
});

test("values of any type are sorted strings first, and paged", async () => {
  const values = ["ć", 10, "d", { a: 1 }, true, "Cz", 2, ["x"], null];
  await app.post("/core/dbs", { db: { name: "mixed", code: "mixed" } });
  await app.post(
    "/core/dbs/mixed/import",
    values.map((v) => ({ v })),
  );
  const whole = (await app.get("/core/dbs/mixed/search?sort=v")).json.map(({ v }: { v: unknown }) => v);
  expect(whole).toEqual(["Cz", "ć", "d", 2, 10, true, ["x"], { a: 1 }, null]);
  for (const sort of ["v", "-v"]) {
    const seen: unknown[] = [];
    for (let after: string | null = ""; after !== null;) {
      const page = await app.get(`/core/dbs/mixed/search?sort=${sort}&limit=1&after=${encodeURIComponent(after)}`);
      seen.push(...page.json.map(({ v }: { v: unknown }) => v));
      after = page.headers.get("x-next-cursor");
    }
    expect(seen).toEqual(sort === "v" ? whole : [...whole.slice(0, -1).toReversed(), null]);
  }
});

test("another language refuses the cursors of the old one, and is right before its indexes are built", async () => {
  const cursor = async (sort: string) =>
    (await app.get(`/core/dbs/indexed/search?sort=${sort}&limit=3`)).headers.get("x-next-cursor") ?? "";
  const [byTitle, byNumber] = [await cursor("title"), await cursor("n")];
  await app.sql`update accounts set locale = 'cs'`;
  const other = await startTestApp({ target: app.target });
  try {
    for (const code of Object.keys(databases)) expect(await titles(code, "sort=title", other)).toEqual(czech);
    const after = (sort: string, text: string) =>
      other.get(`/core/dbs/indexed/search?sort=${sort}&after=${encodeURIComponent(text)}`);
    expect((await after("title", byTitle)).status).toBe(400);
    expect((await after("n", byNumber)).status).toBe(200);
    const wanted = indexesOf("cs");
    await eventually(async () => (await indexNames(other)).join() === wanted.join(), "the indexes", 30_000);
    for (const code of Object.keys(databases)) expect(await titles(code, "sort=title", other)).toEqual(czech);
  } finally {
    await other.stop();
  }
});

test("equal strings are found without the root's indexes, and by bytes where their own indexes stand", async () => {
  const found = () => titles("indexed", `filter[title]=${encodeURIComponent("Łoś")}`);
  const [one] = await app.sql<{ strs: number }[]>`
    select count(*)::int as strs from pg_class where relname like 'records_by_str_%'`;
  expect(one).toEqual({ strs: 0 });
  expect(await found()).toEqual(["Łoś"]);
  const equalsBy = async () => (await findDb(app.sql, 1, "indexed"))?.equalsBy;
  expect(await equalsBy()).toBe("und-x-icu");
  const undo = new Error("undo");
  const asOfAnUpgrade = app.sql.begin(async (tx) => {
    await tx`create index records_by_str_1 on records (db_id, table_name, idx_str_1, id) where idx_str_1 is not null`;
    expect((await findDb(tx, 1, "indexed"))?.equalsBy).toBe("und-x-icu");
    await tx`drop index records_sorted_3_und`;
    expect((await findDb(tx, 1, "indexed"))?.equalsBy).toBe("C");
    throw undo;
  });
  expect(await asOfAnUpgrade.catch((error: unknown) => error)).toBe(undo);
});

test("an index of another version of ICU is gone before anything is served", async () => {
  await app.sql`comment on index records_sorted_1_cs is '1.2.3'`;
  const other = await startTestApp({ target: app.target });
  try {
    expect(await titles("indexed", "sort=title", other)).toEqual(czech);
    await eventually(async () => {
      const [found] = await other.sql<{ is: string | null }[]>`
        select obj_description(to_regclass('records_sorted_1_cs')) as is`;
      return found?.is !== null && found?.is !== "1.2.3";
    }, "the index");
  } finally {
    await other.stop();
  }
});
