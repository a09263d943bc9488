/** Clears away, in pieces, deliveries that will not be sent and log entries that have expired. */
import type { DeliveryStore } from "./delivery-store.ts";
import type { QueueStore } from "../sending/queue-store.ts";
import type { Place } from "../signals.ts";

const piece = 2000;

/** Clears away all that one webhook leaves when it is off or gone. False while a sender or writer still holds a part. */
export async function clearWebhook({ queueStore, deliveryStore }: Stores, place: Place, signal: AbortSignal) {
  await clearAll(queueStore, signal);
  await forgetAll(deliveryStore, place, signal);
  await queueStore.forgetRate(place);
  return !(await queueStore.leftOf(place));
}

interface Stores {
  readonly queueStore: Pick<QueueStore, "clear" | "forgetRate" | "leftOf">;
  readonly deliveryStore: DeliveryStore;
}

/** Clears away everything that waits for webhooks that are off or gone. */
export const clearAll = (queueStore: Pick<QueueStore, "clear">, signal: AbortSignal) =>
  inPieces(() => queueStore.clear(piece), signal);

/** The deliveries of a webhook that is gone. */
const forgetAll = (deliveryStore: DeliveryStore, { accountId, webhookId }: Place, signal: AbortSignal) =>
  inPieces(() => deliveryStore.forget(accountId, webhookId, piece), signal);

/** Deliveries older than so many days. */
export const pruneAll = (deliveryStore: DeliveryStore, days: number, signal: AbortSignal) =>
  inPieces(() => deliveryStore.prune(days, piece), signal);

async function inPieces(run: () => Promise<number>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) if ((await run()) < piece) return;
}
