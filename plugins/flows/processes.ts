/** Flow processes: starting, showing, cancelling and retrying them, and the jobs that drive them. */
import { afterCommit, conflict, notFound, on, onEvent, type Handler, type Tx } from "platform";
import { createDriving, maxAttempts } from "./drive.ts";
import { createTold, driveHandler, driveProcess, kindsOf, processStarted, type Needed } from "./needed.ts";
import { toApi } from "./show.ts";
import { createStart } from "./start.ts";
import { createSweep } from "./sweep.ts";
import { forgetAttempts } from "./state.ts";

const cancelled = "flows.cancelled";

export type Processes = ReturnType<typeof createProcesses>;

export function createProcesses(needed: Needed) {
  const { ctx, store, waiting, leaseSeconds } = needed;
  const told = createTold(ctx);
  const { drive, breakOff } = createDriving(needed, told);
  ctx.broadcast.on(cancelled, breakOff);
  const options = { concurrency: 100, leaseSeconds, maxAttempts };

  /** As the API shows it. */
  const show = async (accountId: number, id: string, tx?: Tx) => {
    const row = await store.show(accountId, id, tx);
    return row && toApi(row);
  };

  return {
    start: createStart(needed, told),
    handlers: [
      onEvent(processStarted, driveHandler, drive, options),
      on(driveProcess, drive, options),
    ] satisfies Handler[],

    sweep: createSweep(needed, told),
    show,

    /** 404 unknown, 409 ended already. The process as it is then. */
    async cancel(accountId: number, id: string) {
      return ctx.transaction(async (tx) => {
        const row = await store.breakOff(tx, { accountId, id }, "cancelled");
        if (!row) throw (await store.state(accountId, id, tx)) ? conflict("the process has ended already") : notFound();
        await told.tell(row, kindsOf.error, tx);
        afterCommit(tx, () => {
          ctx.broadcast.publish(cancelled, id);
          waiting.tell(row);
        });
        return show(accountId, id, tx);
      });
    },

    /** Goes on from the step that failed, with the program it started with. 404 unknown, 409 without an error. */
    async retry(accountId: number, id: string) {
      return ctx.transaction(async (tx) => {
        const found = await store.lock(tx, accountId, id);
        if (!found) throw notFound();
        if (found.status !== "error" || !found.cursor)
          throw conflict("only a process with an error can be tried again");
        forgetAttempts(found.cursor.frames);
        const row = await store.resume(tx, accountId, id, found.cursor);
        await told.tell(row, ["update"], tx);
        await ctx.enqueue(driveProcess, { accountId, id }, { tx, accountId });
        return show(accountId, id, tx);
      });
    },
  };
}
