/** Entries as NDJSON, page by page, however many there are. */
import type { ActivityContext } from "./context.ts";
import { next, toApi, type ActivityFilter } from "./store.ts";

const pageSize = 500;

/** Reads the first page at once, so that a failure still gets its status. */
export async function ndjsonOf(
  ctx: ActivityContext,
  accountId: number,
  filter: ActivityFilter,
): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let page = await next(ctx, accountId, filter, 0, pageSize);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const last = page.at(-1);
        if (last) controller.enqueue(encoder.encode(page.map((row) => `${JSON.stringify(toApi(row))}\n`).join("")));
        if (!last) controller.close();
        else page = await next(ctx, accountId, filter, last.id, pageSize);
      } catch (error) {
        ctx.log.warn("an export of activity broke off", { error });
        controller.error();
      }
    },
  });
}
