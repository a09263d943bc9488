/** Reads a file that is to be imported: its first rows, and the rows that were refused. Pure. */
import { csvReader, detectSeparator, withoutFormula } from "../../bulk/csv.ts";
import { plainText, typedValue } from "../cells.ts";
import { isMap } from "studio/exact";
import type { FieldType } from "../schema.ts";

/** The types of files that a browser offers to choose. */
export const fileTypes = ".csv,.tsv,.txt,.json,.ndjson,.jsonl";
export const formats = ["csv", "json", "ndjson"] as const;
export type Format = (typeof formats)[number];

export const mediaTypes: Readonly<Record<Format, string>> = {
  csv: "text/csv",
  json: "application/json",
  ndjson: "application/x-ndjson",
};

const mostRowChars = 2_500_000;

export function formatOf(fileName: string): Format | undefined {
  const ending = /\.(\w+)$/.exec(fileName.toLowerCase())?.[1];
  if (ending === "csv" || ending === "tsv" || ending === "txt") return "csv";
  if (ending === "json") return "json";
  return ending === "ndjson" || ending === "jsonl" ? "ndjson" : undefined;
}

/** A row of the file, by the name of its column. */
export interface FileRow {
  /** From 1, without the header; as the server counts. */
  readonly row: number;
  readonly cells: Readonly<Record<string, string>>;
  /** JSON: what it was before somebody mended it. */
  readonly value?: Readonly<Record<string, unknown>>;
  readonly table?: string | null;
}

/** The rows of a text that arrives in pieces. JSON is an array, and is read as a whole. */
export async function* fileRows(
  chunks: AsyncIterable<string>,
  format: Format,
  parse: (text: string) => unknown,
): AsyncGenerator<FileRow> {
  if (format === "csv") yield* csvRows(chunks);
  else if (format === "ndjson") yield* ndjsonRows(chunks, parse);
  else {
    let text = "";
    for await (const chunk of chunks) text += chunk;
    const values = parse(text);
    if (Array.isArray(values)) for (const [at, value] of values.entries()) yield jsonRow(value, at + 1);
  }
}

async function* csvRows(chunks: AsyncIterable<string>): AsyncGenerator<FileRow> {
  let reader: ReturnType<typeof csvReader> | undefined;
  let header: readonly string[] | undefined;
  let number = 0;
  const shown = function* (rows: Iterable<{ readonly cells: readonly (string | null)[] }>): Generator<FileRow> {
    for (const { cells } of rows) {
      if (!header) header = cells.map((cell) => (cell ?? "").trim());
      else {
        const named = header.flatMap((name, at) => (name === "" ? [] : [[name, cells[at] ?? ""] as const]));
        yield { row: ++number, cells: Object.fromEntries(named) };
      }
    }
  };
  for await (const chunk of chunks) {
    // A byte order mark is no part of the first name.
    const text = reader ? chunk : chunk.replace(/^\uFEFF/, "");
    reader ??= csvReader(detectSeparator(text), mostRowChars);
    yield* shown(reader.push(text));
  }
  if (reader) yield* shown(reader.end());
}

async function* ndjsonRows(chunks: AsyncIterable<string>, parse: (text: string) => unknown): AsyncGenerator<FileRow> {
  let rest = "";
  let number = 0;
  const shown = function* (lines: readonly string[]): Generator<FileRow> {
    for (const line of lines) if (line.trim() !== "") yield jsonRow(parsed(line, parse), ++number);
  };
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* shown(lines);
  }
  yield* shown([rest]);
}

function parsed(line: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(line);
  } catch {
    return { "": line };
  }
}

/** `{ data, table_name }`, or the data alone. */
function jsonRow(value: unknown, row: number): FileRow {
  const whole = isMap(value) ? value : { "": value };
  const isNested = isMap(whole["data"]) && Object.keys(whole).every((name) => recordKeys.has(name));
  const data = isNested && isMap(whole["data"]) ? whole["data"] : whole;
  const table = isNested && typeof whole["table_name"] === "string" ? whole["table_name"] : undefined;
  const cells = Object.fromEntries(Object.entries(data).map(([name, one]) => [name, plainText(one)]));
  return { row, cells, value: data, ...(table !== undefined && { table }) };
}

const recordKeys = new Set(["id", "data", "table_name", "created_at", "updated_at"]);

export function columnsOfRows(rows: readonly FileRow[]): string[] {
  return [...new Set(rows.flatMap(({ cells }) => Object.keys(cells)))];
}

