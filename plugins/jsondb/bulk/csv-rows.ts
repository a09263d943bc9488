/**
 * Pages of raw records, as `rawRecord` of answer-store.ts gives them, to lines of CSV. Reads and writes bytes: an object
 * for each record and a string for each cell take ten times as long. Pure.
 */
import { csvCell, withoutFormula } from "./csv.ts";

interface Columns {
  readonly fields: readonly string[];
  readonly multiTable: boolean;
  /** No spreadsheet reads a cell as a formula. */
  readonly safe: boolean;
}

/** How a cell is written: not at all, as its bytes, the same in quotes, or by way of its parsed JSON. */
type Form = typeof absent | typeof plain | typeof quoted | typeof parsed;
const absent = 0;
const plain = 1;
const quoted = 2;
const parsed = 3;

const partEnd = 0x01;
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
const closeBrace = 0x7d;
const lastAscii = 0x7f;
const [letterN, letterT, letterZ] = [0x6e, 0x54, 0x5a];
const apostrophe = 0x27;
const idBytes = 36;
/** Fewer digits than these are printed by JavaScript as they are read. */
const exactDigits = 15;
const formulaStarts = new Set(bytesOf("=+-@"));
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The columns are id, table_name (if there are several tables), the fields, created_at and updated_at. */
export function createCsvRows({ fields, multiTable, safe }: Columns): (page: Uint8Array) => Uint8Array<ArrayBuffer> {
  const { read, starts, ends, forms } = createRowReader(fields);
  const line = createLine();

  const cell = (page: Uint8Array, column: number) => {
    const from = starts[column] ?? 0;
    const to = ends[column] ?? 0;
    const form = forms[column];
    if (form === absent) return;
    if (form === parsed) return line.text(csvCell(textOf(decoder.decode(page.subarray(from, to)), safe)));
    if (form === quoted) line.byte(quote);
    // Numbers are as they are, and only a text has a quote before it.
    if (safe && page[from - 1] === quote && formulaStarts.has(page[from] ?? 0)) line.byte(apostrophe);
    line.copy(page, from, to);
    if (form === quoted) line.byte(quote);
  };
  /** Gives back where the row ends. */
  const row = (page: Uint8Array, at: number): number => {
    const createdAt = at + idBytes + 1;
    const updatedAt = page.indexOf(partEnd, createdAt) + 1;
    const table = page.indexOf(partEnd, updatedAt) + 1;
    const data = page.indexOf(partEnd, table) + 1;
    const end = read(page, data);
    line.reserve(2 * (end - at) + 4 * fields.length + 100);
    line.copy(page, at, at + idBytes);
    if (multiTable) line.byte(comma);
    if (multiTable && data - 1 > table) line.text(csvCell(decoder.decode(page.subarray(table, data - 1))));
    for (let column = 0; column < fields.length; column++) {
      line.byte(comma);
      cell(page, column);
    }
    line.time(page, createdAt);
    line.time(page, updatedAt);
    line.text("\r\n");
    return end;
  };

  return (page) => {
    // Between two rows is one byte.
    for (let at = 0; at < page.length; at = row(page, at) + 1);
    return line.taken();
  };
}

