/** The means of the steps of a run: ending a step, storing the state, waiting. */
import { isObject } from "platform";
import { Returned, Stopped, Suspended, type Host } from "./host.ts";
import type { BlockFrame, Cursor, Frame, State, StepRecord } from "./state.ts";
import { scopeAt, stepOf, type Thread, type EngineState } from "./thread.ts";

export interface Tools {
  readonly host: Host;
  readonly world: EngineState;
  readonly cursor: Cursor;
  readonly journal: Journal;
  /** Marks the memory as changed: it has to be stored again. */
  changed(): void;
  /** Ends the running step of the top block with success. */
  finish(thread: Thread, output: unknown, warnings?: readonly string[]): void;
  /** Ends the flow step on top with this result. */
  endCall(thread: Thread, value: unknown): void;
  /** `return`: ends the innermost flow, which may be the process itself. */
  leave(thread: Thread, value: unknown): void;
  /** Notes that something has happened that is not stored yet. */
  happened(): void;
  /** Whether so much is unstored that it has to be stored now. */
  isFull(): boolean;
  /** Adds to the milliseconds that steps have computed; without them, returns the sum and begins anew. */
  computed(milliseconds?: number): number;
  save(): Promise<void>;
  /** Stores finished steps before a step takes time or has an effect. */
  flush(): Promise<void>;
  /** Waits until this time, in memory if that is short. */
  pause(thread: Thread, until: number): Promise<void>;
}

// This many steps may be computed before the state is stored and other processes run.
const burst = 200;
const burstMs = 25;
const shortWaitMs = 2000;

export function createTools(state: State, host: Host): Tools {
  const { cursor, memory } = state;
  const world: EngineState = { memory, programs: host.programs, accountUrl: host.accountUrl };
  const journal = createJournal(state, host.now);
  let sinceSaved = 0;
  let savedAt = performance.now();
  let computed = 0;

  const tools: Tools = {
    host,
    world,
    cursor,
    journal,
    changed: journal.changed,
    happened: () => void (sinceSaved += 1),
    isFull: () => sinceSaved >= burst || (sinceSaved > 0 && performance.now() - savedAt > burstMs),
    finish(thread, output, warnings) {
      const frame = thread.frames.at(-1);
      if (frame?.kind !== "block") throw new Error("a step ends in a frame of its own");
      journal.record(frame, "finished", output, null, warnings);
      clear(frame);
      frame.at += 1;
      sinceSaved += 1;
    },
    endCall(thread, value) {
      const step = stepOf(world, thread, thread.frames.length - 1);
      const name = step?.type === "flow" ? (step.as ?? step.id) : undefined;
      if (name !== undefined) scopeAt(world, thread).vars[name] = value;
      tools.finish(thread, value);
    },
    leave(thread, value) {
      const { frames } = thread;
      const call = frames.findLastIndex(({ kind }) => kind === "call");
      const own = frames.length - 1;
      for (let at = own; at > call; at--) journal.record(frames[at], "finished", at === own ? value : null, null);
      if (call < 0) throw new Returned(value);
      journal.drop(frames.splice(call));
      tools.endCall(thread, value);
    },
    computed(milliseconds) {
      const sum = computed;
      computed = milliseconds === undefined ? 0 : computed + milliseconds;
      return sum;
    },
    async save() {
      sinceSaved = 0;
      await host.save();
      savedAt = performance.now();
    },
    async flush() {
      if (!journal.isEmpty()) await tools.save();
    },
    async pause(thread, until) {
      if (host.mode === "dry" || until <= host.now()) return;
      if (host.mode === "inline" || host.mode === "compute" || until - host.now() > shortWaitMs)
        throw new Suspended(until);
      await tools.flush();
      await sleep(Math.max(0, until - host.now()), host.signal);
      if (thread.stopped()) throw new Stopped();
    },
  };
  return tools;
}

