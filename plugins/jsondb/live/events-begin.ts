/** Beginning to follow a database: its writers are made to log their changes, and those under way are waited for. */
import { unavailable, uuidv7 } from "platform";
import type { Database } from "../databases/database.ts";
import * as databases from "../databases/cache.ts";
import type { DatabaseContext } from "../databases/cache.ts";
import * as followStore from "./follow-store.ts";

export type LiveContext = Pick<DatabaseContext, "sql" | "transaction" | "broadcast" | "log" | "stopping" | "databases">;

const writersMs = 20_000;

/**
 * Every change that is committed after the snapshot that this resolves with is logged. Undefined if the database is
 * gone.
 */
export async function beginFollowing(
  ctx: LiveContext,
  db: Database,
): Promise<{ epoch: string; snapshot: string } | undefined> {
  const { sql } = ctx;
  await followStore.markWatched(sql, [db.id]);
  const state = await followStore.state(sql, db);
  if (!state.present) return undefined;
  if (state.epoch === null) {
    await ctx.transaction((tx) => followStore.follow(tx, db, uuidv7().slice(-12)));
    await databases.forget(ctx, db.accountId, db);
  }
  if (!state.ready) {
    if (!(await writersEnd(ctx))) throw unavailable("a long write is under way, try again");
    await followStore.markReady(sql, db);
  }
  const { present, epoch, snapshot } = await followStore.state(sql, db);
  return present && epoch !== null ? { epoch, snapshot } : undefined;
}

/** Waits until every transaction that writes records now is over; false if one takes too long. */
async function writersEnd({ sql, stopping }: LiveContext): Promise<boolean> {
  const end = performance.now() + writersMs;
  let left = await followStore.writers(sql);
  for (let wait = 2; left.size > 0; wait = Math.min(wait * 2, 200)) {
    if (performance.now() > end || stopping.aborted) return false;
    await new Promise((resolve) => setTimeout(resolve, wait));
    const now = await followStore.writers(sql);
    left = new Set([...left].filter((transaction) => now.has(transaction)));
  }
  return true;
}
