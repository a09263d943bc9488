/** Clears away, in pieces, deliveries that will not be sent and log entries that have expired. */
import type { Sql } from "platform";
import * as queueStore from "../sending/queue-store.ts";
import type { Place } from "../signals.ts";
import { forget, prune } from "./delivery-store.ts";

const piece = 2000;

/** Clears away all that one webhook leaves when it is off or gone. False while a sender or writer still holds a part. */
export async function clearWebhook(sql: Sql, place: Place, signal: AbortSignal): Promise<boolean> {
  await clearAll(sql, signal);
  await inPieces(() => forget(sql, place.accountId, place.webhookId, piece), signal);
  await queueStore.forgetRate(sql, place);
  return !(await queueStore.leftOf(sql, place));
}

/** Clears away everything that waits for webhooks that are off or gone. */
export const clearAll = (sql: Sql, signal: AbortSignal) => inPieces(() => queueStore.clear(sql, piece), signal);

/** Deliveries older than so many days. */
export const pruneAll = (sql: Sql, days: number, signal: AbortSignal) =>
  inPieces(() => prune(sql, days, piece), signal);

async function inPieces(run: () => Promise<number>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) if ((await run()) < piece) return;
}
