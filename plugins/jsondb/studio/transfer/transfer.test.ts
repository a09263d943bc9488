/** What imports and exports decide in the browser: rows of files, how cells are read, and what is told of tasks. */
import { describe, expect, test } from "bun:test";
import { parseJson } from "studio/exact";
import { rowsXml, workbook } from "../../../../tests/fixtures/workbook.ts";
import { csvOfFaults, reportOf } from "./faults.ts";
import { numberLike, previewOf, readCell, type Format, type Preview } from "./preview.ts";
import { bodyOf, rowsOf, someRows, type FileRow } from "./rows.ts";
import { shareOf, taskOf, tasksOf } from "./tasks.ts";

const shape = (names: string, more: Partial<Preview>): Preview => ({
  format: "csv",
  encoding: "utf-8",
  delimiter: ";",
  sheets: [],
  sheet: undefined,
  headerRow: 1,
  rows: 0,
  isComplete: true,
  columns: names
    .split(" ")
    .map((name) => ({ name, field: name, type: "string", format: {}, values: [], doubtful: [] })),
  ...more,
});
const all = async (file: BlobPart, preview: Preview) => {
  const rows: FileRow[] = [];
  for await (const row of rowsOf(new Blob([file]), preview)) rows.push(row);
  return rows;
};

describe("the rows of a file", () => {
  test("have the numbers of the server, below the row of the names", async () => {
    const rows = await all(
      'Export\r\n\r\nname;city\r\n"A;\nnn";Łódź\r\n\r\n;;\r\nBob\r\n',
      shape("name city", { headerRow: 3 }),
    );
    expect(rows).toEqual([
      { row: 1, line: 4, cells: { name: "A;\nnn", city: "Łódź" } },
      { row: 2, line: 8, cells: { name: "Bob", city: "" } },
    ]);
  });

  test("are read in the encoding that the server has found", async () => {
    const bytes = Buffer.from("name\r\nCafé", "latin1");
    expect(await all(bytes, shape("name", { encoding: "windows-1252" }))).toEqual([
      { row: 1, line: 2, cells: { name: "Café" } },
    ]);
  });

  test("of a workbook are those of its sheet", async () => {
    const sheets = [
      { rows: rowsXml([["x"]]) },
      {
        name: "Two",
        rows: rowsXml([
          ["name", "n"],
          ["Ann", 4],
        ]),
      },
    ];
    const rows = await all(workbook({ sheets }), shape("name n", { format: "xlsx", sheet: "Two" }));
    expect(rows).toEqual([{ row: 1, line: 2, cells: { name: "Ann", n: "4" } }]);
  });

  test.each(["json", "ndjson"] as const)("of %s keep their values", async (format) => {
    const digits = "1234567890123456789012345678901234567890";
    const text = `{"order":${digits},"deep":{"x":1},"age":"old"}`;
    const [row] = await all(format === "json" ? `[${text}]` : `${text}\n`, shape("order deep age", { format }));
    const fields = ["order", "deep", "age"].map((name) => ({ column: name, field: `the_${name}` }));
    const { body } = bodyOf([{ source: row, typed: { the_age: "41" } }], fields, true);
    expect(body).toBe(`[{"the_order":${digits},"the_deep":{"x":1},"the_age":"41"}]`);
    expect(parseJson(body)).toHaveLength(1);
  });

  test("are the first and the wanted ones", async () => {
    const text = "name\na\nb\nc\nd\ne\nf";
    expect([...(await someRows(new Blob([text]), shape("name", {}), 2, [5])).keys()]).toEqual([1, 2, 5]);
  });

  test("that were mended are sent by the names of fields", () => {
    const source = { row: 3, cells: { Name: 'x "y"', Ort: "Wien", Rest: "-" } };
    const fields = [
      { column: "Name", field: "name" },
      { column: "Ort", field: "city" },
    ];
    const { body, format } = bodyOf([{ source, typed: { city: "", vat: "7" } }], fields, false);
    expect([format, body]).toEqual(["csv", '"name","city","vat"\r\n"x ""y""",,"7"']);
  });
});

