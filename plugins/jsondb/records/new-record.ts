/** A record as it is made, and the refusals of its data. Pure but for the id. */
import { invalid, printedLength, timeOfUuidv7, uuidv7 } from "platform";
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

/** 422 if there are faults. */
export function refuse(faults: Faults): void {
  if (faults) throw invalid(faults);
}
