/** Takes a process over and runs it to its end, or until it waits. The engine computes; here its state is stored. */
import { createTurnsByKey, failpoint, on, onEvent, withActor, type Handler, type Tx } from "platform";
import type { FlowContext } from "../context.ts";
import { createRun, type Run } from "../engine/engine.ts";
import { Gone, MemoryFull } from "../engine/fault.ts";
import { memoryText, programIdsOf, type State } from "../engine/state.ts";
import { endProcess, type Unstored } from "./ends.ts";
import { hostOf } from "./host.ts";
import { cancelled, computeProcess, driveHandler, driveProcess, shareOf, processStarted } from "./signals.ts";
import type { DrivenProcess } from "./signals.ts";
import * as processStore from "./store.ts";
import type { HeldProcess, ProcessId } from "./store.ts";

interface JobRun {
  readonly attempt: number;
  readonly signal: AbortSignal;
}

const maxAttempts = 10;

/** The handlers of the jobs that continue processes. */
export function drivers(ctx: FlowContext, leaseSeconds: number): Handler[] {
  const running = new Map<string, AbortController>();
  const load = createLoad();
  ctx.broadcast.on(cancelled, (id) => running.get(id)?.abort(new Error("the process was cancelled")));

  const take = async (mode: Mode, { accountId, id }: ProcessId, { attempt, signal }: JobRun): Promise<void> => {
    const held = await processStore.take(ctx.sql, accountId, id);
    if (!held) return;
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const actor = () => ({ kind: "flow", account: accountId, process: id }) as const;
      const either = AbortSignal.any([signal, controller.signal]);
      await withActor(actor, () => goOn(ctx, load, { held, mode, signal: either }));
    } catch (error) {
      if (controller.signal.aborted) return;
      if (error instanceof Gone) {
        if (await processStore.isForgotten(ctx.sql, held)) throw error; // nobody else has it: the job comes again
        return;
      }
      if (signal.aborted) throw error;
      await giveUp(ctx, held, error, attempt >= maxAttempts);
    } finally {
      if (running.get(id) === controller) running.delete(id);
    }
  };
  const drive = async (process: DrivenProcess, job: JobRun): Promise<void> => {
    const { accountId, flowCode, calls } = process;
    const mustTakeTurns = !calls && flowCode !== undefined && load.isHeavy({ accountId, flowCode });
    if (mustTakeTurns) await ctx.enqueue(computeProcess, process, turnOf({ ...process, flowCode }));
    else await take("drive", process, job);
  };

  const options = { concurrency: 100, leaseSeconds, maxAttempts };
  return [
    onEvent(processStarted, driveHandler, drive, options),
    on(driveProcess, drive, options),
    // Each computes for up to 25 ms before others of this server process get their turn: four in all.
    on(computeProcess, (process, job) => take("compute", process, job), { ...options, concurrency: 1 }),
  ];
}

/** Ends a process that cannot go on. Throws what another attempt of the job may mend. */
async function giveUp(ctx: FlowContext, held: HeldProcess, error: unknown, isLastAttempt: boolean): Promise<void> {
  const tooLarge = error instanceof MemoryFull;
  if (!tooLarge && !isLastAttempt) throw error;
  if (!tooLarge) ctx.log.error("a flow process failed for reasons of our own", { flow_process_id: held.id, error });
  const message = tooLarge ? error.message : "internal error";
  await endProcess(ctx, { held, stored: held.stored, outcome: { kind: "error", message }, unstored: nothing });
}

type Mode = "drive" | "compute";

/** Processes of one flow that compute at once, on all machines together. */
const turnsOfOneFlow = 4;
/** A process that computes this long makes room for the next one of its flow. */
const longestTurnMs = 500;

function turnOf({ accountId, flowCode, id }: ProcessId & { readonly flowCode: string }) {
  const turn = parseInt(id.slice(-4), 16) % turnsOfOneFlow;
  return { ...shareOf({ accountId, flowCode }), orderKey: `${accountId}/${flowCode}/${turn}` };
}

interface Driving {
  readonly held: HeldProcess;
  readonly mode: Mode;
  readonly signal: AbortSignal;
}

/** Runs a held process as far as it goes now. Throws Gone if another driver has taken it over. */
async function goOn(ctx: FlowContext, load: Load, { held, mode, signal }: Driving): Promise<void> {
  const { accountId, id, flowCode, fence, cursor, memory } = held;
  const programs = await ctx.flowLookup.programs(accountId, programIdsOf(memory));
  // One write at a time: an older state must never be written over a newer one.
  const turns = createTurnsByKey<"state">();
  const exclusive = (write: () => Promise<void>) => turns.run("state", write);
  let { stored } = held;
  const write = async (tx?: Tx) => {
    const began = performance.now();
    const unstored = unstoredOf(run.take(), held);
    load.computed(held, performance.now() - began);
    const progress = { accountId, id, fence, stored, ...unstored, end: undefined };
    if (!(await processStore.progress(tx ?? ctx.sql, progress))) throw new Gone();
    if (unstored.steps !== undefined) stored += 1;
  };
  const save = () => exclusive(() => write()).then(() => failpoint("flows.stored"));
  const begun = performance.now();
  const yields = (milliseconds: number) => {
    load.computed(held, milliseconds);
    return mode === "drive" ? load.isHeavy(held) : performance.now() - begun > longestTurnMs;
  };
  const host = await hostOf(ctx, { accountId, id, flowCode, programs, mode, signal, save, exclusive, write, yields });
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
        await ctx.enqueue(driveProcess, { ...process, calls }, { tx, ...shareOf(process), runAt });
      }
    });
    return;
  }
  failpoint("flows.ending");
  await endProcess(ctx, { held, stored, outcome, unstored: unstoredOf(run.take(), held) });
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

interface FlowKey {
  readonly accountId: number;
  readonly flowCode: string;
}

const heavyMs = 300;
const halfLifeMs = 2000;
const mostFlows = 10_000;

type Load = ReturnType<typeof createLoad>;

/**
 * How much the flows of each account have computed lately in this server process. A flow that computes much takes turns
 * with others, so that nobody else's small flow waits for it.
 */
export function createLoad(now: () => number = () => performance.now()) {
  const flows = new Map<string, { ms: number; at: number }>();
  const keyOf = ({ accountId, flowCode }: FlowKey) => `${accountId}/${flowCode}`;
  const lately = (key: string): number => {
    const found = flows.get(key);
    return found ? found.ms * 0.5 ** ((now() - found.at) / halfLifeMs) : 0;
  };
  return {
    computed(flow: FlowKey, milliseconds: number): void {
      const key = keyOf(flow);
      if (flows.size >= mostFlows) flows.clear();
      flows.set(key, { ms: lately(key) + milliseconds, at: now() });
    },
    isHeavy: (flow: FlowKey): boolean => lately(keyOf(flow)) > heavyMs,
  };
}
