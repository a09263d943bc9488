/** The grid of records: its columns, and what a rectangle pasted into it changes. Pure. */
import { isOwn, plainText, typedValue, valueAt, type Row } from "./cells.ts";
import { kindOf, type Kind } from "./look/kinds.ts";
import type { FieldType } from "./schema.ts";

export interface Column {
  readonly name: string;
  readonly type: FieldType | undefined;
  /** What else the schema says of the field. */
  readonly more?: Readonly<Record<string, unknown>>;
}

export interface Place {
  readonly row: number;
  readonly column: string;
}

export interface PasteOperation {
  readonly op: "create" | "update" | "delete";
  readonly id?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly table_name?: string | null;
  /** The record is changed only if this is still its `updated_at`. */
  readonly if_updated_at?: string;
}

export interface Pasted {
  readonly operations: readonly PasteOperation[];
  /** The row of the grid of each operation. */
  readonly rows: readonly number[];
  /** The records that are changed, as they are now. */
  readonly seen: readonly Row[];
  readonly wrong: readonly { readonly place: Place; readonly mistake: "number" | "boolean" }[];
  /** Values for cells that cannot be changed here. */
  readonly leftOut: number;
  /** Values to the right of the last column. */
  readonly beyond: number;
}

interface Onto {
  readonly columns: readonly Column[];
  /** The place of the rectangle's first cell in the grid, and the rectangle that is chosen there. */
  readonly from: { readonly row: number; readonly column: number };
  readonly size: { readonly rows: number; readonly columns: number };
  readonly rowAt: (row: number) => Row | undefined;
  readonly table: string | null;
  /** That of numbers. */
  readonly language?: string;
}

/** How many rows of the grid are pasted onto: one cell fills the whole rectangle that is chosen. */
export function heightOf(cells: readonly (readonly string[])[], size: { readonly rows: number }): number {
  return isSingle(cells) ? size.rows : cells.length;
}

function isSingle(cells: readonly (readonly string[])[]): boolean {
  return cells.length === 1 && cells[0]?.length === 1;
}

export function paste(cells: readonly (readonly string[])[], onto: Onto): Pasted {
  const { from, size, rowAt, columns, table, language } = onto;
  const operations: PasteOperation[] = [];
  const rows: number[] = [];
  const seen: Row[] = [];
  const wrong: { place: Place; mistake: "number" | "boolean" }[] = [];
  let [leftOut, beyond] = [0, 0];
  for (let at = 0; at < heightOf(cells, size); at++) {
    const row = rowAt(from.row + at);
    const line = isSingle(cells) ? Array<string>(size.columns).fill(cells[0]?.[0] ?? "") : (cells[at] ?? []);
    const data = new Map<string, unknown>();
    for (const [index, text] of line.entries()) {
      const column = columns[from.column + index];
      const before = row && column && valueAt(row, column.name);
      if (!column) beyond += text === "" ? 0 : 1;
      else if (isOwn(column.name) || kindOf(column) === "rollup" || row?.cut?.has(column.name))
        leftOut += text === plainText(before) ? 0 : 1;
      else {
        const result = typedValue(column.type, text, before, language);
        if ("mistake" in result)
          wrong.push({ place: { row: from.row + at, column: column.name }, mistake: result.mistake });
        // What has no value needs none, as a new record has no fields without one.
        else if ((before ?? null) !== null || result.value !== null) data.set(column.name, result.value);
      }
    }
    if (data.size === 0) continue;
    rows.push(from.row + at);
    const changes: Readonly<Record<string, unknown>> = Object.fromEntries(data);
    operations.push(row ? update(row, changes) : { op: "create", data: changes, table_name: table });
    if (row) seen.push(row);
  }
  return { operations, rows, seen, wrong, leftOut, beyond };
}

/** A batch moves a record without `table_name` out of its table. */
export function update({ id, table_name, updated_at }: Row, data: Readonly<Record<string, unknown>>): PasteOperation {
  return { op: "update", id, data, table_name, if_updated_at: updated_at };
}

export function former(row: Row, data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(data).map((name) => [name, valueAt(row, name) ?? null]));
}

