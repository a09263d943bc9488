/** Takes a process over and runs it to its end, or until it waits. The engine computes; here its state is stored. */
import { createTurnsByKey, failpoint, withActor, type Tx } from "platform";
import { endProcess, type Unstored } from "./ending.ts";
import { createRun, type Run } from "../engine/engine.ts";
import { Gone, MemoryFull } from "../engine/fault.ts";
import { createHost } from "./live-host.ts";
import { driveProcess, type Needed, type News } from "./needed.ts";
import type { HeldProcess, ProcessId } from "./process-store.ts";
import { memoryText, programIdsOf, type State } from "../engine/state.ts";

export const maxAttempts = 10;

export interface Driver {
  drive(process: ProcessId, job: { readonly attempt: number; readonly signal: AbortSignal }): Promise<void>;
  /** Breaks off what this server process is doing for it. */
  breakOff(id: string): void;
}

export function createDriver(needed: Needed, news: News): Driver {
  const { ctx, processStore } = needed;
  const running = new Map<string, AbortController>();

  /** Ends a process that cannot go on. Throws what another attempt of the job may mend. */
  const giveUp = async (held: HeldProcess, error: unknown, isLastAttempt: boolean): Promise<void> => {
    const tooLarge = error instanceof MemoryFull;
    if (!tooLarge && !isLastAttempt) throw error;
    if (!tooLarge) ctx.log.error("a flow process failed for reasons of our own", { flow_process_id: held.id, error });
    const message = tooLarge ? error.message : "internal error";
    const outcome = { kind: "error", message } as const;
    await endProcess(needed, news, { held, stored: held.stored, outcome, unstored: nothing });
  };

  return {
    async drive({ accountId, id }, { attempt, signal }) {
      const held = await processStore.take(accountId, id);
      if (!held) return;
      const controller = new AbortController();
      running.set(id, controller);
      try {
        const actor = () => ({ kind: "flow", account: accountId, process: id }) as const;
        await withActor(actor, () => goOn(needed, news, held, AbortSignal.any([signal, controller.signal])));
      } catch (error) {
        if (controller.signal.aborted) return;
        if (error instanceof Gone) {
          if (await processStore.isForgotten(held)) throw error; // nobody else has it: the job comes again
          return;
        }
        if (signal.aborted) throw error;
        await giveUp(held, error, attempt >= maxAttempts);
      } finally {
        if (running.get(id) === controller) running.delete(id);
      }
    },

    breakOff: (id) => running.get(id)?.abort(new Error("the process was cancelled")),
  };
}

/** Runs a held process as far as it goes now. Throws Gone if another driver has taken it over. */
async function goOn(needed: Needed, news: News, held: HeldProcess, signal: AbortSignal): Promise<void> {
  const { ctx, processStore } = needed;
  const { accountId, id, fence, cursor, memory } = held;
  const programs = await needed.flowStore.programs(accountId, programIdsOf(memory));
  // One write at a time: an older state must never be written over a newer one.
  const turns = createTurnsByKey<"state">();
  const exclusive = (write: () => Promise<void>) => turns.run("state", write);
  let { stored } = held;
  const write = async (tx?: Tx) => {
    const unstored = unstoredOf(run.take(), held);
    const progress = { accountId, id, fence, stored, ...unstored, end: undefined };
    if (!(await processStore.progress(progress, tx))) throw new Gone();
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
    return;
  }
  failpoint("flows.ending");
  await endProcess(needed, news, { held, stored, outcome, unstored: unstoredOf(run.take(), held) });
  failpoint("flows.ended");
}

/** Leaves what is stored as it is. */
const nothing: Unstored = { steps: undefined, cursor: undefined, memory: undefined };

function unstoredOf(taken: ReturnType<Run["take"]>, { cursor, memory }: State): Unstored {
  return {
    steps: taken.records.length > 0 ? JSON.stringify(taken.records) : undefined,
    cursor: JSON.stringify(cursor),
    memory: taken.memoryChanged ? memoryText(memory) : undefined,
  };
}
