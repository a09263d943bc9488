import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminToken, person, startTestApp, type TestApp } from "../../../../tests/harness.ts";
import { openWorkbook } from "../files/workbook.ts";
import { openArchive } from "../files/zip.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { CORE_TIMEZONE: "Europe/Warsaw" } });
});
afterAll(() => app.stop());

const schema = {
  fields: {
    name: { type: "string", label: { en: "Name", pl: "Nazwa" } },
    price: { type: "number", format: "money", currency: "PLN", label: "Cena" },
    rate: { type: "number", format: "percent" },
    bought: "date",
    seen: "datetime",
    at: "time",
    paid: "boolean",
    long: "integer",
    tags: "list",
  },
};
const rows = [
  {
    name: "=1+1",
    price: 1234.5,
    rate: 0.125,
    bought: "2026-01-31",
    seen: "2026-07-31T10:00:00Z",
    at: "18:00",
    paid: true,
    long: "9007199254740993",
    tags: ["a", "b"],
    other: 5,
  },
  { name: 'a <&> "b"\u0001_x0041_', price: -2, bought: "1899-01-01", seen: "2026-01-31T10:00:00+01", paid: false },
];

let made = 0;
async function newDb(): Promise<string> {
  const { json } = await app.post("/core/dbs.json", { db: { name: `Export ${++made}`, schema } });
  for (const data of rows) await app.post(`/core/dbs/${json.code}/records.json`, { record: { data } });
  return json.code;
}

async function sheetOf(path: string) {
  const headers = { authorization: `Bearer ${adminToken}` };
  const answer = await fetch(app.origin + path, { headers });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([
    200,
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  ]);
  const bytes = await answer.bytes();
  const book = await openWorkbook(bytes);
  const found = (await Array.fromAsync(book.rows(book.sheetNamed(undefined)))).flat();
  const pieces = await Array.fromAsync(openArchive(bytes, 1e9).read("xl/worksheets/sheet1.xml"));
  return { names: book.names, cells: found.map(({ cells }) => cells), xml: Buffer.concat(pieces).toString() };
}

describe("an export for people", () => {
  test("has the columns that are asked for, in their order, and calls them by labels", async () => {
    const db = await newDb();
    const path = `/core/dbs/${db}/export?format=csv&columns=price,name,id&labels=true`;
    const [head = "", first = "", second = ""] = (await app.get(path)).text.split("\r\n");
    expect(head).toBe("Cena,Name,id");
    expect(first).toMatch(/^1234\.5,=1\+1,[0-9a-f-]{36}$/);
    expect(second).toStartWith("-2,");
    const filtered = await app.get(`/core/dbs/${db}/export?format=csv&columns=name&filter[paid]=true&sort=-price`);
    expect(filtered.text).toBe("name\r\n=1+1\r\n");
    const safe = await app.get(`/core/dbs/${db}/export?format=csv&columns=name&filter[paid]=true&spreadsheet=true`);
    expect(safe.text).toContain("\r\n'=1+1\r\n");
  });

  test("names columns that the schema does not have", async () => {
    const db = await newDb();
    const answer = await app.get(`/core/dbs/${db}/export?format=csv&columns=other,nmae`);
    expect(answer.headers.get("warning")).toContain("nmae");
    expect(answer.text).toBe("other,nmae\r\n5,\r\n,\r\n");
  });

  const wrong: [string, string, string][] = [
    ["columns of JSON", "format=json&columns=name", "`columns`, `labels` and `titles` are for csv and xlsx"],
    ["labels of NDJSON", "format=ndjson&labels=true", "`columns`, `labels` and `titles` are for csv and xlsx"],
    ["a column twice", "format=csv&columns=name,name", '`columns` names "name" twice'],
    ["another format", "format=xls", "`format` must be csv, json, ndjson or xlsx"],
  ];
  test.each(wrong)("refuses %s", async (_, query, error) => {
    const answer = await app.get(`/core/dbs/${await newDb()}/export?${query}`);
    expect([answer.status, answer.json]).toEqual([400, { error }]);
  });
});