/** Mended rows as a body of the same kind: CSV is read by the same rules again. */
export function bodyOfRows(
  rows: readonly FileRow[],
  format: Format,
  typeOf: (field: string) => FieldType | undefined,
): { readonly body: string; readonly type: string } {
  if (format === "csv") {
    const columns = columnsOfRows(rows);
    const lines = rows.map(({ cells }) => columns.map((name) => (Object.hasOwn(cells, name) && cells[name]) || ""));
    return { body: csvLines([columns, ...lines]), type: mediaTypes.csv };
  }
  const values = rows.map((row) => {
    const data = dataOf(row, typeOf);
    return row.table === undefined ? data : { data, table_name: row.table };
  });
  return { body: JSON.stringify(values), type: mediaTypes.json };
}

/** Leaves untouched cells as they were, and sends what is no number as it was typed, so that the server refuses it. */
function dataOf(
  { cells, value = {} }: FileRow,
  typeOf: (field: string) => FieldType | undefined,
): Record<string, unknown> {
  const entries = Object.entries(cells).flatMap(([name, text]) => {
    const before = Object.hasOwn(value, name) ? value[name] : undefined;
    if (text === plainText(before)) return Object.hasOwn(value, name) ? [[name, before] as const] : [];
    const typed = typedValue(typeOf(name), text, before);
    return [[name, "mistake" in typed ? text : typed.value] as const];
  });
  return Object.fromEntries(entries);
}

function quoted(cell: string): string {
  return cell === "" ? "" : `"${cell.replaceAll('"', '""')}"`;
}

export function csvLines(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => cells.map(quoted).join(",")).join("\r\n");
}

export interface Fault {
  readonly row: number;
  readonly line: number | undefined;
  /** The id of the record, where one that was stored before is refused. */
  readonly id?: string;
  readonly field: string | null;
  readonly message: string;
}

export interface Report {
  readonly imported: number;
  readonly failed: number;
  readonly total: number;
  readonly faults: readonly Fault[];
}

/** An import's answer, all stored, some or none; undefined if it is another one. */
export function reportOf(json: unknown): Report | undefined {
  if (!isMap(json) || (typeof json["imported"] !== "number" && !Array.isArray(json["errors"]))) return undefined;
  const imported = Number(json["imported"] ?? 0);
  const faults = faultList(json["errors"]);
  return { imported, failed: Number(json["failed"] ?? 0), total: Number(json["total"] ?? imported), faults };
}

/** Mistakes in rows, as the answer of an import and its task have them. */
export function faultList(json: unknown): Fault[] {
  if (!Array.isArray(json)) return [];
  return json.flatMap((one): Fault[] => {
    if (!isMap(one)) return [];
    const { row, line, id, field, message } = one;
    return [
      {
        row: Number(row),
        line: typeof line === "number" ? line : undefined,
        ...(typeof id === "string" && { id }),
        field: typeof field === "string" ? field : null,
        message: String(message),
      },
    ];
  });
}

export function faultsByRow(faults: readonly Fault[]): ReadonlyMap<number, readonly Fault[]> {
  return Map.groupBy(faults, ({ row }) => row);
}

// Faulty rows as CSV, with a column that names the fault, and what lets a browser save a text.

/** Without the file one has only what the server says. */
export function csvOfFaults(faults: readonly Fault[]): string {
  const lines = faults.map(({ row, line, id, field, message }) => [
    String(row),
    String(line ?? ""),
    id ?? "",
    field ?? "",
    message,
  ]);
  return csvLines([["row", "line", "id", "field", "fault"], ...lines].map((cells) => cells.map(withoutFormula)));
}

/** The rows as they are in the file (or as they were mended), so that they can be imported after one has mended them. */
export function csvOfFaultyRows(rows: readonly FileRow[], byRow: ReadonlyMap<number, readonly Fault[]>): string {
  const columns = columnsOfRows(rows);
  const lines = rows.map(({ row, cells }) => [
    ...columns.map((name) => (Object.hasOwn(cells, name) ? (cells[name] ?? "") : "")),
    (byRow.get(row) ?? []).map(({ field, message }) => (field === null ? message : `${field}: ${message}`)).join("; "),
  ]);
  return csvLines([[...columns, faultColumn(columns)], ...lines]);
}

/** No column of the file has this name. */
function faultColumn(columns: readonly string[]): string {
  let name = "fault";
  while (columns.includes(name)) name += "_";
  return name;
}

export function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob(["\uFEFF", text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
