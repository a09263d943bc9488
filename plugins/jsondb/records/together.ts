/**
 * Requests for single records that come while statements of the same database are running go into the next one together:
 * the busier a database is, the fewer statements and commits a request costs.
 */
import { batched, type Read } from "platform";
import type { Database } from "../databases/database.ts";
import { indexValues } from "./index-values.ts";
import type { ManyStore } from "./many-store.ts";
import type { CreatedRecord } from "./new-record.ts";
import { printRecord, readRaw, versionOf } from "./print.ts";
import type { Patch, RecordStore, Written } from "./record-store.ts";
import type { Data } from "./record.ts";

const bounds = {
  // Of records of up to 2 MB, which are in memory together.
  most: 32,
  atOnce: 2,
  // A statement may wait for somebody's lock: those that come later do not.
  patienceMs: 20,
};

/** Batched results are never undefined. */
interface Result {
  readonly written: Written | undefined;
}

export type WholePatch = Omit<Patch, "guard" | "expected"> & { readonly data: Data };
export type Together = ReturnType<typeof createTogether>;

interface Stores {
  readonly read: Read;
  readonly recordStore: RecordStore;
  readonly manyStore: ManyStore;
}

/** As `get`, `create` and `update` of the record's store in the nested form, for nobody who follows the database. */
export function createTogether(stores: Stores) {
  // A database that has changed is another object: no statement names two schemas.
  const get = ofEach((db: Database) => batched((ids: readonly string[]) => getAll(stores, db, ids), bounds));
  const create = ofEach((db: Database) =>
    batched((made: readonly CreatedRecord[]) => createAll(stores, db, made), { ...bounds, alone: true }),
  );
  const update = ofEach((db: Database) =>
    batched((patches: readonly WholePatch[]) => updateAll(stores, db, patches), { ...bounds, alone: true }),
  );
  return {
    get: async (db: Database, id: string) => (await get(db)(id)).written,
    create: (db: Database, made: CreatedRecord) => create(db)(made),
    update: async (db: Database, patch: WholePatch) => (await update(db)(patch)).written,
  };
}

function ofEach<T>(make: (db: Database) => T): (db: Database) => T {
  const all = new WeakMap<Database, T>();
  return (db) => {
    const known = all.get(db);
    if (known) return known;
    const made = make(db);
    all.set(db, made);
    return made;
  };
}

async function getAll(
  { read, recordStore, manyStore }: Stores,
  db: Database,
  ids: readonly string[],
): Promise<Result[]> {
  const [only] = ids;
  if (ids.length === 1 && only) {
    return [{ written: await read((sql) => recordStore.get(db, only, { form: "nested" }, undefined, sql)) }];
  }
  const found = byId(await read((sql) => manyStore.get(sql, db, ids)));
  return ids.map((id) => ({ written: found.get(id) }));
}

async function createAll({ recordStore, manyStore }: Stores, db: Database, all: readonly CreatedRecord[]) {
  const done = new Map<CreatedRecord, boolean>();
  for (const [table, made] of byTable(all)) {
    const [only] = made;
    const isDone =
      made.length === 1 && only
        ? await recordStore.create(db, table, only)
        : await manyStore.create(
            db,
            table,
            made.map((one) => ({ ...one, index: indexValues(table, one.data) })),
          );
    for (const one of made) done.set(one, isDone);
  }
  return all.map((one) => done.get(one) ?? false);
}

async function updateAll(stores: Stores, db: Database, all: readonly WholePatch[]): Promise<Result[]> {
  const done = new Map<WholePatch, Written | undefined>();
  for (const [, patches] of byTable(all)) {
    const first = new Map<string, WholePatch>();
    for (const patch of patches) if (!first.has(patch.id)) first.set(patch.id, patch);
    for (const [patch, written] of await updateEach(stores, db, [...first.values()])) done.set(patch, written);
    // A statement changes a record once.
    for (const patch of patches) if (!done.has(patch)) done.set(patch, await updateOne(stores, db, patch));
  }
  return all.map((patch) => ({ written: done.get(patch) }));
}

/** Of different records of one table. */
async function updateEach(stores: Stores, db: Database, patches: readonly WholePatch[]) {
  const [first] = patches;
  if (!first) return [];
  const indexed = patches.map(({ id, json, table, data, actor }) => ({
    id,
    json,
    actor,
    index: indexValues(table, data),
  }));
  const changed = byId(await stores.manyStore.update(db, first.table, indexed));
  return patches.map((patch) => [patch, changed.get(patch.id)] as const);
}

const updateOne = ({ recordStore }: Stores, db: Database, patch: WholePatch) =>
  recordStore.update(db, { ...patch, guard: undefined, expected: undefined }, { form: "nested" });

function byId(rows: readonly { readonly raw: string }[]): Map<string, Written> {
  return new Map(
    rows.map(({ raw }) => {
      const printed = readRaw(raw);
      return [printed.id, { answer: printRecord(printed, "nested"), version: versionOf(raw), record: undefined }];
    }),
  );
}

const byTable = <T extends Pick<CreatedRecord, "table">>(all: readonly T[]) => Map.groupBy(all, ({ table }) => table);
