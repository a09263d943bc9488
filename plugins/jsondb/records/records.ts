/** What is done with records, whoever asks: checks, the write and its event. No HTTP, no SQL. */
import { afterCommit, invalid, notFound, unavailable, timeOfUuidv7, uuidv7, type BaseContext, type Tx } from "platform";
import type { Changes, RecordChange } from "./changes.ts";
import type { Database } from "../databases/database.ts";
import { printRecord } from "./print.ts";
import type { RecordEvents } from "./record-events.ts";
import { checkChanges, checkRecord, missingFields, recordLimits, type Data, type Faults } from "./record.ts";
import type { Guard, RecordStore, Shape } from "./record-store.ts";
import { noTable, type Table } from "../databases/schema.ts";
import type { Databases } from "../databases/database-store.ts";

export interface Write {
  readonly table: Table;
  readonly data: Data;
  /** The record is in this table already: if it has left it, ask for the write again. */
  readonly keepsTable?: boolean;
}

export interface CreatedRecord {
  readonly id: string;
  readonly table: Table;
  readonly data: Data;
  /** `data` as JSON text. */
  readonly json: string;
  readonly createdAt: Date;
}

export interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "keyed">;
  readonly databases: Databases;
  readonly recordStore: RecordStore;
  readonly changes: Changes;
  readonly events: RecordEvents;
}

export type Records = ReturnType<typeof createRecords>;