/** `operations[3].data.age` of a 422: which operation, and which field. */
export function placeOfError(path: string): { readonly at: number; readonly field: string } | undefined {
  const [, at, field] = /^operations\[(\d{1,4})\](?:\.data)?\.(.+)$/s.exec(path) ?? [];
  return at === undefined || field === undefined ? undefined : { at: Number(at), field };
}

// What spreadsheets put on the clipboard: tabs between cells, line breaks between rows, quotes around what has either.

export function printTsv(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => cells.map(quoted).join("\t")).join("\r\n");
}

function quoted(cell: string): string {
  return /["\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** A line break at the end makes no row. */
export function readTsv(text: string): string[][] {
  const rows: string[][] = [];
  let cells: string[] = [];
  let at = 0;
  while (at <= text.length) {
    const { cell, end } = text[at] === '"' ? readQuoted(text, at) : readPlain(text, at);
    cells.push(cell);
    const separator = text[end];
    if (separator !== "\t") {
      rows.push(cells);
      cells = [];
    }
    at = separator === "\r" && text[end + 1] === "\n" ? end + 2 : end + 1;
    if (at === text.length && separator !== "\t") break;
  }
  return rows;
}

interface Read {
  readonly cell: string;
  readonly end: number;
}

function readPlain(text: string, start: number): Read {
  let end = start;
  while (end < text.length && text[end] !== "\t" && text[end] !== "\r" && text[end] !== "\n") end++;
  return { cell: text.slice(start, end), end };
}

/** A quote that is never closed belongs to the text. */
function readQuoted(text: string, start: number): Read {
  let at = start + 1;
  for (;;) {
    const end = text.indexOf('"', at);
    if (end < 0) return readPlain(text, start);
    if (text[end + 1] !== '"') return closed(text, start, text.slice(start + 1, end).replaceAll('""', '"'), end + 1);
    at = end + 2;
  }
}

function closed(text: string, start: number, cell: string, end: number): Read {
  const next = text[end];
  return next === undefined || next === "\t" || next === "\r" || next === "\n" ? { cell, end } : readPlain(text, start);
}

// Which columns the grid has, and which of them it shows.

const mostColumns = 12;

/**
 * The columns of a grid: those of the schema, then what the records have beside, which is shown if one asks for it or if
 * there is no schema, then the record's own.
 */
export function columnsOf(
  fields: readonly Column[],
  rows: readonly Row[],
  chosen: string | null,
  hasTables: boolean,
): { readonly all: readonly Column[]; readonly shown: readonly Column[] } {
  const known = new Set(fields.map(({ name }) => name));
  const found = rows.slice(0, 200).flatMap(({ data }) => Object.keys(data).filter((name) => (data[name] ?? "") !== ""));
  const own = ["id", ...(hasTables ? ["table_name"] : []), "created_at", "updated_at"].filter(
    (name) => !known.has(name),
  );
  const others = [...new Set(found)].filter((name) => !known.has(name) && !own.includes(name)).slice(0, 200);
  const untyped = (name: string): Column => ({ name, type: undefined });
  const all = [...fields, ...others.map(untyped), ...own.map(untyped)];
  const wanted = chosen?.split(",").flatMap((name) => all.find((column) => column.name === name) ?? []) ?? [];
  if (wanted.length > 0) return { all, shown: wanted };
  const first = (fields.length > 0 ? fields : others.map(untyped)).slice(0, mostColumns);
  return { all, shown: [...first, ...(hasTables ? [untyped("table_name")] : []), untyped("created_at")] };
}

/** In rem: numbers and flags need little room, links and times much. */
export function widthOf(column: Column): number {
  if (column.name === "id") return 21;
  const kind = kindOf(column);
  return widths[kind] ?? 10;
}

const widths: Partial<Record<Kind, number>> = {
  datetime: 12,
  link: 12,
  long: 14,
  email: 13,
  url: 13,
  choices: 12,
  date: 8,
  money: 8,
  number: 7,
  percent: 6,
  rating: 7,
  yesno: 6,
  time: 6,
  file: 7,
};
