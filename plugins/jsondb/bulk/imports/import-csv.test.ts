import { describe, expect, test } from "bun:test";
import { csv, importServer } from "../../../../tests/fixtures/import.ts";
import { inSlices } from "./import.ts";
import { dataFromText } from "./rows.ts";
import { parseSchema } from "../../databases/schema.ts";
import type { FieldType } from "../../databases/columns.ts";

const server = importServer({ followed: true });
const { data, newDb, send } = server;

describe("an import of CSV", () => {
  test("stores each row, its cells converted by the types of the schema", async () => {
    const db = await newDb();
    const answer = await send(
      db,
      csv,
      "email,age,score,active,born,seen,at,note\r\n" +
        'ann@x.pl,34,1.5,true,2026-01-31,2026-01-31T10:00:00Z,10:00,"a, ""b""\r\nc"\r\n' +
        "bob@x.pl,9223372036854775807,-2e3,0,2024-02-29,2026-01-31 10:00,23:59:59,\r\n" +
        "cid@x.pl, +7 , .5 ,TRUE,,,,=1+1\r\n",
    );
    expect([answer.status, answer.json]).toEqual([201, { imported: 3 }]);
    expect(await data(db)).toEqual([
      {
        email: "ann@x.pl",
        age: 34,
        score: 1.5,
        active: true,
        born: "2026-01-31",
        seen: "2026-01-31T10:00:00Z",
        at: "10:00",
        note: 'a, "b"\r\nc',
      },
      {
        email: "bob@x.pl",
        age: "9223372036854775807",
        score: -2000,
        active: false,
        born: "2024-02-29",
        seen: "2026-01-31T10:00",
        at: "23:59:59",
      },
      { email: "cid@x.pl", age: 7, score: 0.5, active: true, note: "=1+1" },
    ]);
  });

  test("fills the index columns as a create does", async () => {
    const db = await newDb();
    const seen = "2026-01-31T10:00:00.123456Z";
    await send(db, csv, `email,age,seen\nann@x.pl,34,${seen}\n`);
    await server.app.post(`/core/dbs/${db}/records.json`, {
      record: { data: { email: "ann@x.pl", age: 34, seen } },
    });
    const rows = await server.app.sql`
      select idx_str_1, idx_int_1, idx_time_1::text, plan_version, rules_version, account_id from records
      where db_id = (select id from dbs where code = ${db})`;
    expect(rows[0]).toEqual(rows[1] as never);
    expect(rows[0]).toMatchObject({ idxInt1: 34, idxTime1: "2026-01-31 10:00:00.123456+00" });
    const found = await server.app.get(`/core/dbs/${db}/search.json?filter[email]=ann@x.pl&sort=-age`);
    expect(found.json).toHaveLength(2);
  });

  test("takes an empty cell as absent, and a quoted empty one as an empty text", async () => {
    const db = await newDb();
    await send(db, csv, 'email,age,note,other\nb,,"",""\na,"",,\n');
    expect(await data(db)).toEqual([{ email: "b", note: "", other: "" }, { email: "a" }]);
  });

  const forms: [string, string, string][] = [
    ["semicolons, found by the header", "email;note\na;1,5\n", ""],
    ["tabs, found by the header", "email\tnote\na\t1,5\n", ""],
    ["the separator that is asked for", 'email;"note,x"\n', "?separator=%3B"],
    ["a byte order mark", "\ufeffemail,note\na,x\n", ""],
    ["spaces around the names", "email , note\na,x\n", ""],
    ["no line break at the end", "email,note\na,x", ""],
    ["blank lines", "\nemail,note\n\na,x\n\n", ""],
    ["rows without any value, also before the header", ";;\nemail;note;\n;;\na;x;\n ; ;\n", ""],
    ["columns without a name at the end", "email,note,,\r\na,x,,\r\n", ""],
    ["columns without a name that only some rows have", "email,note\na,x,,\n", ""],
    ["the line by which Excel names the separator", "sep=;\r\nemail;note\r\na;1,5\r\n", ""],
    ["that line beside the parameter", "SEP=;\nemail;note\na;x\n", "?separator=%3B"],
    ["that line in quotes", '"sep=|"\nemail|note\na|x\n', ""],
    ["bars, found by the header", "email|note\na|1,5\n", ""],
  ];
  for (const [what, body, query] of forms) {
    test(`takes ${what}`, async () => {
      const db = await newDb();
      const answer = await send(db, csv, body, query);
      expect(answer.status).toBe(201);
      const [first] = await data(db);
      if (first) expect(first["email"]).toBe("a");
      expect(Object.keys(first ?? {}).length).toBe(answer.json.imported * 2);
    });
  }

  test("without a schema stores texts, under any name", async () => {
    const db = await newDb(null);
    await send(db, csv, 'id,__proto__,constructor,"a ""b"""\n1,2,3,4\n');
    const [row] = await server.app
      .sql`select data::text as data from records where db_id = (select id from dbs where code = ${db})`;
    expect(JSON.parse(row?.["data"])).toEqual(
      JSON.parse('{"id":"1","__proto__":"2","constructor":"3","a \\"b\\"":"4"}'),
    );
  });

  test("keeps the fields of the schema that an export has as its own, and says what it leaves out", async () => {
    const db = await newDb({ fields: { id: "integer", email: "string", created_at: "datetime" } });
    const file = "id,email,created_at,updated_at\n17,a@x.pl,2024-03-01T10:00:00Z,2024-03-02T10:00:00Z\n";
    const answer = await send(db, csv, file);
    expect(answer.status).toBe(201);
    expect(await data(db)).toEqual([{ id: 17, email: "a@x.pl", created_at: "2024-03-01T10:00:00Z" }]);
    const warning = answer.headers.get("warning");
    expect(warning).toContain("left out: updated_at:");
    expect(warning).toContain("own created_at");
    const task = await server.app.get(`/core/dbs/${db}/tasks/${answer.headers.get("x-task-id")}.json`);
    expect(task.json.warnings).toEqual([
      expect.stringContaining("updated_at"),
      expect.stringContaining("own id"),
      expect.stringContaining("own created_at"),
    ]);
    const exported = await server.app.get(`/core/dbs/${db}/export?format=csv`);
    expect(exported.text).toStartWith("id,data.id,email,data.created_at,created_at,updated_at");
    const again = await send(db, csv, exported.text);
    expect(again.headers.get("warning")).toContain("left out: id, created_at, updated_at:");
    const [first, second] = await data(db);
    expect(second).toEqual(first as never);
  });

  test("asks each row's own table for its fields", async () => {
    const schema = { tables: { orders: { fields: { id: "integer" } }, lines: { fields: { name: "string" } } } };
    const db = await newDb(schema);
    const file = "id,table_name,name,created_at,updated_at\n7,orders,,x,x\n8,lines,a,x,x\n";
    const answer = await send(db, csv, file);
    expect([answer.status, await data(db)]).toEqual([201, [{ id: 7 }, { name: "a" }]]);
    const named = await send(db, csv, "id,created_at,updated_at\n9,x,x\n", "?table_name=orders");
    expect([named.status, (await data(db)).at(-1)]).toEqual([201, { id: 9 }]);
    const row = { id: "x", data: { name: "b" }, table_name: "lines", created_at: "x" };
    const json = await send(db, "application/json", JSON.stringify([row]));
    expect(json.headers.get("warning")).toContain("left out: id, created_at:");
  });

  const headers: [string, string][] = [
    ["there is none", ""],
    ["a name is missing", "email,,age\n"],
    ["a name stands twice", "email,age,email\n"],
    ["a quote is not closed", 'email,"age\nx\n'],
    ["there are too many columns", `${Array.from({ length: 1010 }, (_, at) => `c${at}`).join(",")}\n`],
  ];
  for (const [what, body] of headers) {
    test(`is refused where the header is wrong: ${what}`, async () => {
      const answer = await send(await newDb(), csv, body);
      expect(answer.status).toBe(422);
      expect(answer.json).toMatchObject({ errors: [{ row: 0, line: 1, field: null }], failed: 1, total: 0 });
    });
  }
});

