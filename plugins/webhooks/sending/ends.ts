/** Writes down the outcomes of attempts, many in one statement, and lets go what waited for them. No SQL. */
import { createWriter, type Lease } from "platform";
import type { Webhooks } from "../context.ts";
import type { Place } from "../signals.ts";
import type { Hook } from "../subscriptions/subscriptions.ts";
import type { Outcome } from "./attempt.ts";
import { judge, noteHealth } from "./health.ts";
import * as leaseStore from "./lease-store.ts";
import type { ClaimedDelivery, Counted, DeliveryQueue, Settlement } from "./lease-store.ts";
import * as queueStore from "./queue-store.ts";
import type { OrderKey } from "./queue-store.ts";

/** An attempt that is over. */
export interface End {
  readonly hook: Hook;
  readonly lease: Lease<ClaimedDelivery>;
  readonly outcome: Outcome;
  readonly counted: Counted | null;
}

interface Options {
  readonly wake: (place: Place) => void;
  /** Called once an outcome is written, or found to be another process's to write. */
  readonly written: (lease: Lease<ClaimedDelivery>) => void;
}

export type Ends = ReturnType<typeof createEnds>;

const soonSeconds = 2;
const stopMs = 1000;

export function createEnds(webhooks: Webhooks, queue: DeliveryQueue, { wake, written }: Options) {
  const writer = createWriter("deliveries", webhooks.log);
  const releases = new Map<number, Counted | null>();

  const settle = writer.list<End & { readonly settlement: Settlement }>(async (batch) => {
    const settled = await leaseStore.settle(
      queue,
      batch.map(({ settlement }) => settlement),
    );
    for (const end of batch) {
      written(end.lease);
      if (settled.has(end.settlement.id)) after(end);
    }
  });
  const promote = writer.list<OrderKey>(async (keys) => {
    for (const place of await queueStore.promote(queue.sql, keys)) wake(place);
  });
  const after = ({ hook, outcome, lease, settlement: { status, delaySeconds } }: End & { settlement: Settlement }) => {
    const { accountId, id: webhookId } = hook.row;
    const { orderKey } = lease.row;
    // The poll notices longer waits in time.
    if (status === "pending" && delaySeconds < soonSeconds)
      setTimeout(() => wake({ accountId, webhookId }), delaySeconds * 1000 + 2);
    if (orderKey !== null && status !== "pending") promote({ webhookId, orderKey });
    noteHealth(webhooks, hook, outcome).catch((error: unknown) =>
      webhooks.log.warn("a webhook's health was not noted", { error }),
    );
  };

  return {
    promote,
    unwritten: writer.unwritten,
    settle(end: End): void {
      const { lease, outcome, counted } = end;
      const { status: responseStatus, body: responseBody, error, durationMs, attemptedAt } = outcome;
      const answer = { responseStatus, responseBody, error, durationMs, attemptedAt, counted };
      settle({ ...end, settlement: { id: lease.row.id, ...judge(webhooks.waits, lease.row, outcome), ...answer } });
    },
    /** Gives back, at the end, what was not sent, or was cut off after it was counted. */
    release: (id: number, counted: Counted | null = null): void => void releases.set(id, counted),
    /** Resolves when everything is written that can be. */
    async stop(): Promise<void> {
      await Promise.race([writer.stop(), new Promise((resolve) => setTimeout(resolve, stopMs))]);
      const counted = [...releases.values()].flatMap((one) => one ?? []);
      // Their leases end by themselves.
      if (releases.size > 0) await leaseStore.release(queue, [...releases.keys()], counted).catch(() => {});
    },
  };
}
