/**
 * Requests for single records that come while statements of the same database, or of the same table of it, are running go
 * into the next one together: the busier it is, the fewer statements and commits a request costs. A batch is one
 * statement, so that what is repeated after a refusal has never been committed.
 */
import { batched, readBounds } from "platform";
import type { Database } from "../databases/database.ts";
import { indexValues } from "./index-values.ts";
import type { Beside } from "./keys-store.ts";
import type { DatabaseContext } from "../databases/cache.ts";
import * as linkStore from "../links/store.ts";
import * as manyStore from "./many-store.ts";
import type { CreatedRecord, Data } from "./record.ts";
import { printRecord, readRaw, versionOf } from "./print.ts";
import * as recordStore from "./store.ts";
import { mayAll } from "../access/reach.ts";
import { byNow } from "../history/kept-store.ts";
import type { NewRecord, Patch, Written } from "./store.ts";
import type { Table } from "../databases/schema.ts";

const bounds = {
  most: manyStore.mostTogether,
  atOnce: 2,
  // A statement may wait for somebody's lock: those that come later do not.
  patienceMs: 20,
};

/** Batched results are never undefined. */
interface Result {
  readonly written: Written | undefined;
  /** It was changed, and is read alone. */
  readonly isUnread?: boolean;
}

export type WholePatch = Omit<Patch, "guard" | "expected"> & { readonly data: Data };

type Context = Pick<DatabaseContext, "read" | "sql">;

// A database that has changed is another object: no statement names two schemas.
const gets = ofEach((ctx: Context, db) => batched((ids: readonly string[]) => getAll(ctx, db, ids), bounds));
const inserts = ofEach((ctx: Context, db) =>
  batched((made: readonly NewTogether[]) => insertAll(ctx, db, made), { ...bounds, alone: true }),
);
const updates = ofEach((ctx: Context, db) =>
  batched((patches: readonly WholePatch[]) => updateAll(ctx, db, patches), {
    ...bounds,
    alone: true,
    // A statement changes a record once.
    keyOf: ({ id }) => id,
  }),
);

type Ids = readonly string[];
const ends = ofEach((ctx: Pick<Context, "sql">, db: Database, table?: Table) =>
  batched((asked: readonly Ids[]) => endsOf(ctx, db, table, asked), bounds),
);

/** As `get`, `insert` and `update` of the record's store in the nested form, for nobody who follows the database. */
export async function get(ctx: Context, db: Database, id: string): Promise<Written | undefined> {
  if (!mayAll(db, "read")) return ctx.read((sql) => recordStore.get(sql, db, id, { form: "nested" }));
  return (await gets(ctx, db)(id)).written;
}

/** A new record with what is written beside it, and who makes it: the batch may be run by another's request. */
export interface NewTogether extends CreatedRecord, Pick<NewRecord, "by"> {
  readonly actor: string | undefined;
  readonly beside: Beside;
}

export function insert(ctx: Context, db: Database, made: NewTogether): Promise<boolean> {
  return inserts(ctx, db, made.table)({ ...made, by: byNow(db, made.table.name) });
}

export async function update(ctx: Context, db: Database, patch: WholePatch): Promise<Written | undefined> {
  const { written, isUnread } = await updates(ctx, db, patch.table)({ ...patch, by: byNow(db, patch.table.name) });
  return isUnread ? recordStore.get(ctx.sql, db, patch.id, { form: "nested" }) : written;
}

/**
 * Open records by their ids, at most `linkStore.mostEnds`, as flat raw texts (print.ts): of one table, or of any. Of one
 * that has to be read alone only its id.
 */
export async function flat(ctx: Pick<Context, "sql">, db: Database, table: Table | undefined, ids: Ids) {
  const raws = await ends(ctx, db, table)(ids);
  return new Map(ids.flatMap((id) => (raws.has(id) ? [[id, raws.get(id) ?? ""] as const] : [])));
}

