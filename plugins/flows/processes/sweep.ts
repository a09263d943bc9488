/**
 * Finds pending processes that no job would continue. There should be none: a process and its job are written in one
 * transaction. But if a job was given up, or PostgreSQL lost in a crash what it had acknowledged, the process would stay
 * pending for ever.
 */
import { eventJob } from "platform";
import {
  computeProcess,
  driveHandler,
  driveProcess,
  kindsOf,
  placeOf,
  processStarted,
  type Needed,
  type News,
} from "./needed.ts";
import type { LostProcess } from "./process-store.ts";

const most = 1000;
const jobNames = [driveProcess.id, computeProcess.id, eventJob(processStarted, driveHandler).id];

export function createSweeper({ ctx, processStore, waiting }: Needed, news: News) {
  const giveUp = async (lost: LostProcess): Promise<void> => {
    const ended = await ctx.transaction(async (tx) => {
      const row = await processStore.breakOff(tx, lost, "internal error");
      if (row) await news.tell(row, kindsOf.error, tx);
      return row;
    });
    if (ended) waiting.tell(ended);
  };

  return async (): Promise<void> => {
    for (const lost of await processStore.lost(jobNames, most)) {
      const { accountId, id, flowCode } = lost;
      ctx.log.warn("a flow process had no job to continue it", { flow_process_id: id, given_up: lost.failed });
      // With a new job, a process whose job was given up would be tried for ever.
      if (lost.failed) await giveUp(lost);
      else await ctx.enqueue(driveProcess, { accountId, id, flowCode }, { ...placeOf(lost), key: id });
    }
  };
}
