/** The rows of a file for its preview, whatever its format. Runs in the guarded child. */
import { csvReader } from "../csv.ts";
import { jsonRows, ndjsonRows } from "../imports/json.ts";
import { maxRowLength, type RowFault } from "../imports/rows.ts";
import { isObject } from "platform";
import { columnNames, widthFault, type Cell, type CellRow, FileFault } from "./cells.ts";
import { encodingOf, isWorkbook, jsonFormat, refuseMarkup, type Encoding, type FileFormat } from "./encodings.ts";
import { delimiterOf, headCells, headerOf } from "./layout.ts";
import { openWorkbook } from "./workbook.ts";

export interface FileOptions {
  readonly encoding?: Encoding | undefined;
  readonly separator?: string | undefined;
  readonly sheet?: string | undefined;
  /** From 1; 0 = none. */
  readonly headerRow?: number | undefined;
}

export interface Table {
  readonly format: FileFormat;
  readonly encoding: Encoding | null;
  readonly delimiter: string | null;
  readonly sheets: readonly string[];
  readonly sheet: string | null;
  readonly headerRow: number;
  readonly names: readonly string[];
  /** Those below the header. */
  readonly rows: readonly CellRow[];
  /** Columns with objects or lists, which no field holds. */
  readonly nested: ReadonlySet<string>;
  readonly faults: readonly RowFault[];
}

export const mostColumns = 1_000;
const mostFaults = 20;

/** `isComplete`: the bytes are the whole file. Throws a FileFault if it is no table. */
export async function readTable(bytes: Uint8Array, isComplete: boolean, options: FileOptions): Promise<Table> {
  if (isWorkbook(bytes)) {
    if (!isComplete) throw new FileFault("is a workbook, which must be sent whole");
    const book = await openWorkbook(bytes);
    const sheet = book.sheetNamed(options.sheet);
    const rows: CellRow[] = [];
    for await (const some of book.rows(sheet)) for (const row of some) rows.push(row);
    const { names: sheets } = book;
    if (rows.length === 0) throw noRows(sheet, sheets);
    return tableOf(rows, { format: "xlsx", encoding: null, delimiter: null, sheets, sheet }, options);
  }
  if (options.sheet !== undefined) throw new FileFault("is for workbooks: this file is none", "sheet");
  const encoding = options.encoding ?? encodingOf(bytes, isComplete);
  const text = new TextDecoder(encoding).decode(bytes, { stream: !isComplete });
  if (text.trim() === "") throw new FileFault("is empty");
  refuseMarkup(text);
  const json = jsonFormat(text);
  if (json) return jsonTable(text, json, isComplete, encoding);
  const delimiter = options.separator ?? delimiterOf(text);
  const reader = csvReader(delimiter, maxRowLength);
  const rows: CellRow[] = [...reader.push(text)];
  // The last row of a part may be cut off.
  if (isComplete) rows.push(...reader.end());
  const format = delimiter === "\t" ? "tsv" : "csv";
  return tableOf(rows, { format, encoding, delimiter, sheets: [], sheet: null }, options);
}

function noRows(sheet: string, sheets: readonly string[]): FileFault {
  const others = sheets.filter((name) => name !== sheet).map((name) => JSON.stringify(name));
  const hint = others.length === 0 ? "" : `: say by \`sheet\` which of ${others.join(", ")} to read`;
  return new FileFault(`has no rows in its sheet ${JSON.stringify(sheet)}${hint}`);
}

type Facts = Pick<Table, "format" | "encoding" | "delimiter" | "sheets" | "sheet">;

function tableOf(all: readonly CellRow[], facts: Facts, { headerRow }: FileOptions): Table {
  const found = headerRow === undefined ? headerOf(all) : headerAt(all, headerRow);
  const at = found ? all.indexOf(found) : -1;
  const header = found && { ...found, cells: headCells(found, all[at - 1]) };
  const rows = all.slice(at + 1);
  const width = widthOf(header, rows);
  if (width > mostColumns) throw new FileFault(`has ${width} columns, and at most ${mostColumns} are read`);
  if (width === 0) throw new FileFault("has no rows");
  const names = columnNames(header?.cells ?? [], width);
  const faults = rows.flatMap((row, place) => {
    const message = row.fault ?? (header && widthFault(row, width, facts.format !== "xlsx"));
    return message === undefined ? [] : [{ row: place + 1, line: row.line, field: null, message }];
  });
  return {
    ...facts,
    headerRow: header?.line ?? 0,
    names,
    rows,
    nested: new Set(),
    faults: faults.slice(0, mostFaults),
  };
}

/** The row that begins on this line; 0 is none. */
export function headerAt(rows: readonly CellRow[], line: number): CellRow | undefined {
  if (line === 0) return undefined;
  const found = rows.find((row) => row.line === line);
  if (!found) throw new FileFault(`there is no row ${line} with a value`, "header_row");
  return found;
}

/** Cells without a value at the end of rows are no columns, unless the header names them. */
function widthOf(header: CellRow | undefined, rows: readonly CellRow[]): number {
  const extent = ({ cells }: CellRow) => cells.findLastIndex((cell) => cell !== null && cell !== "") + 1;
  return header ? extent(header) : rows.reduce((most, row) => Math.max(most, extent(row)), 0);
}

function jsonTable(text: string, format: "json" | "ndjson", isComplete: boolean, encoding: Encoding): Table {
  const reader = format === "json" ? jsonRows() : ndjsonRows();
  const found = [...reader.push(text.replace(/^\uFEFF/, ""))];
  if (isComplete) found.push(...reader.end());
  const names = new Map<string, number>();
  const nested = new Set<string>();
  const faults: RowFault[] = [];
  const rows: CellRow[] = [];
  for (const row of found) {
    if ("fault" in row) {
      faults.push(row.fault);
      continue;
    }
    const cells: Cell[] = [];
    for (const [name, value] of Object.entries(row.data)) {
      const at = names.get(name) ?? names.size;
      names.set(name, at);
      if (isObject(value) || Array.isArray(value)) nested.add(name);
      cells[at] = cellOf(value);
    }
    if (names.size > mostColumns) throw new FileFault(`has more than ${mostColumns} different keys`);
    rows.push({ cells, line: row.place.line ?? row.place.row });
  }
  const [first] = faults;
  if (rows.length === 0) throw new FileFault(first ? `row ${first.row}: ${first.message}` : "has no rows");
  const facts = { format, encoding, delimiter: null, sheets: [], sheet: null, headerRow: 0 };
  return { ...facts, names: [...names.keys()], rows, nested, faults: faults.slice(0, mostFaults) };
}

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  return typeof value === "string" ? value : [JSON.stringify(value)];
}
