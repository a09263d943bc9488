/** The rows of a file as its preview has shown it, and mended ones as a body of their own. */
import { csvReader } from "../../bulk/csv.ts";
import { textOf, type Cell } from "../../bulk/files/cells.ts";
import { isMap, parseJson } from "studio/exact";
import { plainText } from "../cells.ts";
import type { FileFormat, Preview } from "./preview.ts";

export interface FileRow {
  /** From 1, without the header; as the server counts. */
  readonly row: number;
  /** From 1, with all that stands above it; not of JSON. */
  readonly line?: number;
  /** By the name of the column. */
  readonly cells: Readonly<Record<string, string>>;
  /** Of JSON: the values as they are in the file. */
  readonly values?: Readonly<Record<string, unknown>>;
}

const mostRowChars = 2_500_000;

export const mediaTypes: Readonly<Record<FileFormat, string>> = {
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  json: "application/json",
  ndjson: "application/x-ndjson",
};

type Shape = Pick<Preview, "format" | "encoding" | "delimiter" | "sheet" | "headerRow" | "columns">;

export async function* rowsOf(file: Blob, shape: Shape): AsyncGenerator<FileRow> {
  if (shape.format === "json" || shape.format === "ndjson") yield* jsonRows(file, shape);
  else {
    const lines = shape.format === "xlsx" ? sheetRows(file, shape.sheet) : csvRows(file, shape);
    let number = 0;
    for await (const { cells, line } of lines)
      if (line > shape.headerRow) yield { ...cellRow(cells, ++number, shape), line };
  }
}

/** The first rows, and those with these numbers. */
export async function someRows(
  file: Blob,
  shape: Shape,
  first: number,
  numbers: Iterable<number>,
): Promise<ReadonlyMap<number, FileRow>> {
  const wanted = new Set(numbers);
  const last = Math.max(first, ...wanted);
  const found = new Map<number, FileRow>();
  for await (const row of rowsOf(file, shape)) {
    if (row.row > last) break;
    if (row.row <= first || wanted.has(row.row)) found.set(row.row, row);
  }
  return found;
}

function cellRow(cells: readonly Cell[], row: number, { columns }: Shape): FileRow {
  return { row, cells: Object.fromEntries(columns.map(({ name }, at) => [name, textOf(cells[at]) ?? ""])) };
}

interface Line {
  readonly cells: readonly Cell[];
  readonly line: number;
}

async function* csvRows(file: Blob, { encoding, delimiter = "," }: Shape): AsyncGenerator<Line> {
  const reader = csvReader(delimiter, mostRowChars);
  for await (const text of textsOf(file, encoding)) yield* reader.push(text);
  yield* reader.end();
}

/** A workbook is read by a part of the Studio that is loaded for it. */
async function* sheetRows(file: Blob, sheet: string | undefined): AsyncGenerator<Line> {
  const { openWorkbook } = await import("../../bulk/files/workbook.ts");
  const book = await openWorkbook(new Uint8Array(await file.arrayBuffer()));
  for await (const rows of book.rows(book.sheetNamed(sheet))) yield* rows;
}

async function* jsonRows(file: Blob, { format, encoding }: Shape): AsyncGenerator<FileRow> {
  let number = 0;
  if (format === "json") {
    let text = "";
    for await (const part of textsOf(file, encoding)) text += part;
    const values = parseJson(text);
    if (Array.isArray(values)) for (const value of values) yield objectRow(value, ++number);
    return;
  }
  let rest = "";
  for await (const part of textsOf(file, encoding)) {
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") yield objectRow(parsed(line), ++number);
  }
  if (rest.trim() !== "") yield objectRow(parsed(rest), ++number);
}

function parsed(line: string): unknown {
  try {
    return parseJson(line);
  } catch {
    return {};
  }
}

const recordKeys = new Set(["id", "data", "table_name", "created_at", "updated_at"]);

/** `{ data, table_name }`, or the data alone. */
function objectRow(value: unknown, row: number): FileRow {
  const whole = isMap(value) ? value : {};
  const isNested = isMap(whole["data"]) && Object.keys(whole).every((name) => recordKeys.has(name));
  const values = isNested && isMap(whole["data"]) ? whole["data"] : whole;
  return {
    row,
    values,
    cells: Object.fromEntries(Object.entries(values).map(([name, one]) => [name, plainText(one)])),
  };
}

async function* textsOf(file: Blob, encoding = "utf-8"): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  const reader = file.stream().getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read())
    yield decoder.decode(next.value, { stream: true });
  yield decoder.decode();
}

/** A row, and what was typed into it: by the name of the field. */
export interface MendedRow {
  readonly source: FileRow | undefined;
  readonly typed: Readonly<Record<string, string>>;
}

/** Rows by the names of fields, in the format of their file: a value that nobody has touched stays as it is. */
export function bodyOf(
  rows: readonly MendedRow[],
  fields: readonly { readonly column: string; readonly field: string }[],
  isJson: boolean,
): { readonly body: string; readonly format: FileFormat } {
  const names = [...new Set([...fields.map(({ field }) => field), ...rows.flatMap(({ typed }) => Object.keys(typed))])];
  const columns = new Map(fields.map(({ column, field }) => [field, column]));
  if (isJson) {
    const values = rows.map(({ source, typed }) => {
      const kept = fields.flatMap(({ column, field }) => {
        const value = source?.values?.[column];
        return value === undefined ? [] : [[field, value] as const];
      });
      return { ...Object.fromEntries(kept), ...typed };
    });
    return { body: JSON.stringify(values), format: "json" };
  }
  const lines = rows.map(({ source, typed }) =>
    names.map((name) => typed[name] ?? source?.cells[columns.get(name) ?? ""] ?? ""),
  );
  return { body: csvLines([names, ...lines]), format: "csv" };
}

export function csvLines(rows: readonly (readonly string[])[]): string {
  const quoted = (cell: string) => (cell === "" ? "" : `"${cell.replaceAll('"', '""')}"`);
  return rows.map((cells) => cells.map(quoted).join(",")).join("\r\n");
}
