/** Reads a workbook (XLSX, ISO/IEC 29500): its sheets, and the rows of one as cells. Runs in the guarded child. */
import { SaxesParser } from "saxes";
import { type Cell, type CellRow, FileFault } from "./cells.ts";
import { styleOf, writtenAs, type Style } from "./sheet-values.ts";
import { openArchive, type Archive } from "./zip.ts";

export interface Workbook {
  readonly names: readonly string[];
  /** The first sheet that is not hidden, if no name is given. */
  sheetNamed(name: string | undefined): string;
  /** Rows with a value, many at once; `line` is the number of the row. */
  rows(sheet: string): AsyncGenerator<readonly CellRow[]>;
}

interface Sheet {
  readonly name: string;
  readonly path: string;
  readonly hidden: boolean;
}

export const sheetLimits = {
  unpackedBytes: 300_000_000,
  columns: 16_384,
  rows: 1_048_576,
  /** Of all cells together, empty ones before the last one included. */
  cells: 20_000_000,
  cellChars: 1_000_000,
} as const;

export async function openWorkbook(bytes: Uint8Array): Promise<Workbook> {
  const archive = openArchive(bytes, sheetLimits.unpackedBytes);
  const { sheets, is1904, sharedStrings, styles } = await factsOf(archive);
  const find = (name: string | undefined) =>
    name === undefined ? (sheets.find(({ hidden }) => !hidden) ?? sheets[0]) : sheets.find((one) => one.name === name);
  return {
    names: sheets.map(({ name }) => name),
    sheetNamed(name) {
      const found = find(name);
      if (found) return found.name;
      const known = sheets.map((sheet) => JSON.stringify(sheet.name)).join(", ");
      throw new FileFault(`there is no sheet ${JSON.stringify(name ?? "")}: the file has ${known}`, "sheet");
    },
    async *rows(name) {
      const path = find(name)?.path ?? "";
      const texts = await stringsOf(archive, sharedStrings);
      const looks = await stylesOf(archive, styles);
      yield* rowsOf(archive, path, { texts, looks, is1904 });
    },
  };
}

// The parts of a workbook, and where they are.

interface Facts {
  readonly sheets: readonly Sheet[];
  readonly is1904: boolean;
  readonly sharedStrings: string | undefined;
  readonly styles: string | undefined;
}

const bookPath = "xl/workbook.xml";

async function factsOf(archive: Archive): Promise<Facts> {
  const targets = new Map<string, string>();
  const kinds = new Map<string, string>();
  await parse(archive, "xl/_rels/workbook.xml.rels", {
    open(tag, attributes) {
      if (tag !== "Relationship") return;
      const target = attributes["Target"] ?? "";
      const path = target.startsWith("/") ? target.slice(1) : `xl/${target.replace(/^\.\//, "")}`;
      targets.set(attributes["Id"] ?? "", path);
      kinds.set((attributes["Type"] ?? "").split("/").at(-1) ?? "", path);
    },
  });
  const sheets: Sheet[] = [];
  let is1904 = false;
  await parse(archive, bookPath, {
    open(tag, attributes) {
      if (tag === "workbookPr") is1904 = isTrue(attributes["date1904"]);
      const path = tag === "sheet" ? targets.get(relationOf(attributes)) : undefined;
      // Sheets that are charts have no cells.
      if (path === undefined || !path.includes("worksheets/")) return;
      const hidden = (attributes["state"] ?? "visible") !== "visible";
      sheets.push({ name: attributes["name"] ?? `sheet ${sheets.length + 1}`, path, hidden });
    },
  });
  if (sheets.length === 0) throw new FileFault("is a workbook without a sheet of cells");
  return { sheets, is1904, sharedStrings: kinds.get("sharedStrings"), styles: kinds.get("styles") };
}

/** The only attribute that has a prefix: most programs write `r:id`. */
function relationOf(attributes: Readonly<Record<string, string>>): string {
  return Object.entries(attributes).find(([name]) => local(name) === "id")?.[1] ?? "";
}

function isTrue(text: string | undefined): boolean {
  return text === "1" || text === "true";
}

/** The texts that cells name by their number; phonetic hints are none. */
async function stringsOf(archive: Archive, path: string | undefined): Promise<readonly string[]> {
  const texts: string[] = [];
  if (path === undefined || !archive.has(path)) return texts;
  const text = createTexts();
  await parse(archive, path, {
    open: text.open,
    text: text.text,
    close(tag) {
      text.close(tag);
      if (tag === "si") texts.push(text.taken());
    },
  });
  return texts;
}

/** How the cells of each style show a number. */
async function stylesOf(archive: Archive, path: string | undefined): Promise<readonly Style[]> {
  const codes = new Map<string, string>();
  const looks: Style[] = [];
  if (path === undefined || !archive.has(path)) return looks;
  let isCells = false;
  await parse(archive, path, {
    open(tag, attributes) {
      if (tag === "numFmt") codes.set(attributes["numFmtId"] ?? "", attributes["formatCode"] ?? "");
      if (tag === "cellXfs") isCells = true;
      const id = attributes["numFmtId"] ?? "0";
      if (tag === "xf" && isCells) looks.push(styleOf(Number(id), codes.get(id)));
    },
    close(tag) {
      if (tag === "cellXfs") isCells = false;
    },
  });
  return looks;
}

// The rows of a sheet.

interface Reading {
  readonly texts: readonly string[];
  readonly looks: readonly Style[];
  readonly is1904: boolean;
}

