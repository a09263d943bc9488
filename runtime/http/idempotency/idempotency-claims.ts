/**
 * Keys of requests whose work cannot be undone: the first to claim a key does the work. A dead process's claim is free.
 */
import type { IdempotencyStore, Kept, KeyOwner } from "./idempotency-store.ts";
import type { Log } from "../../system/log.ts";
import type { Peers } from "../../db/peers-store.ts";

interface Needed {
  readonly store: IdempotencyStore;
  readonly log: Log;
  readonly peers: Peers;
}

const releaseAgainMs = 1000;

export function createClaims({ store, log, peers }: Needed) {
  const running = new Set<string>();
  let count = 0;

  /** Whether a process may still be working on it. */
  const isAlive = async (claim: string): Promise<boolean> => {
    const owner = claim.slice(0, claim.lastIndexOf("/"));
    return owner === peers.id ? running.has(claim) : peers.isAlive(owner);
  };
  const release = async (at: KeyOwner, claim: string): Promise<void> => {
    try {
      await store.release(at, claim);
      running.delete(claim);
    } catch (error) {
      log.warn("an Idempotency-Key was not released, trying again", { error });
      // Nobody is working on it any more, but other processes cannot know that yet.
      running.delete(claim);
      setTimeout(() => void release(at, claim), releaseAgainMs).unref();
    }
  };

  return {
    /** The claim, or what is stored in its place. */
    async take(at: KeyOwner, fingerprint: string): Promise<string | Kept> {
      const claim = `${peers.id}/${++count}`;
      running.add(claim);
      try {
        let instead: string | null = null;
        for (;;) {
          if (await store.claim(at, fingerprint, claim, instead)) return claim;
          const found = await store.find(at);
          if (!found) continue;
          const isFree = found.status === null && found.claimedBy !== null && !(await isAlive(found.claimedBy));
          if (!isFree) {
            running.delete(claim);
            return found;
          }
          instead = found.claimedBy;
        }
      } catch (error) {
        await release(at, claim); // the confirmation of our claim may have been lost
        throw error;
      }
    },

    /** The request was answered. */
    end: (claim: string) => void running.delete(claim),

    /** The request was not answered: frees the key. */
    release,
  };
}