describe("an export as a workbook", () => {
  test("has typed values, times of the account's clocks, and no formulas", async () => {
    const db = await newDb();
    const columns = "name,price,rate,bought,seen,at,paid,long,tags,other";
    const path = `/core/dbs/${db}/export?format=xlsx&labels=true&columns=${columns}`;
    const { names, cells, xml } = await sheetOf(path);
    expect(names).toEqual(["Sheet1"]);
    for (const cell of [
      '<c r="B2" s="1"><v>1234.5</v></c>',
      '<c r="C2" s="2"><v>0.125</v></c>',
      '<c r="D2" s="3"><v>46053</v></c>',
      '<c r="E2" s="4"><v>46234.5</v></c>',
      '<c r="F2" s="5"><v>0.75</v></c>',
      '<c r="G2" t="b"><v>1</v></c>',
      '<c r="J2"><v>5</v></c>',
    ])
      expect(xml).toContain(cell);
    expect(xml).not.toContain("<f");
    expect(cells).toEqual([
      ["Name", "Cena", "rate", "bought", "seen", "at", "paid", "long", "tags", "other"],
      [
        "=1+1",
        ["1234.5 PLN"],
        ["12.5%"],
        "2026-01-31",
        "2026-07-31T12:00:00",
        "18:00:00",
        ["true"],
        "9007199254740993",
        "a, b",
        ["5"],
      ],
      ['a <&> "b"\u0001_x0041_', ["-2 PLN"], null, "1899-01-01", "2026-01-31T10:00:00", null, ["false"]],
    ]);
  });

  test("has the columns of a CSV file without `columns`", async () => {
    const db = await newDb();
    const { cells } = await sheetOf(`/core/dbs/${db}/export?format=xlsx`);
    const csv = await app.get(`/core/dbs/${db}/export?format=csv`);
    expect(cells[0]?.join(",")).toBe(csv.text.split("\r\n", 1)[0] ?? "");
    expect(cells[1]?.at(-1)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/);
  });

  test("cuts a text that no program would open", async () => {
    const { json } = await app.post("/core/dbs.json", { db: { name: "Long", schema: { fields: { text: "text" } } } });
    await app.post(`/core/dbs/${json.code}/records.json`, { record: { data: { text: "x".repeat(50_000) } } });
    const { cells } = await sheetOf(`/core/dbs/${json.code}/export?format=xlsx&columns=text`);
    expect(cells[1]).toEqual([`${"x".repeat(32_766)}…`]);
  });

  test("is imported again as it was", async () => {
    const db = await newDb();
    const headers = { authorization: `Bearer ${adminToken}` };
    const path = `/core/dbs/${db}/export?format=xlsx&columns=name,price,rate,bought,paid`;
    const raw = await (await fetch(app.origin + path, { headers })).bytes();
    const { json } = await app.post("/core/dbs.json", { db: { name: "Again", schema } });
    const type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    const answer = await app.post(`/core/dbs/${json.code}/import`, undefined, {
      raw,
      headers: { "content-type": type },
    });
    expect([answer.status, answer.json]).toEqual([201, { imported: 2 }]);
    const stored = await app.get(`/core/dbs/${json.code}/records.json?sort=id`);
    expect(stored.json.map(({ data }: { data: object }) => data)).toEqual(
      rows.map(({ name, price, rate, bought, paid }) => ({ name, price, ...(rate && { rate }), bought, paid })),
    );
  });

  test("has many records, a page at a time", async () => {
    const { json } = await app.post("/core/dbs.json", { db: { name: "Many", schema: { fields: { n: "integer" } } } });
    const body = `n\n${Array.from({ length: 20_000 }, (_, at) => at).join("\n")}\n`;
    await app.post(`/core/dbs/${json.code}/import`, undefined, { raw: body, headers: { "content-type": "text/csv" } });
    const { cells } = await sheetOf(`/core/dbs/${json.code}/export?format=xlsx&columns=n`);
    expect([cells.length, cells[1], cells.at(-1)]).toEqual([20_001, [["0"]], [["19999"]]] as never);
  });
});

