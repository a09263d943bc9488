/** The CRM of the README: made by its JSON, filled from spreadsheets as people have them, and seen by three people. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect } from "../../tests/fixtures/mcp-client.ts";
import { person, startTestApp, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
let people: Record<"manager" | "seller" | "guest", { token: string }>;
let acme: string;

const readme = readFileSync(`${import.meta.dir}/README.md`, "utf8");
const json = /```text\n([^`]*)```/.exec(readme)?.[1] ?? "";

/** As Excel in Poland writes it: Windows-1250, semicolons. */
const companies = `Nazwa;NIP;Kraj\r\nŁódź Meble sp. z o.o.;PL5260001246;PL\r\nMüller GmbH;DE136695976;DE\r\n`;
/** As Excel in Germany writes it: Windows-1252. */
const contacts = `Name;E-Mail;Telefon;Firma\r\nJürgen Groß;j.gross@mueller.example;+49 30 901820;Müller GmbH\r\nAnna Żak;a.zak@meble.example;+48 42 638 44 44;Łódź Meble sp. z o.o.\r\n`;
const deals = [
  "Geschäft;Firma;Kontakt;Phase;Wert;Abschluss;Verantwortlich;Notiz",
  "Stühle;PL5260001246;a.zak@meble.example;offer;12.345,50 €;31.03.2026;jan;canary: pays late",
  "Tische;PL5260001246;a.zak@meble.example;won;1.000,00 €;15.01.2026;jan;canary: friend of the boss",
  "Regale;DE136695976;j.gross@mueller.example;won;7.777,77 €;28.02.2026;eva;canary: margin 40 %",
  "Lampen;DE136695976;j.gross@mueller.example;new;500,00 €;30.04.2026;eva;canary: lost already",
].join("\r\n");
const activities = `Kiedy;Rodzaj;Szansa;Opis\n05.02.2026 14:30;call;Stühle;zadzwonić ponownie\n13.02.2026 09:00;meeting;Regale;umowa podpisana\n`;

beforeAll(async () => {
  app = await startTestApp();
  for (const db of JSON.parse(json)) expect((await app.post("/core/dbs", { db })).status).toBe(201);
  people = {
    manager: await person(app, { role: "manager", login: "ewa" }),
    seller: await person(app, { role: "user", login: "jan" }),
    guest: await person(app, { role: "guest", login: "gast" }),
  };
});
afterAll(() => app.stop());

/** In an encoding of one byte a letter. */
function encoded(text: string, encoding: string): Uint8Array<ArrayBuffer> {
  const decoder = new TextDecoder(encoding);
  const bytes = new Map(Array.from({ length: 256 }, (_, byte) => [decoder.decode(new Uint8Array([byte])), byte]));
  return new Uint8Array(Array.from(text, (letter) => bytes.get(letter) ?? 63));
}

/** Previewed, and imported by what the preview gave. */
async function fill(
  db: string,
  bytes: Uint8Array<ArrayBuffer>,
  mapping: Record<string, string>,
  count: number,
): Promise<void> {
  const options = { headers: { "content-type": "text/csv" }, raw: bytes };
  const shown = (await app.request("POST", `/core/dbs/import/preview?db=${db}`, undefined, options)).json;
  const columns: { name: string; format: object }[] = shown.columns;
  expect(columns.map(({ name }) => name)).toEqual(Object.keys(mapping));
  const query = new URLSearchParams({
    encoding: shown.encoding,
    header_row: String(shown.header_row),
    mapping: JSON.stringify(mapping),
    formats: JSON.stringify(Object.fromEntries(columns.map(({ name, format }) => [name, format]))),
  });
  const stored = await app.request("POST", `/core/dbs/${db}/import?${query}`, undefined, options);
  expect([stored.status, stored.json]).toEqual([201, { imported: count }]);
}

const utf8 = (text: string) => new TextEncoder().encode(text);

describe("the four tables", () => {
  test("take thirty lines of JSON", () => {
    expect(json.trim().split("\n").length).toBeLessThanOrEqual(30);
  });

  test("are filled from spreadsheets, with links by names and addresses", async () => {
    await fill("companies", encoded(companies, "windows-1250"), { Nazwa: "name", NIP: "tax_id", Kraj: "country" }, 2);
    const own = { Name: "name", "E-Mail": "email", Telefon: "phone", Firma: "company:name" };
    await fill("people", utf8(`\uFEFF${contacts}`), own, 2);
    const of = { Geschäft: "name", Firma: "company:tax_id", Kontakt: "contact:email", Phase: "stage", Wert: "value" };
    const rest = { Abschluss: "closes", Verantwortlich: "owner", Notiz: "private_note" };
    await fill("deals", encoded(deals, "windows-1252"), { ...of, ...rest }, 4);
    await fill("activities", utf8(activities), { Kiedy: "at", Rodzaj: "kind", Szansa: "deal:name", Opis: "text" }, 2);
    const [found] = (await app.get("/core/dbs/deals/search?filter[name]=Stühle&expand=company,contact.company")).json;
    expect(found).toMatchObject({ value: 12345.5, closes: "2026-03-31", stage: "offer" });
    expect(found.expand).toMatchObject({
      company: { name: "Łódź Meble sp. z o.o.", country: "PL" },
      "contact.company": { tax_id: "PL5260001246" },
    });
    acme = found.company;
  });
});