/** A cell that is being read. */
interface Open {
  readonly column: number;
  readonly type: string;
  readonly style: number;
  value: string;
  formula: string;
}

const shownFormula = 200;

async function* rowsOf(archive: Archive, path: string, reading: Reading): AsyncGenerator<readonly CellRow[]> {
  const ready: CellRow[] = [];
  const inline = createTexts();
  let row = 0;
  /** Where a cell without a reference stands. */
  let next = 0;
  let cells: Cell[] = [];
  let cell: Open | undefined;
  let isValue = false;
  let isFormula = false;
  let total = 0;
  const parser = createParser({
    open(tag, attributes) {
      if (tag === "row") {
        row = Number(attributes["r"] ?? row + 1);
        cells = [];
        next = 0;
      } else if (tag === "c") {
        const column = attributes["r"] === undefined ? next : columnAt(attributes["r"]);
        next = column + 1;
        cell = { column, type: attributes["t"] ?? "n", style: Number(attributes["s"] ?? -1), value: "", formula: "" };
        inline.taken();
      } else if (tag === "v") isValue = true;
      else if (tag === "f" && cell) {
        isFormula = true;
        cell.formula = "=";
      } else if (cell) inline.open(tag);
    },
    text(text) {
      if (isValue && cell) cell.value += text;
      else if (isFormula && cell) cell.formula = `${cell.formula}${text}`.slice(0, shownFormula);
      else if (cell) inline.text(text);
    },
    close(tag) {
      if (tag === "v") isValue = false;
      else if (tag === "f") isFormula = false;
      else if (tag === "c" && cell) {
        const value = cellOf(cell.type === "inlineStr" ? { ...cell, value: inline.taken() } : cell, reading);
        if (value !== null) putAt(cells, cell.column, value);
        cell = undefined;
      } else if (cell) inline.close(tag);
      else if (tag === "row" && cells.length > 0) {
        total += cells.length;
        if (total > sheetLimits.cells) throw new FileFault(`has more than ${sheetLimits.cells} cells`);
        if (row > sheetLimits.rows) throw new FileFault(`has more than ${sheetLimits.rows} rows`);
        ready.push({ cells, line: row });
      }
    },
  });
  for await (const text of textsOf(archive, path)) {
    parser.write(text);
    yield ready.splice(0);
  }
  parser.close();
  yield ready;
}

function putAt(cells: Cell[], column: number, value: Cell): void {
  if (column >= sheetLimits.columns) throw new FileFault(`has more than ${sheetLimits.columns} columns`);
  while (cells.length < column) cells.push(null);
  cells[column] = value;
}

/** "BC12" -> 54 */
function columnAt(reference: string): number {
  let column = 0;
  for (let at = 0; at < reference.length; at++) {
    const code = reference.charCodeAt(at) - 0x40;
    if (code < 1 || code > 26) break;
    column = column * 26 + code;
    if (column > sheetLimits.columns) break;
  }
  return column - 1;
}

/** A formula has its last value; where a program has stored none it is its own text, so that it is not lost unseen. */
function cellOf({ type, style, value, formula }: Open, { texts, looks, is1904 }: Reading): Cell {
  if (value === "") return type === "n" && formula !== "" ? formula : null;
  switch (type) {
    case "s":
      return texts[Number(value)] || null;
    case "b":
      return [value === "1" ? "true" : "false"];
    case "n":
      return writtenAs(value, looks[style], is1904);
    default: // Texts, errors such as #N/A, and days of ISO 8601.
      return value;
  }
}

/** The text of an `si` or `is`: that of its parts, without phonetic hints. */
function createTexts() {
  let all = "";
  let isText = false;
  let isHint = false;
  return {
    open(tag: string) {
      if (tag === "t") isText = true;
      else if (tag === "rPh") isHint = true;
    },
    text(text: string) {
      if (!isText || isHint) return;
      all += text;
      if (all.length > sheetLimits.cellChars)
        throw new FileFault(`has a cell of more than ${sheetLimits.cellChars} characters`);
    },
    close(tag: string) {
      if (tag === "t") isText = false;
      else if (tag === "rPh") isHint = false;
    },
    taken() {
      const taken = all;
      all = "";
      // Characters that XML cannot hold are written as _x000D_.
      if (!taken.includes("_x")) return taken;
      return taken.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    },
  };
}

// XML.

interface Visitor {
  /** Names of tags are without their prefix. */
  readonly open: (tag: string, attributes: Readonly<Record<string, string>>) => void;
  readonly text?: (text: string) => void;
  readonly close?: (tag: string) => void;
}

async function parse(archive: Archive, path: string, visitor: Visitor): Promise<void> {
  const parser = createParser(visitor);
  for await (const text of textsOf(archive, path)) parser.write(text);
  parser.close();
}

function createParser({ open, text, close }: Visitor) {
  const parser = new SaxesParser<{ position: false; xmlns: false }>({ position: false, xmlns: false });
  parser.on("opentag", ({ name, attributes }) => {
    open(local(name), attributes);
  });
  if (text) parser.on("text", text);
  if (close) parser.on("closetag", ({ name }) => close(local(name)));
  parser.on("doctype", () => {
    throw new FileFault("has a document type, which no workbook has");
  });
  parser.on("error", (error) => {
    throw Object.assign(new FileFault("is a damaged workbook: open and save it again"), { cause: error });
  });
  return parser;
}

function local(name: string): string {
  const at = name.indexOf(":");
  return at === -1 ? name : name.slice(at + 1);
}

async function* textsOf(archive: Archive, path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const bytes of archive.read(path)) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}
