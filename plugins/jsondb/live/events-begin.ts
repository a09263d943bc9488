/** Beginning to follow a database: its writers are made to log their changes, and those under way are waited for. */
import { unavailable, uuidv7, type BaseContext } from "platform";
import type { Databases } from "../databases/database-store.ts";
import type { Begin } from "./events-feed.ts";
import type { FollowStore } from "./follow-store.ts";

interface BeginningOptions {
  readonly ctx: Pick<BaseContext, "transaction" | "stopping">;
  readonly followStore: FollowStore;
  readonly databases: Pick<Databases, "forget">;
}

const writersMs = 20_000;

export function createBeginning({ ctx, followStore, databases }: BeginningOptions): Begin {
  /** Every change that is committed after the snapshot that this resolves with is logged. */
  return async (db) => {
    await followStore.markWatched([db.id]);
    const state = await followStore.state(db);
    if (!state.present) return undefined;
    if (state.epoch === null) {
      await ctx.transaction((tx) => followStore.follow(tx, db, uuidv7().slice(-12)));
      await databases.forget(db.accountId, db);
    }
    if (!state.ready) {
      if (!(await writersEnd(followStore, ctx.stopping))) throw unavailable("a long write is under way, try again");
      await followStore.markReady(db);
    }
    const { present, epoch, snapshot } = await followStore.state(db);
    return present && epoch !== null ? { epoch, snapshot } : undefined;
  };
}

/** Waits until every transaction that writes records now is over; false if one takes too long. */
async function writersEnd(followStore: FollowStore, stopping: AbortSignal): Promise<boolean> {
  const end = performance.now() + writersMs;
  let left = await followStore.writers();
  for (let wait = 2; left.size > 0; wait = Math.min(wait * 2, 200)) {
    if (performance.now() > end || stopping.aborted) return false;
    await new Promise((resolve) => setTimeout(resolve, wait));
    const now = await followStore.writers();
    left = new Set([...left].filter((transaction) => now.has(transaction)));
  }
  return true;
}
