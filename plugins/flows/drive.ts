/** Takes a process over and runs it to its end, or until it waits. The engine computes; here is what it takes to last. */
import { createTurnsByKey, failpoint, type Tx } from "platform";
import { createRun } from "./engine.ts";
import { Gone, isLoop, MemoryFull } from "./fault.ts";
import type { End } from "./host.ts";
import { createHost } from "./live-host.ts";
import { driveProcess, kindsOf, type Needed, type Told } from "./needed.ts";
import type { HeldProcess, ProcessId, ProcessRow, Progress } from "./process-store.ts";
import { memoryText, programIdsOf, type State } from "./state.ts";

/** What has not been stored yet. */
type Unstored = Pick<Progress, "steps" | "cursor" | "memory">;

export const maxAttempts = 10;

export interface Driving {
  drive(process: ProcessId, job: { readonly attempt: number; readonly signal: AbortSignal }): Promise<void>;
  /** Breaks off what this server process is doing for it. */
  breakOff(id: string): void;
}

export function createDriving(needed: Needed, told: Told): Driving {
  const { ctx, store, waiting } = needed;
  const running = new Map<string, AbortController>();

  const drive: Driving["drive"] = async ({ accountId, id }, { attempt, signal }) => {
    const held = await store.take(accountId, id);
    if (!held) return;
    const controller = new AbortController();
    running.set(id, controller);
    try {
      await goOn(held, AbortSignal.any([signal, controller.signal]));
    } catch (error) {
      if (controller.signal.aborted) return;
      if (error instanceof Gone) {
        if (await store.isForgotten(held)) throw error; // it is still ours to go on with: the job comes again
        return;
      }
      const tooLarge = error instanceof MemoryFull;
      if (signal.aborted || (!tooLarge && attempt < maxAttempts)) throw error;
      if (!tooLarge) ctx.log.error("a flow process failed for reasons of our own", { flow_process_id: id, error });
      const message = tooLarge ? error.message : "internal error";
      await end(held, held.stored, { kind: "error", message }, nothing);
    } finally {
      if (running.get(id) === controller) running.delete(id);
    }
  };

  const goOn = async (held: HeldProcess, signal: AbortSignal): Promise<void> => {
    const { accountId, id, fence, cursor, memory } = held;
    const programs = await needed.flowStore.programs(accountId, programIdsOf(memory));
    // One write at a time: an older state must never be written over a newer one.
    const turns = createTurnsByKey<"state">();
    const exclusive = (write: () => Promise<void>) => turns.run("state", write);
    let { stored } = held;
    const write = async (tx?: Tx) => {
      const unstored = unstoredOf(run.take(), held);
      if (!(await store.progress({ accountId, id, fence, stored, ...unstored, end: undefined }, tx))) throw new Gone();
      if (unstored.steps !== undefined) stored += 1;
    };
    const save = () => exclusive(() => write()).then(() => failpoint("flows.stored"));
    const host = await createHost(needed, { accountId, id, programs, mode: "drive", signal, save, exclusive, write });
    const run = createRun({ cursor, memory }, host);
    failpoint("flows.driving");
    const outcome = await run.run();
    if (outcome.kind === "suspended") {
      const runAt = new Date(outcome.until);
      await ctx.transaction(async (tx) => {
        await write(tx);
        await ctx.enqueue(driveProcess, { accountId, id }, { tx, accountId, runAt });
      });
    } else {
      failpoint("flows.ending");
      await end(held, stored, outcome, unstoredOf(run.take(), held));
      failpoint("flows.ended");
    }
  };

  /** Writes how it ended, with its events, and wakes those who wait for it. */
  const end = async (
    held: HeldProcess,
    stored: number,
    outcome: Exclude<End, { kind: "suspended" }>,
    unstored: Unstored,
  ): Promise<void> => {
    const { accountId, id, fence } = held;
    const isFinished = outcome.kind === "finished";
    const row: ProcessRow = {
      ...held,
      status: outcome.kind,
      data: isFinished ? (outcome.data ?? null) : null,
      error: isFinished ? null : outcome.message,
      finishedAt: new Date(),
    };
    const data = isFinished ? JSON.stringify(row.data) : null;
    const progress: Progress = {
      ...unstored,
      // What has failed can be tried again from here.
      ...(isFinished && { cursor: null, memory: null }),
      accountId,
      id,
      fence,
      stored,
      end: { status: outcome.kind, data, error: row.error },
    };
    const kinds = told.wanted(row, kindsOf[outcome.kind]);
    const write = async (tx?: Tx) => {
      if (!(await store.progress(progress, tx))) throw new Gone();
      if (tx) await told.tell(row, kinds, tx);
    };
    try {
      await (kinds.length > 0 ? ctx.transaction(write) : write());
    } catch (error) {
      // Its webhook led here again and again: it ends all the same, and leads nowhere any more.
      if (!isLoop(error)) throw error;
      await store.progress({ ...progress, end: { status: "error", data: null, error: error.message } });
    }
    waiting.tell(row);
  };

  return { drive, breakOff: (id) => running.get(id)?.abort(new Error("the process was cancelled")) };
}

/** Leaves what is stored as it is. */
const nothing: Unstored = { steps: undefined, cursor: undefined, memory: undefined };

function unstoredOf(taken: ReturnType<ReturnType<typeof createRun>["take"]>, { cursor, memory }: State): Unstored {
  return {
    steps: taken.records.length > 0 ? JSON.stringify(taken.records) : undefined,
    cursor: JSON.stringify(cursor),
    memory: taken.memoryChanged ? memoryText(memory) : undefined,
  };
}
