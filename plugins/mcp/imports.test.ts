/** Tables that an agent imports: what it learns before it stores. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, type Agent } from "../../tests/fixtures/mcp-client.ts";
import { adminToken, startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
let agent: Agent;
const run = (args: Record<string, unknown>) => agent.call("import_records", { db: "deals", ...args });
const text = [
  "Titel;Firma;E-Mail;Wert;Datum;Stufe",
  "Groß;Acme;ann@example.com;1.299,50;31.01.2026;Neu",
  "Klein;Acme GmbH;ann@example.com;-5,00;30.02.2026;Weg",
  ";Acme;bob;1,00;01.02.2026;won",
].join("\n");
const mapping = {
  Titel: "title",
  Firma: "company:name",
  "E-Mail": "email",
  Wert: "value",
  Datum: "due",
  Stufe: "stage",
};
const formats = { Wert: { decimal: ",", thousands: "." }, Datum: { date_order: "dmy" } };

beforeAll(async () => {
  app = await startTestApp();
  agent = await connect(app.origin, adminToken);
  const made = async (code: string, fields: object) =>
    expect((await app.post("/core/dbs.json", { db: { name: code, code, schema: { fields } } })).status).toBe(201);
  await made("companies", { name: "string" });
  await app.post("/core/dbs/companies/records.json", { record: { data: { name: "Acme" } } });
  await made("deals", {
    title: { type: "string", required: true },
    company: { type: "string", link: "companies", required: true },
    email: { type: "string", format: "email", unique: true },
    value: { type: "number", min: 0 },
    due: "date",
    stage: { type: "string", choices: [{ value: "new", label: "Neu" }, "won"] },
  });
  const [company] = (await app.get("/core/dbs/companies/records.json")).json;
  const data = { title: "Old", company: company.id, email: "bob@example.com" };
  expect((await app.post("/core/dbs/deals/records.json", { record: { data } })).status).toBe(201);
});
afterAll(async () => {
  await agent.client.close();
  await app.stop();
});

test("a preview shows columns where a mapping puts them", async () => {
  const { json } = await run({ text, mapping, formats });
  const [title, company, , value, due, stage] = json.result.columns;
  expect(title).toMatchObject({ name: "Titel", field: "title" });
  expect(company).toMatchObject({ field: "company:name", doubtful: [{ row: 2, value: "Acme GmbH" }] });
  expect(value).toMatchObject({ field: "value", format: formats.Wert, doubtful: [] });
  expect(due).toMatchObject({ field: "due", doubtful: [{ row: 2, value: "30.02.2026" }] });
  expect(stage.doubtful).toMatchObject([
    { row: 2, value: "Weg" },
    { row: 1, why: 'is a label, read as "new"' },
  ]);
  const wrong = [
    [{ mapping: { Titl: "title" } }, 'there is no column \\"Titl\\"'],
    [{ mapping: { Titel: "titel" } }, 'there is no field \\"titel\\"'],
    [{ formats: { Wert: { decimal: "x" } } }, "decimal: must be one of"],
  ] as const;
  for (const [args, words] of wrong) expect((await run({ text, ...args })).text).toContain(words);
});

test("a dry run, and an import, name all faults of each row at once", async () => {
  const faults = ["2 company:name", "2 due", "2 email", "2 stage", "2 value", "3 email", "3 title"];
  const named = (errors: { row: number; field: string }[]) =>
    errors.map(({ row, field }) => `${row} ${field}`).toSorted();
  const dry = await run({ text, mapping, formats, dry_run: true });
  expect(dry.json.result).toMatchObject({ rows: 3, good: 1, faulty: 2 });
  expect(named(dry.json.result.errors)).toEqual(faults);
  // Which values are taken is known only when rows are stored.
  const { isError, text: refused } = await run({ text, mapping, formats, store: true });
  expect([isError, named(JSON.parse(refused.slice(4)).errors)]).toEqual([
    true,
    faults.filter((fault) => fault !== "2 email"),
  ]);
  const partial = await run({ text, mapping, formats, store: true, partial: true });
  expect(partial.json.result).toMatchObject({ imported: 1, failed: 2, total: 3 });
  const taken = await run({ text: `title,company:name,email\nA,Acme,ann@example.com\n`, dry_run: true });
  expect(taken.json.result.errors).toMatchObject([{ row: 1, field: "email", message: "is already taken" }]);
});

test("columns that match no field are named where rows are refused for what they lack", async () => {
  const refused = await run({ text: "Titel,Firma\nA,Acme\n", store: true });
  expect(refused.text).toStartWith('422 {"errors":[{"row":1');
  expect(refused.text).toContain("without `mapping` stored under their own names: Titel, Firma");
});

test("a text of another type than it is said to be is shown, and named", async () => {
  const { json } = await run({ text: "title\nA\n", type: "json" });
  expect(json).toMatchObject({ result: { format: "csv" }, warnings: [expect.stringContaining("shown as csv")] });
  expect((await run({ text: "title\tvalue\nA\t1\n" })).json.warnings).toBeUndefined();
});
