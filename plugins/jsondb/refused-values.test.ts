/** What is said of values that are not written, or not right. behaviour B.7. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { parseSchema } from "./databases/schema.ts";
import { adminToken, startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
const words = (answer: { readonly headers: Headers }) =>
  decodeURIComponent(answer.headers.get("warning") ?? "").replaceAll('\\"', '"');
const db = (code: string, fields: object) =>
  app.post("/core/dbs.json", { db: { name: code, code, schema: { fields } } });

beforeAll(async () => {
  app = await startTestApp();
  await db("deals", { title: "string", company: { type: "string", link: "companies" }, value: "number" });
  await db("companies", {
    name: "string",
    founded: "date",
    seen: "datetime",
    owner_id: "integer",
    deal_total: { type: "number", rollup: { of: "deals.company", op: "sum", field: "value" } },
  });
});
afterAll(() => app.stop());

test("a rollup that is written is named, and alone makes no new version", async () => {
  const said = 'not written: "deal_total" is a rollup';
  const made = await app.post("/core/dbs/companies/records.json", { record: { data: { name: "A", deal_total: 1 } } });
  expect([made.status, words(made)]).toEqual([201, expect.stringContaining(said)]);
  const path = `/core/dbs/companies/records/${made.json.id}`;
  for (const query of ["", "?keep_table=true"]) {
    const changed = await app.patch(`${path}.json${query}`, { record: { data: { deal_total: 2 } } });
    expect([changed.status, words(changed)]).toEqual([200, expect.stringContaining(said)]);
    expect(changed.json.updated_at).toBe(made.json.updated_at);
    expect(changed.headers.get("etag")).toBe(made.headers.get("etag"));
  }
  const stale = await app.patch(
    `${path}.json`,
    { record: { data: { deal_total: 2 } } },
    { headers: { "if-match": `"${made.json.id}-1"` } },
  );
  expect(stale.status).toBe(412);
  const operations = [{ op: "update", id: made.json.id, data: { deal_total: 3, name: "B" } }];
  const batch = await app.post("/core/dbs/companies/batch.json", { operations });
  expect([batch.json.results[0].data.name, words(batch)]).toEqual(["B", expect.stringContaining(said)]);
  const bulk = await app.post("/core/dbs/companies/bulk.json", { op: "update", data: { deal_total: 3 }, all: true });
  expect([bulk.status, words(bulk)]).toEqual([202, expect.stringContaining(said)]);
  const raw = "name,deal_total\nC,1\n";
  const headers = { "content-type": "text/csv" };
  const imported = await app.post("/core/dbs/companies/import", undefined, { raw, headers, token: adminToken });
  expect([imported.status, words(imported)]).toEqual([201, expect.stringContaining("not written: deal_total")]);
});

test.each<[string, unknown, string]>([
  ["founded", "2025-02-30", "there is no day 2025-02-30"],
  ["founded", "30.02.2025", "must be a date like 2026-01-31"],
  ["seen", "2025-02-30T10:00:00Z", "there is no day 2025-02-30"],
  ["owner_id", "2", "must be a whole number"],
  ["owner_id", 2 ** 60, "must be a whole number within ±2^63, written as a string beyond 2^53"],
])("%s %p: %s", async (field, value, message) => {
  const refused = await app.post("/core/dbs/companies/records.json", { record: { data: { [field]: value } } });
  expect(refused.json).toEqual({ [field]: [message] });
});

test("a link that is no id names the database of its record", async () => {
  const refused = await app.post("/core/dbs/deals/records.json", { record: { data: { company: "Acme" } } });
  expect(refused.json).toEqual({ company: ["must be the id of a record of companies"] });
});

test("a choice's unknown key is named, and a color that there is not is refused", async () => {
  const stage = (choice: object) => ({ stage: { type: "string", choices: [{ value: "new", ...choice }] } });
  const made = await db("a", stage({ colour: "red", color: "grey" }));
  expect([made.status, words(made)]).toEqual([
    201,
    expect.stringContaining('"colour" in schema.fields.stage.choices[0]'),
  ]);
  const refused = await db("b", stage({ color: "blue" }));
  expect([refused.status, refused.json.schema[0]]).toEqual([
    422,
    "fields.stage.choices[0].color: must be one of red, orange, amber, green, teal, sky, indigo, plum, pink, grey, or like #2f6feb",
  ]);
  // Of a version that took any: the choice counts.
  const stored = parseSchema({ fields: stage({ color: "blue" }) }, true);
  expect("schema" in stored && stored.schema.tables.get("")?.fields.get("stage")?.choices).toMatchObject([
    { value: "new", color: undefined },
  ]);
});
