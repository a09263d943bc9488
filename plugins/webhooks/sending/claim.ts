/** Fills a lane from the queue; several lanes that ask at once share one statement. No SQL. */
import { batched, failpoint, type Log } from "platform";
import type { Holding } from "./holding.ts";
import { claimBegun, claimDropped, claimEnded, claimFailed, type Lane } from "./lane.ts";
import type { LeaseStore, Want } from "./lease-store.ts";

interface Needed {
  readonly leaseStore: Pick<LeaseStore, "claim">;
  readonly holding: Pick<Holding, "take">;
  readonly log: Log;
  readonly leaseSeconds: number;
  /** If the process has stopped by then, it releases what it claimed. */
  readonly isStopped: () => boolean;
  readonly release: (id: number) => void;
}

const lanesPerStatement = 100;

/** Answers false if it failed and should be tried again. */
export function createClaiming({ leaseStore, holding, log, leaseSeconds, isStopped, release }: Needed) {
  const claim = batched(
    async (wants: readonly Want[]) => {
      const rows = await leaseStore.claim(wants, leaseSeconds);
      return wants.map(({ webhookId }) => rows.filter((row) => row.webhookId === webhookId));
    },
    { most: lanesPerStatement },
  );

  return async (lane: Lane, most: number): Promise<boolean> => {
    const { since } = lane.state;
    lane.state = claimBegun(lane.state);
    try {
      const rows = await claim({ webhookId: lane.webhookId, most, since });
      if (rows.length > 0) failpoint("webhooks.delivery-claimed");
      if (isStopped()) {
        lane.state = claimDropped(lane.state);
        for (const { id } of rows) release(id);
        return true;
      }
      lane.state = claimEnded(lane.state, rows, { most, since }, performance.now());
      holding.take(lane, rows);
    } catch (error) {
      log.warn("claiming deliveries failed, trying again", { error });
      lane.state = claimFailed(lane.state);
      return false;
    }
    return true;
  };
}
