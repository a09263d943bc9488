/** Operations on records, for HTTP and other plugins alike. No HTTP, no SQL. */
import { notFound, type Tx } from "platform";
import type { RecordUpdate } from "../api.ts";
import { amended } from "./amend.ts";
import type { Database } from "../databases/database.ts";
import type { CreatedRecord } from "./new-record.ts";
import type { Data } from "./record.ts";
import type { Guard, RecordStore, Shape, Written } from "./record-store.ts";
import type { RecordWrites, Which, Write } from "./record-writes.ts";
import { noTable } from "../databases/schema.ts";
import type { Databases } from "../databases/database-store.ts";
import { upToDate } from "../databases/up-to-date.ts";

interface RecordsOptions {
  readonly databases: Databases;
  readonly recordStore: RecordStore;
  readonly recordWrites: RecordWrites;
}

export type Records = ReturnType<typeof createRecords>;

/** Where a function takes `make`, it is asked again if the schema has changed meanwhile. */
export function createRecords({ databases, recordStore, recordWrites }: RecordsOptions) {
  const retried = <T>(db: Database, attempt: (db: Database) => Promise<T | undefined>) =>
    upToDate(databases, db, attempt);
  return {
    upToDate: retried,

    create: (db: Database, make: (db: Database) => Write): Promise<CreatedRecord> =>
      retried(db, async (current) => recordWrites.insert(current, make(current))),

    /** A patch that leaves the record in its table, even one that the schema no longer has. 404 as `update`. */
    async inItsTable(db: Database, id: string, data: Data, guard?: Guard, tx?: Tx): Promise<Write> {
      const name = await recordStore.tableNameOf(db, id, guard, tx);
      if (name === undefined) throw notFound();
      return { table: db.schema.tables.get(name) ?? { ...noTable, name }, data, keepsTable: true };
    },

    /** 404 if `guard` covers no such record. */
    async update(
      db: Database,
      id: string,
      make: (db: Database) => Write | Promise<Write>,
      shape: Shape,
      guard?: Guard,
    ): Promise<Written> {
      const attempt = async (current: Database) => recordWrites.merge(current, id, await make(current), shape, guard);
      return retried(db, attempt);
    },

    delete: (db: Database, id: string, which?: Which): Promise<void> => recordWrites.remove(db, id, which),

    /**
     * The same in a transaction of the caller's, for batches and imports. `create` and `update` give undefined if the
     * database has another schema by now: roll back, and start again by `upToDate`.
     */
    within: (tx: Tx) => ({
      create: (db: Database, write: Write) => recordWrites.insert(db, write, tx),
      update: (db: Database, id: string, write: Write, shape: Shape) =>
        recordWrites.merge(db, id, write, shape, undefined, tx),
      delete: (db: Database, id: string) => recordWrites.remove(db, id, undefined, tx),
      /** The write of a record that is held from now on, if the conditions hold of it (412), with sums of its numbers. */
      amended: (db: Database, id: string, write: Write, by: Pick<RecordUpdate, "conditions" | "increment">) =>
        amended(recordStore, tx, db, id, write, by),
    }),
  };
}
