/** Writes down the outcomes of attempts, many in one statement, and tries again until that succeeds. */
import { batched } from "platform";
import type { Log } from "platform";
import type { Outcome } from "./attempt.ts";
import type { ClaimedDelivery, Counted, LeaseStore, Settlement } from "./lease-store.ts";
import type { QueueStore } from "./queue-store.ts";
import type { Place } from "../signals.ts";

/** The consequence of an attempt. */
export interface Settled {
  readonly status: Settlement["status"];
  readonly delaySeconds: number;
}

interface Needed {
  readonly leaseStore: Pick<LeaseStore, "settle" | "release">;
  readonly queueStore: Pick<QueueStore, "promote">;
  readonly log: Log;
  readonly wake: (place: Place) => void;
}

export type Settler = ReturnType<typeof createSettler>;

const pauseAfterErrorMs = 500;
const soonSeconds = 2;

export function createSettler({ leaseStore, queueStore, log, wake }: Needed) {
  const counts = { unwritten: 0 };
  let stopping = false;
  const releases = new Map<number, Counted | null>();

  const write = batched(async (rows: readonly Settlement[]) => {
    for (;;) {
      try {
        const settled = await leaseStore.settle(rows);
        return rows.map(({ id }) => settled.has(id));
      } catch (error) {
        // Deliveries whose outcome is not written are sent again when their leases end.
        if (stopping) return rows.map(() => false);
        log.warn("writing what came of deliveries failed, trying again", { error });
        await new Promise((resolve) => setTimeout(resolve, pauseAfterErrorMs));
      }
    }
  });
  const promote = async (keys: readonly { webhookId: number; orderKey: string }[]) => {
    if (keys.length > 0) for (const place of await queueStore.promote(keys)) wake(place);
  };
  const promoteSoon = batched(async (keys: readonly { webhookId: number; orderKey: string }[]) => {
    await promote(keys);
    return keys.map(() => true);
  });

  return {
    promote,
    unwritten: () => counts.unwritten,
    /** False if another process has the delivery by now. */
    async settle(
      accountId: number,
      delivery: ClaimedDelivery,
      { status, delaySeconds }: Settled,
      outcome: Outcome,
      counted: Counted | null,
    ): Promise<boolean> {
      const { id, webhookId, orderKey } = delivery;
      const { status: responseStatus, body: responseBody, error, durationMs, attemptedAt } = outcome;
      counts.unwritten++;
      const written = await write({
        id,
        status,
        delaySeconds,
        responseStatus,
        responseBody,
        error,
        durationMs,
        attemptedAt,
        counted,
      });
      counts.unwritten--;
      // The poll notices longer waits in time.
      if (written && status === "pending" && delaySeconds < soonSeconds)
        setTimeout(() => wake({ accountId, webhookId }), delaySeconds * 1000 + 2);
      if (written && orderKey !== null && status !== "pending")
        await promoteSoon({ webhookId, orderKey }).catch((fault: unknown) =>
          log.warn("the next delivery of a record waits for the next look", { error: fault }),
        );
      return written;
    },
    /** Gives back what was not sent, or was cut off after it was counted. */
    release: (id: number, counted: Counted | null = null) => void releases.set(id, counted),
    /** Resolves when everything is written that can be. */
    async stop() {
      stopping = true;
      const end = performance.now() + 1000;
      while (counts.unwritten > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
      const counted = [...releases.values()].flatMap((one) => one ?? []);
      // Their leases end by themselves.
      if (releases.size > 0) await leaseStore.release([...releases.keys()], counted).catch(() => {});
    },
  };
}