export function createRecords({ ctx, databases, recordStore, changes, events }: Needed) {
  /** In a transaction where somebody wants the event, the answer is kept, or the caller has one; else as the one statement it is. */
  const withEvent = <T>(wanted: boolean, tx: Tx | undefined, write: (tx: Tx | undefined) => Promise<T>): Promise<T> =>
    tx || !(wanted || ctx.keyed()) ? write(tx) : ctx.transaction(write);

  /** Tells of a change once it is committed. */
  const tell = (db: Database, kind: RecordChange["kind"], id: string, tx: Tx | undefined) => {
    const run = () => changes.tell({ kind, accountId: db.accountId, dbId: db.id, id, live: db.live });
    if (tx) afterCommit(tx, run);
    else run();
  };

  const insert = async (db: Database, { table, data }: Write, given?: Tx): Promise<CreatedRecord | undefined> => {
    refuse(checkRecord(table, data));
    const made = newRecord(table, data);
    const { id, createdAt } = made;
    const wanted = events.wanted(db, "create", { id, tableName: table.name, data });
    return withEvent(wanted, given, async (tx) => {
      if (!(await recordStore.create(db, table, made, tx))) return undefined;
      const record = { id, tableName: table.name, data, createdAt, updatedAt: createdAt };
      if (wanted) await events.tell(db, "create", record, tx);
      tell(db, "create", id, tx);
      return made;
    });
  };

  /** Where the one statement did not find the record as it should be: looks at it under a lock. */
  const mergeLocked = async (tx: Tx, db: Database, id: string, write: Write, shape: Shape, guard?: Guard) => {
    const { table, data, keepsTable } = write;
    const found = await recordStore.lock(tx, db, id, guard);
    if (!found) throw notFound();
    if (keepsTable && found.tableName !== table.name) return undefined;
    const merged: Data = Object.fromEntries([...Object.entries(found.data), ...Object.entries(data)]);
    // A record that stays in its table was checked when it was written; what moves in is checked whole.
    refuse(found.tableName === table.name ? checkMissing(table, merged) : checkRecord(table, merged));
    refuse(checkSize(JSON.stringify(merged)));
    const leftTable = found.tableName === table.name ? undefined : found.tableName;
    return recordStore.rewrite(tx, db, { id, table, json: JSON.stringify(data), guard }, shape, leftTable);
  };

  const merge = async (db: Database, id: string, write: Write, asked: Shape, guard?: Guard, given?: Tx) => {
    const { table, data } = write;
    refuse(checkChanges(table, data));
    const json = JSON.stringify(data);
    refuse(checkSize(json));
    const wanted = events.wanted(db, "update", { id, tableName: table.name, data });
    const shape = { ...asked, whole: wanted };
    const change = { id, table, data, json, guard };
    const attempt = (locked: boolean) => async (tx: Tx | undefined) => {
      const done =
        locked && tx
          ? await mergeLocked(tx, db, id, write, shape, guard)
          : await recordStore.update(db, change, shape, tx);
      if (!done) return undefined;
      if (done.record) await events.tell(db, "update", done.record, tx);
      tell(db, "update", id, tx);
      return done;
    };
    return (await withEvent(wanted, given, attempt(false))) ?? withEvent(true, given, attempt(true));
  };

  const remove = async (db: Database, id: string, guard?: Guard, given?: Tx): Promise<void> => {
    const wanted = events.wanted(db, "destroy", { id, tableName: undefined, data: {} });
    await withEvent(wanted, given, async (tx) => {
      const done = await recordStore.delete(db, id, { form: "nested", whole: wanted }, guard, tx);
      if (!done) throw notFound();
      if (done.record) await events.tell(db, "destroy", done.record, tx);
      tell(db, "destroy", id, tx);
    });
  };

  /**
   * Tries again with the database as it is now where a write met another schema than it was checked against. 404 where
   * the database is gone.
   */
  const upToDate = async <T>(first: Database, attempt: (db: Database) => Promise<T | undefined>): Promise<T> => {
    let db: Database | undefined = first;
    for (let tries = 0; tries < maxTries && db; tries++) {
      const done = await attempt(db);
      if (done !== undefined) return done;
      db = await databases.refresh(db);
    }
    if (!db) throw notFound();
    throw unavailable("the schema of the database is being changed, try again");
  };

  return {
    upToDate,
    /** `make` is asked again where the database has changed meanwhile. */
    create: (db: Database, make: (db: Database) => Write): Promise<CreatedRecord> =>
      upToDate(db, async (current) => insert(current, make(current))),

    /** A change that leaves the record in its table, even one that the schema no longer has. 404 as `update`. */
    async inItsTable(db: Database, id: string, data: Data, guard?: Guard, tx?: Tx): Promise<Write> {
      const name = await recordStore.tableNameOf(db, id, guard, tx);
      if (name === undefined) throw notFound();
      return { table: db.schema.tables.get(name) ?? { ...noTable, name }, data, keepsTable: true };
    },

    /** The answer's text. 404 if `guard` covers no such record. */
    async update(
      db: Database,
      id: string,
      make: (db: Database) => Write | Promise<Write>,
      shape: Shape,
      guard?: Guard,
    ) {
      const done = await upToDate(db, async (current) => merge(current, id, await make(current), shape, guard));
      return done.answer;
    },

    delete: (db: Database, id: string, guard?: Guard): Promise<void> => remove(db, id, guard),

    /**
     * The same in a transaction of the caller's, for batches and imports. `create` and `update` give undefined where the
     * database has another schema by now: roll back, and start again by `upToDate`.
     */
    within: (tx: Tx) => ({
      create: (db: Database, write: Write) => insert(db, write, tx),
      update: (db: Database, id: string, write: Write, shape: Shape) => merge(db, id, write, shape, undefined, tx),
      delete: (db: Database, id: string) => remove(db, id, undefined, tx),
    }),
  };
}

/** A record to be inserted: its id says when it was made, so that the order of ids is that of `created_at`. */
export function newRecord(table: Table, data: Data): CreatedRecord {
  const json = JSON.stringify(data);
  refuse(checkSize(json));
  const id = uuidv7();
  return { id, table, data, json, createdAt: timeOfUuidv7(id) };
}

/** What PostgreSQL would print of a record just made. */
export function nestedText({ id, table, json, createdAt }: CreatedRecord): string {
  const time = createdAt.toJSON();
  return printRecord({ id, createdAt: time, updatedAt: time, tableName: table.name, data: json }, "nested");
}

/** 422 where there are faults. */
export function refuse(faults: Faults): void {
  if (faults) throw invalid(faults);
}

const maxTries = 10;

function checkMissing(table: Table, merged: Data): Faults {
  const missing = missingFields(table, merged);
  return missing.length > 0 ? Object.fromEntries(missing.map((name) => [name, ["is required"]])) : undefined;
}

function checkSize(json: string): Faults {
  if (json.length <= recordLimits.dataBytes) return undefined;
  return { data: [`may have at most ${recordLimits.dataBytes} characters as JSON`] };
}
