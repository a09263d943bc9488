/** Files that are made to break an import, or broke one: each gets an error that names what, and nothing is stored. */
import { describe, expect, test } from "bun:test";
import { csv, importServer } from "../../../../tests/fixtures/import.ts";
import { rowsXml, workbook, zip } from "../../../../tests/fixtures/workbook.ts";

const server = importServer();
const xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const schema = { fields: { name: "string", note: "text", n: "integer" } };

const post = (path: string, raw: BodyInit, type = csv) =>
  server.app.post(path, undefined, { raw, headers: { "content-type": type } });

/** The answers of preview, import with a mapping, dry run and from_file. */
async function everywhere(raw: () => BodyInit, type = csv) {
  const db = await server.newDb(schema);
  const paths = [
    "/core/dbs/import/preview",
    `/core/dbs/import/preview?db=${db}`,
    `/core/dbs/${db}/import?header_row=1`,
    `/core/dbs/${db}/import?header_row=1&dry_run=true`,
    "/core/dbs/from_file?name=Hostile",
  ];
  const answers = [];
  for (const path of paths) answers.push(await post(path, raw(), type));
  return { answers, db, stored: await server.data(db) };
}

describe("a hostile file is refused by name, never with a 500", () => {
  const manyColumns = (count: number) => Array.from({ length: count }, (_, at) => `c${at}`).join(",");
  const files: [string, () => BodyInit, string, string][] = [
    ["an empty file", () => "", csv, "empty|no row 1"],
    ["a page", () => "<!doctype html>\n<table><tr><td>a</td></tr></table>", csv, "HTML"],
    ["a Word document", () => zip({ "word/document.xml": "<w/>" }), csv, "Word document|ZIP archive or a workbook"],
    ["a Word document that is called a workbook", () => zip({ "word/document.xml": "<w/>" }), xlsx, "Word document"],
    ["a workbook with a password", () => ole(), xlsx, "password"],
    ["a text that is called a workbook", () => "a,b\n1,2\n", xlsx, "no workbook|^2"],
    ["1,001 columns", () => `${manyColumns(1_001)}\n${manyColumns(1_001)}\n`, csv, "1001 columns|1000 fields"],
    ["5 MB without a line break", () => "x".repeat(5_000_000), csv, "characters|rows|^2"],
    ["a quote that is not closed", () => `name,note\n"${"x".repeat(4_500_000)}`, csv, "quote"],
    [
      "a workbook cut in half",
      () => workbook({ sheets: [{ rows: rowsXml([["a"], ["b"]]) }] }).slice(0, 700),
      xlsx,
      "damaged|ZIP",
    ],
    ["random bytes", () => Uint8Array.from({ length: 3_000 }, (_, at) => (at * 7919) % 251), csv, "^2|^4"],
  ];
  test.each(files)("%s", async (_, raw, type, said) => {
    const { answers, stored } = await everywhere(raw, type);
    for (const { status, text } of answers) {
      expect(status).toBeLessThan(500);
      expect(`${status} ${text}`).toMatch(new RegExp(said));
    }
    expect(stored).toEqual([]);
  });
});

describe("an unusual file is read", () => {
  test("with line breaks in quotes, wherever the pieces of the body end", async () => {
    const rows = Array.from({ length: 3_000 }, (_, at) => `"n${at}","line 1\r\nline ""2""\n${"ż".repeat(at % 90)}"`);
    const body = new TextEncoder().encode(`name,note\r\n${rows.join("\r\n")}\r\n`);
    for (const size of [1_021, 65_536]) {
      const db = await server.newDb(schema);
      const pieces = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < body.length; at += size) controller.enqueue(body.subarray(at, at + size));
          controller.close();
        },
      });
      const answer = await post(`/core/dbs/${db}/import?header_row=1`, pieces);
      expect([answer.status, answer.json]).toEqual([201, { imported: 3_000 }]);
      const last = await server.app.get(`/core/dbs/${db}/records.json?limit=1`);
      expect(last.json[0].data).toEqual({ name: "n2999", note: `line 1\r\nline "2"\n${"ż".repeat(2_999 % 90)}` });
    }
  });

  test("with a cell of a megabyte", async () => {
    const { answers } = await everywhere(() => `name,note\na,"${"x".repeat(1_000_000)}"\n`);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 201, 200, 201]);
  });

  test("with only a header", async () => {
    const { answers } = await everywhere(() => "name,note\n");
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 201, 200, 201]);
  });

  test("with heads that are the same, have a NUL or 300 characters, or are called id", async () => {
    const { answers } = await everywhere(
      () => `name,name,a\0b,${"x".repeat(300)},id,__proto__,constructor\n1,2,3,4,5,6,7\n`,
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 201, 200, 201]);
    const { db } = answers.at(-1)?.json ?? {};
    expect(Object.keys(db.schema.fields)).toEqual([
      "name",
      "name_2",
      "a_b",
      "x".repeat(60),
      "original_id",
      "proto",
      "constructor",
    ]);
    const [record] = (await server.app.get(`/core/dbs/${db.code}/records.json`)).json;
    expect(Object.values<number>(record.data).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test("with NULs in its cells, which are named", async () => {
    const db = await server.newDb(schema);
    const answer = await post(`/core/dbs/${db}/import?header_row=1`, "name,note\na\0b,x\n");
    expect([answer.status, answer.json.errors]).toEqual([422, [expect.objectContaining({ row: 1, field: "name" })]]);
    expect((await post("/core/dbs/import/preview", "name,note\na\0b,x\n")).status).toBe(200);
  });

  test("longer than what the preview looks at, without a fault where it stops", async () => {
    const long = "x".repeat(2_000);
    const body = `name,note,n\n${Array.from({ length: 3_000 }, (_, at) => `name ${at},${long},${at}`).join("\n")}\n`;
    const preview = await post("/core/dbs/import/preview", body);
    expect(preview.json).toMatchObject({ complete: false, errors: [] });
    const made = await post("/core/dbs/from_file?name=Long", body);
    expect([made.status, made.json.task.stored]).toEqual([201, 3_000]);
  });
});

/** The head of a compound file with the name of its encrypted part. */
function ole(): Uint8Array<ArrayBuffer> {
  const head = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ...Array.from({ length: 504 }, () => 0)];
  return Uint8Array.from([...head, ...Array.from("EncryptedPackage").flatMap((letter) => [letter.charCodeAt(0), 0])]);
}
