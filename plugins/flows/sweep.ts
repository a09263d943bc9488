/**
 * Finds processes that run and that no job would go on with. None should be: each write of a process and of its job are
 * one transaction. But a job that was given up, or a crash of PostgreSQL that took back what it had acknowledged, would
 * leave a process pending for ever.
 */
import { eventJob } from "platform";
import { driveHandler, driveProcess, kindsOf, processStarted, type Needed, type Told } from "./needed.ts";
import type { LostProcess } from "./process-store.ts";

const most = 1000;
const jobNames = [driveProcess.id, eventJob(processStarted, driveHandler).id];

export function createSweep({ ctx, store, waiting }: Needed, told: Told) {
  const giveUp = async (lost: LostProcess): Promise<void> => {
    const ended = await ctx.transaction(async (tx) => {
      const row = await store.breakOff(tx, lost, "internal error");
      if (row) await told.tell(row, kindsOf.error, tx);
      return row;
    });
    if (ended) waiting.tell(ended);
  };

  return async (): Promise<void> => {
    for (const lost of await store.lost(jobNames, most)) {
      const { accountId, id } = lost;
      ctx.log.warn("a flow process had nobody to go on with it", { flow_process_id: id, given_up: lost.failed });
      // What was tried so often that its job was given up would be tried for ever.
      if (lost.failed) await giveUp(lost);
      else await ctx.enqueue(driveProcess, { accountId, id }, { accountId, key: id });
    }
  };
}