interface Deal {
  readonly name: string;
  readonly value?: number;
}
const everything = ["Lampen 500", "Regale 7777.77", "Stühle 12345.5", "Tische 1000"];
const seen = {
  manager: everything,
  seller: ["Regale -", "Stühle 12345.5", "Tische 1000"],
  guest: ["Regale -", "Tische -"],
};
const shown = (all: readonly Deal[]) => all.map(({ name, value }) => `${name} ${value ?? "-"}`).toSorted();

describe.each(["manager", "seller", "guest"] as const)("a %s", (who) => {
  const get = (path: string) => app.get(path, { token: people[who].token });
  const isManager = who === "manager";

  test("sees their deals by every way", async () => {
    const answers = [
      await get("/core/dbs/deals/records"),
      await get("/core/dbs/deals/search"),
      await get("/core/dbs/deals/export?format=json"),
      await get("/core/dbs/deals/export?format=csv"),
    ];
    const [listed, found, exported] = answers.map(({ json: body }) => body);
    const data = (all: { data: Deal }[]) => all.map((one) => one.data);
    expect([shown(data(listed)), shown(found), shown(data(exported))]).toEqual([seen[who], seen[who], seen[who]]);
    for (const { text } of answers) expect(text.includes("canary")).toBe(isManager);
    const agent = await connect(app.origin, people[who].token);
    const told = await agent.call("search_records", { db: "deals" });
    await agent.client.close();
    expect([
      seen[who].every((deal) => told.text.includes(deal.split(" ")[0] ?? "")),
      told.text.includes("canary"),
    ]).toEqual([true, isManager]);
  });

  test("counts and sums no more than that", async () => {
    const [all] = (await get("/core/dbs/deals/aggregate")).json;
    expect(all.count).toBe(seen[who].length);
    const valued = seen[who].map((deal) => Number(deal.split(" ")[1])).filter((value) => !Number.isNaN(value));
    const [summed] = (await get("/core/dbs/deals/aggregate?sum=value")).json;
    expect([summed.count, summed.sum.value ?? 0]).toEqual([
      valued.length,
      valued.reduce((sum, value) => sum + value, 0),
    ]);
    const best = (await get("/core/dbs/deals/search?sort=-value")).json;
    expect(best.map(({ value }: Deal) => value)).toEqual(valued.toSorted((a, b) => b - a));
    expect((await get("/core/dbs/deals/search?q=canary*")).json).toHaveLength(isManager ? 4 : 0);
  });

  test("finds what hangs together, as far as they may see it", async () => {
    if (who === "guest") {
      for (const db of ["companies", "people", "activities"])
        expect((await get(`/core/dbs/${db}/records`)).status).toBe(403);
      return;
    }
    const linked = (await get(`/core/dbs/companies/records/${acme}/linked`)).json;
    expect(linked.find((one: { db_code: string }) => one.db_code === "deals").count).toBe(2);
    const polish = (await get("/core/dbs/deals/search?filter[company.country]=DE")).json;
    expect(shown(polish)).toEqual(isManager ? ["Lampen 500", "Regale 7777.77"] : ["Regale -"]);
    const sums = (await get("/core/dbs/companies/search?sort=name")).json;
    expect(sums.map(({ value }: Deal) => value)).toEqual([13345.5, isManager ? 8277.77 : 0]);
    const notes = await get("/core/dbs/activities/records?expand=deal");
    expect(notes.json.map((one: { expand: { deal: Deal } }) => one.expand.deal.name).toSorted()).toEqual([
      "Regale",
      "Stühle",
    ]);
    expect(notes.text.includes("canary")).toBe(isManager);
  });

  test("changes what is theirs", async () => {
    const deal = (await app.get("/core/dbs/deals/search?filter[name]=Tische")).json[0].id;
    const change = (data: object) =>
      app.patch(`/core/dbs/deals/records/${deal}`, { record: { data } }, { token: people[who].token });
    expect((await change({ closes: "2026-01-16" })).status).toBe(who === "guest" ? 403 : 200);
    expect((await change({ owner: "eva" })).status).toBe(isManager ? 200 : 403);
    await app.patch(`/core/dbs/deals/records/${deal}`, { record: { data: { owner: "jan" } } });
    const history = await get(`/core/dbs/deals/records/${deal}/history`);
    expect([history.status, history.json.length > 0, history.text.includes("canary")]).toEqual([200, true, isManager]);
  });
});
