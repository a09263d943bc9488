/** The `db` steps: the private API of databases, in the transaction that stores the step. */
import type { Tx } from "platform";
import type { JsonDatabases } from "../../jsondb/api.ts";
import { StepFault } from "../engine/fault.ts";
import type { DbOp, DbStep } from "../program/program.ts";

export interface RecordsRequest {
  readonly accountId: number;
  readonly op: DbOp;
  /** Code of the database. */
  readonly db: string;
  /** Undefined: a changed record stays in its table. Null: no table. */
  readonly table: string | null | undefined;
  readonly id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  /** The query of a search, as in behaviour 4.4: q, filter, sort, fields, limit, offset. */
  readonly params: Readonly<Record<string, unknown>>;
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
  /** Writes the record and its events. Throws an HttpError (404, 422). */
  write(request: RecordsRequest, tx: Tx): Promise<WrittenRecord>;
}

export function createRecords(databases: JsonDatabases): FlowRecords {
  return {
    async read({ accountId, op, db, table, id, params }) {
      if (op === "search") return databases.search(accountId, db, searchParams(params, table));
      return databases.get(accountId, db, named(id));
    },
    async prepare({ accountId, db }) {
      await databases.find(accountId, db);
    },
    async write({ accountId, op, db, table, id, data }, tx) {
      const writes = databases.within(tx);
      if (op === "delete") {
        await writes.delete(accountId, db, named(id));
        return { result: { id, deleted: true }, warnings: [] };
      }
      const record = { tableName: table, data };
      const result =
        op === "create"
          ? await writes.create(accountId, db, record)
          : await writes.update(accountId, db, named(id), record);
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
  if (table === undefined || table === null || table === "") {
    const leaves = tables !== null && (op === "create" || (op === "update" && table === null));
    if (leaves) return [`${place}.table_name: the record is in no table, so no search finds it: ${tablesOf(tables)}`];
    const searches = op === "search" && params?.["table_name"] === undefined;
    return searches && tables ? [`${place}.table_name is missing: ${tablesOf(tables)}`] : [];
  }
  if (typeof table !== "string" || table.includes("{{") || table.includes("{%")) return [];
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

/** `{ filter: { city: "Łódź", age: { gt: 30 } }, fields: ["name"] }` as the query of a search. */
function searchParams(params: RecordsRequest["params"], table: RecordsRequest["table"]): Record<string, string> {
  const query = new Map<string, string>();
  if (table) query.set("table_name", table);
  const add = (name: string, value: unknown): void => {
    if (value === null || value === undefined) return;
    if (Array.isArray(value) && !value.some((one) => typeof one === "object"))
      query.set(name, value.map(text).join(","));
    else if (typeof value === "object")
      for (const [key, one] of Object.entries(value)) add(`${name}[${key}]`, one ?? "");
    else query.set(name, text(value));
  };
  for (const [name, value] of Object.entries(params)) add(name, value);
  return Object.fromEntries(query);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}
