/** Clearing away, in pieces: what will not be sent, and what nobody looks up any more. */
import type { DeliveryStore } from "./delivery-store.ts";
import type { Place, QueueStore } from "./queue-store.ts";

const piece = 2000;

/** What waits for webhooks that are off or gone. */
export const clearAll = (queue: Pick<QueueStore, "clear">, signal: AbortSignal) =>
  inPieces(() => queue.clear(piece), signal);

/** The deliveries of a webhook that is gone. */
export const forgetAll = (deliveries: DeliveryStore, { accountId, webhookId }: Place, signal: AbortSignal) =>
  inPieces(() => deliveries.forget(accountId, webhookId, piece), signal);

/** Deliveries older than so many days. */
export const pruneAll = (deliveries: DeliveryStore, days: number, signal: AbortSignal) =>
  inPieces(() => deliveries.prune(days, piece), signal);

async function inPieces(run: () => Promise<number>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) if ((await run()) < piece) return;
}
