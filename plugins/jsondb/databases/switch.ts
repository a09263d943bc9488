/**
 * Makes fields unique: from the moment when writes write keys, and are refused where one is taken, the older records are
 * visited in short statements. Only when all have their keys is the schema saved, so its answer means that it holds.
 */
import { invalid, on, unavailable, uuidv7, type Handler } from "platform";
import { freeStale, held } from "../records/keys-store.ts";
import { forget, type DatabaseContext } from "./cache.ts";
import { afterOldWritersMs, dropKeys, NeedsKeys } from "./db.ts";
import * as keysStore from "./keys-store.ts";
import { isPast } from "./store.ts";
import { keySetsOf, type Claim, type KeySet } from "./unique.ts";

type Of = NeedsKeys["db"];

const perStatement = 2000;
const mostShown = 5;
// Old statements end within their time limit, but for one that somebody runs by hand.
const waitsMs = [2, 5, 10, 20, 50, 100, 200, 500, ...Array.from({ length: 60 }, () => 1000)];

type Edit<T> = (ready?: ReadonlySet<string>) => Promise<T>;

/**
 * `edit` changes a database; where it makes fields unique, it is carried out again once their keys are written. Only its
 * transaction says that they are, so that nothing of it holds if the process dies.
 */
export async function withKeys<T>(ctx: DatabaseContext, edit: Edit<T>): Promise<T> {
  try {
    return await edit();
  } catch (error) {
    if (!(error instanceof NeedsKeys)) throw error;
    return switchOn(ctx, error, edit);
  }
}

async function switchOn<T>(ctx: DatabaseContext, { db, missing }: NeedsKeys, edit: Edit<T>): Promise<T> {
  const since = new Date().toJSON();
  const all = missing.map(({ named, ...field }) => {
    const set: KeySet = { ...field, id: uuidv7(), filled: false, since };
    return { set, named };
  });
  const sets = all.map(({ set }) => set);
  const xid = await keysStore.begin(ctx.sql, db, sets);
  if (xid === undefined) throw unavailable("a field is being made unique just now, try again");
  try {
    await forget(ctx, db.accountId, db);
    await oldWriters(ctx, xid);
    for (const { set, named } of all) await fill(ctx, db, set, named);
    return await edit(new Set(sets.map(({ id }) => id)));
  } catch (error) {
    await takeBack(ctx, db, sets);
    throw error instanceof NeedsKeys ? unavailable("the schema is being changed just now, try again") : error;
  }
}

/** Waits until all writes that know nothing of the keys are over. */
async function oldWriters({ sql }: DatabaseContext, xid: string): Promise<void> {
  const end = await until(() => keysStore.writersEnd(sql, xid));
  if (end === undefined || !(await until(() => isPast(sql, end))))
    throw unavailable("writes that began before are not over yet, try again");
}

async function until<T>(look: () => Promise<T | undefined | false>): Promise<T | undefined> {
  for (const wait of waitsMs) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
  return undefined;
}

/** 422 with some of the values that repeat. */
async function fill(ctx: DatabaseContext, db: Of, set: KeySet, named: string): Promise<void> {
  let after = "00000000-0000-0000-0000-000000000000";
  for (;;) {
    if (ctx.stopping.aborted) throw unavailable("the server is stopping, try again");
    const { last, others } = await keysStore.fill(ctx.sql, db, set, after, perStatement);
    if (others.length > 0) await refuseRepeated(ctx, db, set, named, others);
    if (last === null) return;
    after = last;
  }
}

/** These records did not get their keys: a write has given them to them already, or somebody else has them. */
async function refuseRepeated(
  ctx: DatabaseContext,
  db: Of,
  set: KeySet,
  named: string,
  ids: readonly string[],
): Promise<void> {
  const taken = await ctx.sql.begin(async (tx): Promise<readonly Claim[]> => {
    const claims = await keysStore.valuesOf(tx, db, set, ids);
    const others = await held(tx, db, claims);
    if (others.length > 0 && (await freeStale(tx, db, others, [])) > 0) await keysStore.fillThese(tx, db, set, ids);
    return others.length === 0 ? [] : held(tx, db, others);
  });
  if (taken.length === 0) return;
  const values = [...new Set(taken.map(({ value }) => JSON.stringify(value.slice(0, 60))))];
  const place = set.table === "" ? "" : `tables.${set.table}.`;
  const more = values.length > mostShown ? " and others" : "";
  throw invalid({
    schema: [`${place}fields.${named}.unique: these values repeat: ${values.slice(0, mostShown).join(", ")}${more}`],
  });
}

async function takeBack(ctx: DatabaseContext, db: Of, sets: readonly KeySet[]): Promise<void> {
  const ids = sets.map(({ id }) => id);
  await keysStore.withdraw(ctx.sql, db, ids);
  await forget(ctx, db.accountId, db);
  const runAt = new Date(Date.now() + afterOldWritersMs);
  const { accountId } = db;
  await ctx.enqueue(dropKeys, { accountId, dbId: db.id, sets: ids }, { accountId, runAt });
}

/** Takes back what a process that has died had begun. */
export async function endUnfinished(ctx: DatabaseContext): Promise<void> {
  for (const { keySets, ...db } of await keysStore.unfinished(ctx.sql))
    await takeBack(
      ctx,
      db,
      keySetsOf(keySets).filter(({ filled }) => !filled),
    );
}

export function dropKeysHandler(ctx: DatabaseContext): Handler {
  return on(
    dropKeys,
    async ({ accountId, dbId, sets }, { signal }) => {
      const db = { id: dbId, accountId };
      while (!signal.aborted && (await keysStore.dropKeys(ctx.sql, db, sets, perStatement)) > 0);
      if (signal.aborted) throw new Error("stopped before all keys were deleted");
    },
    { concurrency: 1 },
  );
}
