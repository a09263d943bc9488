/** What `db` steps need of the plugin that keeps databases. */
import type { Tx } from "platform";
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

/**
 * Does one operation on records in `tx`, its events with it. create, update and get give { id, data, table_name,
 * created_at, updated_at }, delete { id, deleted: true }, search the flat array. Throws an HttpError (404, 422, 400).
 */
export type RunRecords = (request: RecordsRequest, tx: Tx) => Promise<unknown>;
