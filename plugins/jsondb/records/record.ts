/** Checks a record's `data` against its table. behaviour 2.4, B.7. Pure, but for defaults. */
import { invalid, printedLength, timeOfUuidv7, uuidv7 } from "platform";
import { composed } from "../databases/columns.ts";
import type { Database } from "../databases/database.ts";
import { faultOf, isFreeText } from "../databases/kinds.ts";
import { isBlank, type Table } from "../databases/schema.ts";
import { withDefaults } from "./defaults.ts";
import { printRecord } from "./print.ts";

export type Data = Record<string, unknown>;

/** Of a 404. */
export const missingRecord = "there is no such record";

export type RecordEventKind = "create" | "update" | "destroy";

/** Field to messages, and undefined where nothing is wrong. */
export type Faults = Record<string, string[]> | undefined;

export const recordLimits = {
  /** Characters of the data that a request gives, as `printedLength` counts them. */
  dataBytes: 2_000_000,
  /** Bytes of the text that changes may let a record grow to: the constraint `records_size`. */
  storedBytes: 8_000_000,
  keys: 1_000,
  keyLength: 255,
} as const;

/**
 * The data as it is checked and stored: its texts are composed, what is worked out when read is left out, and "" is null
 * in a field that holds no free text, because forms send it for what was left empty.
 */
export function asStored({ fields, computed }: Table, given: Data): Data {
  const data = without(computed, composed(given));
  if (!Object.values(data).includes("")) return data;
  const valueOf = (name: string, value: unknown) => {
    const field = value === "" ? fields.get(name) : undefined;
    return field && !isFreeText(field) ? null : value;
  };
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, valueOf(name, value)]));
}

/** Says which of these names are worked out when read, and so are not written. */
export function computedHints(tables: Iterable<Pick<Table, "computed">>, names: Iterable<string>): string[] {
  const computed = new Set([...tables].flatMap((table) => table.computed));
  if (computed.size === 0) return [];
  const given = [...new Set(names)].filter((name) => computed.has(name));
  return given.map((name) => `not written: "${name}" is a rollup, worked out when it is read`);
}

/** The same of a new record: what it lacks has its default. */
export function asNew(db: Pick<Database, "timezone">, table: Table, given: Data): Data {
  return withDefaults(db, table, asStored(table, given));
}

function without(names: readonly string[], data: Data): Data {
  if (!names.some((name) => Object.hasOwn(data, name))) return data;
  return Object.fromEntries(Object.entries(data).filter(([name]) => !names.includes(name)));
}

/** A whole record: types, required fields and bounds. */
export function checkRecord(table: Table, data: Data): Faults {
  const faults = new Map<string, string[]>();
  for (const name of missingFields(table, data)) faults.set(name, ["is required"]);
  checkTypes(table, data, faults);
  return found(faults);
}

/** The required fields that data does not have, or has empty. */
export function missingFields({ required }: Table, data: Data): string[] {
  return required.filter((name) => isBlank(Object.hasOwn(data, name) ? data[name] : null));
}

/** The patched fields of a record: their types and limits, and that no required field becomes empty. */
export function checkPatch(table: Table, patch: Data): Faults {
  const faults = new Map<string, string[]>();
  for (const name of missingFields(table, patch)) if (Object.hasOwn(patch, name)) faults.set(name, ["is required"]);
  checkTypes(table, patch, faults);
  return found(faults);
}

/** The required fields that a record lacks, and no other check. */
export function checkRequired(table: Table, data: Data): Faults {
  return found(new Map(missingFields(table, data).map((name) => [name, ["is required"]])));
}

function checkTypes(table: Table, data: Data, faults: Map<string, string[]>): void {
  const names = Object.keys(data);
  if (names.length > recordLimits.keys) faults.set("data", [`may have at most ${recordLimits.keys} fields`]);
  for (const name of names) {
    const value = data[name];
    const field = table.fields.get(name);
    if (name.length > recordLimits.keyLength)
      add(faults, name.slice(0, 60), `a field name may have at most ${recordLimits.keyLength} characters`);
    else if (field) {
      // An empty required field is reported already.
      const fault = value === null || faults.has(name) ? undefined : faultOf(field, value);
      if (fault !== undefined) add(faults, name, fault);
    } else if (!isStorable(value)) add(faults, name, "has a number that is too large");
    if (faults.size > 50) return;
  }
}

/** The parser makes 1e999 Infinity, which would be stored as null. It has bounded the depth. */
function isStorable(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.values(value).every(isStorable);
}

function add(faults: Map<string, string[]>, field: string, message: string): void {
  const messages = faults.get(field);
  if (messages) messages.push(message);
  else faults.set(field, [message]);
}

function found(faults: Map<string, string[]>): Faults {
  return faults.size > 0 ? Object.fromEntries(faults) : undefined;
}

// A record as it is made, and the refusals of its data.

export interface CreatedRecord {
  readonly id: string;
  readonly table: Table;
  readonly data: Data;
  /** `data` as JSON text. */
  readonly json: string;
  readonly createdAt: Date;
}

/**
 * A record to be inserted: its id contains the time at which it was made, so ids and `created_at` have the same order.
 */
export function newRecord(table: Table, data: Data): CreatedRecord {
  const json = jsonOf(data);
  const id = uuidv7();
  return { id, table, data, json, createdAt: timeOfUuidv7(id) };
}

/** The text that PostgreSQL would print for a record just made. */
export function nestedText({ id, table, json, createdAt }: CreatedRecord): string {
  const time = createdAt.toJSON();
  return printRecord({ id, createdAt: time, updatedAt: time, tableName: table.name, data: json }, "nested");
}

/** 422 if it is too large. */
export function jsonOf(data: Data): string {
  const json = JSON.stringify(data);
  if (printedLength(json) > recordLimits.dataBytes)
    throw invalid({
      data: [`may have at most ${recordLimits.dataBytes} characters as JSON, with numbers written out (1e300 has 301)`],
    });
  return json;
}

/** The room of a visitor that a JSON text takes: its bytes where PostgreSQL prints it. */
export function printedBytes(json: string): number {
  return new TextEncoder().encode(json).length + printedLength(json) - json.length;
}

/** 422 if there are faults. */
export function refuse(faults: Faults): void {
  if (faults) throw invalid(faults);
}
