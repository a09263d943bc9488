/** The `db` steps: the private API of databases, in the transaction that stores the step. */
import type { Tx } from "platform";
import type { JsonDatabases } from "../../jsondb/api.ts";
import { StepFault } from "../engine/fault.ts";
import type { DbEffect } from "../engine/host.ts";
import type { DbStep } from "../program/program.ts";
import { searchLimits } from "../program/search.ts";
import { isTemplate } from "../program/template.ts";

export interface RecordsRequest extends Omit<DbEffect, "stepId"> {
  readonly accountId: number;
}

export interface WrittenRecord {
  readonly result: unknown;
  readonly warnings: readonly string[];
}

/** create, update and get return { id, data, table_name, created_at, updated_at }, delete { id, deleted: true }. */
export interface FlowRecords {
  /** A search returns the flat array. Throws an HttpError (404, 400). */
  read(request: RecordsRequest): Promise<unknown>;
  /** To be called before the transaction of a write, which may hold the last connection of the pool. */
  prepare(request: RecordsRequest): Promise<void>;
  /** Writes the record and its events. Throws an HttpError (404, 412, 422). */
  write(request: RecordsRequest, tx: Tx): Promise<WrittenRecord>;
}

export function createRecords(databases: JsonDatabases): FlowRecords {
  return {
    async read({ accountId, db, id, search }) {
      if (!search) return databases.get(accountId, db, named(id));
      const found = await databases.search(accountId, db, search.search);
      if (search.mostFound !== undefined && found.length > search.mostFound)
        throw new StepFault(tooMany(search.mostFound));
      return found;
    },
    async prepare({ accountId, db }) {
      await databases.find(accountId, db);
    },
    async write({ accountId, op, db, table, id, data, conditions, increment }, tx) {
      const writes = databases.within(tx);
      if (op === "delete") {
        await writes.delete(accountId, db, named(id));
        return { result: { id, deleted: true }, warnings: [] };
      }
      const record = { tableName: table, data };
      const result =
        op === "create"
          ? await writes.create(accountId, db, record)
          : await writes.update(accountId, db, named(id), { ...record, conditions, increment });
      const tables = result.table_name === null ? (await databases.find(accountId, db))?.tables : null;
      const warnings = tables ? [`the record is in no table, so no search finds it: ${tablesOf(tables)}`] : [];
      return { result, warnings };
    },
  };
}

/** Warnings of the step at `place`: an unknown database or table, or a missing table name. */
export async function tableWarnings(
  databases: Pick<JsonDatabases, "find">,
  accountId: number,
  { op, db, table_name: table, params }: DbStep,
  place: string,
): Promise<string[]> {
  const found = await databases.find(accountId, db);
  if (!found) return [`${place}.db: the database "${db}" does not exist yet`];
  const { tables } = found;
  const isWritten = op === "create" || op === "update";
  if (!isWritten && op !== "search" && table)
    return [`${place}.table_name does nothing here: \`${op}\` finds the record by its id`];
  if (table === undefined || table === null || table === "") {
    const leaves = tables !== null && (op === "create" || (op === "update" && table === null));
    if (leaves) return [`${place}.table_name: the record is in no table, so no search finds it: ${tablesOf(tables)}`];
    const searches = op === "search" && params?.["table_name"] === undefined;
    return searches && tables ? [`${place}.table_name is missing: ${tablesOf(tables)}`] : [];
  }
  if (typeof table !== "string" || isTemplate(table)) return [];
  if (tables === null) return isWritten ? [`${place}.table_name: the database "${db}" has no tables`] : [];
  return tables.includes(table)
    ? []
    : [`${place}.table_name: the table "${table}" does not exist: ${tablesOf(tables)}`];
}

/** "tables are orders, lines" */
function tablesOf(names: readonly string[]): string {
  return `tables are ${names.join(", ")}`.slice(0, 500);
}

function named(id: string | null): string {
  if (id === null) throw new StepFault("id is blank: it must be a record's id");
  return id;
}

function tooMany(most: number): string {
  const remedy =
    most < searchLimits.all ? "give a `limit`, or `all: true` for up to 10,000" : "narrow it, or give a `limit`";
  return `the search finds more than ${most} records: ${remedy}`;
}