describe("an import of hostile cells", () => {
  test("refuses what is too long for its type, in no more time than any other text", async () => {
    const db = await newDb({ fields: { n: "number", i: "integer", b: "boolean", d: "datetime" } });
    const digits = "1".repeat(100_000);
    const rows = [`${digits}x,,,`, `,${digits}x,,`, `,,${digits},`, `,,,2026-01-31 ${digits}`, `${digits},,,`];
    const answer = await send(db, csv, `n,i,b,d\n${rows.join("\n")}\n`);
    expect([answer.status, answer.json.failed]).toEqual([422, rows.length]);
    expect(answer.json.errors.map(({ row, field }: { row: number; field: string }) => `${row} ${field}`)).toEqual([
      "1 n",
      "2 i",
      "3 b",
      "4 d",
      "5 n",
    ]);
    expect(answer.text.length).toBeLessThan(2_000);
  });

  test.each([
    ["12", 12],
    ["12.", 12],
    ["12.5", 12.5],
    [".5", 0.5],
    ["-1e-3", -0.001],
    [" +7 ", 7],
    ["+7615917337495251231", JSON.rawJSON("7615917337495251231")],
    [`0.${"1".repeat(997)}`, JSON.rawJSON(`0.${"1".repeat(997)}`)],
    ["1.2.3", "1.2.3"],
    ["e5", "e5"],
    [".", "."],
    [`0.${"1".repeat(999)}`, `0.${"1".repeat(999)}`],
  ])("reads what is a number and leaves what is none: case %#", (cell, value) => {
    const parsed = parseSchema({ fields: { n: "number" } });
    const table = "schema" in parsed ? parsed.schema.tables.get("") : undefined;
    expect(JSON.stringify(table && dataFromText(table, { n: cell }))).toBe(JSON.stringify({ n: value }));
  });

  const cells: [FieldType, string, unknown][] = [
    ["integer", "5.0", 5],
    ["integer", "5,00", 5],
    ["integer", "1 234", 1234],
    ["integer", "1,234,567", 1234567],
    ["integer", "9223372036854775807.0", "9223372036854775807"],
    ["integer", "1,234", "1,234"],
    ["integer", "1.23E+05", "1.23E+05"],
    ["integer", "NULL", undefined],
    ["number", "12,5", 12.5],
    ["number", "-0,234", -0.234],
    ["number", "1.234,50", 1234.5],
    ["number", "1,234.50", 1234.5],
    ["number", "1\u202f234,50", 1234.5],
    ["number", "1.234.567", 1234567],
    ["number", "1’234.5", 1234.5],
    ["number", "\u22125", -5],
    ["number", "1,234", "1,234"],
    ["number", "1,2,3", "1,2,3"],
    ["boolean", "PRAWDA", true],
    ["boolean", "f", false],
    ["boolean", "maybe", "maybe"],
    ["datetime", "2026-01-05 14:03:11 +0100", "2026-01-05T14:03:11+0100"],
    ["datetime", "2026-01-05 14:03:11 UTC", "2026-01-05T14:03:11Z"],
    ["datetime", "2026-01-05 14:03:11.123456+00", "2026-01-05T14:03:11.123456+00"],
    ["datetime", "2026-01-05 14:03:11,5", "2026-01-05T14:03:11.5"],
    ["datetime", "2026-01-05 9:05", "2026-01-05T09:05"],
    ["datetime", "2026-01-05 2:03pm", "2026-01-05T14:03"],
    ["datetime", "2026/1/5 12:03 AM", "2026-01-05T00:03"],
    ["datetime", "05.01.2026 14:03", "2026-01-05T14:03"],
    ["datetime", "2026-01-05 14:03 CET", "2026-01-05 14:03 CET"],
    ["datetime", "1/5/2026 14:03", "1/5/2026 14:03"],
    ["date", "2026-01-05 00:00:00", "2026-01-05"],
    ["date", "2026-01-05T00:00:00.000Z", "2026-01-05"],
    ["date", "5.1.2026", "2026-01-05"],
    ["date", "2026/1/5", "2026-01-05"],
    ["date", "2026-01-05 10:00", "2026-01-05 10:00"],
    ["date", "1/5/2026", "1/5/2026"],
    ["time", "9:05", "09:05"],
    ["time", "2:03 p.m.", "14:03"],
    ["time", "14:03:11.000000", "14:03:11"],
    ["time", "14:03:11.5", "14:03:11.5"],
    ["string", "5.0", "5.0"],
    ["text", "NULL", "NULL"],
  ];
  test.each(cells)("reads %s %p as programs write it", (type, cell, value) => {
    const parsed = parseSchema({ fields: { n: type } });
    const table = "schema" in parsed ? parsed.schema.tables.get("") : undefined;
    expect(table && dataFromText(table, { n: cell })["n"]).toEqual(value);
  });

  test("that come in one piece leave others their turn", async () => {
    const order: string[] = [];
    const texts = (async function* () {
      yield "x".repeat(1_000_000);
    })();
    setTimeout(() => order.push("another request"), 0);
    let length = 0;
    for await (const slice of inSlices(texts)) {
      for (const end = performance.now() + 15; performance.now() < end;);
      length += slice.length;
      order.push("rows");
    }
    expect(length).toBe(1_000_000);
    expect(order.indexOf("another request")).toBe(1);
  });
});
