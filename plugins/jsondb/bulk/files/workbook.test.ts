import { describe, expect, test } from "bun:test";
import { rowsXml, workbook, zip, type WorkbookParts } from "../../../../tests/fixtures/workbook.ts";
import { previewOf } from "./preview.ts";
import { openWorkbook } from "./workbook.ts";
import { openArchive } from "./zip.ts";
import type { Cell } from "./cells.ts";

async function cellsOf(parts: WorkbookParts, sheet?: string): Promise<(readonly Cell[])[]> {
  const book = await openWorkbook(workbook(parts));
  const rows = (await Array.fromAsync(book.rows(book.sheetNamed(sheet)))).flat();
  return rows.map(({ cells }) => cells);
}

/** The cells of one row: each the XML of what stands in `c`, with its attributes. */
async function row(cells: readonly string[], more: Partial<WorkbookParts> = {}): Promise<readonly Cell[]> {
  const [found = []] = await cellsOf({ sheets: [{ rows: `<row r="1">${cells.join("")}</row>` }], ...more });
  return found;
}

const preview = (bytes: Uint8Array, more: object = {}) =>
  previewOf(bytes, true, { locale: "en", timeZone: "UTC", ...more });

describe("the cells of a workbook", () => {
  test("are shared and inline strings, also of several parts, without phonetic hints", async () => {
    const sharedStrings = ["<t>plain</t>", "<r><t>a </t></r><r><t>b</t></r><rPh><t>hint</t></rPh>", "<t>x_x000D_y</t>"];
    const cells = ["0", "1", "2"].map((at) => `<c t="s"><v>${at}</v></c>`);
    expect(await row([...cells, '<c t="inlineStr"><is><t> in &amp; line </t></is></c>'], { sharedStrings })).toEqual([
      "plain",
      "a b",
      "x\ry",
      " in & line ",
    ]);
  });

  test("are numbers as they are shown, booleans, errors and the values of formulas", async () => {
    const cells = [
      "<c><v>4.5999999999999996</v></c>",
      "<c><v>1E3</v></c>",
      '<c t="b"><v>1</v></c>',
      '<c t="e"><v>#N/A</v></c>',
      '<c t="str"><f>A1&amp;"x"</f><v>ax</v></c>',
      "<c><f>SUM(A1:A2)</f><v>7</v></c>",
      "<c/>",
      "<c><v>1</v></c>",
    ];
    expect(await row(cells)).toEqual([["4.6"], ["1000"], ["true"], "#N/A", "ax", ["7"], null, ["1"]]);
  });

  test("are days, times, percentages and amounts by their style", async () => {
    const formats = [
      "dd\\.mm\\.yyyy",
      "yyyy-mm-dd hh:mm",
      "hh:mm:ss",
      "[h]:mm",
      "0.0%",
      '#,##0.00\\ "zł"',
      "[$€-407] #,##0.00",
      '0 "days"',
      "mmm yy",
      "[Red]0.00;-0.00",
    ];
    const values = ["46053", "46053.5", "0.75", "1.5", "0.256", "12.5", "3", "4", "46053", "5"];
    expect(
      await row(
        values.map((value, at) => `<c s="${at + 1}"><v>${value}</v></c>`),
        { formats },
      ),
    ).toEqual([
      "2026-01-31",
      "2026-01-31T12:00:00",
      "18:00:00",
      "36:00:00",
      ["25.6%"],
      ["12.5 PLN"],
      ["3 EUR"],
      ["4"],
      "2026-01-31",
      ["5"],
    ]);
  });

  test("are days of the calendar that begins with 1904, and of the first weeks of 1900", async () => {
    const formats = ["yyyy-mm-dd"];
    expect(await row(['<c s="1"><v>44591</v></c>'], { formats, date1904: true })).toEqual(["2026-01-31"]);
    expect(await row(['<c s="1"><v>1</v></c>', '<c s="1"><v>61</v></c>'], { formats })).toEqual([
      "1900-01-01",
      "1900-03-01",
    ]);
  });

  test("stand where their reference says, and without one after the other", async () => {
    expect(await row(['<c r="B1"><v>1</v></c>', '<c r="AA1"><v>2</v></c>'])).toEqual([
      null,
      ["1"],
      ...Array.from({ length: 24 }, () => null),
      ["2"],
    ]);
  });

  test("of a merged area stand in its first cell", async () => {
    const after = '<mergeCells count="1"><mergeCell ref="A1:B1"/></mergeCells>';
    const rows = '<row r="1"><c r="A1"><v>1</v></c><c r="B1"/></row>';
    expect(await cellsOf({ sheets: [{ rows, after }] })).toEqual([[["1"]]]);
  });

  test("have a prefix of their namespace where the program writes one", async () => {
    const rows = '<x:row r="1"><x:c r="A1" t="n"><x:v>1</x:v></x:c></x:row>';
    expect(await cellsOf({ sheets: [{ rows }] })).toEqual([[["1"]]]);
  });
});