/** One for each database, or for each of its tables. A database belongs to one process's cache, so to one context. */
function ofEach<C extends Pick<Context, "sql">, T>(
  make: (ctx: C, db: Database, table?: Table) => T,
): (ctx: C, db: Database, table?: Table) => T {
  const all = new WeakMap<Database, Map<string | undefined, T>>();
  return (ctx, db, table) => {
    const ofTables = all.get(db) ?? new Map<string | undefined, T>();
    all.set(db, ofTables);
    const known = ofTables.get(table?.name);
    if (known) return known;
    const made = make(ctx, db, table);
    ofTables.set(table?.name, made);
    return made;
  };
}

/** The first of them, up to one that has to be read alone: so the large ones are in memory one after another. */
async function getAll(ctx: Context, db: Database, ids: readonly string[]): Promise<Result[]> {
  const rows = ids.length === 1 ? [] : await ctx.read((sql) => manyStore.get(sql, db, ids));
  const { written, large } = taken(rows);
  const [first] = ids;
  if (first !== undefined && (ids.length === 1 || large.has(first)))
    return [{ written: await ctx.read((sql) => recordStore.get(sql, db, first, { form: "nested" })) }];
  const end = large.size === 0 ? -1 : ids.findIndex((id) => large.has(id));
  return (end === -1 ? ids : ids.slice(0, end)).map((id) => ({ written: written.get(id) }));
}

/** The first of them, as many as one statement takes. */
function fitting<T extends { readonly json: string }>(all: readonly T[]): readonly T[] {
  let characters = 0;
  const end = all.findIndex(({ json }) => (characters += json.length) > readBounds.answerBytes);
  return end === -1 ? all : all.slice(0, Math.max(1, end));
}

/** For the first of them, as many as one statement takes: all that it found. */
async function endsOf({ sql }: Pick<Context, "sql">, db: Database, table: Table | undefined, asked: readonly Ids[]) {
  const ids = new Set<string>();
  let count = 0;
  for (const more of asked) {
    if (count > 0 && ids.size + more.length > linkStore.mostEnds) break;
    for (const id of more) ids.add(id);
    count++;
  }
  const raws = await linkStore.flat(sql, db, table, [...ids]);
  const found = new Map(raws.map((raw) => [raw.slice(0, 36), raw]));
  return asked.slice(0, count).map(() => found);
}

/** Inserts records of one table: all or none. */
async function insertAll({ sql }: Context, db: Database, made: readonly NewTogether[]) {
  const all = fitting(made);
  const [first] = all;
  if (!first) return [];
  const { table } = first;
  const isDone =
    all.length === 1
      ? await recordStore.insert(sql, db, table, first, first.beside)
      : await manyStore.insert(
          sql,
          db,
          table,
          all.map((one) => ({ ...one, index: indexValues(table, one.data) })),
          {
            claims: all.flatMap(({ beside }) => beside.claims),
            links: all.flatMap(({ beside }) => beside.links),
          },
        );
  return all.map(() => isDone);
}

/** Merges patches of different records of one table. */
async function updateAll({ sql }: Context, db: Database, patches: readonly WholePatch[]): Promise<Result[]> {
  const all = fitting(patches);
  const [first] = all;
  if (!first) return [];
  const { table } = first;
  const indexed = all.map(({ id, json, data, actor, by }) => ({
    id,
    json,
    actor,
    by,
    index: indexValues(table, data),
  }));
  const { written, large } = taken(await manyStore.update(sql, db, table, indexed));
  return all.map(({ id }) => ({ written: written.get(id), isUnread: large.has(id) }));
}

/** The records by their ids, and the ids of those that have to be read alone. */
function taken(rows: readonly manyStore.Shown[]) {
  const written = new Map<string, Written>();
  const large = new Set<string>();
  for (const row of rows) {
    if (manyStore.isOnlyId(row)) large.add(row.raw);
    else {
      const printed = readRaw(row.raw);
      written.set(printed.id, {
        answer: printRecord(printed, "nested"),
        version: versionOf(row.raw),
        record: undefined,
      });
    }
  }
  return { written, large };
}
