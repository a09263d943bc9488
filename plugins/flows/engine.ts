/**
 * Runs a process from where its state stands: step after step until it ends, has to wait or is stopped. What has an
 * effect outside is asked of the host, and the host stores the state; everything else here is plain computing.
 */
import { StepFault } from "./fault.ts";
import { Returned, Suspended, type End, type Host } from "./host.ts";
import { limits, type Step } from "./program.ts";
import { resultOf, rootScope, type BlockFrame, type EachFrame, type Frame, type Lane } from "./state.ts";
import type { State, StepRecord } from "./state.ts";
import { perform } from "./steps.ts";
import { deadlineOf, idOf, placeIn, scopeAt, stepOf, type Thread, type World } from "./thread.ts";

/** Another element of the same `each` has ended it. */
class Stopped extends Error {}

// So much may be computed before the state is stored and others get their turn.
const burst = 200;
const burstMs = 25;
const shortWaitMs = 2000;
const outputChars = 16_000;
const outputsChars = 1_000_000;

export type Run = ReturnType<typeof createRun>;

export function createRun(state: State, host: Host) {
  const { cursor, memory } = state;
  const world: World = { memory, programs: host.programs, accountUrl: host.accountUrl };
  let records: StepRecord[] = [];
  let memoryChanged = false;
  let sinceSaved = 0;
  let savedAt = performance.now();

  const record = (frame: Frame | undefined, status: "finished" | "error", output: unknown, error: string | null) => {
    if (frame?.kind !== "block" || !frame.running) return;
    const { n, since, id, type } = frame.running;
    const started_at = new Date(since).toJSON();
    const finished_at = new Date(host.now()).toJSON();
    records.push({ n, id, type, status, started_at, finished_at, output: kept(output), error });
  };
  /** The steps under way in these frames end with this error. */
  const recordAll = (frames: readonly Frame[], error: string): void => {
    for (const frame of frames) {
      if (frame.kind === "each") for (const lane of frame.lanes) recordAll(lane.frames, error);
      record(frame, "error", null, error);
    }
  };
  /** As much of an output as the list of steps keeps. */
  const kept = (output: unknown): unknown => {
    const text = JSON.stringify(output ?? null);
    const small = text.length <= outputChars && cursor.outputChars + text.length <= outputsChars;
    cursor.outputChars += small ? text.length : 0;
    return small
      ? (output ?? null)
      : { truncated: true, chars: text.length, preview: text.slice(0, 200).toWellFormed() };
  };
  const clear = (frame: BlockFrame) => {
    frame.running = frame.tries = frame.wake = frame.waiting = frame.deadline = undefined;
  };
  /** What frames keep in the memory goes with them. */
  const drop = (frames: readonly Frame[]) => {
    for (const frame of frames) {
      if (frame.kind === "call") delete memory.scopes[frame.scope];
      if (frame.kind === "each") {
        delete memory.lists[frame.list];
        for (const lane of frame.lanes) drop(lane.frames);
      }
      if (frame.kind !== "block") memoryChanged = true;
    }
  };

  const tools = {
    host,
    world,
    cursor,
    changed: () => void (memoryChanged = true),
    /** The running step of the top block has ended well. */
    finish(thread: Thread, output: unknown): void {
      const frame = thread.frames.at(-1);
      if (frame?.kind !== "block") throw new Error("a step ends in a frame of its own");
      record(frame, "finished", output, null);
      clear(frame);
      frame.at += 1;
      sinceSaved += 1;
    },
    /** Stores what is not stored yet, before something takes time or has an effect. */
    async flush(): Promise<void> {
      if (records.length > 0) await save();
    },
    save: () => save(),
    /** `return`: ends the innermost flow, which may be the process itself. */
    leave(thread: Thread, value: unknown): void {
      const { frames } = thread;
      const call = frames.findLastIndex(({ kind }) => kind === "call");
      const own = frames.length - 1;
      for (let at = own; at > call; at--) record(frames[at], "finished", at === own ? value : null, null);
      if (call < 0) throw new Returned(value);
      drop(frames.splice(call));
      endCall(thread, value);
    },
    async pause(thread: Thread, until: number): Promise<void> {
      if (host.mode === "dry" || until <= host.now()) return;
      if (host.mode === "inline" || until - host.now() > shortWaitMs) throw new Suspended(until);
      await tools.flush();
      await sleep(until - host.now(), host.signal);
      if (thread.stopped()) throw new Stopped();
    },
  };

  async function save(): Promise<void> {
    sinceSaved = 0;
    await host.save();
    savedAt = performance.now();
  }

  /** The flow step that stands on top has come to this result. */
  const endCall = (thread: Thread, value: unknown) => {
    const step = stepOf(world, thread, thread.frames.length - 1);
    const name = step?.type === "flow" ? (step.as ?? step.id) : undefined;
    if (name !== undefined) scopeAt(world, thread).vars[name] = value;
    tools.finish(thread, value);
  };

  /** Begins the step that the top frame is at, or goes on with it. */
  const advance = async (thread: Thread, frame: BlockFrame, step: Step): Promise<void> => {
    if (frame.wake !== undefined) {
      await tools.pause(thread, frame.wake);
      frame.wake = undefined;
    }
    if (frame.waiting) {
      checkTime(thread);
      return tools.finish(thread, null);
    }
    if (!frame.running) {
      cursor.begun += 1;
      const id = idOf(world, thread, thread.frames.length - 1);
      frame.running = { n: cursor.begun, since: host.now(), id, type: step.type };
    }
    if (step.timeout !== undefined) frame.deadline ??= host.now() + step.timeout * 1000;
    if (cursor.begun > limits.executed) throw new StepFault(`a process may run at most ${limits.executed} steps`);
    checkTime(thread);
    await perform(tools, thread, frame, step);
  };
  const checkTime = (thread: Thread) => {
    const deadline = deadlineOf(thread);
    if (deadline !== undefined && deadline <= host.now()) throw new StepFault("timed out", { timedOut: true });
  };

  /** One step further; false at the end. */
  const turn = async (thread: Thread): Promise<boolean> => {
    const { frames } = thread;
    const top = frames.at(-1);
    if (!top) return false;
    if (thread.stopped()) throw new Stopped();
    host.signal.throwIfAborted();
    if (sinceSaved >= burst || (sinceSaved > 0 && performance.now() - savedAt > burstMs)) {
      if (host.mode === "inline") throw new Suspended(host.now());
      await save();
    }
    if (top.kind === "each") {
      await goThrough(thread, top);
    } else if (top.kind === "call") {
      const result = resultOf(scopeAt(world, thread));
      drop(frames.splice(-1));
      endCall(thread, result);
    } else {
      const step = stepOf(world, thread, frames.length - 1);
      if (step) await advance(thread, top, step);
      else {
        frames.pop();
        const below = frames.at(-1);
        // The branch of an `if` is over; `on_error` steps stand above a step that is over already.
        if (below?.kind === "block" && below.running) tools.finish(thread, null);
      }
    }
    return true;
  };

  const runThread = async (thread: Thread): Promise<void> => {
    for (;;) {
      try {
        if (!(await turn(thread))) return;
      } catch (error) {
        const passed = error instanceof Returned && thread.frames.at(-1)?.kind === "each" ? error : undefined;
        if (passed) tools.leave(thread, passed.value);
        else if (!(error instanceof StepFault) || !handled(thread, error)) throw error;
      }
    }
  };

  /** Finds the innermost step around that tries again or has `on_error`. */
  const handled = (thread: Thread, fault: StepFault): boolean => {
    const { frames } = thread;
    let reached = !fault.timedOut;
    for (let at = frames.length - 1; at >= 0; at--) {
      const frame = frames[at];
      const step = stepOf(world, thread, at);
      if (frame?.kind !== "block" || !frame.running || !step) continue;
      // A time limit ends the step that has it, and what is within.
      reached ||= frame.deadline !== undefined && frame.deadline <= host.now();
      if (!reached) continue;
      const tries = frame.tries ?? 0;
      const again = step.retry !== undefined && tries < step.retry.times;
      if (!again && !step.on_error) continue;
      const stepId = idOf(world, thread, innermost(frames));
      recordAll(frames.slice(again ? at + 1 : at), fault.message);
      drop(frames.splice(at + 1));
      sinceSaved += 1;
      if (again) {
        frame.tries = tries + 1;
        frame.deadline = frame.waiting = undefined;
        frame.wake = host.now() + (step.retry?.delay ?? 1) * 1000;
        return true;
      }
      const place = placeIn(frame, "on_error");
      clear(frame);
      frame.at += 1;
      const error = { message: fault.message, step: stepId, status: fault.status, data: fault.data };
      frames.push({ kind: "block", place, at: 0, error });
      return true;
    }
    const at = innermost(frames);
    const frame = frames[at];
    record(frame, "error", null, fault.message);
    if (frame?.kind === "block") frame.running = frame.waiting = undefined;
    return false;
  };

  /** Goes through the elements, several at once where asked, and waits for all that began. */
  const goThrough = async (thread: Thread, frame: EachFrame): Promise<void> => {
    const elements = memory.lists[frame.list] ?? [];
    const ends: unknown[] = [];
    const over = () => ends.some((end) => !(end instanceof Suspended));
    const begun: Lane[] = [...frame.lanes];
    const nextLane = (): Lane | undefined => {
      const lane = begun.shift();
      if (lane || frame.next >= elements.length) return lane;
      const place = placeIn(ownerOf(thread), "do");
      const made: Lane = { index: frame.next, frames: [{ kind: "block", place, at: 0 }] };
      frame.next += 1;
      frame.lanes.push(made);
      return made;
    };
    const worker = async () => {
      for (let lane = nextLane(); lane && !over(); lane = nextLane()) {
        try {
          const { frames, index } = lane;
          await runThread({ frames, index, parent: thread, each: frame, stopped: () => over() || thread.stopped() });
          frame.lanes.splice(frame.lanes.indexOf(lane), 1);
        } catch (error) {
          ends.push(error);
          return;
        }
      }
    };
    await Promise.all(Array.from({ length: frame.concurrency }, worker));
    const end =
      ends.find((one) => !(one instanceof Suspended) && !(one instanceof Stopped)) ??
      ends.find((one) => one instanceof Stopped);
    if (end !== undefined) throw end;
    const waits = ends.flatMap((one) => (one instanceof Suspended ? one.until : []));
    if (waits.length > 0) throw new Suspended(Math.min(...waits));
    drop(thread.frames.splice(-1));
    tools.finish(thread, { count: elements.length });
  };

  return {
    /** Runs it to its end, or as far as it goes now. Throws what has nothing to do with the flow. */
    async run(): Promise<End> {
      try {
        await runThread({ frames: cursor.frames, index: 0, stopped: () => false });
        const scope = memory.scopes[rootScope];
        return { kind: "finished", data: scope ? resultOf(scope) : null };
      } catch (error) {
        if (error instanceof Returned) return { kind: "finished", data: error.value };
        if (error instanceof Suspended) return { kind: "suspended", until: error.until };
        if (error instanceof StepFault) return { kind: "error", message: error.message };
        throw error;
      }
    },
    /** What happened since it was last asked. */
    take(): { records: StepRecord[]; memoryChanged: boolean } {
      const taken = { records, memoryChanged };
      records = [];
      memoryChanged = false;
      return taken;
    },
  };
}

function ownerOf({ frames }: Thread): BlockFrame {
  const owner = frames.at(-2);
  if (owner?.kind !== "block") throw new Error("an each stands above its step");
  return owner;
}

function innermost(frames: readonly Frame[]): number {
  return frames.findLastIndex((frame) => frame.kind === "block" && frame.running !== undefined);
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}
