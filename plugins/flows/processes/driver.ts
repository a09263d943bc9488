/** Takes a process over and runs it to its end, or until it waits. The engine computes; here its state is stored. */
import { createTurnsByKey, failpoint, withActor, type Tx } from "platform";
import { endProcess, type Unstored } from "./ending.ts";
import { createRun, type Run } from "../engine/engine.ts";
import { Gone, MemoryFull } from "../engine/fault.ts";
import { createHost } from "./live-host.ts";
import { createLoad, type Load } from "./load.ts";
import { computeProcess, driveProcess, placeOf, type DrivenProcess, type Needed, type News } from "./needed.ts";
import type { HeldProcess, ProcessId } from "./process-store.ts";
import { memoryText, programIdsOf, type State } from "../engine/state.ts";

export const maxAttempts = 10;

interface JobRun {
  readonly attempt: number;
  readonly signal: AbortSignal;
}

export interface Driver {
  drive(process: DrivenProcess, job: JobRun): Promise<void>;
  /** In its flow's turn, as far as it computes. */
  compute(process: DrivenProcess, job: JobRun): Promise<void>;
  /** Breaks off what this server process is doing for it. */
  breakOff(id: string): void;
}

export function createDriver(needed: Needed, news: News): Driver {
  const { ctx, processStore } = needed;
  const running = new Map<string, AbortController>();
  const load = createLoad();

  /** Ends a process that cannot go on. Throws what another attempt of the job may mend. */
  const giveUp = async (held: HeldProcess, error: unknown, isLastAttempt: boolean): Promise<void> => {
    const tooLarge = error instanceof MemoryFull;
    if (!tooLarge && !isLastAttempt) throw error;
    if (!tooLarge) ctx.log.error("a flow process failed for reasons of our own", { flow_process_id: held.id, error });
    const message = tooLarge ? error.message : "internal error";
    const outcome = { kind: "error", message } as const;
    await endProcess(needed, news, { held, stored: held.stored, outcome, unstored: nothing });
  };

  const take = async (mode: Mode, { accountId, id }: ProcessId, { attempt, signal }: JobRun): Promise<void> => {
    const held = await processStore.take(accountId, id);
    if (!held) return;
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const actor = () => ({ kind: "flow", account: accountId, process: id }) as const;
      const either = AbortSignal.any([signal, controller.signal]);
      await withActor(actor, () => goOn(needed, news, load, { held, mode, signal: either }));
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
  };

  return {
    async drive(process, job) {
      const { accountId, flowCode, calls } = process;
      const mustTakeTurns = !calls && flowCode !== undefined && load.isHeavy({ accountId, flowCode });
      if (mustTakeTurns) await ctx.enqueue(computeProcess, process, turnOf({ ...process, flowCode }));
      else await take("drive", process, job);
    },
    compute: (process, job) => take("compute", process, job),
    breakOff: (id) => running.get(id)?.abort(new Error("the process was cancelled")),
  };
}

type Mode = "drive" | "compute";

/** Of one flow so many processes compute at once, on all machines together. */
const turnsOfOneFlow = 4;
/** A process that computes this long makes room for the next one of its flow. */
const longestTurnMs = 500;

function turnOf({ accountId, flowCode, id }: ProcessId & { readonly flowCode: string }) {
  const turn = parseInt(id.slice(-4), 16) % turnsOfOneFlow;
  return { ...placeOf({ accountId, flowCode }), orderKey: `${accountId}/${flowCode}/${turn}` };
}

interface Driving {
  readonly held: HeldProcess;
  readonly mode: Mode;
  readonly signal: AbortSignal;
}

/** Runs a held process as far as it goes now. Throws Gone if another driver has taken it over. */
async function goOn(needed: Needed, news: News, load: Load, { held, mode, signal }: Driving): Promise<void> {
  const { ctx, processStore } = needed;
  const { accountId, id, flowCode, fence, cursor, memory } = held;
  const programs = await needed.flowStore.programs(accountId, programIdsOf(memory));
  // One write at a time: an older state must never be written over a newer one.
  const turns = createTurnsByKey<"state">();
  const exclusive = (write: () => Promise<void>) => turns.run("state", write);
  let { stored } = held;
  const write = async (tx?: Tx) => {
    const began = performance.now();
    const unstored = unstoredOf(run.take(), held);
    load.computed(held, performance.now() - began);
    const progress = { accountId, id, fence, stored, ...unstored, end: undefined };
    if (!(await processStore.progress(progress, tx))) throw new Gone();
    if (unstored.steps !== undefined) stored += 1;
  };
  const save = () => exclusive(() => write()).then(() => failpoint("flows.stored"));
  const begun = performance.now();
  const yields = (milliseconds: number) => {
    load.computed(held, milliseconds);
    return mode === "drive" ? load.isHeavy(held) : performance.now() - begun > longestTurnMs;
  };
  const host = await createHost(needed, { accountId, id, programs, mode, signal, save, exclusive, write, yields });
  const run = createRun({ cursor, memory }, host);
  failpoint("flows.driving");
  const outcome = await run.run();
  if (outcome.kind === "suspended") {
    const process = { accountId, id, flowCode };
    await ctx.transaction(async (tx) => {
      await write(tx);
      if (outcome.yielded) await ctx.enqueue(computeProcess, process, { tx, ...turnOf(process) });
      else {
        const runAt = new Date(outcome.until);
        const calls = mode === "compute" && outcome.until <= Date.now();
        await ctx.enqueue(driveProcess, { ...process, calls }, { tx, ...placeOf(process), runAt });
      }
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
