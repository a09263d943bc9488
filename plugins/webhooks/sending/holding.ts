/** The deliveries that this process has claimed: their leases, and how they are given up. No SQL. */
import type { Log } from "platform";
import { emptied, lost, queued, type Lane } from "./lane.ts";
import type { ClaimedDelivery, LeaseStore } from "./lease-store.ts";
import type { QueueStore } from "./queue-store.ts";

/** A delivery that this process holds. */
export interface Held {
  readonly lane: Lane;
  readonly controller: AbortController;
  /** Its attempt is over, and being written down. */
  settling: boolean;
}

interface Needed {
  readonly leaseStore: Pick<LeaseStore, "extend" | "release">;
  readonly queueStore: Pick<QueueStore, "clear">;
  readonly log: Log;
  readonly leaseSeconds: number;
}

export type Holding = ReturnType<typeof createHolding>;

const clearMost = 1000;

export function createHolding({ leaseStore, queueStore, log, leaseSeconds }: Needed) {
  const held = new Map<number, Held>();

  /** Another process has it: it was silent here for too long, or it was taken out of the queue. */
  const lose = (id: number): void => {
    const mine = held.get(id);
    if (!mine || mine.settling) return;
    held.delete(id);
    mine.lane.state = lost(mine.lane.state, id);
    mine.controller.abort(new Error("the lease of this delivery was lost"));
  };
  /** Lets go of everything that waits in the lane; gives back the ids. */
  const dropWaiting = (lane: Lane): number[] => {
    const ids = lane.state.waiting.map(({ id }) => id);
    lane.state = emptied(lane.state);
    for (const id of ids) held.delete(id);
    return ids;
  };

  return {
    dropWaiting,
    /** Undefined if its lease was lost. */
    get: (id: number): Held | undefined => held.get(id),

    /** Puts what was claimed into its lane. */
    take(lane: Lane, rows: readonly ClaimedDelivery[]): void {
      const fresh = rows.filter(({ id }) => {
        const before = held.get(id);
        return !before || before.settling; // otherwise its lease ended, and it is still under way here
      });
      for (const { id } of fresh) held.set(id, { lane, controller: new AbortController(), settling: false });
      lane.state = queued(lane.state, fresh);
    },

    /** Without `mine`, whoever holds it. With it, only that holder: a delivery that is due again may have been claimed again. */
    drop(id: number, mine = held.get(id)): void {
      if (held.get(id) === mine) held.delete(id);
    },

    /** For a webhook that is off or gone: releases everything that waits for it, and clears it away. */
    async giveBack(lane: Lane): Promise<void> {
      const ids = dropWaiting(lane);
      if (ids.length === 0) return;
      try {
        await leaseStore.release(ids);
        await queueStore.clear(clearMost);
      } catch (error) {
        // Their leases end by themselves, and leftovers are cleared away every hour.
        log.warn("deliveries of a webhook that is off were not given back", { error });
      }
    },

    /** Extends all leases. */
    async extend(): Promise<void> {
      const ids = [...held].flatMap(([id, { settling }]) => (settling ? [] : [id]));
      if (ids.length === 0) return;
      try {
        const kept = await leaseStore.extend(ids, leaseSeconds);
        for (const id of ids) if (!kept.has(id)) lose(id);
      } catch (error) {
        log.warn("extending the leases of deliveries failed, trying again", { error });
      }
    },

    /** Cuts off what is under way. */
    abort(): void {
      for (const { controller, settling } of held.values())
        if (!settling) controller.abort(new Error("the process stops"));
    },
  };
}
