import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { person, startTestApp, type TestApp } from "../../../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const send = (body: BodyInit, query = "", type = "text/csv", token?: string) =>
  app.post(`/core/dbs/import/preview${query}`, undefined, {
    raw: body,
    headers: { "content-type": type },
    ...(token !== undefined && { token }),
  });

describe("the preview of a file", () => {
  test("shows its columns, whatever its type is called", async () => {
    const answer = await send("Nazwa;Cena\r\nKrzesło;1 299,00 zł\r\nStół;2 450,50 zł\r\n", "", "application/pdf");
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        format: "csv",
        encoding: "utf-8",
        delimiter: ";",
        sheets: [],
        sheet: null,
        header_row: 1,
        rows: 2,
        complete: true,
        columns: [
          {
            name: "Nazwa",
            field: "nazwa",
            type: "string",
            format: {},
            empty: 0,
            samples: ["Krzesło", "Stół"],
            values: ["Krzesło", "Stół"],
            doubtful: [],
          },
          {
            name: "Cena",
            field: "cena",
            type: "number",
            format: { decimal: ",", thousands: " ", kind: "money", currency: "PLN" },
            empty: 0,
            samples: ["1 299,00 zł", "2 450,50 zł"],
            values: ["1 299,00 zł", "2 450,50 zł"],
            doubtful: [],
          },
        ],
        errors: [],
      },
    ]);
  });

  test("compares the file with a database of the account", async () => {
    const schema = { fields: { first_name: "string", age: "integer" } };
    await app.post("/core/dbs.json", { db: { name: "People", code: "people", schema } });
    const answer = await send("First name,Age,Note\nAnn,34,x\n", "?db=people");
    expect(answer.json.columns.map(({ field }: { field: string | null }) => field)).toEqual([
      "first_name",
      "age",
      null,
    ]);
    expect((await send("a\n1\n", "?db=nowhere")).status).toBe(404);
    expect((await send("a\n1\n", "?db=people&table_name=x")).status).toBe(422);
  });

  test("reads a new column as the kind that somebody says, and names what does not fit", async () => {
    const file = 'no,paid,tags,mail\n1,1234.5,"a, B",x@example.com\n2,x,"b",y\n';
    const formats = {
      paid: { type: "number", kind: "money", currency: "EUR" },
      tags: { type: "list", kind: "choice" },
      mail: { type: "string", kind: "email" },
    };
    const { json } = await send(file, `?${new URLSearchParams({ formats: JSON.stringify(formats) })}`);
    expect(json.columns.slice(1)).toMatchObject([
      {
        type: "number",
        format: { decimal: ".", kind: "money", currency: "EUR" },
        doubtful: [{ row: 2, value: "x", why: expect.stringContaining("is no number") }],
      },
      { type: "list", format: { kind: "choice" }, values: ["a", "B"], doubtful: [] },
      { type: "string", doubtful: [{ row: 2, value: "y", why: expect.stringContaining("e-mail") }] },
    ]);
    const schema = { fields: { paid: "integer" } };
    await app.post("/core/dbs.json", { db: { name: "Paid", code: "paid", schema } });
    for (const [db, format] of [
      ["", { type: "date", kind: "money" }],
      ["&db=paid", { type: "date" }],
    ] as const) {
      const query = `?${new URLSearchParams({ formats: JSON.stringify({ paid: format }) })}${db}`;
      expect([(await send(file, query)).status, (await send(file, query)).json]).toEqual([
        422,
        { formats: [expect.stringContaining('"paid"')] },
      ]);
    }
    const mapping = `?${new URLSearchParams({ formats: '{"paid":{"type":"date"}}' })}`;
    const raw = { raw: "paid\n1\n", headers: { "content-type": "text/csv" } };
    expect((await app.post(`/core/dbs/paid/import${mapping}`, undefined, raw)).json).toEqual({
      formats: ['"paid".type: the field "paid" is of the type integer'],
    });
  });

  test("looks at the first 5 MB of a long file", async () => {
    const answer = await send(
      `name,n\n${"x".repeat(100)},1\n`.repeat(1).concat(`${"y".repeat(100)},2\n`.repeat(120_000)),
    );
    expect([answer.status, answer.json.complete, answer.json.header_row]).toEqual([200, false, 1]);
    expect(answer.json.rows).toBeGreaterThan(40_000);
    expect(answer.json.columns[1]).toMatchObject({ type: "integer", doubtful: [] });
  });

  const refused: [string, BodyInit, string, number, object][] = [
    ["an empty file", "", "", 422, { file: ["is empty"] }],
    ["blank lines alone", "\n\n  \n", "", 422, { file: ["is empty"] }],
    ["a page", "<!DOCTYPE html><html></html>", "", 422, { file: [expect.stringContaining("is HTML")] }],
    ["a PDF", "%PDF-1.7\n", "", 422, { file: [expect.stringContaining("is a PDF")] }],
    ["one JSON object", '{\n  "a": 1\n}', "", 422, { file: [expect.stringContaining("row 1")] }],
    ["an unknown encoding", "a\n", "?encoding=ebcdic", 400, { error: expect.stringContaining("`encoding`") }],
    ["a wrong separator", "a\n", "?separator=x", 400, { error: expect.stringContaining("`separator`") }],
    ["a wrong row of the header", "a\n", "?header_row=x", 400, { error: expect.stringContaining("`header_row`") }],
    ["a row that is not there", "a\n1\n", "?header_row=9", 422, { header_row: [expect.stringContaining("row 9")] }],
    ["a sheet of a text", "a\n1\n", "?sheet=x", 422, { sheet: [expect.stringContaining("workbooks")] }],
    [
      "too many columns",
      `${Array.from({ length: 1001 }, (_, at) => `c${at}`).join(",")}\n`,
      "",
      422,
      { file: [expect.stringContaining("1001 columns")] },
    ],
  ];
  test.each(refused)("refuses %s", async (_, body, query, status, answer) => {
    const found = await send(body, query);
    expect([found.status, found.json]).toEqual([status, answer]);
  });

  test("is for people with the privilege `dbs`", async () => {
    const { token } = await person(app, { role: "guest" });
    expect((await send("a\n1\n", "", "text/csv", token)).status).toBe(403);
  });
});
