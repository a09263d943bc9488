/** Flow processes: starting, showing, cancelling and retrying them, and the jobs that drive them. */
import { afterCommit, conflict, notFound, on, onEvent, withCausation, type Handler, type Tx } from "platform";
import { createDriver, maxAttempts } from "./driver.ts";
import {
  computeProcess,
  createNews,
  driveHandler,
  driveProcess,
  kindsOf,
  placeOf,
  processStarted,
  type Needed,
} from "./needed.ts";
import { toApi, type Included } from "./show.ts";
import { createStarter } from "./start.ts";
import { rootOf } from "./starter.ts";
import { createSweeper } from "./sweep.ts";
import { forgetAttempts } from "../engine/state.ts";

const cancelled = "flows.cancelled";

export type Processes = ReturnType<typeof createProcesses>;

export function createProcesses(needed: Needed) {
  const { ctx, processStore, processViewStore, waiting, leaseSeconds } = needed;
  const news = createNews(ctx);
  const { drive, compute, breakOff } = createDriver(needed, news);
  ctx.broadcast.on(cancelled, breakOff);
  const options = { concurrency: 100, leaseSeconds, maxAttempts };

  /** As the API shows it. */
  const show = async (accountId: number, id: string, included?: Included, tx?: Tx) => {
    const row = await processViewStore.show(accountId, id, tx);
    return row && toApi(row, included);
  };

  return {
    start: createStarter(needed, news),
    handlers: [
      onEvent(processStarted, driveHandler, drive, options),
      on(driveProcess, drive, options),
      // Each computes for up to 25 ms before others of this server process get their turn: four in all.
      on(computeProcess, compute, { ...options, concurrency: 1 }),
    ] satisfies Handler[],

    sweep: createSweeper(needed, news),
    show,

    /** Answers with the cancelled process. Throws 404 if it is unknown, 409 if it has ended already. */
    async cancel(accountId: number, id: string) {
      return ctx.transaction(async (tx) => {
        const row = await processStore.breakOff(tx, { accountId, id }, "cancelled");
        if (!row) {
          const ended = await processViewStore.state(accountId, id, tx);
          throw ended ? conflict("the process has ended already") : notFound();
        }
        await news.tell(row, kindsOf.error, tx);
        afterCommit(tx, () => {
          ctx.broadcast.publish(cancelled, id);
          waiting.tell(row);
        });
        return show(accountId, id, undefined, tx);
      });
    },

    /** Continues from the failed step, with the program it started with. Throws 404 if unknown, 409 without an error. */
    async retry(accountId: number, id: string) {
      return ctx.transaction(async (tx) => {
        const found = await processStore.lock(tx, accountId, id);
        if (!found) throw notFound();
        if (found.status !== "error" || !found.cursor) throw conflict("only a process with an error can be retried");
        forgetAttempts(found.cursor.frames);
        const row = await processStore.resume(tx, accountId, id, found.cursor);
        await news.tell(row, ["update"], tx);
        const process = { accountId, id, flowCode: found.flowCode };
        await withCausation(rootOf(found), () => ctx.enqueue(driveProcess, process, { tx, ...placeOf(process) }));
        return show(accountId, id, undefined, tx);
      });
    },
  };
}
