/** Imports of files as people write them: what is ambiguous, what choices are called, and what goes nowhere. */
import { describe, expect, test } from "bun:test";
import { csv, importServer, json } from "../../../../tests/fixtures/import.ts";
import { rowsXml, workbook } from "../../../../tests/fixtures/workbook.ts";

const server = importServer({ followed: true });
const { data, newDb, send } = server;
const xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const asked = (parameters: object) =>
  `?${new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, JSON.stringify(value)]))}`;

describe("the decimals of a column", () => {
  const schema = { fields: { name: "string", price: "number", count: "integer" } };
  const why = (text: string, row: number, comma: string) =>
    `"${text}" can be read as ${Number(text)} or as ${Number(text.replace(".", ""))}, because row ${row} has "${comma}": say by \`formats\` how the column is written`;

  const mixed: [string, string, [number, string][]][] = [
    ["a comma after it", "name;price\na;1.234\nb;1,5\nc;1.5\n", [[1, why("1.234", 2, "1,5")]]],
    ["a comma before it", "name;price\na;1,5\nb;-1.234\nc;7\n", [[2, why("-1.234", 1, "1,5")]]],
    ["groups", "name;price\na;1.234.567\nb;1.234\nc;0.123\n", [[2, why("1.234", 1, "1.234.567")]]],
    ["groups of whole numbers", "name;count\na;1.000\nb;7\nc;2.345.678\n", [[1, why("1.000", 3, "2.345.678")]]],
    [
      "a comma in both columns",
      "name;price;count\na;1.234;5.000\nb;1,5;5,0\n",
      [
        [1, why("1.234", 2, "1,5")],
        [1, why("5.000", 2, "5,0")],
      ],
    ],
  ];
  test.each(mixed)("make a number with a point doubtful beside %s", async (_, body, faults) => {
    const db = await newDb(schema);
    const answer = await send(db, csv, body);
    expect([answer.status, answer.json.errors.map(({ row, message }: Fault) => [row, message])]).toEqual([422, faults]);
    expect(await data(db)).toEqual([]);
    const rows = new Set(faults.map(([row]) => row)).size;
    const total = body.trim().split("\n").length - 1;
    const dry = await send(db, csv, body, "?dry_run=true");
    expect(dry.json).toMatchObject({ rows: total, good: total - rows, faulty: rows });
  });

  test("of a partial import leave only the doubtful rows out, which its task names", async () => {
    const db = await newDb({ fields: { name: { type: "string", unique: true }, price: "number" } });
    const body = "name;price\na;1.234\nb;1.5\nc;1,5\nd;x\ne;2.000\nd;3\n";
    const answer = await send(db, csv, body, "?partial=true");
    expect([answer.status, answer.json.imported, answer.json.failed, answer.json.total]).toEqual([200, 3, 3, 6]);
    expect(await data(db)).toEqual([
      { name: "b", price: 1.5 },
      { name: "c", price: 1.5 },
      { name: "d", price: 3 },
    ]);
    const task = await server.app.get(`/core/dbs/${db}/tasks/${answer.headers.get("x-task-id")}.json`);
    expect(task.json).toMatchObject({ stored: 3, failed: 3 });
    expect(task.json.errors.map(({ row, line }: Fault) => [row, line])).toEqual([
      [4, 5],
      [1, 2],
      [5, 6],
    ]);
  });

  test.each([
    ["points alone", "name;price;count\na;1.234;5.000\nb;12.5;7\n", ""],
    ["a format", "name;price\na;1.234\nb;1,5\n", asked({ formats: { price: { decimal: ",", thousands: "." } } })],
  ])("are sure with %s", async (_, body, query) => {
    expect((await send(await newDb(schema), csv, body, query)).status).toBe(201);
  });

  test("are looked at with a mapping that says no format, and in the texts of a workbook", async () => {
    const mapped = await send(await newDb(schema), csv, 'Cena\n1.234\n"1,5"\n', asked({ mapping: { Cena: "price" } }));
    expect([mapped.status, mapped.json.errors]).toEqual([422, [expect.objectContaining({ row: 1, field: "price" })]]);
    const rows = rowsXml([["price"], ["1.234"], ["1,5"], [1.234]]);
    const book = await send(await newDb(schema), xlsx, workbook({ sheets: [{ rows }] }));
    expect([book.status, book.json.errors]).toEqual([422, [expect.objectContaining({ row: 1, field: "price" })]]);
  });
});

