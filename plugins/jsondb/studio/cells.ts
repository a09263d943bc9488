/** Values of cells as texts, and what was typed or pasted as values. Pure. */
import { isLongNumber, isMap, parseJson } from "studio/exact";
import type { FieldType } from "./schema.ts";

/** A longer text is shown up to here, and changed in the record's own view. */
export const mostShown = 2000;
const mostInCell = 200;

/** A record as the list answers it. */
export interface Row {
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly table_name: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  /** The fields whose value was too long to be kept. */
  readonly cut?: ReadonlySet<string>;
}

export const ownColumns = ["id", "table_name", "created_at", "updated_at"] as const;

export function isOwn(column: string): boolean {
  return ownColumns.some((own) => own === column);
}

export function rowOf(value: unknown): Row | undefined {
  if (!isMap(value) || typeof value["id"] !== "string" || !isMap(value["data"])) return undefined;
  const { id, data, table_name: table, created_at: created, updated_at: updated } = value;
  return slim({
    id,
    data,
    table_name: typeof table === "string" ? table : null,
    created_at: String(created),
    updated_at: String(updated),
  });
}

/** Long values are let go of: a thousand rows of a megabyte must not fill the browser's memory. */
function slim(row: Row): Row {
  const cut = new Set<string>();
  const data = Object.entries(row.data).map(([name, value]) => {
    const text = typeof value === "string" ? value : isLarge(value) ? JSON.stringify(value) : "";
    if (text.length <= mostShown) return [name, value] as const;
    cut.add(name);
    return [name, text.slice(0, mostShown)] as const;
  });
  return cut.size === 0 ? row : { ...row, data: Object.fromEntries(data), cut };
}

function isLarge(value: unknown): boolean {
  return typeof value === "object" && value !== null && !isLongNumber(value);
}

/** A column's value: one of the record's own, or a field of its data. A field that is called `id` is the data's only where shown so. */
export function valueAt(row: Row, column: string): unknown {
  switch (column) {
    case "id":
      return row.id;
    case "table_name":
      return row.table_name;
    case "created_at":
      return row.created_at;
    case "updated_at":
      return row.updated_at;
    default:
      return Object.hasOwn(row.data, column) ? row.data[column] : undefined;
  }
}

/** One line for a cell. */
export function cellText(value: unknown): string {
  const text = plainText(value);
  const line = text.slice(0, mostInCell + 1).replaceAll(/\s+/g, " ");
  return line.length > mostInCell ? `${line.slice(0, mostInCell)}…` : line;
}

export function plainText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Whether a cell can be changed where it is: its value is whole, and fits on a line, or it is picked from a list. */
export function canEditInCell(row: Row, column: string, isPicked = false): boolean {
  if (isOwn(column) || row.cut?.has(column)) return false;
  return isPicked || !isLarge(valueAt(row, column));
}

/** A value as it is changed: numbers as the language writes them. */
export function typedText(value: unknown, language: string): string {
  const text = plainText(value);
  const isNumber = typeof value === "number" || isLongNumber(value);
  return isNumber && language !== "en" ? text.replace(".", ",") : text;
}

export type Typed = { readonly value: unknown } | { readonly mistake: "number" | "boolean" };

/**
 * What was typed into a cell of this type; without a type the value keeps the kind that it had. Nothing is null. What is
 * no date is sent as it is: the server says what is wrong with it. Numbers are read as the language writes them.
 */
export function typedValue(type: FieldType | undefined, text: string, before?: unknown, language?: string): Typed {
  if (text === "") return { value: null };
  if (type === "boolean" || (type === undefined && typeof before === "boolean")) return booleanOf(text);
  if (
    type === "integer" ||
    type === "number" ||
    (type === undefined && (typeof before === "number" || isLongNumber(before)))
  )
    return numberOf(plainNumber(text, language), type === "integer");
  if (type === "list") return { value: listOf(text) };
  if (type === "date") return { value: dayTyped(text, language) || text.trim() };
  return { value: type === "time" || type === "datetime" ? text.trim() : text };
}

/** A day as people write it, here one as an example: 12/31/2026, 31.12.2026. */
export function dayForm(language: string, day = "2026-12-31"): string {
  const [year = "", month = "", date = ""] = day.split("-");
  return language === "en" ? `${Number(month)}/${Number(date)}/${year}` : `${date}.${month}.${year}`;
}

