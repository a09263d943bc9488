/** What is done with records, whoever asks: checks, the write and its event. No HTTP, no SQL. */
import { invalid, modelChanged, notFound, uuidv7, type BaseContext, type ModelChange, type Tx } from "platform";
import type { Changes } from "./changes.ts";
import type { Database } from "./database.ts";
import { checkChanges, checkRecord, recordLimits, type Data, type Faults } from "./record.ts";
import type { Guard, RecordStore, Shape, StoredRecord, Written } from "./record-store.ts";
import type { Table } from "./schema.ts";
import type { Databases } from "./store.ts";

export interface Write {
  readonly table: Table;
  readonly data: Data;
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
  readonly ctx: Pick<BaseContext, "transaction" | "wanted" | "changed">;
  readonly databases: Databases;
  readonly store: RecordStore;
  readonly changes: Changes;
}

export type Records = ReturnType<typeof createRecords>;

export function createRecords({ ctx, databases, store, changes }: Needed) {
  const isWanted = (db: Database, kind: ModelChange["kind"], id: string, tableName: string, data: Data) =>
    ctx.wanted(
      modelChanged,
      changeOf(db, kind, { id, tableName, data, createdAt: unknownTime, updatedAt: unknownTime }),
    );

  /** Runs a write in a transaction with its event where somebody wants that, else as the one statement it is. */
  const withEvent = async (
    db: Database,
    kind: "update" | "destroy",
    wanted: boolean,
    write: (tx: Tx | undefined) => Promise<Written | undefined>,
  ): Promise<Written | undefined> => {
    if (!wanted) return write(undefined);
    return ctx.transaction(async (tx) => {
      const done = await write(tx);
      if (done?.record) await ctx.changed(changeOf(db, kind, done.record), tx);
      return done;
    });
  };

  const insert = async (db: Database, { table, data }: Write): Promise<CreatedRecord | undefined> => {
    refuse(checkRecord(table, data));
    const made = newRecord(table, data);
    const { id, createdAt } = made;
    if (!isWanted(db, "create", id, table.name, data)) return (await store.create(db, table, made)) ? made : undefined;
    return ctx.transaction(async (tx) => {
      if (!(await store.create(db, table, made, tx))) return undefined;
      await ctx.changed(
        changeOf(db, "create", { id, tableName: table.name, data, createdAt, updatedAt: createdAt }),
        tx,
      );
      return made;
    });
  };

  /** Where the one statement did not find the record as it should be: looks at it under a lock. */
  const mergeLocked = async (db: Database, id: string, write: Write, shape: Shape, guard: Guard | undefined) =>
    ctx.transaction(async (tx) => {
      const found = await store.lock(tx, db, id, guard);
      if (!found) throw notFound();
      const { table, data } = write;
      const merged: Data = Object.fromEntries([...Object.entries(found.data), ...Object.entries(data)]);
      // A record that stays in its table was checked when it was written; what moves in is checked whole.
      refuse(found.tableName === table.name ? checkMissing(table, merged) : checkRecord(table, merged));
      const json = JSON.stringify(merged);
      refuse(checkSize(json));
      const change = { id, table, json: JSON.stringify(data), mustHave: [], guard, checked: true };
      const wanted = isWanted(db, "update", id, table.name, merged);
      const done = await store.update(db, change, { ...shape, whole: wanted }, tx);
      if (done?.record) await ctx.changed(changeOf(db, "update", done.record), tx);
      return done;
    });

  const merge = async (db: Database, id: string, write: Write, shape: Shape, guard: Guard | undefined) => {
    const { table, data } = write;
    refuse(checkChanges(table, data));
    const json = JSON.stringify(data);
    refuse(checkSize(json));
    const mustHave = table.required.filter((name) => !Object.hasOwn(data, name));
    const wanted = isWanted(db, "update", id, table.name, data);
    const change = { id, table, json, mustHave, guard, checked: false };
    const done = await withEvent(db, "update", wanted, (tx) =>
      store.update(db, change, { ...shape, whole: wanted }, tx),
    );
    return done ?? mergeLocked(db, id, write, shape, guard);
  };

  /**
   * Tries again with the database as it is now where a write met another schema than it was checked against. 404 where
   * the database is gone.
   */
  const upToDate = async <T>(first: Database, attempt: (db: Database) => Promise<T | undefined>): Promise<T> => {
    let db: Database | undefined = first;
    for (let tries = 0; tries < 5 && db; tries++) {
      const done = await attempt(db);
      if (done !== undefined) return done;
      db = await databases.refresh(db);
    }
    if (!db) throw notFound();
    throw new Error("the schema changed faster than a record could be written");
  };

  return {
    /** `make` is asked again where the database has changed meanwhile. */
    async create(db: Database, make: (db: Database) => Write): Promise<CreatedRecord> {
      const made = await upToDate(db, async (current) => insert(current, make(current)));
      changes.tell({ kind: "create", accountId: db.accountId, dbId: db.id, id: made.id });
      return made;
    },

    /** `make` gets the record's table; the answer's text. 404 where there is no such record within `guard`. */
    async update(
      db: Database,
      id: string,
      make: (db: Database) => Write | Promise<Write>,
      shape: Shape,
      guard?: Guard,
    ) {
      const done = await upToDate(db, async (current) => merge(current, id, await make(current), shape, guard));
      changes.tell({ kind: "update", accountId: db.accountId, dbId: db.id, id });
      return done.answer;
    },

    async delete(db: Database, id: string, guard?: Guard): Promise<void> {
      const wanted = isWanted(db, "destroy", id, "", {});
      const shape: Shape = { form: "nested", whole: wanted };
      const done = await withEvent(db, "destroy", wanted, (tx) => store.delete(db, id, shape, guard, tx));
      if (!done) throw notFound();
      changes.tell({ kind: "destroy", accountId: db.accountId, dbId: db.id, id });
    },
  };
}

/** A record to be inserted: its id says when it was made, so that the order of ids is that of `created_at`. */
export function newRecord(table: Table, data: Data): CreatedRecord {
  const json = JSON.stringify(data);
  refuse(checkSize(json));
  const id = uuidv7();
  return { id, table, data, json, createdAt: new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)) };
}

/** The event of a record's change; its payload is flat (CONTRACT 8). */
export function changeOf(db: Database, kind: ModelChange["kind"], record: StoredRecord): ModelChange {
  const { id, tableName, data, createdAt, updatedAt } = record;
  const own = { id, db_code: db.code, table_name: tableName === "" ? null : tableName };
  const times = { created_at: createdAt.toJSON(), updated_at: updatedAt.toJSON() };
  return { accountId: db.accountId, sourceType: "Core::Record", kind, id, data: { ...data, ...own, ...times } };
}

/** 422 where there are faults. */
export function refuse(faults: Faults): void {
  if (faults) throw invalid(faults);
}

const unknownTime = new Date(0);

function checkMissing(table: Table, merged: Data): Faults {
  const missing = table.required.filter((name) => (Object.hasOwn(merged, name) ? merged[name] : null) === null);
  return missing.length > 0 ? Object.fromEntries(missing.map((name) => [name, ["is required"]])) : undefined;
}

function checkSize(json: string): Faults {
  if (json.length <= recordLimits.dataBytes) return undefined;
  return { data: [`may have at most ${recordLimits.dataBytes} bytes as JSON`] };
}