interface Fault {
  row: number;
  line: number;
  message: string;
}

describe("the labels of choices", () => {
  const schema = {
    fields: {
      name: "string",
      state: {
        type: "string",
        choices: [{ value: "open", label: { en: "Open", pl: "Otwarte", de: "Offen" } }, "done"],
      },
      level: {
        type: "integer",
        choices: [
          { value: 1, label: "Low" },
          { value: 2, label: "High" },
        ],
      },
      tags: { type: "list", choices: [{ value: "vip", label: { pl: "Ważny" } }, { value: "new" }] },
      twin: {
        type: "string",
        choices: [
          { value: "a", label: "Same" },
          { value: "b", label: "same" },
        ],
      },
    },
  };
  const file = 'name,state,level,tags\nx,Otwarte,High,"Ważny, new"\ny,offen,2,vip\nz,done,low,\nv,open,,\n';
  const stored = [
    { name: "x", state: "open", level: 2, tags: ["vip", "new"] },
    { name: "y", state: "open", level: 2, tags: ["vip"] },
    { name: "z", state: "done", level: 1 },
    { name: "v", state: "open" },
  ];

  test("stand for their values, in any language", async () => {
    for (const query of ["", "?header_row=1", asked({ formats: { state: {}, level: {}, tags: {} } })]) {
      const db = await newDb(schema);
      expect((await send(db, csv, file, query)).status).toBe(201);
      expect(await data(db)).toEqual(stored);
    }
  });

  test("that several choices have stand for none, and JSON has values alone", async () => {
    const db = await newDb(schema);
    const twin = await send(db, csv, "twin\nSame\n");
    expect([twin.status, twin.json.errors]).toMatchObject([422, [{ field: "twin", message: "must be one of a, b" }]]);
    expect((await send(db, json, '[{"state":"Offen"}]')).status).toBe(422);
    expect(
      (await send(db, json, '[{"State":"Offen"}]', asked({ mapping: { State: "state" }, formats: { State: {} } })))
        .status,
    ).toBe(201);
  });

  test("are shown in the preview, after the values that are no choice", async () => {
    const db = await newDb(schema);
    const raw = 'name,state,level,tags\nx,Offen,High,"Ważny,old"\ny,Offen,3,vip\nz,closed,1,new\n';
    const preview = await server.app.post(`/core/dbs/import/preview?db=${db}`, undefined, {
      raw,
      headers: { "content-type": csv },
    });
    const columns = preview.json.columns.map(({ type, doubtful }: { type: string; doubtful: object }) => [
      type,
      doubtful,
    ]);
    expect(columns).toEqual([
      ["string", []],
      [
        "string",
        [
          { row: 3, value: "closed", why: "must be one of open, done" },
          { row: 1, value: "Offen", why: 'is a label, read as "open"' },
        ],
      ],
      [
        "integer",
        [
          { row: 2, value: "3", why: "must be one of 1, 2" },
          { row: 1, value: "High", why: "is a label, read as 2" },
        ],
      ],
      ["list", [{ row: 1, value: "Ważny,old", why: "may have only vip, new" }]],
    ]);
  });
});