describe("the preview of a workbook", () => {
  const sheets = [
    { name: "Hidden", hidden: true, rows: rowsXml([["secret"]]) },
    { name: "Orders", rows: rowsXml([["Report"], [], ["Name", "Price"], ["Chair", 1.234], ["Table", 2]]) },
    { name: "Notes", rows: rowsXml([["Text"], ["x"]]) },
  ];

  test("shows its first visible sheet, or the one that is named", async () => {
    const found = await preview(workbook({ sheets }));
    expect(found).toMatchObject({
      format: "xlsx",
      encoding: null,
      delimiter: null,
      sheets: ["Hidden", "Orders", "Notes"],
      sheet: "Orders",
      header_row: 3,
      rows: 2,
    });
    expect(found.columns.map(({ name, type, doubtful }) => [name, type, doubtful])).toEqual([
      ["Name", "string", []],
      ["Price", "number", []],
    ]);
    expect((await preview(workbook({ sheets }), { sheet: "Notes" })).columns).toMatchObject([{ name: "Text" }]);
    expect(preview(workbook({ sheets }), { sheet: "Prices" })).rejects.toThrow('"Hidden", "Orders", "Notes"');
  });

  test("names the columns of a header of two rows whose cells are merged", async () => {
    const rows = rowsXml([
      ["Name", "Address", null, "Note"],
      [null, "Street", "Town"],
      ["A", "x", "Ulm", "p"],
      ["B", "y", "Bonn", "q"],
    ]);
    const after = '<mergeCells count="2"><mergeCell ref="A1:A2"/><mergeCell ref="B1:C1"/></mergeCells>';
    const found = await preview(workbook({ sheets: [{ rows, after }] }));
    expect([found.header_row, found.rows, found.columns.map(({ name }) => name), found.errors]).toEqual([
      2,
      2,
      ["Name", "Street", "Town", "Note"],
      [],
    ]);
  });

  test("reads percentages beside plain numbers, and shows a formula that has no value", async () => {
    const rows =
      rowsXml([["Rate", "Sum"]]) +
      '<row r="2"><c r="A2" s="1"><v>0.25</v></c><c r="B2"><f>A2*2</f><v>0.5</v></c></row>' +
      '<row r="3"><c r="A3"><v>0.5</v></c><c r="B3"><f>A3*2</f><v></v></c></row>' +
      '<row r="4"><c r="A4"><v>1</v></c><c r="B4" t="str"><f>""</f><v></v></c></row>';
    const found = await preview(workbook({ sheets: [{ rows }], formats: ["0%"] }));
    expect(found.columns.map(({ type, empty, samples }) => [type, empty, samples])).toEqual([
      ["number", 0, ["25%", "0.5", "1"]],
      ["string", 1, ["0.5", "=A3*2"]],
    ]);
  });

  test("says which other sheets there are if the first has no rows", async () => {
    const empty = workbook({
      sheets: [
        { name: "Info", rows: "" },
        { name: "Data", rows: rowsXml([["a"], ["x"]]) },
      ],
    });
    expect(preview(empty)).rejects.toThrow('has no rows in its sheet "Info": say by `sheet` which of "Data" to read');
    expect((await preview(empty, { sheet: "Data" })).rows).toBe(1);
  });

  const bomb = { "xl/workbook.xml": "", "xl/_rels/workbook.xml.rels": new Uint8Array(310_000_000).fill(0x20) };
  const wide = '<row r="1"><c r="XFE1"><v>1</v></c></row>';
  const files: [string, () => Uint8Array, string][] = [
    ["a Word document", () => zip({ "word/document.xml": "<w/>" }), "Word document"],
    ["a binary workbook", () => zip({ "xl/workbook.bin": "x" }), "save it as XLSX"],
    ["another archive", () => zip({ "a.csv": "a,b" }), "ZIP archive"],
    ["an encrypted archive", () => zip({ "xl/workbook.xml": "x" }, 1), "password"],
    ["an old workbook", () => ole("Workbook"), "old Excel file"],
    ["a workbook with a password", () => ole("EncryptedPackage"), "password"],
    ["one that is cut off", () => workbook({ sheets }).slice(0, -30), "damaged"],
    ["one that is no XML", () => zip({ "xl/workbook.xml": "x", "xl/_rels/workbook.xml.rels": "<a" }), "damaged"],
    ["one without sheets", () => workbook({ sheets: [] }), "without a sheet"],
    ["one that unpacks to more than 300 MB", () => zip(bomb), "unpacks to more than 300 MB"],
    [
      "16,384 columns",
      () => workbook({ sheets: [{ rows: rowsXml([Array.from({ length: 16_384 }, (_, at) => `c${at}`)]) }] }),
      "16384 columns, and at most 1000",
    ],
    ["one of more than 16,384 columns", () => workbook({ sheets: [{ rows: wide }] }), "16384 columns"],
    [
      "one with a document type",
      () => zip({ "xl/workbook.xml": "x", "xl/_rels/workbook.xml.rels": "<!DOCTYPE a><a/>" }),
      "document type",
    ],
  ];
  test.each(files)("refuses %s", async (_, make, message) => {
    expect(preview(make())).rejects.toThrow(message);
  });
});

test("an archive is read no further than its limit, whatever it says of its sizes", async () => {
  const bytes = zip({ a: new Uint8Array(2_000_000) });
  const view = new DataView(bytes.buffer);
  const at = bytes.length - 22 - 47;
  expect(view.getUint32(at, true)).toBe(0x02014b50);
  view.setUint32(at + 24, 10, true);
  expect(Array.fromAsync(openArchive(bytes, 1_000_000).read("a"))).rejects.toThrow("more than 1 MB");
});

/** The head of a compound file, with a name in its directory. */
function ole(name: string): Uint8Array {
  const head = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ...Array.from({ length: 504 }, () => 0)];
  return Uint8Array.from([...head, ...Array.from(name).flatMap((letter) => [letter.charCodeAt(0), 0])]);
}