describe("links in an export", () => {
  const people: Record<string, string> = {};
  let order = "";
  const csvOf = async (query: string, token?: string) =>
    app.get(`/core/dbs/linked/export?format=csv&columns=no,customer,watchers&${query}`, token ? { token } : {});

  beforeAll(async () => {
    const db = (code: string, fields: object) =>
      app.post("/core/dbs", { db: { name: code, code, schema: { fields } } });
    await db("people", { name: "string", secret: "string" });
    await db("linked", {
      no: "integer",
      customer: { type: "string", link: "people", label: "Kunde" },
      watchers: { type: "list", link: "people" },
    });
    for (const name of ["=Ann", 'Bob, "B"', "Ł".repeat(1200), ""])
      people[name] = (
        await app.post("/core/dbs/people/records", { record: { data: { name, secret: "canary" } } })
      ).json.id;
    const [ann, bob, long, none] = Object.values(people);
    for (const data of [
      { no: 1, customer: ann, watchers: [bob, ann] },
      { no: 2, customer: bob, watchers: [] },
      { no: 3, customer: long, watchers: [none] },
      { no: 4 },
    ])
      order = (await app.post("/core/dbs/linked/records", { record: { data } })).json.id;
  });

  test("are ids, or with `titles` the titles of their records", async () => {
    const [ann, bob] = Object.values(people);
    expect((await csvOf("filter[no]=1")).text).toBe(`no,customer,watchers\r\n1,${ann},"[""${bob}"",""${ann}""]"\r\n`);
    expect((await csvOf("titles=true&labels=true")).text).toBe(
      [
        "no,Kunde,watchers",
        '1,=Ann,"Bob, ""B"", =Ann"',
        '2,"Bob, ""B""",',
        `3,${"Ł".repeat(1000)},${people[""]}`,
        "4,,",
        "",
      ].join("\r\n"),
    );
    expect((await csvOf("titles=true&spreadsheet=true&sort=-no&filter[no][lt]=2")).text).toContain("\r\n1,'=Ann,");
    const { cells } = await sheetOf("/core/dbs/linked/export?format=xlsx&titles=true&columns=customer,watchers");
    expect(cells.slice(0, 3)).toEqual([["customer", "watchers"], ["=Ann", 'Bob, "B", =Ann'], ['Bob, "B"']]);
  });

  test("are titles only of records, and by fields, that the caller may read", async () => {
    const who = await person(app, { role: "user" });
    const access = (grant: object) =>
      app.patch("/core/dbs/people", { db: { access: [{ to: `user:${who.id}`, may: "read", ...grant }] } });
    const shown = async () => (await csvOf("titles=true&filter[no]=1", who.token)).text.split("\r\n")[1];
    const [ann] = Object.values(people);
    await access({ where: { name: "=Ann" } });
    expect(await shown()).toBe(`1,=Ann,"${people['Bob, "B"']}, =Ann"`);
    await access({ hide: ["name"] });
    expect(await shown()).toStartWith(`1,${ann},`);
    await app.patch("/core/dbs/people", { db: { access: [] } });
    expect(await shown()).toStartWith(`1,${ann},`);
    await app.patch("/core/dbs/people", { db: { access: null } });
    expect(await shown()).toStartWith("1,=Ann,");
  });

  test("are read a page at a time", async () => {
    const data = { no: 9, customer: people["=Ann"] };
    const operations = Array.from({ length: 200 }, () => ({ op: "create", data }));
    expect((await app.post("/core/dbs/linked/batch", { operations })).status).toBe(200);
    const lines = (await csvOf("titles=true&filter[no]=9")).text.split("\r\n");
    expect(lines.filter((line) => line === "9,=Ann,")).toHaveLength(200);
  });

  test("and the columns, filters and order of a view", async () => {
    const view = {
      name: "Open",
      filters: { no: { in: [1, 2, 3] }, "customer.name": { ne: "=Ann" } },
      sort: ["-no"],
      columns: ["no", "customer", "id"],
    };
    const saved = await app.post("/core/dbs/linked/views", { view });
    const path = (more: string) => `/core/dbs/linked/export?format=csv&view=${saved.json.id}&${more}`;
    expect((await app.get(path("titles=true"))).text.split("\r\n").map((line) => line.slice(0, 8))).toEqual([
      "no,custo",
      "3,ŁŁŁŁŁŁ",
      '2,"Bob, ',
      "",
    ]);
    expect((await app.get(path("columns=no&sort=no&filter[no][gt]=1"))).text).toBe("no\r\n2\r\n3\r\n");
    expect((await app.get(path("").replace("format=csv", "format=json"))).json).toHaveLength(2);
    const any = [{ no: 2 }, { no: 3, customer: { ne: "" } }];
    const grouped = await app.post("/core/dbs/linked/views", { view: { ...view, filters: { any }, columns: ["no"] } });
    const ofGroups = path("").replace(saved.json.id, grouped.json.id);
    expect((await app.get(ofGroups)).text).toBe("no\r\n3\r\n2\r\n");
    expect((await app.get(`${ofGroups}any[0][no]=1`)).status).toBe(400);
    const who = await person(app, { role: "user" });
    expect((await app.get(path(""), { token: who.token })).status).toBe(404);
    expect((await app.get(path("").replace(saved.json.id, order))).status).toBe(404);
  });
});