describe("columns that no field has the name of", () => {
  const schema = { fields: { name: "string" } };
  const warnings = async (db: string, headers: Headers) =>
    (await server.app.get(`/core/dbs/${db}/tasks/${headers.get("x-task-id")}.json`)).json.warnings;

  test("are stored by a plain import, which names them", async () => {
    for (const [type, body] of [
      [csv, "name,Note,more\na,x,1\n"],
      [json, '[{"name":"a","Note":"x","more":1}]'],
    ] as const) {
      const db = await newDb(schema);
      const { status, headers } = await send(db, type, body);
      expect([status, headers.get("warning")]).toEqual([201, expect.stringContaining("not in the schema: Note, more")]);
      expect(await warnings(db, headers)).toEqual(["stored, but not in the schema: Note, more"]);
      expect(new Set(Object.keys((await data(db))[0] ?? {}))).toEqual(new Set(["name", "Note", "more"]));
    }
  });

  test("are left out by an import with a mapping, which names them", async () => {
    const db = await newDb(schema);
    const { status, headers } = await send(db, csv, "Nazwa,Note\na,x\n", asked({ mapping: { Nazwa: "name" } }));
    expect([status, headers.get("warning")]).toEqual([201, expect.stringContaining("left out: Note")]);
    expect(await warnings(db, headers)).toEqual([expect.stringContaining("no field has such a name")]);
    expect(await data(db)).toEqual([{ name: "a" }]);
  });

  test("are kept, and not named, where the database has no fields", async () => {
    const db = await newDb(null);
    const { headers } = await send(db, csv, "name,Note\na,x\n");
    expect([headers.get("warning"), await data(db)]).toEqual([null, [{ name: "a", Note: "x" }]]);
    const preview = await server.app.post(`/core/dbs/import/preview?db=${db}`, undefined, {
      raw: "name,Note\na,x\n",
      headers: { "content-type": csv },
    });
    expect(preview.json.columns.map(({ field }: { field: string }) => field)).toEqual(["name", "Note"]);
  });

  test("of many only the first are named", async () => {
    const names = Array.from({ length: 25 }, (_, at) => `c${at}`);
    const { headers } = await send(await newDb(schema), csv, `${names.join(",")}\n${names.join(",")}\n`);
    expect(headers.get("warning")).toContain("c19 and 5 more");
  });
});

describe("a cell that is not of its field's type", () => {
  const fields = { n: "number", i: "integer", d: "date", s: "datetime", t: "time", b: "boolean" };
  const cases: [string, string, object, string][] = [
    ["d", "31/12/2025", {}, '"31/12/2025" is no date: year-month-day or day.month.year is expected'],
    ["d", "1/5/2026", {}, '"1/5/2026" can be read in two ways: year-month-day or day.month.year is expected'],
    ["d", "12/31/2025", { date_order: "dmy" }, '"12/31/2025" is no date: day.month.year is expected'],
    ["d", "31.12.2025", { date_order: "mdy" }, '"31.12.2025" is no date: month/day/year is expected'],
    ["d", "30.02.2026", { date_order: "dmy" }, '"30.02.2026" is a day that does not exist: day.month.year is expected'],
    [
      "s",
      "yesterday",
      { date_order: "ymd" },
      '"yesterday" is no date with a time: year-month-day with hour:minute is expected',
    ],
    ["t", "25:00", {}, '"25:00" is no time of day: hour:minute is expected'],
    ["n", "1,234", {}, '"1,234" can be read in two ways: a number like 1234.50 is expected'],
    ["n", "1.5", { decimal: ",", thousands: "." }, '"1.5" is no number: a number like 1.234,50 is expected'],
    ["n", "x", { decimal: ",", kind: "percent" }, '"x" is no number: a number like 1234,50% is expected'],
    [
      "n",
      "5 EUR",
      { decimal: ",", thousands: " ", currency: "PLN" },
      '"5 EUR" is no number: a number like 1 234,50 PLN is expected',
    ],
    ["i", "1.5", {}, '"1.5" is no whole number: a whole number like 1234 is expected'],
    ["b", "maybe", { true: "tak", false: "nie" }, '"maybe" is neither yes nor no: tak or nie is expected'],
    ["b", "maybe", {}, '"maybe" is neither yes nor no: true or false is expected'],
  ];
  test.each(cases)("in a column %s names %p and what is expected", async (field, cell, format, message) => {
    const db = await newDb({ fields });
    const query = Object.keys(format).length === 0 ? "" : asked({ formats: { [field]: format } });
    const answer = await send(db, csv, `${field}\n"${cell}"\n`, query);
    expect([answer.status, answer.json.errors]).toEqual([422, [{ row: 1, line: 2, field, message }]]);
  });
});
