/** Entries as NDJSON, page by page, however many there are. */
import type { Log } from "platform";
import { toApi, type ActivityFilter, type ActivityStore } from "./store.ts";

const pageSize = 500;

interface Asked {
  readonly activityStore: ActivityStore;
  readonly accountId: number;
  readonly filter: ActivityFilter;
  readonly log: Log;
}

/** Reads the first page at once, so that a failure still gets its status. */
export async function ndjsonOf({ activityStore, accountId, filter, log }: Asked): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let page = await activityStore.next(accountId, filter, 0, pageSize);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const last = page.at(-1);
        if (last) controller.enqueue(encoder.encode(page.map((row) => `${JSON.stringify(toApi(row))}\n`).join("")));
        if (!last) controller.close();
        else page = await activityStore.next(accountId, filter, last.id, pageSize);
      } catch (error) {
        log.warn("an export of activity broke off", { error });
        controller.error();
      }
    },
  });
}
