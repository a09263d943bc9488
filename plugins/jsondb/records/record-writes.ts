/** One write of a record: its checks, its statement and its event, in the caller's transaction if there is one. */
import { afterCommit, notFound, preconditionFailed, type BaseContext, type Tx } from "platform";
import type { Database } from "../databases/database.ts";
import type { RecordActor } from "./logged.ts";
import { jsonOf, newRecord, refuse, type CreatedRecord } from "./new-record.ts";
import type { RecordEvents } from "./record-events.ts";
import { checkRequired, checkPatch, checkRecord, asStored, type Data } from "./record.ts";
import type { Guard, RecordStore, Shape, Written } from "./record-store.ts";
import type { Together } from "./together.ts";
import type { Table } from "../databases/schema.ts";

export interface Write {
  readonly table: Table;
  readonly data: Data;
  /** The record is in this table already: if it has left it, ask for the write again. */
  readonly keepsTable?: boolean;
  /** The version that the caller has seen (412 if it is another one by now); undefined = any. */
  readonly expected?: number | undefined;
}

/** Of the records with one id: those of one visitor, and of the version that the caller has seen. */
export interface Which {
  readonly guard?: Guard | undefined;
  readonly expected?: number | undefined;
}

export interface WritesOptions {
  readonly ctx: Pick<BaseContext, "transaction" | "keyed">;
  readonly recordStore: RecordStore;
  readonly together: Together;
  readonly events: RecordEvents;
  readonly actorOf: RecordActor;
  /** After the commit of a write. */
  readonly written: (db: Database) => void;
}

export type RecordWrites = ReturnType<typeof createRecordWrites>;

/** `insert` and `merge` give undefined if the database has another schema by now. */
export function createRecordWrites({ ctx, recordStore, together, events, actorOf, written }: WritesOptions) {
  /** One statement needs no transaction, unless an event or the answer to an Idempotency-Key commits with it. */
  const withEvent = <T>(wanted: boolean, tx: Tx | undefined, write: (tx: Tx | undefined) => Promise<T>): Promise<T> =>
    tx || !(wanted || ctx.keyed()) ? write(tx) : ctx.transaction(write);

  const committed = (db: Database, tx: Tx | undefined) => {
    if (tx) afterCommit(tx, () => written(db));
    else written(db);
  };

  return {
    async insert(db: Database, { table, ...write }: Write, given?: Tx): Promise<CreatedRecord | undefined> {
      const data = asStored(table, write.data);
      refuse(checkRecord(table, data));
      const actor = await actorOf(db);
      const made = { ...newRecord(table, data), actor };
      const { id, createdAt } = made;
      const wanted = events.wanted(db, "create", { id, tableName: table.name, data });
      return withEvent(wanted, given, async (tx) => {
        const stored = tx || db.live ? recordStore.create(db, table, made, tx) : together.create(db, made);
        if (!(await stored)) return undefined;
        const record = { id, tableName: table.name, data, createdAt, updatedAt: createdAt };
        if (wanted) await events.tell(db, "create", record, tx);
        committed(db, tx);
        return made;
      });
    },

    async merge(db: Database, id: string, write: Write, asked: Shape, guard?: Guard, given?: Tx) {
      const { table, expected } = write;
      const data = asStored(table, write.data);
      refuse(checkPatch(table, data));
      const patch = { id, table, data, json: jsonOf(data), guard, expected, actor: await actorOf(db) };
      const wanted = events.wanted(db, "update", { id, tableName: table.name, data });
      const shape = { ...asked, whole: wanted };
      const told = async (done: Written | undefined, tx: Tx | undefined) => {
        if (done?.record) await events.tell(db, "update", done.record, tx);
        if (done) committed(db, tx);
        return done;
      };
      const isPlain = !db.live && !guard && expected === undefined && shape.form === "nested" && !shape.fields;
      const quick = async (tx: Tx | undefined) =>
        told(await (tx || !isPlain ? recordStore.update(db, patch, shape, tx) : together.update(db, patch)), tx);
      const locked = async (tx: Tx) =>
        told(await mergeLocked(recordStore, tx, db, { ...write, data }, patch, shape), tx);
      return (await withEvent(wanted, given, quick)) ?? (given ? locked(given) : ctx.transaction(locked));
    },

    async remove(db: Database, id: string, which: Which = {}, given?: Tx): Promise<void> {
      const removal = { ...which, actor: await actorOf(db) };
      const wanted = events.wanted(db, "destroy", { id, tableName: undefined, data: {} });
      await withEvent(wanted, given, async (tx) => {
        const done = await recordStore.delete(db, id, { form: "nested", whole: wanted }, removal, tx);
        if (!done) {
          const isThere = (await recordStore.tableNameOf(db, id, which.guard, tx)) !== undefined;
          throw isThere && which.expected !== undefined ? preconditionFailed() : notFound();
        }
        if (done.record) await events.tell(db, "destroy", done.record, tx);
        committed(db, tx);
      });
    },
  };
}

type Patch = Parameters<RecordStore["update"]>[1];

/** If the one statement does not find the record as it should be, looks at it under a lock. */
async function mergeLocked(
  recordStore: RecordStore,
  tx: Tx,
  db: Database,
  { table, data, keepsTable }: Write,
  patch: Patch,
  shape: Shape,
) {
  const found = await recordStore.lock(tx, db, patch.id, patch.guard);
  if (!found) throw notFound();
  const stays = found.tableName === table.name;
  if (keepsTable && !stays) return undefined;
  if (patch.expected !== undefined && !(await recordStore.hasVersion(db, patch.id, patch.expected, tx)))
    throw preconditionFailed();
  const whole: Data = Object.fromEntries([...Object.entries(found.data), ...Object.entries(data)]);
  // A record that stays in its table was checked when it was written; one that moves in is checked and written whole.
  const merged = stays ? whole : asStored(table, whole);
  refuse(stays ? checkRequired(table, merged) : checkRecord(table, merged));
  const json = jsonOf(merged);
  if (stays) return recordStore.rewrite(tx, db, patch, shape, undefined);
  return recordStore.rewrite(tx, db, { ...patch, json }, shape, found.tableName);
}
