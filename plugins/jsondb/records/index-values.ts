/**
 * The values of index columns, worked out here for single writes. `record_index` of the migration does the same for
 * whole tables, and a test holds the two together. Takes data that fits its table. Pure.
 */
import { isNumber, type ExactNumber } from "platform";
import { indexColumns, kindOf, type ColumnKind, type FieldType } from "../databases/columns.ts";
import type { Data } from "./record.ts";
import type { Table } from "../databases/schema.ts";

export interface IndexValues {
  /** By column, in the order of `indexColumns`; texts that PostgreSQL casts. */
  readonly values: readonly (string | null)[];
  /** Whether the data has the column's field, so that its value is stored. */
  readonly given: readonly boolean[];
  /** `long_strings`: the bits of the columns that are given, and of those whose value is longer than its column. */
  readonly strings: Bits;
  /** `inexact_numbers`: the same for columns that do not hold the exact value. */
  readonly numbers: Bits;
}

export interface Bits {
  readonly given: number;
  readonly set: number;
}

const columnLength = 255;
const columns = indexColumns.map((name) => {
  const kind = kindOf(name);
  return { kind, bit: 1 << (Number(name.at(-1)) - 1) };
});

export function indexValues({ fields, indexFields }: Table, data: Data): IndexValues {
  const values: (string | null)[] = [];
  const given: boolean[] = [];
  const strings = { given: 0, set: 0 };
  const numbers = { given: 0, set: 0 };
  for (const [position, { kind, bit }] of columns.entries()) {
    const field = indexFields[position] ?? null;
    const isGiven = field !== null && Object.hasOwn(data, field);
    const { column, exact } = columnValue(kind, fields.get(field ?? "")?.type, isGiven ? data[field] : null);
    values.push(column);
    given.push(isGiven);
    const bits = kind === "str" ? strings : numbers;
    if (isGiven && kind !== "time") bits.given |= bit;
    if (!exact) bits.set |= bit;
  }
  return { values, given, strings, numbers };
}

interface ColumnValue {
  readonly column: string | null;
  /** The column holds the whole value. */
  readonly exact: boolean;
}

const none: ColumnValue = { column: null, exact: true };

function columnValue(kind: ColumnKind, type: FieldType | undefined, value: unknown): ColumnValue {
  if (kind === "int" && isNumber(value)) return floorOf(value);
  if (typeof value !== "string") return none;
  if (kind === "int") return { column: value, exact: true };
  if (kind === "time") return { column: instantOf(type, value), exact: true };
  const column = beginning(value);
  return { column, exact: column.length === value.length };
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
function floorOf(value: number | ExactNumber): ColumnValue {
  const printed = JSON.stringify(value);
  const isNegative = printed.startsWith("-");
  if (printed.includes("e+")) return { column: `${isNegative ? least : most}`, exact: false };
  const [integer = "0", fraction] = printed.split(/[.e]/);
  // What remains with an exponent is a small fraction of one.
  const floor = printed.includes("e") ? (isNegative ? -1n : 0n) : BigInt(integer) - (fraction && isNegative ? 1n : 0n);
  if (floor < least || floor > most) return { column: `${floor < 0n ? least : most}`, exact: false };
  return { column: `${floor}`, exact: fraction === undefined };
}

/** As `record_instant` has it: without an offset it is UTC, a time of day is one of 1970-01-01. */
function instantOf(type: FieldType | undefined, value: string): string {
  if (type === "date") return `${value}T00:00Z`;
  if (type === "time") return `1970-01-01T${value}Z`;
  return /[Z+-]/.test(value.slice(16)) ? value : `${value}Z`;
}
