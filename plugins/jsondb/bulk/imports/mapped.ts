/** Rows of a file whose columns go into fields as a person has said, each read by its format. Pure. */
import { badRequest, invalid, parseExactly } from "platform";
import { csvReader } from "../csv.ts";
import { columnNames, textOf, widthFault, type Cell, type CellRow } from "../files/cells.ts";
import { currencyIn } from "../files/currencies.ts";
import { headCells } from "../files/layout.ts";
import { place, type Formats, type Mapping } from "../files/parameters.ts";
import { misfit, readerOf, type Format } from "../files/values.ts";
import type { FieldType } from "../../databases/columns.ts";
import type { Table } from "../../databases/schema.ts";
import type { Data } from "../../records/record.ts";
import { badRow, lastRow, maxRowLength, valueFromText, type Place, type Row } from "./rows.ts";
import type { RowReader } from "./reader.ts";
import { createSigns, hasSign } from "./signs.ts";
import { jsonRows, ndjsonRows } from "./json.ts";

export interface MappedOptions {
  readonly table: Table;
  /** Undefined: every column goes into the field of its name. */
  readonly mapping: Mapping | undefined;
  readonly formats: Formats | undefined;
  /** From 1; 0 = none; undefined: the first row. */
  readonly headerRow?: number | undefined;
  /** What stands for the ids of links: `customer:email`. */
  readonly references?: ReadonlyMap<string, { readonly field: string }> | undefined;
  /** The mapping may name fields that the table does not have: they are stored as they are. */
  readonly anyField?: boolean;
}

export type MappedSource =
  | { readonly rows: "cells"; readonly separator: string }
  /** A sheet: on each line a JSON array of rows, each with its number and its cells. */
  | { readonly rows: "sheet" }
  | { readonly rows: "json" }
  | { readonly rows: "ndjson" };

/** 422 if the mapping or the formats name a column or a field that is not there. */
export function mappedRows(source: MappedSource, options: MappedOptions): RowReader {
  checkFields(options);
  switch (source.rows) {
    case "cells":
      return tableRows(csvReader(source.separator, maxRowLength), options, true);
    case "sheet":
      return tableRows(sheetLines(), options, false);
    default:
      return mappedObjects(source.rows, options);
  }
}

/** 422 for fields that there are not; a table without fields takes any name. */
export function checkFields({
  table: { fields },
  references,
  mapping,
  anyField,
}: Pick<MappedOptions, "table" | "references" | "mapping" | "anyField">): void {
  if (anyField || fields.size === 0) return;
  const isKnown = (field: string | null) => field === null || fields.has(field) || references?.has(field) === true;
  const unknown = [...(mapping ?? [])].filter(([, field]) => !isKnown(field));
  if (unknown.length === 0) return;
  throw invalid({
    mapping: unknown
      .slice(0, 20)
      .map(
        ([column, field]) => `${place(column)}: there is no field ${place(field ?? "")}${others(field, references)}`,
      ),
  });
}

/** What else stands for the ids of a link. */
function others(field: string | null, references: MappedOptions["references"]): string {
  const link = field?.split(":", 1)[0];
  const known = [...(references ?? [])].flatMap(([name, one]) => (one.field === link && field !== link ? [name] : []));
  return known.length === 0 ? "" : `, but there is ${known.slice(0, 5).join(", ")}`;
}

/** Undefined: the column is left out. */
type Target =
  | Readonly<{ field: string; type: FieldType | undefined; format: Format | undefined; read: (cell: Cell) => unknown }>
  | undefined;

interface Found {
  /** The columns that no field has the name of. */
  readonly unmatched: Set<string>;
  /** Of each field that a column goes into. */
  readonly formats: Map<string, Format | undefined>;
}

function createFound(): Found {
  return { unmatched: new Set(), formats: new Map() };
}

