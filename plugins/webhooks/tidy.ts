/** Clearing away, in pieces: what will not be sent, and what nobody looks up any more. */
import type { DeliveryStore } from "./delivery-store.ts";
import type { Place, QueueStore } from "./queue-store.ts";

const piece = 2000;

/** What one webhook that is off or gone leaves. False while a part of it is held by whoever sends or writes it. */
export async function clearWebhook({ queueStore, deliveryStore }: Stores, place: Place, signal: AbortSignal) {
  await clearAll(queueStore, signal);
  await forgetAll(deliveryStore, place, signal);
  return !(await queueStore.leftOf(place));
}

interface Stores {
  readonly queueStore: Pick<QueueStore, "clear" | "leftOf">;
  readonly deliveryStore: DeliveryStore;
}

/** What waits for webhooks that are off or gone. */
export const clearAll = (queue: Pick<QueueStore, "clear">, signal: AbortSignal) =>
  inPieces(() => queue.clear(piece), signal);

/** The deliveries of a webhook that is gone. */
const forgetAll = (deliveries: DeliveryStore, { accountId, webhookId }: Place, signal: AbortSignal) =>
  inPieces(() => deliveries.forget(accountId, webhookId, piece), signal);

/** Deliveries older than so many days. */
export const pruneAll = (deliveries: DeliveryStore, days: number, signal: AbortSignal) =>
  inPieces(() => deliveries.prune(days, piece), signal);

async function inPieces(run: () => Promise<number>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) if ((await run()) < piece) return;
}
