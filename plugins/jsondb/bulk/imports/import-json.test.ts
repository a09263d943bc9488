import { describe, expect, test } from "bun:test";
import { importServer, json, ndjson } from "../../../../tests/fixtures/import.ts";

const server = importServer({ followed: true });
const { data, newDb, send } = server;

describe("an import of JSON", () => {
  test("stores an array of data objects, or of records as the API shows them", async () => {
    const db = await newDb();
    const rows = [
      { email: "a", age: 1, more: { deep: [1, "x"] } },
      { data: { email: "b" }, table_name: null, id: "old", created_at: "2020-01-01" },
      { email: "c", data: 1 },
    ];
    const answer = await send(db, json, ` ${JSON.stringify(rows, null, 2)}\n`);
    expect([answer.status, answer.json]).toEqual([201, { imported: 3 }]);
    expect(await data(db)).toEqual([
      { email: "a", age: 1, more: { deep: [1, "x"] } },
      { email: "b" },
      { email: "c", data: 1 },
    ]);
  });

  test("stores one value a line", async () => {
    const db = await newDb();
    const answer = await send(db, `${ndjson}; charset=utf-8`, '{"email":"a"}\r\n\n{"data":{"email":"b"}}');
    expect([answer.status, answer.json]).toEqual([201, { imported: 2 }]);
    expect(await data(db)).toEqual([{ email: "a" }, { email: "b" }]);
  });

  test("keeps texts that look like structure", async () => {
    const db = await newDb();
    const rows = ["]", "},{", '\\"', '"', "\\", "\n", "[", "{"].map((note) => ({ email: "a", note }));
    expect((await send(db, json, JSON.stringify(rows))).json).toEqual({ imported: rows.length });
    expect(await data(db)).toEqual(rows);
  });

  test("of nothing stores nothing", async () => {
    const db = await newDb();
    for (const body of ["[]", " [ ] "]) expect((await send(db, json, body)).json).toEqual({ imported: 0 });
    expect((await send(db, ndjson, "\n\n")).json).toEqual({ imported: 0 });
  });

  const broken = [
    "",
    "{}",
    '{"email":"a"}',
    "[",
    '[{"email":"a"}',
    '[{"email":"a"},]',
    '[{"email":"a"}]x',
    '[{"email":"a"}}',
    "null",
    "x",
  ];
  for (const body of broken) {
    test(`is refused where the body is no array: ${body || "nothing"}`, async () => {
      const db = await newDb();
      const answer = await send(db, json, body, "?partial=true");
      expect(answer.status).toBe(422);
      expect(answer.json.errors[0]).toMatchObject({ field: null, message: expect.stringContaining("array") });
      expect(await data(db)).toEqual([]);
    });
  }

  const rows: [string, string, string | null, string][] = [
    ["no JSON", '{"email":', null, "not valid JSON"],
    ["no object", "[1]", null, "object"],
    ["a number", "1", null, "object"],
    ["null", "null", null, "object"],
    ["a wrong type", '{"email":5}', "email", "string"],
    ["a missing field", "{}", "email", "required"],
    ["a NUL", String.raw`{"email":"a\u0000"}`, "email", "cannot be stored"],
    ["half a character", String.raw`{"email":"\ud800"}`, "email", "cannot be stored"],
    ["too deep", `{"email":"a","x":${"[".repeat(200)}${"]".repeat(200)}}`, null, "nests"],
    ["infinity", '{"email":"a","score":1e999}', "score", "number"],
    ["a table that is none", '{"data":{"email":"a"},"table_name":5}', "table_name", "string"],
    ["an unknown table", '{"data":{"email":"a"},"table_name":"x"}', "table_name", "left out"],
  ];
  for (const [what, line, field, message] of rows) {
    test(`names the row that is wrong: ${what}`, async () => {
      const db = await newDb();
      const answer = await send(db, ndjson, `{"email":"ok"}\n${line}\n{"email":"ok"}\n`);
      expect(answer.status).toBe(422);
      expect(answer.json).toMatchObject({ failed: 1, total: 3, errors: [{ row: 2, line: 2, field }] });
      expect(answer.json.errors[0].message).toContain(message);
      expect(await data(db)).toEqual([]);
    });
  }
});
