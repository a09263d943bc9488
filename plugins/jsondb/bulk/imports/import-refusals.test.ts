import { describe, expect, test } from "bun:test";
import { person } from "../../../../tests/harness.ts";
import { csv, importServer, json, tables } from "../../../../tests/fixtures/import.ts";

const server = importServer({ followed: true });
const { data, imports, newDb, records, send } = server;

describe("an import with bad rows", () => {
  const body = `email,age\n${Array.from({ length: 150 }, (_, at) => `,${at}`).join("\n")}\nok@x.pl,1\nbad@x.pl,x\n`;

  test("stores nothing, tells of the first hundred and counts all", async () => {
    const db = await newDb();
    const answer = await send(db, csv, body);
    expect(answer.status).toBe(422);
    expect(answer.json.errors).toHaveLength(100);
    expect(answer.json.errors[0]).toEqual({ row: 1, line: 2, field: "email", message: "is required" });
    expect([answer.json.failed, answer.json.total]).toEqual([151, 152]);
    expect(await data(db)).toEqual([]);
    expect(await imports()).toBe(0);
  });

  test("stores the good ones where that is asked for", async () => {
    const db = await newDb();
    const answer = await send(db, csv, body, "?partial=true");
    expect([answer.status, answer.json.imported, answer.json.failed, answer.json.total]).toEqual([200, 1, 151, 152]);
    expect(answer.json.errors).toHaveLength(100);
    expect(await data(db)).toEqual([{ email: "ok@x.pl", age: 1 }]);
    const good = await send(db, csv, "email\na\n", "?partial=true");
    expect([good.status, good.json]).toEqual([201, { imported: 1, failed: 0, total: 1, errors: [] }]);
  });

  const rows: [string, string, string | null, string][] = [
    ["too few cells", "a", null, "1 cells where the header has 2"],
    ["too many cells", "a,1,2", null, "3 cells"],
    ["text after a quote", '"a"b,1', null, "closing quote"],
    ["a NUL", "a\0,1", "email", "cannot be stored"],
    ["no whole number", "a,1.5", "age", "whole number"],
    ["a number beyond 2^63", "a,9223372036854775808", "age", "2^63"],
    ["a value that is too large", `${"x".repeat(2_000_001)},1`, "data", "at most"],
  ];
  for (const [what, row, field, message] of rows) {
    test(`names the row that is wrong: ${what}`, async () => {
      const db = await newDb();
      const answer = await send(db, csv, `email,age\nok,1\n${row}\nok,2\n`);
      expect(answer.json).toMatchObject({ failed: 1, total: 3, errors: [{ row: 2, line: 3, field }] });
      expect(answer.json.errors[0].message).toContain(message);
    });
  }

  test("reads no further than a row that never ends", async () => {
    const db = await newDb();
    const answer = await send(db, csv, `email,age\nok,1\n"${"x".repeat(5_000_000)}`, "?partial=true");
    expect(answer.status).toBe(422);
    expect(answer.json).toMatchObject({
      failed: 1,
      total: 2,
      errors: [{ row: 2, message: expect.stringContaining("quote") }],
    });
    expect(await data(db)).toEqual([]);
  });
});

describe("an import into tables", () => {
  test("goes where the query says", async () => {
    const db = await newDb(tables);
    expect((await send(db, csv, "number\n1\n2\n", "?table_name=orders")).json).toEqual({ imported: 2 });
    expect((await send(db, csv, "number\nx\n", "?table_name=orders")).status).toBe(422);
    expect(await records(db)).toMatchObject([{ table_name: "orders", data: { number: 1 } }, { table_name: "orders" }]);
  });

  test("goes where each row says, to the null table where it says nothing", async () => {
    const db = await newDb(tables);
    const rows = [
      { data: { number: 1 }, table_name: "orders" },
      { data: { name: "a" }, table_name: "lines" },
      { x: 1 },
    ];
    expect((await send(db, json, JSON.stringify(rows))).json).toEqual({ imported: 3 });
    expect((await send(db, csv, 'table_name,number,name\norders,2,\nlines,,b\n,,""\n')).json).toEqual({ imported: 3 });
    const found = (await records(db)).map(({ table_name, data: { number, name } }) => [table_name, number ?? name]);
    expect(found).toEqual([
      ["orders", 1],
      ["lines", "a"],
      [null, undefined],
      ["orders", 2],
      ["lines", "b"],
      [null, ""],
    ] as never);
  });

  test("names an unknown table, of the query or of a row", async () => {
    const db = await newDb(tables);
    const answer = await send(db, csv, "number\n1\n", "?table_name=nothing");
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["table_name"]]);
    const bad = await send(db, csv, "table_name,number\nnothing,1\n");
    expect(bad.json.errors[0]).toMatchObject({ row: 1, field: "table_name" });
  });
});

describe("an import is refused", () => {
  test("as another type, charset or separator", async () => {
    const db = await newDb();
    for (const type of ["text/plain", "application/xml", "multipart/form-data", "", "text/csv; charset=iso-8859-2"])
      expect([type, (await send(db, type, "email\na\n")).status]).toEqual([type, 415]);
    expect((await send(db, csv, "email\na\n", "?separator=x")).status).toBe(400);
  });

  test("where it is not UTF-8", async () => {
    const db = await newDb();
    const answer = await send(db, csv, new Uint8Array([...new TextEncoder().encode("email\n"), 0xb1, 0x0a]));
    expect([answer.status, answer.json.error]).toEqual([400, "the body is not valid UTF-8"]);
    expect((await send(db, csv, new Uint8Array([0x61, 0xc5]))).status).toBe(400);
    expect(await data(db)).toEqual([]);
  });

  test("where it is too large, whether it says so beforehand or not", async () => {
    const db = await newDb();
    const row = `${"x".repeat(1_000_000)}@x.pl\n`;
    expect((await send(db, csv, `email\n${row.repeat(51)}`)).status).toBe(413);
    let rows = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (++rows > 80) controller.close();
        else controller.enqueue(new TextEncoder().encode(rows === 1 ? "email\n" : row));
      },
    });
    expect((await send(db, csv, endless)).status).toBe(413);
    expect(await data(db)).toEqual([]);
    expect(await imports()).toBe(0);
  });

  test("without the privilege, and of an unknown database", async () => {
    const guest = await person(server.app, { role: "guest" });
    const options = { token: guest.token, raw: "email\na\n", headers: { "content-type": csv } };
    expect((await server.app.post(`/core/dbs/${await newDb()}/import`, undefined, options)).status).toBe(403);
    expect((await send("nowhere", csv, "email\na\n")).status).toBe(404);
    expect((await send("nowhere", "text/plain", "")).status).toBe(404);
  });
});
