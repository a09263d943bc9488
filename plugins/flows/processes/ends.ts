/** How a process ends: by itself, cancelled, or because no job would continue it. */
import { afterCommit, conflict, eventJob, notFound, type Caller, type Queryable, type Tx } from "platform";
import type { FlowContext } from "../context.ts";
import { Gone, isLoop } from "../engine/fault.ts";
import type { End } from "../engine/host.ts";
import { shownTo } from "./show.ts";
import {
  cancelled,
  computeProcess,
  driveHandler,
  driveProcess,
  emitChanges,
  kindsOf,
  shareOf,
  processStarted,
  runHasFailed,
  wantedKinds,
} from "./signals.ts";
import * as processStore from "./store.ts";
import type { HeldProcess, LostProcess, ProcessRow, Progress } from "./store.ts";
import { stateOf } from "./view-store.ts";

/** Progress that is not stored yet; undefined leaves the stored value as it is. */
export type Unstored = Pick<Progress, "steps" | "cursor" | "memory">;

interface ProcessEnd {
  readonly held: HeldProcess;
  /** How many batches of steps are stored. */
  readonly stored: number;
  readonly outcome: Exclude<End, { kind: "suspended" }>;
  readonly unstored: Unstored;
}

/** Throws Gone if the process has ended already or another driver has taken it over. */
export async function endProcess(ctx: FlowContext, ending: ProcessEnd): Promise<void> {
  const row = endedRow(ending);
  const progress = progressOf(ending, row);
  const kinds = wantedKinds(ctx, row, kindsOf[ending.outcome.kind]);
  let isFailed = row.status === "error";
  const write = async (tx?: Tx) => {
    if (!(await processStore.progress(tx ?? ctx.sql, progress))) throw new Gone();
    if (tx) await emitChanges(ctx, row, kinds, tx);
  };
  try {
    await (kinds.length > 0 ? ctx.transaction(write) : write());
  } catch (error) {
    // Its webhook led here again and again: the process ends all the same, without another event.
    if (!isLoop(error)) throw error;
    isFailed = true;
    await processStore.progress(ctx.sql, {
      ...progress,
      end: { status: "error", data: null, error: error.message },
    });
  }
  if (ending.held.cursor.parked) await unpark(ctx, ctx.sql, row);
  if (isFailed) await runHasFailed(ctx, row);
  ctx.waiting.tell(row);
}

/** What its steps wait for is of no use any more. */
async function unpark({ stepTypes }: FlowContext, on: Queryable, { accountId, id }: ProcessRow): Promise<void> {
  for (const { ended } of stepTypes.values()) await ended?.(on, { accountId, id });
}

/** Answers with the cancelled process. Throws 404 if it is unknown, 409 if it has ended already. */
export async function cancelProcess(ctx: FlowContext, caller: Caller, id: string) {
  const accountId = caller.account.id;
  return ctx.transaction(async (tx) => {
    const row = await processStore.breakOff(tx, { accountId, id }, "cancelled");
    if (!row) {
      const ended = await stateOf(tx, accountId, id);
      throw ended ? conflict("the process has ended already") : notFound();
    }
    await unpark(ctx, tx, row);
    await emitChanges(ctx, row, kindsOf.error, tx);
    afterCommit(tx, () => {
      ctx.broadcast.publish(cancelled, id);
      ctx.waiting.tell(row);
    });
    return shownTo(ctx, tx, caller, id);
  });
}

const mostLost = 1000;
const jobNames = [driveProcess.id, computeProcess.id, eventJob(processStarted, driveHandler).id];

/**
 * Finds pending processes that no job would continue. There should be none: a process and its job are written in one
 * transaction. But if a job was given up, or PostgreSQL lost in a crash what it had acknowledged, the process would stay
 * pending for ever.
 */
export async function sweepProcesses(ctx: FlowContext): Promise<void> {
  for (const lost of await processStore.lost(ctx.sql, jobNames, mostLost)) {
    const { accountId, id, flowCode } = lost;
    ctx.log.warn("a flow process had no job to continue it", { flow_process_id: id, given_up: lost.failed });
    // With a new job, a process whose job was given up would be tried for ever.
    if (lost.failed) await giveUp(ctx, lost);
    else await ctx.enqueue(driveProcess, { accountId, id, flowCode }, { ...shareOf(lost), key: id });
  }
}

async function giveUp(ctx: FlowContext, lost: LostProcess): Promise<void> {
  const ended = await ctx.transaction(async (tx) => {
    const row = await processStore.breakOff(tx, lost, "internal error");
    if (row) await emitChanges(ctx, row, kindsOf.error, tx);
    return row;
  });
  if (ended) await runHasFailed(ctx, ended);
  if (ended) ctx.waiting.tell(ended);
}

function endedRow({ held, outcome }: ProcessEnd): ProcessRow {
  const isFinished = outcome.kind === "finished";
  return {
    ...held,
    status: outcome.kind,
    data: isFinished ? (outcome.data ?? null) : null,
    error: isFinished ? null : outcome.message,
    finishedAt: new Date(),
  };
}

function progressOf({ held, stored, outcome, unstored }: ProcessEnd, row: ProcessRow): Progress {
  const { accountId, id, fence } = held;
  const isFinished = outcome.kind === "finished";
  const data = isFinished ? JSON.stringify(row.data) : null;
  return {
    ...unstored,
    // A failed process keeps both: it can be tried again from here.
    ...(isFinished && { cursor: null, memory: null }),
    accountId,
    id,
    fence,
    stored,
    end: { status: outcome.kind, data, error: row.error },
  };
}