/** Where a column goes; one that the mapping does not name goes into the field of its name, if there is one. */
function targetOf(column: string, options: MappedOptions, found: Found): Target {
  const { table, references, mapping, formats } = options;
  const given = mapping?.get(column);
  if (given === null) return undefined;
  const isKnown = table.fields.has(column) || references?.has(column) === true;
  const isOwn = mapping === undefined || table.fields.size === 0 || isKnown;
  const field = given ?? (isOwn && ![...(mapping?.values() ?? [])].includes(column) ? column : undefined);
  if (field === undefined) {
    found.unmatched.add(column);
    return undefined;
  }
  const type = references?.has(field) ? undefined : table.fields.get(field)?.type;
  const format = formats?.get(column);
  if (type !== undefined && format?.type !== undefined && format.type !== type)
    throw invalid({ formats: [`${place(column)}.type: the field ${place(field)} is of the type ${type}`] });
  found.formats.set(field, format);
  return { field, type, format, read: references?.has(field) ? textOf : cellReader(type, format) };
}

/** What cannot be read so stays a text, and the check of the record names the mistake. */
function cellReader(type: FieldType | undefined, format: Format | undefined): (cell: Cell) => unknown {
  const read = type && format && readerOf(type, format);
  return (cell) => {
    if (cell === null) return undefined;
    if (typeof cell !== "string") return typedValue(type, cell[0]);
    if (read) {
      const value = read(cell);
      return value === misfit ? cell : value;
    }
    return type ? valueFromText(type, cell) : cell;
  };
}

const plain: Format = { decimal: ".", thousands: "" };

/** A value that the file says to be a number or the like: as JSON writes it, with a sign of percent or a currency. */
function typedValue(type: FieldType | undefined, text: string): unknown {
  if (type === "string" || type === "text") return text;
  if (type === undefined) return /^-?\d/.test(text) && !/[% ]/.test(text) ? parseExactly(text) : truth(text);
  const currency = currencyIn(text);
  const format: Format = {
    ...plain,
    ...(text.endsWith("%") && { kind: "percent" as const }),
    ...(currency !== undefined && { currency }),
  };
  const value = readerOf(type, format)(text);
  return value === misfit ? text : value;
}

function truth(text: string): unknown {
  return text === "true" ? true : text === "false" ? false : text;
}

/** The columns that the mapping or the formats name and the file does not have. */
function checkColumns(names: Iterable<string>, { mapping, formats }: MappedOptions): void {
  const known = new Set(names);
  const faults = Object.entries({ mapping, formats }).flatMap(([parameter, given]): [string, string[]][] => {
    const unknown = [...(given?.keys() ?? [])].filter((column) => !known.has(column)).slice(0, 20);
    return unknown.length > 0 ? [[parameter, unknown.map((column) => `there is no column ${place(column)}`)]] : [];
  });
  if (faults.length > 0) throw invalid(Object.fromEntries(faults));
}

// Tables.

interface Lines {
  push(text: string): Generator<CellRow>;
  end(): Generator<CellRow>;
}

function sheetLines(): Lines {
  let rest = "";
  return {
    *push(text) {
      rest += text;
      if (!text.includes("\n")) return; // else what has come of a long line would be copied for each piece
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      for (const one of lines) {
        const rows = JSON.parse(one) as [number, ...Cell[]][]; // files/child.ts writes it
        for (const [line, ...cells] of rows) yield { line, cells };
      }
    },
    *end() {},
  };
}

