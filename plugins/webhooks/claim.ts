/** Fills a lane from the queue, whatever lanes ask meanwhile in one statement. No SQL. */
import { failpoint, type Log } from "platform";
import { batched } from "./batch.ts";
import type { Holding } from "./holding.ts";
import { never, type Lane } from "./lane.ts";
import type { ClaimedDelivery, QueueStore, Want } from "./queue-store.ts";

interface Needed {
  readonly queueStore: Pick<QueueStore, "claim">;
  readonly holding: Pick<Holding, "take">;
  readonly log: Log;
  readonly leaseSeconds: number;
  /** Stopped meanwhile: others may have them. */
  readonly isStopped: () => boolean;
  readonly release: (id: number) => void;
}

const lanesPerStatement = 100;
// What is due earlier than the last claim was written by a slower transaction, or by another clock.
const lateMs = 1000;

/** Answers false where it failed, to be tried again. */
export function createClaiming({ queueStore, holding, log, leaseSeconds, isStopped, release }: Needed) {
  const claim = batched(async (wants: readonly Want[]) => {
    const rows = await queueStore.claim(wants, leaseSeconds);
    return wants.map(({ webhookId }) => rows.filter((row) => row.webhookId === webhookId));
  }, lanesPerStatement);

  return async (lane: Lane, most: number): Promise<boolean> => {
    lane.claiming = true;
    lane.more = false;
    lane.asked = never;
    const { since } = lane;
    try {
      const rows = await claim({ webhookId: lane.webhookId, most, since });
      if (rows.length > 0) failpoint("webhooks.delivery-claimed");
      if (isStopped()) {
        for (const { id } of rows) release(id);
        return true;
      }
      lookFrom(lane, rows, { most, since });
      holding.take(lane, rows);
    } catch (error) {
      log.warn("claiming deliveries failed, trying again", { error });
      lane.more = true;
      return false;
    } finally {
      lane.claiming = false;
    }
    return true;
  };
}

/** Where the next claim begins to look, and whether there may be more. */
function lookFrom(lane: Lane, rows: readonly ClaimedDelivery[], { most, since }: Pick<Want, "most" | "since">): void {
  const last = Math.max(since.getTime(), ...rows.map(({ dueAt }) => dueAt.getTime()));
  const full = rows.length === most;
  const next = new Date(full ? last : Math.max(since.getTime(), last - lateMs));
  lane.since = next < lane.asked ? next : lane.asked;
  lane.more ||= full;
}
