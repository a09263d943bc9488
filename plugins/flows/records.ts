/** What `db` steps do: the private API of databases, within the transaction that stores the step. */
import type { Tx } from "platform";
import type { JsonDatabases } from "../jsondb/api.ts";
import { StepFault } from "./fault.ts";
import type { DbOp } from "./program.ts";

export interface RecordsRequest {
  readonly accountId: number;
  readonly op: DbOp;
  /** Code of the database. */
  readonly db: string;
  readonly table: string | null;
  readonly id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  /** Of a search, as in SPEC 4.4: q, filter, sort, fields, limit, offset. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** create, update and get give { id, data, table_name, created_at, updated_at }, delete { id, deleted: true }. */
export interface FlowRecords {
  /** A search gives the flat array. Throws an HttpError (404, 400). */
  read(request: RecordsRequest): Promise<unknown>;
  /** To be asked before the transaction of a write: within it there may be no connection left to look it up. */
  prepare(request: RecordsRequest): Promise<void>;
  /** The write with its events. Throws an HttpError (404, 422). */
  write(request: RecordsRequest, tx: Tx): Promise<unknown>;
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
      if (op === "create") return writes.create(accountId, db, { tableName: table, data });
      if (op === "update") return writes.update(accountId, db, named(id), { tableName: table, data });
      await writes.delete(accountId, db, named(id));
      return { id, deleted: true };
    },
  };
}

function named(id: string | null): string {
  if (id === null) throw new StepFault("id is blank: it must be a record's id");
  return id;
}

/** `{ filter: { city: "Łódź" }, fields: ["name"] }` as the query of a search. */
function searchParams(params: RecordsRequest["params"], table: string | null): Record<string, string> {
  const query = new Map<string, string>();
  if (table !== null) query.set("table_name", table);
  for (const [name, value] of Object.entries(params)) {
    if (value === null || value === undefined) continue;
    if (Array.isArray(value)) query.set(name, value.map(text).join(","));
    else if (typeof value === "object")
      for (const [inner, one] of Object.entries(value)) query.set(`${name}[${inner}]`, text(one));
    else query.set(name, text(value));
  }
  return Object.fromEntries(query);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}
