/**
 * Rows of an export to lines of CSV. Reads and writes bytes: an object for each record and a string for each cell take
 * ten times as long. Pure.
 */
import { parseExactly } from "platform";
import { csvCell, withoutFormula } from "../csv.ts";
import { byteWriter, forEachRow, type ExportPage } from "./bytes.ts";

/** The title of a record by its id; undefined for one that has none, or that the caller may not read. */
export type TitleOf = (id: string) => string | undefined;

/** A column of the record itself, or of a field of its data. */
export interface CsvColumn {
  readonly own: OwnColumn | undefined;
  readonly field: string;
  /** Of a link whose ids are to be titles. */
  readonly titleOf?: TitleOf | undefined;
}

interface Columns {
  readonly columns: readonly CsvColumn[];
  /** No spreadsheet reads a cell as a formula. */
  readonly safe: boolean;
}

/** How a cell is written: not at all, as its bytes, the same in quotes, or by way of its parsed JSON. */
type Form = typeof absent | typeof plain | typeof quoted | typeof parsed;
const absent = 0;
const plain = 1;
const quoted = 2;
const parsed = 3;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const semicolon = 0x3b;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const bar = 0x7c;
const closeBrace = 0x7d;
const lastAscii = 0x7f;
const letterN = 0x6e;
/** Fewer digits than these are printed by JavaScript as they are read. */
const exactDigits = 15;
const reserved = 100;
/** An id is the longest of the record's own. */
const idLength = 36;
const ownPlaces = { id: -1, created_at: -2, updated_at: -3, table_name: -4 } as const;
/** The meaning of a byte within a text, if it has one. */
const ending = 1;
const escaping = 2;
const separating = 3;
const meanings = new Uint8Array(256);
meanings[quote] = ending;
meanings[backslash] = escaping;
meanings[comma] = separating;
meanings[semicolon] = separating;
meanings[bar] = separating;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
/** The first bytes of what `withoutFormula` looks at; \u{ef} begins the wide forms of these characters. */
const formulaStarts = new Set([...bytesOf("=+-@"), 0xef]);

export function csvRows({ columns, safe }: Columns): (page: ExportPage) => Uint8Array<ArrayBuffer> {
  const fields = columns.filter(({ own }) => own === undefined).map(({ field }) => field);
  let next = 0;
  const places = columns.map(({ own }) => (own === undefined ? next++ : ownPlaces[own]));
  const { read, starts, ends, forms } = createRowReader(fields);
  const titleOf = columns.flatMap((column) => (column.own === undefined ? [column.titleOf] : []));
  const line = byteWriter();

  const cell = (bytes: Uint8Array, column: number) => {
    const from = starts[column] ?? 0;
    const to = ends[column] ?? 0;
    const form = forms[column];
    if (form === absent) return;
    const of = titleOf[column];
    if (of) {
      const text = csvCell(titleText(decoder.decode(bytes.subarray(from, to)), form === parsed, of, safe));
      line.reserve(4 * text.length);
      return line.text(text);
    }
    if (form === parsed) return line.text(csvCell(textOf(decoder.decode(bytes.subarray(from, to)), safe)));
    // Numbers are as they are, and only a text has a quote before it.
    if (safe && bytes[from - 1] === quote && formulaStarts.has(bytes[from] ?? 0))
      return line.text(csvCell(withoutFormula(decoder.decode(bytes.subarray(from, to)))));
    if (form === quoted) line.byte(quote);
    line.copy(bytes, from, to);
    if (form === quoted) line.byte(quote);
  };
  return (page) => {
    forEachRow(page, (id, time, table, endOfTable, data, endOfData) => {
      read(page.data, data, endOfData);
      line.reserve(2 * (endOfData - data + endOfTable - table) + idLength * columns.length + reserved);
      for (let at = 0; at < places.length; at++) {
        if (at > 0) line.byte(comma);
        const place = places[at] ?? 0;
        if (place >= 0) cell(page.data, place);
        else if (place === ownPlaces.id) line.id(page.ids, id);
        else if (place === ownPlaces.created_at) line.time(page.createdAt, time);
        else if (place === ownPlaces.updated_at) line.time(page.updatedAt, time);
        else if (endOfTable > table) line.text(csvCell(decoder.decode(page.tableNames.subarray(table, endOfTable))));
      }
      line.byte(carriageReturn);
      line.byte(lineFeed);
    });
    return line.taken();
  };
}

/** The cell of a value whose JSON is not its text in CSV: a text with escapes, objects, arrays, and numbers that JavaScript prints otherwise. */
function textOf(json: string, safe: boolean): string {
  const value = parseExactly(json);
  if (typeof value !== "string") return JSON.stringify(value);
  return safe ? withoutFormula(value) : value;
}

/** A value of a link with titles for ids. */
export function titled(value: unknown, of: TitleOf): unknown {
  const one = (item: unknown) => (typeof item === "string" ? (of(item) ?? item) : item);
  return Array.isArray(value) ? value.map(one) : one(value);
}

function titleText(text: string, isJson: boolean, of: TitleOf, safe: boolean): string | null {
  const value = titled(isJson ? parseExactly(text) : text, of);
  if (Array.isArray(value) && value.length === 0) return null;
  const shown = Array.isArray(value) ? value.join(", ") : typeof value === "string" ? value : JSON.stringify(value);
  return safe ? withoutFormula(shown) : shown;
}

