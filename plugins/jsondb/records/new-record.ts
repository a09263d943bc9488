/** A record as it is made, and the refusals of its data. Pure but for the id. */
import { invalid, timeOfUuidv7, uuidv7 } from "platform";
import { printRecord } from "./print.ts";
import { recordLimits, type Data, type Faults } from "./record.ts";
import type { Table } from "../databases/schema.ts";

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

/** What a JSON text takes of a visitor's room: its bytes where PostgreSQL prints it. */
export function printedBytes(json: string): number {
  return new TextEncoder().encode(json).length + printedLength(json) - json.length;
}

/**
 * How many characters a JSON text has where PostgreSQL prints it, which writes no exponents: `1e300` has 301. Without the
 * spaces that it puts between values.
 */
export function printedLength(json: string): number {
  if (!maybeExponent.test(json)) return json.length;
  let length = json.length;
  for (const { 0: literal, 1: whole, 2: fraction = "", 3: exponent } of json.matchAll(stringsAndNumbers)) {
    if (whole === undefined || exponent === undefined) continue;
    const power = Number(exponent);
    const digits = Math.max(1, whole.length + power);
    const decimals = Math.max(0, fraction.length - power);
    length += digits + decimals + (decimals > 0 ? 1 : 0) + (literal.startsWith("-") ? 1 : 0) - literal.length;
  }
  return length;
}

const maybeExponent = /\de[+-]?\d/i;
/** Strings are matched, so that what is in them is not. */
const stringsAndNumbers = /"(?:[^"\\]|\\.)*"|-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?/gi;

/** 422 if there are faults. */
export function refuse(faults: Faults): void {
  if (faults) throw invalid(faults);
}