/** What is not as CSV has it: a text with escapes, objects, arrays, and numbers that JavaScript prints otherwise. */
function textOf(json: string, safe: boolean): string {
  const value: unknown = JSON.parse(json);
  if (typeof value !== "string") return JSON.stringify(value);
  return safe ? withoutFormula(value) : value;
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
  const placeOf = (page: Uint8Array, at: number, next: number): number => {
    for (let place = next; ; place++) {
      const key = keys[place]?.key;
      if (!key) return place;
      let same = 1;
      while (same < key.length && page[at + same] === key[same]) same++;
      if (same === key.length && page[at + same] === colon) return place;
    }
  };
  const take = (page: Uint8Array, column: number, from: number, to: number) => {
    const isText = page[from] === quote;
    const form = isText ? textForm(page, from + 1, to - 1) : formOf(page, from, to);
    const edge = isText && form !== parsed ? 1 : 0;
    starts[column] = from + edge;
    ends[column] = to - edge;
    forms[column] = form;
  };

  /** Gives back what comes after the closing brace. */
  const read = (page: Uint8Array, data: number): number => {
    forms.fill(absent);
    let next = 0;
    let at = data + 1;
    while (at < page.length && page[at] !== closeBrace) {
      const place = placeOf(page, at, next);
      const from = afterText(page, at) + 2; // a colon and a space
      const to = afterValue(page, from);
      const key = keys[place];
      // A key that no record had when the columns were found has none.
      if (key) {
        take(page, key.column, from, to);
        next = place + 1;
      }
      at = page[to] === comma ? to + 2 : to;
    }
    return at + 1;
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

/** By the rules of `csvCell`. */
function textForm(page: Uint8Array, from: number, to: number): Form {
  const first = page[from] ?? 0;
  const last = page[to - 1] ?? 0;
  let form: Form = from === to || first <= space || last <= space ? quoted : plain;
  for (let at = from; at < to; at++) {
    const byte = page[at];
    if (byte === backslash) return parsed;
    if (byte === comma || byte === semicolon) form = quoted;
  }
  if (form === quoted || (first <= lastAscii && last <= lastAscii)) return form;
  const text = decoder.decode(page.subarray(from, to));
  return text.trim().length === text.length ? plain : quoted;
}

/** Of what is no text. */
function formOf(page: Uint8Array, from: number, to: number): Form {
  const first = page[from] ?? 0;
  if (first === letterN) return absent;
  if (first === openBrace || first === openBracket) return parsed;
  return first <= nine && !isExactNumber(page, from, to) ? parsed : plain; // else true or false
}

/** Short enough to be exact, and without the zeros of a fraction that JavaScript does not print, or as a power. */
function isExactNumber(page: Uint8Array, from: number, to: number): boolean {
  if (to - from > exactDigits) return false;
  let point = from;
  while (point < to && page[point] !== dot) point += 1;
  if (point === to) return true;
  const isSmall = page[page[from] === minus ? from + 1 : from] === zero && page[point + 1] === zero;
  return !isSmall && page[to - 1] !== zero;
}

/** The bytes that are written. */
function createLine() {
  const encoder = new TextEncoder();
  let bytes = new Uint8Array(64_000);
  let end = 0;

  const byte = (value: number) => {
    bytes[end++] = value;
  };
  const reserve = (more: number) => {
    if (end + more <= bytes.length) return;
    const larger = new Uint8Array(2 * bytes.length + more);
    larger.set(bytes.subarray(0, end));
    bytes = larger;
  };
  const copy = (from: Uint8Array, start: number, to: number) => {
    const into = bytes;
    let place = end;
    for (let at = start; at < to; at++) into[place++] = from[at] ?? 0;
    end = place;
  };
  const text = (more: string) => {
    end += encoder.encodeInto(more, bytes.subarray(end)).written;
  };
  return {
    byte,
    reserve,
    copy,
    text,
    /** A comma and "2026-01-31 10:00:00.5+00", PostgreSQL's text of a time in UTC, as "2026-01-31T10:00:00.500Z". */
    time(page: Uint8Array, at: number) {
      byte(comma);
      copy(page, at, at + 10);
      byte(letterT);
      copy(page, at + 11, at + 19);
      byte(dot);
      // PostgreSQL leaves out a fraction of zero, and the zeros at its end; the zone that follows, +00, has only zeros.
      const hasFraction = page[at + 19] === dot;
      for (let digit = at + 20; digit < at + 23; digit++)
        byte(hasFraction ? Math.max(page[digit] ?? zero, zero) : zero);
      byte(letterZ);
    },
    taken(): Uint8Array<ArrayBuffer> {
      const taken = bytes.slice(0, end);
      end = 0;
      return taken;
    },
  };
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
