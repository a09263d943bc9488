/** Flow processes: starting, showing, cancelling and retrying them, and the jobs that drive them. */
import { conflict, notFound, on, onEvent, type Handler } from "platform";
import { createDriving, maxAttempts } from "./drive.ts";
import { createTold, driveProcess, kindsOf, processStarted, type Needed } from "./needed.ts";
import { toApi } from "./show.ts";
import { createStart } from "./start.ts";
import { forgetAttempts } from "./state.ts";

const cancelled = "flows.cancelled";

export type Processes = ReturnType<typeof createProcesses>;

export function createProcesses(needed: Needed) {
  const { ctx, store, waiting, leaseSeconds } = needed;
  const told = createTold(ctx);
  const { drive, breakOff } = createDriving(needed, told);
  ctx.broadcast.on(cancelled, breakOff);
  const options = { concurrency: 100, leaseSeconds, maxAttempts };

  return {
    start: createStart(needed, told),
    handlers: [onEvent(processStarted, "drive", drive, options), on(driveProcess, drive, options)] satisfies Handler[],

    /** The object of CONTRACT 9. */
    async show(accountId: number, id: string) {
      const row = await store.show(accountId, id);
      return row && toApi(row);
    },

    /** 404 unknown, 409 ended already. */
    async cancel(accountId: number, id: string): Promise<void> {
      const row = await ctx.transaction(async (tx) => {
        const ended = await store.cancel(tx, accountId, id);
        if (ended) await told.tell(ended, kindsOf.error, tx);
        return ended;
      });
      if (!row) throw (await store.state(accountId, id)) ? conflict("the process has ended already") : notFound();
      ctx.broadcast.publish(cancelled, id);
      waiting.tell(row);
    },

    /** Goes on from the step that failed, with the program it started with. 404 unknown, 409 without an error. */
    async retry(accountId: number, id: string): Promise<void> {
      await ctx.transaction(async (tx) => {
        const found = await store.lock(tx, accountId, id);
        if (!found) throw notFound();
        if (found.status !== "error" || !found.cursor)
          throw conflict("only a process with an error can be tried again");
        forgetAttempts(found.cursor.frames);
        const row = await store.resume(tx, accountId, id, found.cursor);
        await told.tell(row, ["update"], tx);
        await ctx.enqueue(driveProcess, { accountId, id }, { tx, accountId });
      });
    },
  };
}
