/** The parameters of a request about a file of people: what its preview said of it. Pure. */
import { badRequest, invalid, isObject, mistakes, parseJson } from "platform";
import { separators } from "../csv.ts";
import { fieldTypes } from "../../databases/columns.ts";
import { isCurrency } from "./currencies.ts";
import { encodings } from "./encodings.ts";
import { isKindOf, kinds } from "../../databases/choices.ts";
import type { FileOptions } from "./read.ts";
import { dateOrders, decimals, groupings, type Format } from "./values.ts";

/** Column to field; null: left out. */
export type Mapping = ReadonlyMap<string, string | null>;
export type Formats = ReadonlyMap<string, Format>;

export interface FileParameters extends FileOptions {
  readonly mapping: Mapping | undefined;
  readonly formats: Formats | undefined;
}

export const fileQuery = {
  separator: "CSV: `,`, `;`, `|` or `tab`; default: found from the rows, or from a line `sep=;` before them",
  encoding: `one of ${encodings.join(", ")}; default: found from the bytes`,
  sheet: "the name of a workbook's sheet; default: the first that is not hidden",
  header_row: "the line, or row of the sheet, with the names of the columns, from 1; 0 = none",
} as const;

export const mappingQuery = {
  mapping:
    'JSON, { column: field or null }, such as `{"E-mail":"email","Notes":null}`: null leaves a column out; one that is not named goes to the field of its name, and is left out if there is none',
  formats:
    'JSON, { column: format } as the preview shows it, such as `{"Price":{"decimal":",","thousands":" ","currency":"PLN"}}`',
} as const;

const mostColumns = 1_000;

type Query = Pick<URLSearchParams, "get">;

function readFileOptions(query: Query): FileOptions {
  return {
    encoding: oneOf("encoding", query.get("encoding")?.toLowerCase(), encodings),
    separator: separatorOf(query.get("separator")),
    sheet: query.get("sheet") || undefined,
    headerRow: headerRowOf(query.get("header_row")),
  };
}

export function readFileParameters(query: Query): FileParameters {
  const mapping = objectOf("mapping", query.get("mapping"));
  const formats = objectOf("formats", query.get("formats"));
  return {
    ...readFileOptions(query),
    mapping: mapping && mappingOf(mapping),
    formats: formats && formatsOf(formats),
  };
}

export function separatorOf(given: string | null): string | undefined {
  if (given === null || given === "") return undefined;
  const wanted = given === "tab" ? "\t" : given;
  const found = separators.find((separator) => separator === wanted);
  if (found === undefined) throw badRequest("`separator` must be `,`, `;`, `|` or `tab`");
  return found;
}

function headerRowOf(given: string | null): number | undefined {
  if (given === null || given === "") return undefined;
  if (!/^\d{1,7}$/.test(given)) throw badRequest("`header_row` must be a whole number from 0");
  return Number(given);
}

function oneOf<T extends string>(name: string, given: string | undefined, known: readonly T[]): T | undefined {
  if (given === undefined || given === "") return undefined;
  const found = known.find((one) => one === given);
  if (found === undefined) throw badRequest(`\`${name}\` must be one of ${known.join(", ")}`);
  return found;
}

function objectOf(name: string, text: string | null): ReadonlyMap<string, unknown> | undefined {
  if (text === null || text === "") return undefined;
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    value = undefined;
  }
  if (!isObject(value)) throw invalid({ [name]: ["must be a JSON object of columns"] });
  const entries = Object.entries(value);
  if (entries.length > mostColumns) throw invalid({ [name]: [`may have at most ${mostColumns} columns`] });
  return new Map(entries);
}

function mappingOf(given: ReadonlyMap<string, unknown>): Mapping {
  const found = mistakes();
  const targets = new Map<string, string>();
  const pairs = [...given].map(([column, field]): [string, string | null] => {
    if (field === null) return [column, null];
    if (typeof field !== "string" || field === "") {
      found.add("mapping", `${place(column)}: must be the name of a field, or null`);
      return [column, null];
    }
    const other = targets.get(field);
    if (other !== undefined) found.add("mapping", `${place(column)}: ${place(other)} goes to ${place(field)} already`);
    targets.set(field, column);
    return [column, field];
  });
  found.check();
  return new Map(pairs);
}

function formatsOf(given: ReadonlyMap<string, unknown>): Formats {
  const found = mistakes();
  const pairs = [...given].flatMap(([column, format]): [string, Format][] => {
    if (format === null) return [];
    if (!isObject(format)) {
      found.add("formats", `${place(column)}: must be an object`);
      return [];
    }
    const entries = Object.entries(format).filter(([, value]) => value !== null);
    for (const [key, value] of entries) {
      const rule = formatRules.get(key);
      if (!rule)
        found.add("formats", `${place(column)}: unknown ${place(key)}, known: ${[...formatRules.keys()].join(", ")}`);
      else if (!rule.fits(value)) found.add("formats", `${place(column)}.${key}: ${rule.says}`);
    }
    return [[column, Object.fromEntries(entries)]];
  });
  for (const [column, { decimal, thousands, type, kind }] of pairs) {
    if (type !== undefined && kind !== undefined && !isKindOf(kind, type))
      found.add("formats", `${place(column)}.kind: is no kind of ${type}`);
    if (decimal !== undefined && decimal === thousands)
      found.add("formats", `${place(column)}.thousands: must be another mark than that of the decimals`);
  }
  found.check();
  return new Map(pairs);
}

interface FormatRule {
  readonly fits: (value: unknown) => boolean;
  readonly says: string;
}

const listed = (known: readonly string[]): FormatRule => ({
  fits: (value) => known.some((one) => one === value),
  says: `must be one of ${known.map((one) => JSON.stringify(one)).join(", ")}`,
});
const word: FormatRule = {
  fits: (value) => typeof value === "string" && value.length <= 100,
  says: "must be a word of at most 100 characters",
};
const formatRules: ReadonlyMap<string, FormatRule> = new Map([
  ["decimal", listed(decimals)],
  ["thousands", listed(groupings)],
  ["date_order", listed(dateOrders)],
  ["true", word],
  ["false", word],
  ["time_zone", { fits: isTimeZone, says: "must be a time zone such as Europe/Warsaw" }],
  ["currency", { fits: (value) => typeof value === "string" && isCurrency(value), says: "must be a code such as EUR" }],
  ["kind", listed(kinds)],
  ["type", listed(fieldTypes)],
  ["link", { fits: (value) => typeof value === "string" && value.length <= 202, says: "must name a table" }],
]);

function isTimeZone(value: unknown): boolean {
  if (typeof value !== "string" || value.length > 100) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: value }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

export function place(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100).toWellFormed()}…` : name);
}
