/**
 * Runs a process from its stored position, step after step, until it ends, has to wait or is stopped. The host performs
 * every effect and stores the state; everything else here only computes.
 */
import { computes, isFlat, limits, type Step } from "../program/program.ts";
import { StepFault } from "./fault.ts";
import { Returned, Stopped, Suspended, type End, type Host } from "./host.ts";
import { cutToLength, resultOf, rootScope } from "./state.ts";
import type { BlockFrame, EachFrame, Frame, Lane, State } from "./state.ts";
import { endBranches, perform } from "./steps.ts";
import { deadlineOf, idOf, placeIn, scopeAt, stepOf, type Thread } from "./thread.ts";
import { clear, createTools, type Tools } from "./tools.ts";

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
    await goThrough(tools, thread, top);
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
  const ended = thread.frames.pop();
  const below = thread.frames.at(-1);
  // The end of a branch ends its `if` or `try`; `on_error` steps belong to a step that has ended already.
  if (below?.kind !== "block" || !below.running) return;
  const error = (ended?.kind === "block" && ended.error) || null;
  endBranches(tools, thread, below.running.type === "try" ? { ok: error === null, error } : null);
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
  if (step.timeout !== undefined && (!isFlat(step.type) || computes(step.type)) && frame.deadline === undefined) {
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
  return (
    type === "connector" || type === "http" || type === "db" || type === "flow" || type.includes(".") || isFlat(type)
  );
}

function checkTime({ host }: Tools, thread: Thread): void {
  const deadline = deadlineOf(thread);
  if (deadline !== undefined && deadline <= host.now()) throw new StepFault("timed out", { timedOut: true });
}

/** Waits for every element that has begun. Throws what ended it: a failure, a `return`, or the earliest of its waits. */
async function goThrough(tools: Tools, thread: Thread, frame: EachFrame): Promise<void> {
  const count = frame.branches ?? tools.world.memory.lists[frame.list]?.length ?? 0;
  const ends: unknown[] = [];
  const over = () => ends.some((end) => !(end instanceof Suspended));
  const begun = [...frame.lanes];
  const next = () => begun.shift() ?? newLane(thread, frame, count);
  const worker = async () => {
    for (let lane = next(); lane && !over(); lane = next()) {
      try {
        const { frames, index } = lane;
        const stopped = () => over() || thread.stopped();
        await runThread(tools, { frames, index, parent: thread, each: frame, stopped });
        frame.lanes.splice(frame.lanes.indexOf(lane), 1);
      } catch (error) {
        ends.push(error);
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: frame.concurrency }, worker));
  const end = endOf(ends);
  if (end !== undefined) throw end;
  tools.journal.drop(thread.frames.splice(-1));
  endBranches(tools, thread, { count });
}

function newLane(thread: Thread, frame: EachFrame, count: number): Lane | undefined {
  if (frame.next >= count) return undefined;
  const branch = frame.branches === undefined ? "do" : `branches[${frame.next}]`;
  const lane: Lane = { index: frame.next, frames: [{ kind: "block", place: placeIn(ownerOf(thread), branch), at: 0 }] };
  frame.next += 1;
  frame.lanes.push(lane);
  return lane;
}

/** The end of the `each` from those of its elements: the first failure or `return`, else the earliest wait. */
function endOf(ends: readonly unknown[]): unknown {
  const end =
    ends.find((one) => !(one instanceof Suspended) && !(one instanceof Stopped)) ??
    ends.find((one) => one instanceof Stopped);
  if (end !== undefined) return end;
  const waits = ends.filter((one) => one instanceof Suspended);
  if (waits.length === 0) return undefined;
  return new Suspended(
    Math.min(...waits.map(({ until }) => until)),
    waits.every(({ yielded }) => yielded),
  );
}

function ownerOf({ frames }: Thread): BlockFrame {
  const owner = frames.at(-2);
  if (owner?.kind !== "block") throw new Error("an each stands above its step");
  return owner;
}

/** False if nothing handles the failure: the process ends with it. */
function recover(tools: Tools, thread: Thread, fault: StepFault): boolean {
  const { frames } = thread;
  // A time limit ends its own step, with all steps in it.
  let reached = !fault.timedOut;
  for (let at = frames.length - 1; at >= 0; at--) {
    const frame = frames[at];
    const step = stepOf(tools.world, thread, at);
    if (frame?.kind !== "block" || !frame.running || !step) continue;
    reached ||= frame.deadline !== undefined && frame.deadline <= tools.host.now();
    if (!reached) continue;
    if (step.retry !== undefined && (frame.tries ?? 0) < step.retry.times) {
      tryAgain(tools, thread, at, frame, fault);
      return true;
    }
    const block = frames[at + 1];
    const isTried = step.type === "try" && block?.kind === "block" && block.place === placeIn(frame, "do");
    if (!isTried && !step.on_error) continue;
    handle(tools, thread, at, frame, { fault, branch: isTried ? "catch" : "on_error" });
    return true;
  }
  const frame = frames[innermost(frames)];
  tools.journal.record(frame, "error", fault.data, fault.message);
  if (frame?.kind === "block") frame.running = frame.waiting = undefined;
  return false;
}

function tryAgain(tools: Tools, thread: Thread, at: number, frame: BlockFrame, fault: StepFault): void {
  const step = stepOf(tools.world, thread, at);
  leaveAbove(tools, thread, at, at + 1, fault);
  frame.tries = (frame.tries ?? 0) + 1;
  frame.deadline = frame.deadlineMs = frame.waiting = undefined;
  frame.wakeMs = (step?.retry?.delay ?? 1) * 1000;
  frame.wake = tools.host.now() + frame.wakeMs;
}

interface Handled {
  readonly fault: StepFault;
  /** The step itself goes on with `catch`; with `on_error` it has failed. */
  readonly branch: "catch" | "on_error";
}

function handle(tools: Tools, thread: Thread, at: number, frame: BlockFrame, { fault, branch }: Handled): void {
  const stepId = idOf(tools.world, thread, innermost(thread.frames));
  leaveAbove(tools, thread, at, branch === "catch" ? at + 1 : at, fault);
  const place = placeIn(frame, branch);
  if (branch === "catch") frame.deadline = frame.deadlineMs = undefined;
  else {
    clear(frame);
    frame.at += 1;
  }
  const error = { message: fault.message, step: stepId, status: fault.status, data: fault.data };
  thread.frames.push({ kind: "block", place, at: 0, error });
}

/** Removes the frames above `at`, and records the steps from `failedFrom` on as failed. */
function leaveAbove(tools: Tools, { frames }: Thread, at: number, failedFrom: number, fault: StepFault): void {
  tools.journal.recordAll(frames.slice(failedFrom), fault.message);
  tools.journal.drop(frames.splice(at + 1));
  tools.happened();
}

function innermost(frames: readonly Frame[]): number {
  return frames.findLastIndex((frame) => frame.kind === "block" && frame.running !== undefined);
}
