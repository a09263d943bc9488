/** Keys of requests whose work cannot be taken back: who claims one first does it. The claim of a dead process is free. */
import type { IdempotencyStore, Kept, KeyOwner } from "./idempotency-store.ts";
import type { Log } from "../log.ts";

interface Needed {
  readonly store: IdempotencyStore;
  readonly log: Log;
  readonly processId: string;
  readonly alone: boolean;
}

const releaseAgainMs = 1000;

export function createClaims({ store, log, processId, alone }: Needed) {
  const running = new Set<string>();
  let count = 0;

  /** Whether somebody may still be at work on it. */
  const isAlive = async (claim: string): Promise<boolean> => {
    const owner = claim.slice(0, claim.lastIndexOf("/"));
    if (owner === processId) return running.has(claim);
    if (alone) return false;
    const listening = await store.listening([processId, owner]);
    // Where not even we are seen, nothing is known of others.
    return listening.has(owner) || !listening.has(processId);
  };
  const release = async (at: KeyOwner, claim: string): Promise<void> => {
    try {
      await store.release(at, claim);
      running.delete(claim);
    } catch (error) {
      log.warn("an Idempotency-Key was not released, trying again", { error });
      // Nobody is at work on it any more; only other processes cannot know that yet.
      running.delete(claim);
      setTimeout(() => void release(at, claim), releaseAgainMs).unref();
    }
  };

  return {
    /** The claim, or what stands in its place. */
    async take(at: KeyOwner, fingerprint: string): Promise<string | Kept> {
      const claim = `${processId}/${++count}`;
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
        await release(at, claim); // the news that it was ours may have got lost
        throw error;
      }
    },

    /** It was answered. */
    end: (claim: string) => void running.delete(claim),

    /** It was not answered: the key is free again. */
    release,
  };
}