function tableRows(lines: Lines, options: MappedOptions, isText: boolean): RowReader {
  const found = createFound();
  const signs = createSigns();
  let targets: Target[] | undefined;
  let width = 0;
  let number = 0;
  if (options.headerRow === 0) targets = [];
  /** Columns without a header have numbers for names, and are as many as the longest row has. */
  const targetAt = (at: number): Target => {
    if (options.headerRow !== 0 || !targets) return targets?.[at];
    for (let next = targets.length; next <= at; next++) targets.push(targetOf(`column ${next + 1}`, options, found));
    return targets[at];
  };
  let above: CellRow | undefined;
  const begin = (row: CellRow): Row | undefined => {
    const { fault, line } = row;
    const cells = headCells(row, above);
    if (fault !== undefined) return lastRow({ row: 0, line }, `the header ${fault}`);
    width = cells.findLastIndex((cell) => (textOf(cell) ?? "").trim() !== "") + 1;
    const names = columnNames(cells, width);
    checkColumns(names, options);
    targets = names.map((name) => targetOf(name, options, found));
    const fields = targets.map((target) => target && (options.references?.get(target.field)?.field ?? target.field));
    const twice = fields.find((field, at) => field !== undefined && fields.indexOf(field) !== at);
    return twice === undefined ? undefined : lastRow({ row: 0, line }, `two columns go into the field ${place(twice)}`);
  };
  const read = function* (rows: Generator<CellRow>): Generator<Row> {
    for (const row of rows) {
      if (targets) yield readRow(row, { row: ++number, line: row.line });
      else if (row.line >= (options.headerRow ?? 0)) {
        if (options.headerRow !== undefined && row.line > options.headerRow) throw noHeader(options.headerRow);
        const refused = begin(row);
        if (refused) yield refused;
      } else above = row;
    }
  };
  const readRow = (row: CellRow, at: Place): Row => {
    const { cells, fault, last } = row;
    if (fault !== undefined) return last ? lastRow(at, fault) : badRow(at, fault);
    const wrong = options.headerRow === 0 ? undefined : widthFault(row, width, isText);
    if (wrong !== undefined) return badRow(at, wrong);
    const given: [string, unknown][] = [];
    for (const [column, cell] of cells.entries()) {
      const target = targetAt(column);
      if (!target || cell === null) continue;
      if (textOf(cell)?.includes("\0")) return badRow(at, "has a character that cannot be stored", target.field);
      if (typeof cell === "string" && !target.format && hasSign(cell)) signs.see(target.field, target.type, cell, at);
      const value = target.read(cell);
      if (value !== undefined) given.push([target.field, value]);
    }
    return { place: at, data: Object.fromEntries(given), tableName: undefined };
  };
  return {
    leftOut: nothing,
    unmatched: found.unmatched,
    written: (field) => found.formats.get(field) ?? {},
    signs,
    push: (text) => read(lines.push(text)),
    *end() {
      yield* read(lines.end());
      if (!targets) throw noHeader(options.headerRow ?? 1);
      if (options.headerRow === 0) checkColumns(numbered(targets.length), options);
    },
  };
}

const nothing: ReadonlySet<string> = new Set();
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `column ${at + 1}`);
const noHeader = (line: number) => invalid({ header_row: [`there is no row ${line} with a value`] });

// Objects of JSON.

function mappedObjects(format: "json" | "ndjson", options: MappedOptions): RowReader {
  const reader = format === "json" ? jsonRows() : ndjsonRows();
  const found = createFound();
  const targets = new Map<string, Target>();
  if (options.headerRow) throw badRequest("`header_row` is for files with rows of cells");
  const mapped = (data: Data): Data => {
    const pairs = Object.entries(data).flatMap(([name, value]): [string, unknown][] => {
      if (!targets.has(name)) targets.set(name, targetOf(name, options, found));
      const target = targets.get(name);
      if (!target) return [];
      // Only texts are written in a format.
      const isText = typeof value === "string" && options.formats?.has(name) === true;
      const converted = isText ? target.read(value) : value;
      return converted === undefined ? [] : [[target.field, converted]];
    });
    return Object.fromEntries(pairs);
  };
  const read = function* (rows: Generator<Row>): Generator<Row> {
    for (const row of rows) yield "fault" in row ? row : { ...row, data: mapped(row.data), tableName: undefined };
  };
  return {
    leftOut: nothing,
    unmatched: found.unmatched,
    written: (field) => found.formats.get(field),
    push: (text) => read(reader.push(text)),
    *end() {
      yield* read(reader.end());
      checkColumns(targets.keys(), options);
    },
  };
}