describe("a cell", () => {
  const de: Format = { decimal: ",", thousands: "." };
  test.each<[string, "number" | "integer" | "boolean" | "date" | "string", Format, unknown]>([
    ["1.234,56", "number", de, 1234.56],
    ["1 299,00 zł", "number", { decimal: ",", thousands: " ", currency: "PLN" }, 1299],
    ["12,5 %", "number", { decimal: ",", kind: "percent" }, 0.125],
    ["-1,234.5", "number", { decimal: ".", thousands: "," }, -1234.5],
    ["1.5", "number", { decimal: ",", thousands: "" }, undefined],
    ["auf Anfrage", "number", de, undefined],
    ["1.234", "integer", { thousands: "." }, 1234],
    ["1,5", "integer", de, undefined],
    ["JA", "boolean", { true: "ja", false: "nein" }, true],
    ["x", "boolean", {}, undefined],
    ["3.4.2026", "date", { date_order: "dmy" }, "2026-04-03"],
    ["3/4/2026", "date", { date_order: "mdy" }, "2026-03-04"],
    ["2026-04-03", "date", { date_order: "dmy" }, "2026-04-03"],
    ["31.11.2026", "date", { date_order: "dmy" }, undefined],
    ["x", "string", {}, "x"],
  ])("%j as %s in %j is %j", (value, type, format, read) => {
    expect(readCell(value, type, format)).toEqual(read);
  });

  test.each([
    [{ decimal: ",", thousands: "." }, "1.234,56"],
    [{ thousands: "." }, "1.234,56"],
    [{ decimal: "." }, "1234.56"],
  ])("in %j looks like %s", (format, like) => {
    expect(numberLike(format, "number")).toBe(like);
  });
});

test("what is no preview is none", () => {
  expect([{}, null, { format: "pdf" }].map(previewOf)).toEqual([undefined, undefined, undefined]);
});

describe("a task", () => {
  const json = {
    id: "1",
    kind: "update",
    status: "running",
    done: 5,
    total: 20,
    stored: 4,
    failed: 1,
    error: null,
    started_at: "x",
    finished_at: null,
    undo_id: null,
  };
  test("is read, and anything else is not", () => {
    expect(taskOf(json)).toEqual({ ...json, kind: "update", status: "running" } as const);
    expect(tasksOf([json, { ...json, kind: "other" }, { ...json, status: "waiting" }, null, "x"])).toHaveLength(1);
    expect(tasksOf({ error: "x" })).toEqual([]);
  });
  test.each([
    [5, 20, 0.25],
    [0, 0, 1],
    [30, 20, 1],
    [5, null, undefined],
  ])("of %j of %j is at %j", (done, total, share) => {
    const task = taskOf({ ...json, done, total });
    expect(task && shareOf(task)).toBe(share);
  });
  test("gives its mistakes as CSV, without formulas", () => {
    const faults = [
      { row: 2, line: 3, field: "=cmd", message: 'say "x"' },
      { row: 4, line: undefined, id: "7", field: null, message: "is required" },
    ];
    expect(csvOfFaults(faults)).toBe(
      '"row","line","id","field","fault"\r\n"2","3",,"\'=cmd","say ""x"""\r\n"4",,"7",,"is required"',
    );
  });
});

test.each([
  [{ imported: 2 }, { imported: 2, failed: 0, total: 2, faults: [] }],
  [
    { errors: [{ row: 3, line: 4, field: null, message: "m" }], failed: 1, total: 2 },
    { imported: 0, failed: 1, total: 2, faults: [{ row: 3, line: 4, field: null, message: "m" }] },
  ],
  [{ error: "busy" }, undefined],
  ["", undefined],
])("an answer %j", (json, report) => {
  expect(reportOf(json)).toEqual(report);
});
