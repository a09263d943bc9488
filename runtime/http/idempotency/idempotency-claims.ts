/**
 * Keys of requests whose work cannot be undone: the first to claim a key does the work. A dead process's claim is free.
 */
import * as idempotencyStore from "./idempotency-store.ts";
import type { KeyRow, KeyOwner } from "./idempotency-store.ts";
import type { Sql } from "../../db/db.ts";
import type { Log } from "../../system/log.ts";
import type { Peers } from "../../db/peers-store.ts";

export interface ClaimContext {
  readonly sql: Sql;
  readonly log: Log;
  readonly peers: Peers;
  /** The claims that this process is working on. */
  readonly running: Set<string>;
}

const releaseAgainMs = 1000;
let count = 0;

/** The claim, or what is stored in its place. */
export async function takeClaim(ctx: ClaimContext, at: KeyOwner, fingerprint: string): Promise<string | KeyRow> {
  const { sql, peers, running } = ctx;
  const claim = `${peers.id}/${++count}`;
  running.add(claim);
  try {
    let instead: string | null = null;
    for (;;) {
      if (await idempotencyStore.claim(sql, at, fingerprint, claim, instead)) return claim;
      const found = await idempotencyStore.find(sql, at);
      if (!found) continue;
      const isFree = found.status === null && found.claimedBy !== null && !(await isAlive(ctx, found.claimedBy));
      if (!isFree) {
        running.delete(claim);
        return found;
      }
      instead = found.claimedBy;
    }
  } catch (error) {
    await releaseClaim(ctx, at, claim); // the confirmation of our claim may have been lost
    throw error;
  }
}

/** The request was not answered: frees the key. */
export async function releaseClaim(ctx: ClaimContext, at: KeyOwner, claim: string): Promise<void> {
  const { sql, log, running } = ctx;
  try {
    await idempotencyStore.release(sql, at, claim);
    running.delete(claim);
  } catch (error) {
    log.warn("an Idempotency-Key was not released, trying again", { error });
    // Nobody is working on it any more, but other processes cannot know that yet.
    running.delete(claim);
    setTimeout(() => void releaseClaim(ctx, at, claim), releaseAgainMs).unref();
  }
}

/** Whether a process may still be working on it. */
async function isAlive({ peers, running }: ClaimContext, claim: string): Promise<boolean> {
  const owner = claim.slice(0, claim.lastIndexOf("/"));
  return owner === peers.id ? running.has(claim) : peers.isAlive(owner);
}
