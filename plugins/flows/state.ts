/**
 * What is kept of a process between its steps: where it is (`Cursor`) and what it knows (`Memory`), both JSON. A step
 * that is nested in another stands in a frame above that one's. Pure.
 */
import { MemoryFull } from "./fault.ts";
import { limits, type Program } from "./program.ts";

/** The steps of a program, a branch or a body, and the step that runs or comes next. */
export interface BlockFrame {
  readonly kind: "block";
  readonly place: string;
  at: number;
  /** Of the step that runs: its number in the process, when it began, and how it is shown. */
  running?: { readonly n: number; readonly since: number; readonly id: string; readonly type: string } | undefined;
  /** Attempts that failed. */
  tries?: number | undefined;
  /** Not before this time: a wait, or the pause before another attempt. */
  wake?: number | undefined;
  /** How long that was to be, in milliseconds. */
  wakeMs?: number | undefined;
  /** A `wait` step has set `wake`. */
  waiting?: boolean | undefined;
  deadline?: number | undefined;
  /** The step's `timeout` in milliseconds. */
  deadlineMs?: number | undefined;
  /** What `on_error` steps see as `error`. */
  readonly error?: Readonly<Record<string, unknown>> | undefined;
}

/** An `each` step under way: several elements at once where it is asked. */
export interface EachFrame {
  readonly kind: "each";
  /** Its elements are in the memory: they change no more. */
  readonly list: string;
  readonly as: string;
  readonly concurrency: number;
  next: number;
  readonly lanes: Lane[];
}

export interface Lane {
  readonly index: number;
  readonly frames: Frame[];
}

/** A flow within the flow, with a scope of its own. */
export interface CallFrame {
  readonly kind: "call";
  readonly scope: string;
}

export type Frame = BlockFrame | EachFrame | CallFrame;

export interface Cursor {
  readonly frames: Frame[];
  /** For the names of scopes and lists. */
  names: number;
  /** Steps begun. */
  begun: number;
  /** Characters of outputs kept so far. */
  outputChars: number;
}

export interface Scope {
  readonly flow: string;
  /** Which stored program: it stays the same though the flow be changed meanwhile. */
  readonly programId: number;
  readonly input: Readonly<Record<string, unknown>>;
  /** What steps stored under a name. */
  vars: Record<string, unknown>;
  /** The names that mutations have set: the result where nothing is returned. */
  set: string[];
}

type Values = Readonly<Record<string, unknown>>;

export interface Memory {
  /** What every flow of the process finds, whatever its input says. Of an older process these are its root's variables. */
  readonly given?: Values;
  readonly scopes: Record<string, Scope>;
  readonly lists: Record<string, readonly unknown[]>;
}

export interface State {
  readonly cursor: Cursor;
  readonly memory: Memory;
}

export const rootScope = "0";

/** One step as it is shown, with its number for the order. */
export interface StepRecord {
  readonly n: number;
  readonly id: string;
  readonly type: string;
  readonly status: "pending" | "finished" | "error";
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly output: unknown;
  readonly error: string | null;
  /** What went well, but hardly as it was meant. */
  readonly warnings?: readonly string[];
}

/** `given`: names that the program finds in scope beside its input. Nobody asks where it does not say who does. */
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

/** A process that is tried again: its failed step has all its attempts before it. */
export function forgetAttempts(frames: readonly Frame[]): void {
  for (const frame of frames) {
    if (frame.kind === "each") for (const lane of frame.lanes) forgetAttempts(lane.frames);
    if (frame.kind !== "block") continue;
    frame.tries = undefined;
    frame.deadline = frame.deadlineMs = undefined;
    if (!frame.waiting) frame.wake = frame.wakeMs = undefined;
  }
}

/** What the variables set by mutations come to. */
export function resultOf(scope: Scope): Record<string, unknown> {
  return Object.fromEntries(scope.set.map((name) => [name, scope.vars[name] ?? null]));
}

/** The memory as it is stored. Throws MemoryFull. */
export function memoryText(memory: Memory): string {
  const text = JSON.stringify(memory);
  if (text.length > limits.memoryChars)
    throw new MemoryFull(`the variables of a process may have at most ${limits.memoryChars} characters as JSON`);
  return text;
}

/** The programs that a state needs to go on. */
export function programIdsOf(memory: Memory): number[] {
  return [...new Set(Object.values(memory.scopes).map(({ programId }) => programId))];
}

export type Programs = Map<number, Program>;
