/**
 * The stored state of a process between its steps: its position (`Cursor`) and its variables (`Memory`), both JSON. The
 * frame of a nested step is above that of the step around it. Pure.
 */
import type { Usage } from "../api.ts";
import { blockAt, limits, type Program, type Step } from "../program/program.ts";
import { MemoryFull } from "./fault.ts";

/** Its number in the process, when it began, its id and type as shown, and what it was given. */
interface RunningStep {
  readonly n: number;
  readonly since: number;
  readonly id: string;
  readonly type: string;
  input?: unknown;
  /** Usage of all attempts so far. */
  usage?: Usage | undefined;
}

/** The steps of a program, a branch or a body, and the step that runs or comes next. */
export interface BlockFrame {
  readonly kind: "block";
  readonly place: string;
  at: number;
  running?: RunningStep | undefined;
  /** Attempts that failed. */
  tries?: number | undefined;
  /** The end of a wait, or of the pause before another attempt. */
  wake?: number | undefined;
  /** The length of that wait in milliseconds. */
  wakeMs?: number | undefined;
  /** True if a `wait` step has set `wake`. */
  waiting?: boolean | undefined;
  deadline?: number | undefined;
  /** The step's `timeout` in milliseconds. */
  deadlineMs?: number | undefined;
  /** `error` in the scope of `on_error` steps. */
  readonly error?: Readonly<Record<string, unknown>> | undefined;
}

/** A running `each` or `parallel` step; several elements or branches may run at once, each in a lane. */
export interface EachFrame {
  readonly kind: "each";
  /** The name of its elements in the memory; they never change. */
  readonly list: string;
  readonly as: string;
  readonly concurrency: number;
  /** How many branches a `parallel` has; an `each` has elements instead. */
  readonly branches?: number;
  next: number;
  readonly lanes: Lane[];
}

export interface Lane {
  readonly index: number;
  readonly frames: Frame[];
}

/** A called flow, with a scope of its own. */
export interface CallFrame {
  readonly kind: "call";
  readonly scope: string;
}

export type Frame = BlockFrame | EachFrame | CallFrame;

export interface Cursor {
  readonly frames: Frame[];
  /** Counts the names of scopes and lists. */
  names: number;
  /** Steps begun. */
  begun: number;
  /** Characters of stored outputs so far. */
  outputChars: number;
  /** Characters of stored inputs so far. Processes of earlier versions lack it. */
  inputChars?: number;
  /** A step has parked it. */
  parked?: true;
}

export interface Scope {
  readonly flow: string;
  /** The stored program, which stays the same even if the flow is changed meanwhile. */
  readonly programId: number;
  readonly input: Readonly<Record<string, unknown>>;
  /** The results of steps, by name. */
  vars: Record<string, unknown>;
  /** The names that mutations have set: the result if nothing is returned. */
  set: string[];
}

type Values = Readonly<Record<string, unknown>>;

export interface Memory {
  /** In scope of every flow of the process, whatever its input says. Processes of earlier versions lack it. */
  readonly given?: Values;
  readonly scopes: Record<string, Scope>;
  readonly lists: Record<string, readonly unknown[]>;
}

export interface State {
  readonly cursor: Cursor;
  readonly memory: Memory;
}

export const rootScope = "0";

/** One step as the API shows it, with its number for the order. */
export interface StepRecord {
  readonly n: number;
  readonly id: string;
  readonly type: string;
  readonly status: "pending" | "finished" | "error";
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly output: unknown;
  readonly error: string | null;
  /** Its input, with its values filled in. Only for steps that reach outside of their flow. */
  readonly input?: unknown;
  /** How often it was tried, if that was more than once. */
  readonly attempts?: number;
  /** The step succeeded, but probably not as intended. */
  readonly warnings?: readonly string[];
  /** Tokens used by its calls of a model. */
  readonly usage?: Usage | undefined;
}

/** The costs of both together. */
export function plus(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (!one || !other) return one ?? other;
  return {
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
  };
}

/** `given`: names in scope beside the input. Without `app` in it, nobody asks. */
export function newState(flow: string, programId: number, input: Values, given: Values = {}): State {
  return {
    cursor: { frames: [{ kind: "block", place: "", at: 0 }], names: 0, begun: 0, outputChars: 0 },
    memory: {
      given: { app: null, ...given },
      scopes: { [rootScope]: { flow, programId, input, vars: {}, set: [] } },
      lists: {},
    },
  };
}

/** For a process that is tried again: its failed step gets all its attempts again. */
export function forgetAttempts(frames: readonly Frame[]): void {
  for (const frame of frames) {
    if (frame.kind === "each") for (const lane of frame.lanes) forgetAttempts(lane.frames);
    if (frame.kind !== "block") continue;
    frame.tries = undefined;
    frame.deadline = frame.deadlineMs = undefined;
    if (!frame.waiting) frame.wake = frame.wakeMs = undefined;
  }
}

/** The variables set by mutations. */
export function resultOf(scope: Scope): Record<string, unknown> {
  return Object.fromEntries(scope.set.map((name) => [name, scope.vars[name] ?? null]));
}

/** The memory as JSON. Throws MemoryFull. */
export function memoryText(memory: Memory): string {
  const text = JSON.stringify(memory);
  if (text.length > limits.memoryChars)
    throw new MemoryFull(`the variables of a process may have at most ${limits.memoryChars} characters as JSON`);
  return text;
}

/** The programs that a process needs to continue. */
export function programIdsOf(memory: Memory): number[] {
  return [...new Set(Object.values(memory.scopes).map(({ programId }) => programId))];
}

export type Programs = Map<number, Program>;

/**
 * Cuts each wait and each time limit to its own length, counted from `now`: no right clock can have set one that ends
 * later. Otherwise a process would wait, after the clock is right again, until the time that the wrong one showed.
 */
export function cutToLength(frames: readonly Frame[], now: number): void {
  for (const frame of frames) {
    if (frame.kind === "each") for (const lane of frame.lanes) cutToLength(lane.frames, now);
    if (frame.kind !== "block") continue;
    frame.wake = cut(frame.wake, frame.wakeMs, now);
    frame.deadline = cut(frame.deadline, frame.deadlineMs, now);
  }
}

/** Processes that were stored by an earlier version lack the length. */
function cut(at: number | undefined, lengthMs: number = Infinity, now: number): number | undefined {
  return at === undefined ? undefined : Math.min(at, now + lengthMs);
}

/** The places of a scope's programs where a process stands, with the step that comes next. */
export function* standsAt(frames: readonly Frame[], scope: string, around = rootScope): Generator<BlockFrame> {
  let own = around;
  for (const frame of frames) {
    if (frame.kind === "call") own = frame.scope;
    else if (frame.kind === "each") for (const lane of frame.lanes) yield* standsAt(lane.frames, scope, own);
    else if (own === scope) yield frame;
  }
}

/** Whether a process that stands there may go on with another program: what it has run, and what it runs, is there too. */
export function fits(before: Program, now: Program, { place, at }: Pick<BlockFrame, "place" | "at">): boolean {
  const [old, next] = [blockAt(before, place), blockAt(now, place)];
  // What it has stored, others read by its name.
  const nameOf = (step: Step | undefined) => (step && "as" in step ? step.as : undefined) ?? step?.id;
  const isSame = (index: number) =>
    old[index]?.type === next[index]?.type && (index === at || nameOf(old[index]) === nameOf(next[index]));
  return at < next.length && old.slice(0, at + 1).every((_, index) => isSame(index));
}
