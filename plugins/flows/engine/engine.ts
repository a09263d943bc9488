/**
 * Runs a process from its stored position, step after step, until it ends, has to wait or is stopped. The host performs
 * every effect and stores the state; everything else here only computes.
 */
import { goThrough } from "./each.ts";
import { StepFault } from "./fault.ts";
import { Returned, Stopped, Suspended, type End, type Host } from "./host.ts";
import { limits, type Step } from "../program/program.ts";
import { recover } from "./recovery.ts";
import { cutToLength } from "./set-back.ts";
import { resultOf, rootScope, type BlockFrame, type State } from "./state.ts";
import { perform } from "./steps.ts";
import { deadlineOf, idOf, scopeAt, stepOf, type Thread } from "./thread.ts";
import { createTools, type Tools } from "./tools.ts";

export type Run = ReturnType<typeof createRun>;

export function createRun(state: State, host: Host) {
  const tools = createTools(state, host);
  return {
    /** Runs it to its end, or as far as it goes now. Throws only what is not the flow's fault. */
    async run(): Promise<End> {
      try {
        cutToLength(state.cursor.frames, host.now());
        await runThread(tools, { frames: state.cursor.frames, index: 0, stopped: () => false });
        const scope = state.memory.scopes[rootScope];
        return { kind: "finished", data: scope ? resultOf(scope) : null };
      } catch (error) {
        if (error instanceof Returned) return { kind: "finished", data: error.value };
        if (error instanceof Suspended) return { kind: "suspended", until: error.until, yielded: error.yielded };
        if (error instanceof StepFault) return { kind: "error", message: error.message };
        throw error;
      }
    },
    /** The steps that ended since the last call. */
    take: tools.journal.take,
  };
}

async function runThread(tools: Tools, thread: Thread): Promise<void> {
  for (;;) {
    try {
      if (!(await turn(tools, thread))) return;
    } catch (error) {
      // A `return` in an element ends the flow that the `each` belongs to.
      const passed = error instanceof Returned && thread.frames.at(-1)?.kind === "each" ? error : undefined;
      if (passed) tools.leave(thread, passed.value);
      else if (!(error instanceof StepFault) || !recover(tools, thread, error)) throw error;
    }
  }
}

/** Takes one turn; false at the end. */
async function turn(tools: Tools, thread: Thread): Promise<boolean> {
  const { frames } = thread;
  const { host, world, journal } = tools;
  const top = frames.at(-1);
  if (!top) return false;
  if (thread.stopped()) throw new Stopped();
  host.signal.throwIfAborted();
  if (tools.isFull()) {
    if (host.mode === "inline") throw new Suspended(host.now());
    if (host.yields?.(tools.computed())) throw new Suspended(host.now(), true);
    await tools.save();
  }
  if (top.kind === "each") {
    await goThrough(tools, thread, top, (element) => runThread(tools, element));
  } else if (top.kind === "call") {
    const result = resultOf(scopeAt(world, thread));
    journal.drop(frames.splice(-1));
    tools.endCall(thread, result);
  } else {
    const step = stepOf(world, thread, frames.length - 1);
    if (step) await advance(tools, thread, top, step);
    else endBlock(tools, thread);
  }
  return true;
}

function endBlock(tools: Tools, thread: Thread): void {
  thread.frames.pop();
  const below = thread.frames.at(-1);
  // The end of a branch ends its `if`; `on_error` steps belong to a step that has ended already.
  if (below?.kind === "block" && below.running) tools.finish(thread, null);
}

/** Begins the step of the top frame, or continues it. */
async function advance(tools: Tools, thread: Thread, frame: BlockFrame, step: Step): Promise<void> {
  const { host, cursor, world } = tools;
  if (frame.wake !== undefined) {
    await tools.pause(thread, frame.wake);
    frame.wake = frame.wakeMs = undefined;
  }
  if (frame.waiting) {
    checkTime(tools, thread);
    return tools.finish(thread, null);
  }
  if (!frame.running) {
    cursor.begun += 1;
    const id = idOf(world, thread, thread.frames.length - 1);
    frame.running = { n: cursor.begun, since: host.now(), id, type: step.type };
  }
  if (step.timeout !== undefined && frame.deadline === undefined) {
    frame.deadlineMs = step.timeout * 1000;
    frame.deadline = host.now() + frame.deadlineMs;
  }
  if (cursor.begun > limits.executed) throw new StepFault(`a process may run at most ${limits.executed} steps`);
  checkTime(tools, thread);
  const began = performance.now();
  await perform(tools, thread, frame, step);
  if (!reachesOut(step)) tools.computed(performance.now() - began);
}

/** Others compute meanwhile. */
function reachesOut({ type }: Step): boolean {
  return type === "connector" || type === "db" || type === "flow" || type.includes(".");
}

function checkTime({ host }: Tools, thread: Thread): void {
  const deadline = deadlineOf(thread);
  if (deadline !== undefined && deadline <= host.now()) throw new StepFault("timed out", { timedOut: true });
}
