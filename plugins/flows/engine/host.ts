/** The engine's host, and the exceptions that end a run. */
import type { CallOutcome } from "../api.ts";
import type { HttpAsked } from "../../connectors/api.ts";
import type { DbOp } from "../program/program.ts";
import type { RecordUpdate } from "../../jsondb/api.ts";
import type { ReadSearch } from "../program/records.ts";
import type { Templates } from "../program/template.ts";
import type { EngineState } from "./thread.ts";

interface MethodCall {
  readonly connector: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Of a step `http`; its parts are what templates made of them. */
interface RequestCall {
  readonly connector: string | undefined;
  readonly asked: HttpAsked;
}

export interface EffectCall {
  readonly what: MethodCall | RequestCall;
  readonly stepId: string;
  /** The same for every attempt of this step of this process. */
  readonly key: string;
  readonly timeoutMs: number | undefined;
}

export interface OwnEffect {
  readonly type: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly stepId: string;
  /** The same for every attempt of this step of this process. */
  readonly key: string;
  readonly timeoutMs: number | undefined;
}

export interface DbEffect extends Pick<RecordUpdate, "conditions" | "increment"> {
  readonly op: DbOp;
  readonly db: string;
  /** Undefined: a changed record stays in its table. Null: no table. */
  readonly table: string | null | undefined;
  readonly id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  /** The conditions of a search. */
  readonly search: ReadSearch | undefined;
  /** Links to follow. */
  readonly expand: readonly string[];
  readonly stepId: string;
}

/** Everything that a running process needs from outside. */
export interface Host extends Omit<EngineState, "memory"> {
  readonly templates: Templates;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** `inline`: only up to the first effect; `compute`: only up to the first call or wait; `dry`: waits take no time. */
  readonly mode: "drive" | "inline" | "compute" | "dry";
  /** Told how long steps have computed; true if others go first now: the run is suspended. */
  readonly yields?: (computedMs: number) => boolean;
  /** Undefined for an unknown connector or method, or an inactive connector. Throws a StepFault for wrong parameters. */
  callConnector(call: EffectCall): Promise<CallOutcome | undefined>;
  /** Runs a step of another plugin's type and returns its result as JSON. Throws a StepFault. */
  runOwn(effect: OwnEffect): Promise<unknown>;
  /**
   * Calls `done` with the result and its warnings, and stores the state in the same transaction as the effect. Throws a
   * StepFault.
   */
  db(effect: DbEffect, done: (result: unknown, warnings?: readonly string[]) => void): Promise<void>;
  /** Adds its program to `programs`. Undefined if no active flow has this code. */
  flow(code: string): Promise<{ programId: number } | undefined>;
  /** Stores the state as it is now. */
  save(): Promise<void>;
}

export type End =
  | { readonly kind: "finished"; readonly data: unknown }
  | { readonly kind: "error"; readonly message: string }
  /** Continues at this time. */
  | { readonly kind: "suspended"; readonly until: number; readonly yielded?: boolean };

/** The process waits for too long to keep it in memory, or has `yielded` to others. */
export class Suspended extends Error {
  readonly until: number;
  readonly yielded: boolean;
  constructor(until: number, yielded = false) {
    super("suspended");
    this.until = until;
    this.yielded = yielded;
  }
}

/** Another element of the same `each` has ended the `each`. */
export class Stopped extends Error {}

/** A `return` that has not reached its flow yet. */
export class Returned extends Error {
  readonly value: unknown;
  constructor(value: unknown) {
    super("returned");
    this.value = value;
  }
}
