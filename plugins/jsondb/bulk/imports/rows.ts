/** The rows of an import, whatever its format. */
import { recordLimits, type Data } from "../../records/record.ts";
import { exactly, parseJson } from "platform";
import type { FieldType } from "../../databases/columns.ts";
import type { Table } from "../../databases/schema.ts";

export interface Place {
  /** The number of the record, from 1; 0 is a header. */
  readonly row: number;
  /** The line of the body on which it begins, from 1. */
  readonly line?: number;
}

export interface RowFault extends Place {
  /** The id of the record, where the row was stored before. */
  readonly id?: string;
  readonly field: string | null;
  readonly message: string;
}

export type Row =
  | {
      readonly place: Place;
      readonly data: Data;
      readonly tableName: string | null | undefined;
      /** Found so far: what they are about is left out of the data. */
      readonly faults?: readonly RowFault[];
    }
  /** `last`: the rest of the body cannot be read. */
  | { readonly fault: RowFault; readonly last?: true };

/** Twice what a record may have: its JSON may be written with escapes and spaces. */
export const maxRowLength = 2 * recordLimits.dataBytes;

export function badRow(place: Place, message: string, field: string | null = null): Row {
  return { fault: { ...place, field, message } };
}

/** A fault after which the rest of the body cannot be read. */
export function lastRow(place: Place, message: string): Row {
  return { fault: { ...place, field: null, message }, last: true };
}

// The text of a CSV cell as a value of its field's type.