/** Finds the fields in the JSON of a record, as PostgreSQL prints jsonb. */
function createRowReader(fields: readonly string[]) {
  const starts = new Int32Array(fields.length);
  const ends = new Int32Array(fields.length);
  const forms = new Uint8Array(fields.length);
  const keys = fields
    .map((field, column) => ({ column, field: new TextEncoder().encode(field), key: bytesOf(JSON.stringify(field)) }))
    .toSorted((a, b) => asInJsonb(a.field, b.field));

  /** The place of the key among those from `next` on; keys.length if it is none of them. */
  const placeOf = (bytes: Uint8Array, at: number, next: number): number => {
    for (let place = next; ; place++) {
      const key = keys[place]?.key;
      if (!key) return place;
      let same = 1;
      while (same < key.length && bytes[at + same] === key[same]) same++;
      if (same === key.length && bytes[at + same] === colon) return place;
    }
  };
  const set = (column: number, form: Form, from: number, to: number) => {
    forms[column] = form;
    starts[column] = from;
    ends[column] = to;
  };
  /** These give back what comes after the value. */
  const takeText = (bytes: Uint8Array, column: number, from: number): number => {
    let form: Form = plain;
    let to = from + 1;
    for (; to < bytes.length; to++) {
      const meaning = meanings[bytes[to] ?? 0];
      if (meaning === 0) continue;
      if (meaning === ending) break;
      if (meaning === escaping) {
        form = parsed;
        to += 1;
      } else if (form === plain) form = quoted;
    }
    if (form === parsed) set(column, form, from, to + 1);
    else set(column, form === plain && hasBareEdges(bytes, from + 1, to) ? plain : quoted, from + 1, to);
    return to + 1;
  };
  const take = (bytes: Uint8Array, column: number, from: number): number => {
    if (bytes[from] === quote) return takeText(bytes, column, from);
    const to = afterValue(bytes, from);
    set(column, formOf(bytes, from, to), from, to);
    return to;
  };

  const read = (bytes: Uint8Array, data: number, end: number) => {
    forms.fill(absent);
    let next = 0;
    for (let at = data + 1; at < end && bytes[at] !== closeBrace;) {
      const place = placeOf(bytes, at, next);
      const key = keys[place];
      if (key) {
        at = take(bytes, key.column, at + key.key.length + 2); // a colon and a space
        next = place + 1;
      }
      // A key that no record had when the columns were found has none.
      else at = afterValue(bytes, afterText(bytes, at) + 2);
      if (bytes[at] === comma) at += 2;
    }
  };
  return { read, starts, ends, forms };
}

/** jsonb has its keys in this order: shorter ones first. */
function asInJsonb(a: Uint8Array, b: Uint8Array): number {
  const differing = a.findIndex((byte, at) => byte !== b[at]);
  return a.length - b.length || (a[differing] ?? 0) - (b[differing] ?? 0);
}

function afterText(page: Uint8Array, at: number): number {
  let end = at + 1;
  while (end < page.length && page[end] !== quote) end += page[end] === backslash ? 2 : 1;
  return end + 1;
}

function afterValue(page: Uint8Array, from: number): number {
  if (page[from] === quote) return afterText(page, from);
  let depth = 0;
  for (let at = from; at < page.length; at++) {
    const byte = page[at];
    if (byte === quote) at = afterText(page, at) - 1;
    else if (byte === openBrace || byte === openBracket) depth += 1;
    else if (depth === 0 && (byte === comma || byte === closeBrace)) return at;
    else if (byte === closeBrace || byte === closeBracket) depth -= 1;
  }
  return page.length;
}

/** By the rules of `csvCell`: neither empty nor with a blank at one of its ends. */
function hasBareEdges(bytes: Uint8Array, from: number, to: number): boolean {
  const first = bytes[from] ?? 0;
  const last = bytes[to - 1] ?? 0;
  if (from === to || first <= space || last <= space) return false;
  if (first <= lastAscii && last <= lastAscii) return true;
  const text = decoder.decode(bytes.subarray(from, to));
  return text.trim().length === text.length;
}

/** Of what is no text. */
function formOf(bytes: Uint8Array, from: number, to: number): Form {
  const first = bytes[from] ?? 0;
  if (first === letterN) return absent;
  if (first === openBrace || first === openBracket) return parsed;
  return first <= nine && !isExactNumber(bytes, from, to) ? parsed : plain; // else true or false
}

/** Short enough to be exact, and without the zeros of a fraction that JavaScript does not print, or as a power. */
function isExactNumber(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from > exactDigits) return false;
  let point = from;
  while (point < to && bytes[point] !== dot) point += 1;
  if (point === to) return true;
  const isSmall = bytes[bytes[from] === minus ? from + 1 : from] === zero && bytes[point + 1] === zero;
  return !isSmall && bytes[to - 1] !== zero;
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

// The columns of an exported CSV file, and how an import recognises them.

export type OwnColumn = keyof typeof ownPlaces;

/** The fields of the record itself, outside its data. */
export const ownColumns: ReadonlySet<string> = new Set(Object.keys(ownPlaces));

export function isOwnColumn(name: string): name is OwnColumn {
  return ownColumns.has(name);
}

/** A file with these three columns is an export. They describe the old records, so an import ignores them. */
export function isExportHeader(names: readonly string[]): boolean {
  return ["id", "created_at", "updated_at"].every((name) => names.includes(name));
}

/**
 * A field named like a column of the record gets the prefix `data.`: `id` becomes `data.id`, and `data.id` becomes
 * `data.data.id`.
 */
export function headerOfField(field: string): string {
  return isOwn(field) ? `data.${field}` : field;
}

export function fieldOfHeader(name: string): string {
  return name.startsWith("data.") && isOwn(name) ? name.slice("data.".length) : name;
}

function isOwn(name: string): boolean {
  return ownColumns.has(name.replace(/^(?:data\.)+/, ""));
}