/** The day that is meant, as 2026-12-31; "" if none is. In English the month stands before a `/`, where it can. */
export function dayTyped(text: string, language = ""): string {
  const parts = text.slice(0, 20).replaceAll(" ", "").split(/[-./]/);
  if (parts.length !== 3 || !parts.every((part) => /^\d{1,4}$/.test(part))) return "";
  const [first = 0, second = 0, third = 0] = parts.map(Number);
  const isYearFirst = parts[0]?.length === 4;
  const isMonthFirst = second > 12 || (language === "en" && text.includes("/") && first <= 12);
  const given = isYearFirst ? first : third < 100 ? 2000 + third : third;
  const [month, day] = isYearFirst ? [second, third] : isMonthFirst ? [first, second] : [second, first];
  const found = new Date(Date.UTC(given, month - 1, day));
  const isThere = given >= 1000 && found.getUTCMonth() === month - 1 && found.getUTCDate() === day;
  return isThere ? found.toISOString().slice(0, 10) : "";
}

/** As JSON, or with commas between the items. */
export function listOf(text: string): unknown[] {
  try {
    const value: unknown = parseJson(text);
    if (Array.isArray(value)) return value;
  } catch {
    // It is no JSON.
  }
  return text.split(",").flatMap((item) => item.trim() || []);
}

function booleanOf(text: string): Typed {
  const word = text.trim().toLowerCase();
  if (word === "true" || word === "1") return { value: true };
  return word === "false" || word === "0" ? { value: false } : { mistake: "boolean" };
}

/**
 * A number as people write it, as JSON has it: "1.234,50 €" and "1,234.50" are 1234.50. What may mean two things, as
 * "1,234", means what it does in the language; without one it is left as it is, and so refused.
 */
export function plainNumber(text: string, language?: string): string {
  const bare = text.replaceAll(/[\s'’€$£¥]/g, "");
  const [, sign = "", first, mark, last] = /^([+-]?)([1-9]\d{0,2})([.,])(\d{3})$/.exec(bare) ?? [];
  if (mark !== undefined && language !== undefined)
    return `${sign === "-" ? "-" : ""}${first}${mark === groupMarks.get(language) ? "" : "."}${last}`;
  const [dots, commas] = [bare.split(".").length - 1, bare.split(",").length - 1];
  if (commas === 0 && dots < 2) return bare;
  const isComma = bare.lastIndexOf(",") > bare.lastIndexOf(".");
  const [point, group] = isComma ? [",", "."] : [".", ","];
  const isGroups = (isComma ? commas : dots) > 1;
  const whole = isGroups ? bare : bare.slice(0, bare.lastIndexOf(point));
  const rest = isGroups ? "" : bare.slice(whole.length + 1);
  if (isGroups ? bare.includes(group) : !whole.includes(group) && /^\d{3}$/.test(rest)) return bare;
  const groups = whole.replace(/^[+-]/, "").split(isGroups ? point : group);
  const isRight = groups.every((part, at) => /^\d{1,3}$/.test(part) && (at === 0 || part.length === 3));
  if (groups.length > 1 && !isRight) return bare;
  return `${whole.startsWith("-") ? "-" : ""}${groups.join("")}${isGroups ? "" : `.${rest}`}`;
}

const groupMarks: ReadonlyMap<string, string> = new Map([
  ["en", ","],
  ["de", "."],
]);

/** What is stored for a text that other languages read as another number; "" for others. */
export function meantBy(text: string, language: string): string {
  if (plainNumber(text, "en") === plainNumber(text, "de")) return "";
  return typedText(Number(plainNumber(text, language)), language);
}

/** A whole number beyond 2^53 is sent as text, another one with all the digits that were typed. */
function numberOf(text: string, whole: boolean): Typed {
  const number = Number(text);
  // "1.000" of a whole number may be a thousand.
  const isDoubtful = whole && /\.\d{3}$/.test(text);
  if (text === "" || isDoubtful || !Number.isFinite(number)) return { mistake: "number" };
  const isLong = text.length > 15 && /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text);
  const isExact = Number.isSafeInteger(number) || !Number.isInteger(number);
  return {
    value: whole && !isExact && /^-?\d+$/.test(text) ? text : isLong && "rawJSON" in JSON ? JSON.rawJSON(text) : number,
  };
}

/** The fields that differ; one that was removed becomes null, because a change merges. Undefined if the text is no JSON object. */
export function changedFields(
  before: Readonly<Record<string, unknown>>,
  text: string,
  parse: (text: string) => unknown = JSON.parse,
): Record<string, unknown> | undefined {
  let after: unknown;
  try {
    after = parse(text);
  } catch {
    return undefined;
  }
  if (!isMap(after)) return undefined;
  const changed = Object.entries(after).filter(
    ([name, value]) => !Object.hasOwn(before, name) || JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  const kept = new Set(Object.keys(after));
  const removed = Object.entries(before).filter(([name, value]) => !kept.has(name) && value !== null);
  return Object.fromEntries([...changed, ...removed.map(([name]) => [name, null] as const)]);
}