/** Text that cannot be converted stays text, and the check of the record then names the mistake. */
export function dataFromText(table: Table, cells: Data): Data {
  const values = Object.entries(cells).map(([name, cell]): [string, unknown] => {
    const type = table.fields.get(name)?.type;
    return [name, type && typeof cell === "string" ? valueFromText(type, cell) : cell];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** Only texts may be longer: the check of the record refuses other values that are not converted. */
const maxTypedCell = 1_000;

/** Undefined for a blank cell, unless the field holds text. */
export function valueFromText(type: FieldType, cell: string): unknown {
  if (type === "string" || type === "text") return cell;
  if (type === "list") return listFromText(cell.trim());
  if (cell.length > maxTypedCell) return cell;
  const text = cell.trim();
  if (text === "" || text.toLowerCase() === "null") return undefined;
  return (converters[type] ?? ((same) => same))(text);
}

const mostListCharacters = 100_000;

/** JSON, as an export writes it, or items with commas, semicolons or line breaks between them. */
function listFromText(text: string): unknown {
  if (text === "" || text.toLowerCase() === "null") return undefined;
  if (text.length > mostListCharacters) return text;
  if (!text.startsWith("[")) return text.split(/[,;\r\n]/).flatMap((item) => item.trim() || []);
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

const converters: Partial<Record<FieldType, (text: string) => unknown>> = {
  integer(text) {
    const digits = /^([+-]?\d{1,30})(?:\.0*)?$/.exec(plainNumber(text))?.[1];
    return digits === undefined ? text : wholeNumber(digits);
  },
  number(text) {
    const plain = plainNumber(text);
    return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(plain) ? exactly(plain.replace("+", "")) : text;
  },
  boolean: (text) => booleanOf(text) ?? text,
  datetime(text) {
    const { day, rest = "" } = dayForm.exec(text)?.groups ?? {};
    const found = timeOf(rest.replace(/^[T ]\s*/, ""));
    return day === undefined || !found ? text : `${isoDay(day)}T${found.time}${found.zone ?? ""}`;
  },
  date(text) {
    const { day, rest = "" } = dayForm.exec(text)?.groups ?? {};
    return day !== undefined && midnight.test(rest) ? isoDay(day) : text;
  },
  time(text) {
    const found = timeForm.exec(text)?.groups;
    return found && found["zone"] === undefined ? isoTime(found).replace(/\.0+$/, "") : text;
  },
};

/** Beyond 2^53 a whole number is written as text (behaviour B.7). */
export function wholeNumber(text: string): number | string {
  const exact = BigInt(text.replace("+", ""));
  const number = Number(exact);
  return Number.isSafeInteger(number) ? number : `${exact}`;
}

/** Digits in groups of three, by a separator that is not the one of the decimals, or that stands more than once. */
const groupedForms = [
  /^[+-]?\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?:[.,]\d+)?$/,
  /^[+-]?\d{1,3}(?:,\d{3}){2,}(?:\.\d+)?$/,
  /^[+-]?\d{1,3},\d{3}\.\d+$/,
  /^[+-]?\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?$/,
  /^[+-]?\d{1,3}\.\d{3},\d+$/,
];

/**
 * A number as spreadsheets write it in other languages, with a point and without groups. `1,234` may be either, and
 * stays as it is.
 */
function plainNumber(given: string): string {
  const text = given.replace(/^\u2212/, "-");
  if (groupedForms.some((form) => form.test(text))) {
    const decimals = /[.,](\d+)$/.exec(text);
    const hasDecimals = decimals !== null && text.indexOf(decimals[0][0] ?? "") === decimals.index;
    const whole = (hasDecimals ? text.slice(0, decimals.index) : text).replaceAll(/[^\d+-]/g, "");
    return hasDecimals ? `${whole}.${decimals[1]}` : whole;
  }
  const isDecimal = /^[+-]?\d*,\d+$/.test(text) && !/^[+-]?[1-9]\d{0,2},\d{3}$/.test(text);
  return isDecimal ? text.replace(",", ".") : text;
}

/** Year first, or with points day first, as no country writes it otherwise. What has slashes may be either. */
const dayForm = /^(?<day>\d{4}-\d{1,2}-\d{1,2}|\d{4}\/\d{1,2}\/\d{1,2}|\d{1,2}\.\d{1,2}\.\d{4})(?<rest>\D.*)?$/;
const timeForm =
  /^(?<hour>[01]?\d|2[0-3]):(?<minute>[0-5]\d)(?::(?<second>[0-5]\d)(?:[.,](?<fraction>\d{1,9}))?)?(?: ?(?<half>[ap])\.?m\.?)?(?: ?(?<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?$/i;
/** Databases and spreadsheets write a day as a time, too. */
const midnight = /^(?:[T ]0?0:00(?::00(?:\.0+)?)?(?: ?(?:Z|UTC|[+-]00:?00))?)?$/i;

function isoDay(day: string): string {
  const parts = day.split(/[-/.]/);
  const [year = "", month = "", ofMonth = ""] = day.includes(".") ? parts.toReversed() : parts;
  return `${year}-${month.padStart(2, "0")}-${ofMonth.padStart(2, "0")}`;
}

function isoTime({ hour = "", minute = "", second, fraction, half }: Readonly<Record<string, string | undefined>>) {
  const isAfternoon = half?.toLowerCase() === "p";
  const hours = half !== undefined && Number(hour) <= 12 ? (Number(hour) % 12) + (isAfternoon ? 12 : 0) : hour;
  const seconds = second === undefined ? "" : `:${second}`;
  return `${`${hours}`.padStart(2, "0")}:${minute}${seconds}${fraction === undefined ? "" : `.${fraction}`}`;
}

/** A time of day as ISO 8601 has it, and the offset that it names. */
export function timeOf(text: string): { readonly time: string; readonly zone: string | undefined } | undefined {
  const found = timeForm.exec(text)?.groups;
  const zone = found?.["zone"];
  return found && { time: isoTime(found), zone: /^[a-z]/i.test(zone ?? "") ? "Z" : zone };
}

export function booleanOf(text: string): boolean | undefined {
  return booleans.get(text.toLowerCase());
}

/** The texts of databases, and of spreadsheets in the languages that write them otherwise. */
const booleans = new Map([
  ...["true", "1", "1.0", "t", "yes", "y", "on", "checked", "wahr", "prawda", "vrai", "verdadero", "pravda"].map(
    (text) => [text, true] as const,
  ),
  ...["false", "0", "0.0", "f", "no", "n", "off", "unchecked", "falsch", "fałsz", "faux", "falso", "nepravda"].map(
    (text) => [text, false] as const,
  ),
]);
