/** What an import is made of: rows, however they are written. Pure. */
import { HttpError, parseJson, ValidationError } from "platform";
import { createCsvReader, detectSeparator, type CsvRow } from "./csv.ts";
import { fieldOfHeader, isExportHeader, ownColumns } from "./export-columns.ts";
import { recordLimits, type Data } from "./record.ts";

export interface Place {
  /** The number of the record, from 1; 0 is a header. */
  readonly row: number;
  /** The line of the body on which it begins, from 1. */
  readonly line?: number;
}

export interface RowFault extends Place {
  readonly field: string | null;
  readonly message: string;
}

export type Row =
  | { readonly place: Place; readonly data: Data; readonly tableName: string | null | undefined }
  /** `last`: what follows cannot be read. */
  | { readonly fault: RowFault; readonly last?: true };

/** Reads rows out of text that comes in pieces. */
export interface RowReader {
  push(text: string): Generator<Row>;
  end(): Generator<Row>;
}

// Twice what a record may have: its JSON may be written with escapes and spaces.
const maxRowLength = 2 * recordLimits.dataBytes;
const maxColumns = recordLimits.keys + 4;

/** The first line names the fields; cells are text. `separator` undefined: the one that the first line has. */
export function csvRows(separator: string | undefined, multiTable: boolean): RowReader {
  let reader = separator === undefined ? undefined : createCsvReader(separator, maxRowLength);
  let header: Header | undefined;
  let start = "";
  let number = 0;

  const read = function* (rows: Generator<CsvRow>): Generator<Row> {
    for (const row of rows) {
      if (!header) {
        header = readHeader(row, multiTable);
        if (header.fault === undefined) continue;
        return yield { fault: { row: 0, line: row.line, field: null, message: header.fault }, last: true };
      }
      number += 1;
      yield readCsvRow(row, header, { row: number, line: row.line });
    }
  };
  return {
    *push(text) {
      if (reader) return yield* read(reader.push(text));
      start += text;
      if (!/[\r\n]/.test(start) && start.length < maxRowLength) return;
      reader = createCsvReader(detectSeparator(start), maxRowLength);
      yield* read(reader.push(start));
    },
    *end() {
      if (!reader) {
        reader = createCsvReader(detectSeparator(start), maxRowLength);
        yield* read(reader.push(start));
      }
      yield* read(reader.end());
      if (!header)
        yield {
          fault: { row: 0, line: 1, field: null, message: "there is no header row with the names of the fields" },
        };
    },
  };
}

/** One JSON value a line; blank lines are left out. */
export function ndjsonRows(): RowReader {
  let rest = "";
  let line = 0;
  let number = 0;
  const read = (text: string): Row[] => {
    line += 1;
    if (text.trim() === "") return [];
    number += 1;
    return [readElement(text, { row: number, line })];
  };
  return {
    *push(text) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const one of lines) yield* read(one);
      if (rest.length > maxRowLength) yield tooLong({ row: number + 1, line: line + 1 });
    },
    *end() {
      yield* read(rest);
    },
  };
}

/** The elements of one JSON array. */
export function jsonRows(): RowReader {
  let state: "before" | "first" | "element" | "between" | "next" | "after" = "before";
  let element = "";
  let depth = 0;
  let inString = false;
  let escaped = false;
  let number = 0;
  const broken = (message: string): Row => ({ fault: { row: number, field: null, message }, last: true });

  function* push(text: string): Generator<Row> {
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const character = text[at] ?? "";
      if (state === "element") {
        if (inString) {
          if (escaped) escaped = false;
          else if (character === "\\") escaped = true;
          else if (character === '"') inString = false;
          continue;
        }
        if (character === '"') inString = true;
        else if (character === "{" || character === "[") depth += 1;
        else if (depth > 0) {
          if (character === "}" || character === "]") depth -= 1;
        } else if (character === "," || character === "]" || character === "}") {
          yield readElement(element + text.slice(from, at), { row: number });
          element = "";
          state = character === "," ? "next" : "after";
          if (character === "}") return yield broken("the array is not valid JSON");
        }
        continue;
      }
      if (/\s/.test(character)) continue;
      if (state === "before") {
        if (character !== "[") return yield broken("the body must be a JSON array");
        state = "first";
      } else if (character === "]" && state === "first") state = "after";
      else if (state === "after") return yield broken("there is something after the end of the array");
      else {
        state = "element";
        number += 1;
        from = at;
        at -= 1; // looked at once more, as the element's first character
      }
    }
    if (state === "element") element += text.slice(from);
    if (element.length > maxRowLength) yield tooLong({ row: number });
  }
  return {
    push,
    *end() {
      if (state === "before") yield broken("the body must be a JSON array");
      else if (state !== "after") yield broken("the array is not closed");
    },
  };
}

