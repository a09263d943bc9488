import { describe, expect, test } from "bun:test";
import { csv, importServer, json, ndjson, tables } from "../../../../tests/fixtures/import.ts";
import { rowsXml, workbook } from "../../../../tests/fixtures/workbook.ts";
import { bytesIn } from "../../../../tests/fixtures/encoded.ts";

const server = importServer({ followed: true });
const { data, newDb, records, send } = server;
const xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const schema = {
  fields: {
    name: "string",
    price: "number",
    bought: "date",
    seen: "datetime",
    paid: "boolean",
    tags: "list",
    rate: "number",
  },
};

const asked = (parameters: Record<string, unknown>) =>
  `?${new URLSearchParams(
    Object.entries(parameters).map(([name, value]) => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  )}`;

describe("an import with a mapping and formats", () => {
  const file =
    "Export of 1.02.2026\r\n\r\nNazwa;Cena;Kupiono;Widziano;Zapłacono;Tagi;Rabat;Uwagi\r\n" +
    "Krzesło;1 234,50 zł;03.04.2026;31.07.2026 10:00;tak;a, b;12,5%;x\r\n" +
    "Stół;-2,00 zł;4.5.2026;31.01.2026 10:00;Nie;;5 %;y\r\n";
  const mapping = {
    Nazwa: "name",
    Cena: "price",
    Kupiono: "bought",
    Widziano: "seen",
    Zapłacono: "paid",
    Tagi: "tags",
    Rabat: "rate",
    Uwagi: null,
  };
  const formats = {
    Cena: { decimal: ",", thousands: " ", currency: "PLN" },
    Kupiono: { date_order: "dmy" },
    Widziano: { date_order: "dmy", time_zone: "Europe/Warsaw" },
    Zapłacono: { true: "tak", false: "nie" },
    Tagi: {},
    Rabat: { decimal: ",", kind: "percent" },
  };
  const stored = [
    {
      name: "Krzesło",
      price: 1234.5,
      bought: "2026-04-03",
      seen: "2026-07-31T10:00+02:00",
      paid: true,
      tags: ["a", "b"],
      rate: 0.125,
    },
    { name: "Stół", price: -2, bought: "2026-05-04", seen: "2026-01-31T10:00+01:00", paid: false, rate: 0.05 },
  ];

  test("reads each column as it was shown, and leaves out what is to be left out", async () => {
    const db = await newDb(schema);
    const answer = await send(db, csv, file, asked({ mapping, formats, header_row: 3 }));
    expect([answer.status, answer.json, answer.headers.get("warning")]).toEqual([201, { imported: 2 }, null]);
    expect(await data(db)).toEqual(stored);
  });

  test("takes what the preview gave, in the encoding that it has found", async () => {
    const db = await newDb(schema);
    const bytes = Uint8Array.from(bytesIn(file.replace(/^.*?\n\r\n/s, ""), "windows-1250"));
    const preview = await server.app.post(`/core/dbs/import/preview?db=${db}`, undefined, {
      raw: bytes,
      headers: { "content-type": csv },
    });
    const { encoding, header_row, columns } = preview.json;
    expect([encoding, header_row]).toEqual(["windows-1250", 1]);
    const shown: Record<string, unknown> = Object.fromEntries(
      columns.map(({ name, format }: { name: string; format: object }) => [name, format]),
    );
    const answer = await send(db, csv, bytes, asked({ mapping, formats: { ...shown, ...formats }, header_row }));
    expect([answer.status, await data(db)]).toEqual([201, stored]);
  });

  test("counts the good and the faulty rows of a dry run, and stores nothing", async () => {
    const db = await newDb(schema);
    const bad = `${file}Lampa;1.5;x;;;;;\r\n`;
    const answer = await send(db, csv, bad, asked({ mapping, formats, header_row: 3, dry_run: true }));
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        rows: 3,
        good: 2,
        faulty: 1,
        errors: [
          { row: 3, line: 6, field: "price", message: expect.stringContaining("number") },
          { row: 3, line: 6, field: "bought", message: expect.stringContaining("date") },
        ],
      },
    ]);
    expect(await records(db)).toEqual([]);
    expect((await server.app.get(`/core/dbs/${db}/tasks.json`)).json).toEqual([]);
    const plain = await send(db, csv, "name,price\na,1\nb,x\n", "?dry_run=true");
    expect(plain.json).toMatchObject({ rows: 2, good: 1, faulty: 1 });
    expect(await records(db)).toEqual([]);
  });

  test("names the columns that go nowhere, and takes those that are named like a field", async () => {
    const db = await newDb(schema);
    const answer = await send(db, csv, "Nazwa,price,Inne\na,1,x\n", asked({ mapping: { Nazwa: "name" } }));
    expect([answer.status, answer.headers.get("warning")]).toEqual([201, expect.stringContaining("Inne")]);
    expect(await data(db)).toEqual([{ name: "a", price: 1 }]);
  });

  test("reads rows without a header by the numbers of their columns", async () => {
    const db = await newDb(schema);
    const named = { "column 1": "name", "column 3": "price" };
    await send(db, csv, "a,x,1\nb,y,2,z\n", asked({ mapping: named, header_row: 0 }));
    expect(await data(db)).toEqual([
      { name: "a", price: 1 },
      { name: "b", price: 2 },
    ]);
  });

  test("maps the keys of JSON, whose texts only have formats", async () => {
    const names = { mapping: { Nazwa: "name", Cena: "price" }, formats: { Cena: { decimal: "," } } };
    for (const [type, body] of [
      [json, '[{"Nazwa":"a","Cena":"1,5"},{"Cena":12345678901234567890.5}]'],
      [ndjson, '{"Nazwa":"a","Cena":"1,5"}\n{"Cena":12345678901234567890.5}\n'],
    ] as const) {
      const db = await newDb(schema);
      expect((await send(db, type, body, asked(names))).status).toBe(201);
      const answer = await server.app.get(`/core/dbs/${db}/export?format=ndjson`);
      expect(answer.text).toContain('"price": 1.5');
      expect(answer.text).toContain('"price": 12345678901234567890.5');
    }
  });

  const wrong: [string, Record<string, unknown>, object][] = [
    ["no JSON", { mapping: "x" }, { mapping: ["must be a JSON object of columns"] }],
    ["a field that is no name", { mapping: { a: 1 } }, { mapping: [expect.stringContaining('"a": must be the name')] }],
    ["an unknown field", { mapping: { a: "nothing" } }, { mapping: ['"a": there is no field "nothing"'] }],
    ["an unknown column", { mapping: { z: "name" } }, { mapping: ['there is no column "z"'] }],
    ["one field twice", { mapping: { a: "name", b: "name" } }, { mapping: [expect.stringContaining("already")] }],
    ["an unknown column of formats", { formats: { z: {} } }, { formats: ['there is no column "z"'] }],
    [
      "an unknown key",
      { formats: { a: { decmial: "," } } },
      { formats: [expect.stringContaining('unknown "decmial"')] },
    ],
    [
      "a wrong mark",
      { formats: { a: { decimal: ";" } } },
      { formats: [expect.stringContaining('"a".decimal: must be')] },
    ],
    [
      "one mark twice",
      { formats: { a: { decimal: ",", thousands: "," } } },
      { formats: [expect.stringContaining("thousands")] },
    ],
    ["a wrong zone", { formats: { a: { time_zone: "Mars" } } }, { formats: [expect.stringContaining("time zone")] }],
    ["a wrong currency", { formats: { a: { currency: "ABC" } } }, { formats: [expect.stringContaining("EUR")] }],
    ["a row that is not there", { header_row: 7 }, { header_row: ["there is no row 7 with a value"] }],
    ["a sheet of a text", { sheet: "x" }, { sheet: [expect.stringContaining("workbooks")] }],
  ];
  test.each(wrong)("refuses %s", async (_, parameters, answer) => {
    const db = await newDb(schema);
    const found = await send(db, csv, "a,b\n1,2\n", asked(parameters));
    expect([found.status, found.json]).toEqual([422, answer]);
    expect(await records(db)).toEqual([]);
  });

  test("wants the table of a database that has several", async () => {
    const db = await newDb(tables);
    const mapped = { mapping: { a: "number" } };
    expect((await send(db, csv, "a\n1\n", asked(mapped))).json).toEqual({ table_name: [expect.any(String)] });
    expect((await send(db, csv, "a\n1\n", asked({ ...mapped, table_name: "orders" }))).status).toBe(201);
    expect(await records(db)).toMatchObject([{ data: { number: 1 }, table_name: "orders" }]);
  });
});

