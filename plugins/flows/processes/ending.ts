/** How a process ends: its end, its events and the word to those who wait for it. */
import type { Tx } from "platform";
import { Gone, isLoop } from "../engine/fault.ts";
import type { End } from "../engine/host.ts";
import { kindsOf, type Needed, type News } from "./needed.ts";
import type { HeldProcess, ProcessRow, Progress } from "./process-store.ts";

/** What has not been stored yet; undefined leaves the stored value as it is. */
export type Unstored = Pick<Progress, "steps" | "cursor" | "memory">;

export type Outcome = Exclude<End, { kind: "suspended" }>;

export interface Ending {
  readonly held: HeldProcess;
  /** How many batches of steps are stored. */
  readonly stored: number;
  readonly outcome: Outcome;
  readonly unstored: Unstored;
}

/** Throws Gone if the process has ended already or another driver has taken it over. */
export async function endProcess(
  { ctx, processStore, waiting }: Pick<Needed, "ctx" | "processStore" | "waiting">,
  news: News,
  ending: Ending,
): Promise<void> {
  const row = endedRow(ending.held, ending.outcome);
  const progress = progressOf(ending, row);
  const kinds = news.wanted(row, kindsOf[ending.outcome.kind]);
  const write = async (tx?: Tx) => {
    if (!(await processStore.progress(progress, tx))) throw new Gone();
    if (tx) await news.tell(row, kinds, tx);
  };
  try {
    await (kinds.length > 0 ? ctx.transaction(write) : write());
  } catch (error) {
    // Its webhook led here again and again: the process ends all the same, without another event.
    if (!isLoop(error)) throw error;
    await processStore.progress({ ...progress, end: { status: "error", data: null, error: error.message } });
  }
  waiting.tell(row);
}

function endedRow(held: HeldProcess, outcome: Outcome): ProcessRow {
  const isFinished = outcome.kind === "finished";
  return {
    ...held,
    status: outcome.kind,
    data: isFinished ? (outcome.data ?? null) : null,
    error: isFinished ? null : outcome.message,
    finishedAt: new Date(),
  };
}

function progressOf({ held, stored, outcome, unstored }: Ending, row: ProcessRow): Progress {
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