/** Removes everything that belongs to the ended step, before the next one begins. */
export function clear(frame: BlockFrame): void {
  frame.running = frame.tries = frame.waiting = undefined;
  frame.wake = frame.wakeMs = frame.deadline = frame.deadlineMs = undefined;
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

const outputChars = 16_000;
const outputsChars = 1_000_000;

/** Replaces an output that is too large; `text` is its JSON. */
export function previewOf(text: string) {
  return { truncated: true, chars: text.length, preview: text.slice(0, 200).toWellFormed() };
}

/** The database and the links that a step has met, which decide who sees it. */
function metBy(input: unknown) {
  if (!isObject(input)) return {};
  if (isObject(input["filter"])) return { filter: { db_code: input["filter"]["db_code"] } };
  if (typeof input["db"] !== "string") return {};
  const { db, expand } = input;
  return { db, ...(expand !== undefined && { expand }) };
}

export type Journal = ReturnType<typeof createJournal>;

export function createJournal({ cursor, memory }: State, now: () => number) {
  let records: StepRecord[] = [];
  let memoryChanged = false;

  /** The output as the list of steps keeps it. */
  const kept = (output: unknown): unknown => {
    const text = JSON.stringify(output ?? null);
    const small = text.length <= outputChars && cursor.outputChars + text.length <= outputsChars;
    cursor.outputChars += small ? text.length : 0;
    return small ? (output ?? null) : previewOf(text);
  };
  /** Notes what the running step of this frame is given; another attempt is given it anew. */
  const given = (frame: Frame | undefined, input: unknown): void => {
    if (frame?.kind !== "block" || !frame.running) return;
    const before = JSON.stringify(frame.running.input)?.length ?? 0;
    const text = JSON.stringify(input ?? null);
    const used = (cursor.inputChars ?? 0) - before;
    const small = text.length <= outputChars && used + text.length <= outputsChars;
    frame.running.input = small ? input : { ...metBy(input), ...previewOf(text) };
    cursor.inputChars = used + JSON.stringify(frame.running.input).length;
  };
  /** Records that the running step of this frame has ended. */
  const record = (
    frame: Frame | undefined,
    status: "finished" | "error",
    output: unknown,
    error: string | null,
    warnings: readonly string[] = [],
  ): void => {
    if (frame?.kind !== "block" || !frame.running) return;
    const { n, since, id, type, usage, input } = frame.running;
    const started_at = new Date(since).toJSON();
    const finished_at = new Date(now()).toJSON();
    const seen = { ...(input !== undefined && { input }), ...(frame.tries && { attempts: frame.tries + 1 }) };
    const told = { ...(warnings.length > 0 && { warnings }), ...(usage && { usage }) };
    records.push({ n, id, type, status, started_at, finished_at, output: kept(output), error, ...seen, ...told });
  };
  /** Records that the running steps of these frames have ended with this error. */
  const recordAll = (frames: readonly Frame[], error: string): void => {
    for (const frame of frames) {
      if (frame.kind === "each") for (const lane of frame.lanes) recordAll(lane.frames, error);
      record(frame, "error", null, error);
    }
  };
  /** Removes from the memory what these frames keep there. */
  const drop = (frames: readonly Frame[]): void => {
    for (const frame of frames) {
      if (frame.kind === "call") delete memory.scopes[frame.scope];
      if (frame.kind === "each") {
        delete memory.lists[frame.list];
        for (const lane of frame.lanes) drop(lane.frames);
      }
      if (frame.kind !== "block") memoryChanged = true;
    }
  };

  return {
    given,
    record,
    recordAll,
    drop,
    /** The memory has to be stored again. */
    changed: () => void (memoryChanged = true),
    isEmpty: () => records.length === 0,
    /** Steps and changes since the last call. */
    take(): { records: StepRecord[]; memoryChanged: boolean } {
      const taken = { records, memoryChanged };
      records = [];
      memoryChanged = false;
      return taken;
    },
  };
}