interface Header {
  /** The field of each column; undefined = left out. */
  readonly fields: readonly (string | undefined)[];
  readonly tableColumn: number;
  readonly fault?: string;
}

function readHeader({ cells, quoted, fault }: CsvRow, multiTable: boolean): Header {
  // A space beside a separator is no part of a name, unless quotes say so.
  const names = cells.map((cell, at) => (quoted[at] ? cell : cell?.trim()) ?? "");
  const isExport = isExportHeader(names);
  const tableColumn = multiTable ? names.indexOf("table_name") : -1;
  const fields = names.map((name, at) => {
    if (at === tableColumn) return undefined;
    if (!isExport) return name;
    return ownColumns.has(name) ? undefined : fieldOfHeader(name);
  });
  const wrong = fault ?? headerFault(cells, fields);
  return { fields, tableColumn, ...(wrong !== undefined && { fault: wrong }) };
}

function headerFault(cells: CsvRow["cells"], fields: readonly (string | undefined)[]): string | undefined {
  if (cells.length > maxColumns) return `the header has more than ${maxColumns} columns`;
  const blank = cells.findIndex((cell) => cell === null || (cell !== "" && cell.trim() === ""));
  if (blank >= 0) return `the header has no name for column ${blank + 1}`;
  const given = fields.filter((name) => name !== undefined);
  const twice = given.find((name, at) => given.indexOf(name) !== at);
  return twice === undefined ? undefined : `the header has the column ${JSON.stringify(twice)} twice`;
}

function readCsvRow({ cells, fault, last }: CsvRow, { fields, tableColumn }: Header, place: Place): Row {
  const wrong = (message: string, field: string | null = null): Row => ({
    fault: { ...place, field, message },
    ...(last && { last }),
  });
  if (fault !== undefined) return wrong(fault);
  if (cells.length !== fields.length) return wrong(`has ${cells.length} cells where the header has ${fields.length}`);
  const given: [string, string][] = [];
  for (const [at, cell] of cells.entries()) {
    const field = fields[at];
    if (cell === null || field === undefined) continue;
    if (cell.includes("\0")) return wrong("has a character that cannot be stored", field);
    given.push([field, cell]);
  }
  // An own property even where the name is `__proto__`.
  return {
    place,
    data: Object.fromEntries(given),
    tableName: tableColumn < 0 ? undefined : (cells[tableColumn] ?? null),
  };
}

/** A data object, or { data, table_name } as the API shows a record. */
function readElement(text: string, place: Place): Row {
  const wrong = (message: string, field: string | null = null): Row => ({ fault: { ...place, field, message } });
  if (text.length > maxRowLength) return tooLong(place);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof ValidationError) {
      const [field = "base", messages = []] = Object.entries(error.fields)[0] ?? [];
      return wrong(messages.join(", "), field);
    }
    if (error instanceof HttpError) return wrong(error.message.replace("the body", "the row"));
    throw error;
  }
  if (!isObject(value)) return wrong("must be an object");
  if (!isWrapped(value)) return { place, data: value, tableName: undefined };
  const tableName = value["table_name"];
  if (tableName !== undefined && tableName !== null && typeof tableName !== "string")
    return wrong("must be a string", "table_name");
  return { place, data: value["data"], tableName };
}

function isWrapped(value: Data): value is Data & { data: Data } {
  if (!Object.hasOwn(value, "data") || !isObject(value["data"])) return false;
  return Object.keys(value).every((key) => key === "data" || ownColumns.has(key));
}

function isObject(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function tooLong(place: Place): Row {
  const message = `has more than ${maxRowLength} characters`;
  return { fault: { ...place, field: null, message }, last: true };
}
