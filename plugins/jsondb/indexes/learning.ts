/**
 * Databases get indexes for how they are searched, and those that their schemas declare. Each process counts the time
 * of its searches by their shape and writes it down every few seconds; what has cost enough is built, one index at a
 * time, and dropped when it has not been used for a week. Answers are the same with and without.
 */
import { job, on, uuidv7, type BaseContext, type Handler, type Tx } from "platform";
import type { Database } from "../databases/database.ts";
import * as databases from "../databases/cache.ts";
import type { DatabaseContext } from "../databases/cache.ts";
import * as indexStore from "./store.ts";
import type { Tally } from "./store.ts";
import { declaredShapes } from "./shape.ts";

/** When an index is worth its cost to writers, and how many there may be. */
export const learning = {
  /** Smaller databases are searched fast enough without. */
  records: 10_000,
  /** The same where the schema declares the index. */
  declaredRecords: 1000,
  calls: 100,
  milliseconds: 5000,
  ofDatabase: 4,
  /** Every write of a record opens them all. */
  ofAll: 16,
  unusedDays: 7,
} as const;

const writeMs = 5000;
/** Shapes that took less in that time are not written down. */
const leastMs = 20;
const maxShapes = 1000;
const retryMs = 10_000;

/** Builds an index that has come to be worth it or is declared; drops one that is known no longer. */
export const buildIndex = job<{ id: string }>("jsondb.index");

export type Learning = ReturnType<typeof createLearning>;

/** Counts the time of searches, and writes it down every few seconds. */
export function createLearning(ctx: BaseContext) {
  let tallies = new Map<string, Tally>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> | undefined;
  let stopped = false;

  const write = async () => {
    const seen = [...tallies.values()].filter(({ milliseconds }) => milliseconds >= leastMs);
    tallies = new Map();
    if (seen.length === 0) return;
    try {
      const worth = await indexStore.add(
        ctx.sql,
        seen.map((tally) => ({ ...tally, id: uuidv7() })),
        learning,
      );
      for (const id of worth) await ctx.enqueue(buildIndex, { id }, { key: id });
    } catch (error) {
      ctx.log.warn("the times of searches could not be written down", { error });
    }
  };

  return {
    /** A search of this shape took so long. */
    saw({ id: dbId, accountId }: Database, shape: string, milliseconds: number): void {
      const key = `${dbId} ${shape}`;
      const known = tallies.get(key);
      if (!known && tallies.size >= maxShapes) return;
      const { calls = 0, milliseconds: before = 0 } = known ?? {};
      tallies.set(key, { accountId, dbId, shape, calls: calls + 1, milliseconds: before + milliseconds });
      if (stopped) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        writing = write();
      }, writeMs);
    },

    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await writing;
    },
  };
}

export function indexHandler(ctx: DatabaseContext): Handler {
  return on(buildIndex, ({ id }) => build(ctx, id), { concurrency: 1 });
}

/** The indexes that the schema asks for become those of the database, in the transaction that writes the schema. */
export async function declareIndexes(ctx: DatabaseContext, db: Database, tx: Tx): Promise<void> {
  const wanted = declaredShapes(db.schema).map((shape) => ({ id: uuidv7(), shape }));
  for (const id of await indexStore.declare(tx, db, wanted)) await ctx.enqueue(buildIndex, { id }, { key: id, tx });
}

/** A database may have become large enough. */
export async function buildDeclared(ctx: DatabaseContext): Promise<void> {
  for (const id of await indexStore.unbuilt(ctx.sql)) await ctx.enqueue(buildIndex, { id }, { key: id });
}

/** Drops what is no longer used, every hour. */
export async function pruneIndexes(ctx: DatabaseContext): Promise<void> {
  for (const { accountId, dbId, code } of await indexStore.prune(ctx.sql, learning.unusedDays))
    await databases.forget(ctx, accountId, { id: dbId, code: code ?? dbId });
  for (const name of await indexStore.orphans(ctx.sql)) await indexStore.dropOrphan(ctx.sql, name);
}

async function build(ctx: DatabaseContext, id: string): Promise<void> {
  const row = await indexStore.byId(ctx.sql, id);
  // Its declaration is gone.
  if (!row) return indexStore.drop(ctx.sql, id);
  if (row.code === null || (row.status !== "watched" && row.status !== "building")) return;
  const least = row.declared ? learning.declaredRecords : learning.records;
  if (!(await indexStore.isLarge(ctx.sql, row.dbId, least))) return indexStore.reset(ctx.sql, id);
  const place = await ctx.transaction((tx) => indexStore.begin(tx, row, learning));
  if (place === "full")
    return indexStore.reset(ctx.sql, id, row.declared ? "there are enough declared indexes already" : null);
  if (place === "busy") {
    await ctx.enqueue(buildIndex, { id }, { key: id, runAt: new Date(Date.now() + retryMs) });
    return;
  }
  if (place.given) {
    const { id: givenId, accountId, dbId, code } = place.given;
    await databases.forget(ctx, accountId, { id: dbId, code: code ?? dbId });
    await indexStore.drop(ctx.sql, givenId);
  }
  try {
    await indexStore.build(ctx.sql, row);
  } catch (error) {
    ctx.log.warn("an index for a database's searches could not be built", { db: row.dbId, shape: row.shape, error });
    await indexStore.drop(ctx.sql, id).catch(() => undefined);
    await indexStore.end(ctx.sql, id, "failed", { error: error instanceof Error ? error.message : String(error) });
    return;
  }
  // The declaration may have gone meanwhile.
  if (!(await indexStore.end(ctx.sql, id, "ready", { collation: row.collation }))) return indexStore.drop(ctx.sql, id);
  await databases.forget(ctx, row.accountId, { id: row.dbId, code: row.code });
}
