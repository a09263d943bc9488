/**
 * What goes into index columns, worked out here for single writes: `record_index` of the migration does the same for
 * whole tables, and a test holds the two together. Takes data that fits its table. Pure.
 */
import { indexColumns, kindOf, type FieldType, type IndexColumn } from "./columns.ts";
import type { Data } from "./record.ts";
import type { Table } from "./schema.ts";

export interface IndexValues {
  /** By column, in the order of `indexColumns`; texts that PostgreSQL casts. */
  readonly values: readonly (string | null)[];
  /** Whether the data brings the column's field, so that the value is to be stored. */
  readonly given: readonly boolean[];
  /** The bits of the string columns that are given, and of those whose value is longer than its column. */
  readonly stringBits: number;
  readonly longBits: number;
}

const columnLength = 255;

export function indexValues({ fields, indexFields }: Table, data: Data): IndexValues {
  const values: (string | null)[] = [];
  const given: boolean[] = [];
  let stringBits = 0;
  let longBits = 0;
  for (const [position, column] of indexColumns.entries()) {
    const field = indexFields[position] ?? null;
    const isGiven = field !== null && Object.hasOwn(data, field);
    const value = isGiven ? data[field] : null;
    given.push(isGiven);
    values.push(value === null ? null : columnValue(column, fields.get(field ?? "")?.type, value));
    if (isGiven && position < 3) stringBits |= 1 << position;
    if (typeof value === "string" && position < 3 && beginning(value).length < value.length) longBits |= 1 << position;
  }
  return { values, given, stringBits, longBits };
}

function columnValue(column: IndexColumn, type: FieldType | undefined, value: unknown): string | null {
  switch (kindOf(column)) {
    case "str":
      return typeof value === "string" ? beginning(value) : null;
    case "int":
      return typeof value === "string" ? value : floorOf(value);
    case "time":
      return typeof value === "string" ? instantOf(type, value) : null;
  }
  return null;
}

/** The first 255 characters, as PostgreSQL counts them. */
function beginning(text: string): string {
  if (text.length <= columnLength) return text;
  let at = 0;
  for (let count = 0; count < columnLength && at < text.length; count++) at += isPair(text, at) ? 2 : 1;
  return text.slice(0, at);
}

function isPair(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xd800 && code <= 0xdbff;
}

const least = -(2n ** 63n);
const most = 2n ** 63n - 1n;

/** The floor of a JSON number, within bigint. PostgreSQL reads the digits that JSON prints, so these count here too. */
function floorOf(value: unknown): string | null {
  if (typeof value !== "number") return null;
  const printed = JSON.stringify(value);
  if (printed.includes("e+")) return `${value < 0 ? least : most}`;
  if (!/^-?\d+$/.test(printed)) return `${Math.floor(value)}`;
  const exact = BigInt(printed);
  return `${exact < least ? least : exact > most ? most : exact}`;
}

/** As `record_instant` has it: without an offset it is UTC, a time of day is one of 1970-01-01. */
function instantOf(type: FieldType | undefined, value: string): string {
  if (type === "date") return `${value}T00:00Z`;
  if (type === "time") return `1970-01-01T${value}Z`;
  return /[Z+-]/.test(value.slice(16)) ? value : `${value}Z`;
}