describe("an import of a workbook", () => {
  const sheets = [
    { name: "Notes", rows: rowsXml([["x"]]) },
    {
      name: "Orders",
      rows:
        rowsXml([["Title"], [], ["name", "price", "bought", "rate", "more"]]) +
        '<row r="4"><c r="A4" t="inlineStr"><is><t>Chair</t></is></c><c r="B4"><v>1.234</v></c>' +
        '<c r="C4" s="1"><v>46053</v></c><c r="D4" s="2"><v>0.25</v></c><c r="E4"><v>7</v></c></row>' +
        '<row r="6"><c r="A6" t="inlineStr"><is><t>Table</t></is></c><c r="B6" t="inlineStr"><is><t>1,5</t></is></c></row>',
    },
  ];
  const body = workbook({ sheets, formats: ["dd.mm.yyyy", "0%"] });

  test("stores the values that its cells have", async () => {
    const db = await newDb(schema);
    const formats = { price: { decimal: "," } };
    const answer = await send(db, xlsx, body, asked({ sheet: "Orders", header_row: 3, formats }));
    expect([answer.status, answer.json]).toEqual([201, { imported: 2 }]);
    expect(await data(db)).toEqual([
      { name: "Chair", price: 1.234, bought: "2026-01-31", rate: 0.25, more: 7 },
      { name: "Table", price: 1.5 },
    ]);
  });

  test("names the row of the sheet that is wrong", async () => {
    const db = await newDb(schema);
    const bad = workbook({ sheets: [{ rows: rowsXml([["name", "price"], ["a", 1], [], ["b", "x"]]) }] });
    const answer = await send(db, xlsx, bad);
    expect([answer.status, answer.json]).toEqual([
      422,
      {
        errors: [{ row: 2, line: 4, field: "price", message: '"x" is no number: a number like 1234.50 is expected' }],
        failed: 1,
        total: 2,
      },
    ]);
  });

  test("refuses another file by that name, and a workbook by another", async () => {
    const db = await newDb(schema);
    expect((await send(db, xlsx, "a,b\n1,2\n")).json).toEqual({ file: ["is no workbook (XLSX)"] });
    expect((await send(db, csv, body, "?header_row=1")).json).toEqual({ file: [expect.stringContaining("workbook")] });
    expect((await send(db, xlsx, body, "?sheet=Prices")).json).toEqual({
      sheet: [expect.stringContaining('"Notes", "Orders"')],
    });
  });
});
