/** The service `flows`: starts flows and waits for their results. */
import type { TriggerSource } from "./triggers/source.ts";
import { job, service, type Caller, type Queryable, type Static, type TObject, type Tx } from "platform";

export { triggersOf, type TriggerSource } from "./triggers/source.ts";
export type { CallOutcome, ConnectorEvent, Usage } from "../connectors/api.ts";

/** A flow process as an app's action sees it (behaviour 4.3). */
export interface ActionState {
  readonly flow_process_id: string;
  readonly status: "pending" | "finished" | "error";
  readonly data: unknown;
  readonly error: string | null;
}

/** The origin of a process, shown with a link. */
export interface Starter {
  readonly kind: "person" | "app" | "cron" | "webhook" | "flow" | "hook" | "command";
  readonly id: string | null;
  /** JSON: its `name`, and what else leads to it (`user_id`, `delivery_id`, the record of a webhook). */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** Data that the starter of a process stores with it, to read later. */
export type Origin = Readonly<Record<string, unknown>>;

export interface StartFlow {
  readonly accountId: number;
  readonly code: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Further names in scope of the program and of every flow that it calls: no input can replace them. */
  readonly scope?: Readonly<Record<string, unknown>> | undefined;
  /** Stored with the process for `originOf`; JSON, never shown. */
  readonly origin?: Origin | undefined;
  /** Default: the caller. */
  readonly by?: Starter | undefined;
  /** Starts it in this transaction: after its commit, or never. */
  readonly tx?: Tx | undefined;
}

/** A flow as in a request (behaviour B.9). Missing fields stay as they are. */
export interface NewFlow {
  readonly name: string;
  readonly code: string;
  readonly kind?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly active?: boolean;
}

/** Thrown by `run` of a step: the process is stored and left until then, or until `wake`; `run` is then called again. */
export class Parked extends Error {
  readonly until: Date;
  constructor(until: Date) {
    super("parked");
    this.until = until;
  }
}

/** A process to go on with. */
export interface ProcessRef {
  readonly accountId: number;
  readonly id: string;
  readonly flowCode: string;
}

/** Whom to tell of so many failures in a row: `user:7`, `team:3`, `role:manager`. */
export interface Alarm {
  readonly after: number;
  readonly to: readonly string[];
}

/** An active flow whose alarm counts: its failures in a row (200 at most), of which the first ended at `since`. */
export interface FailingFlow extends Alarm {
  readonly id: string;
  readonly code: string;
  readonly name: string;
  readonly count: number;
  readonly since: Date;
  readonly firstRunId: string;
  readonly lastRunId: string;
}

/** A run of a flow with an alarm has failed; the inbox handles it. */
export const runFailed = job<Omit<ProcessRef, "id">>("flows.failed");

/** One run of a plugin's own step. */
export interface StepRun<Params> {
  readonly accountId: number;
  readonly process: ProcessRef;
  readonly params: Params;
  /** The same for every attempt of this step of this process: a step may run twice, and the key shows it. */
  readonly key: string;
  /** Aborted when the time is over, the process is cancelled or the server stops. */
  readonly signal: AbortSignal;
  /** Who has saved the programs that run, by id; null = nobody. */
  readonly authors: () => Promise<readonly (number | null)[]>;
  /** The time limit of the run: the step's `timeout`, or that of a step around it, else a minute. */
  readonly timeoutMs: number;
}

/** A type of step that a plugin adds to flows: `{ "type": "shopping-list.notify", "params": { … } }`. */
export interface StepType<P extends TObject = TObject> {
  /** `<plugin>.<name>`. */
  readonly type: string;
  /** One sentence on what it does, for authors of flows. */
  readonly doc: string;
  readonly params: P;
  /** The privilege that saving a flow with such a step needs, besides `flows`. */
  readonly privilege?: string | ((step: Readonly<Record<string, unknown>>) => string | undefined);
  /** Throws the 403 if this person may not save such a step. */
  allow?(author: Caller, step: Readonly<Record<string, unknown>>): Promise<void>;
  /** What is wrong, by key, with parameters that fit the schema; those with expressions are left out. */
  check?(params: Readonly<Record<string, unknown>>): Readonly<Record<string, readonly string[]>>;
  /**
   * Returns a JSON value, which is stored under the step's `as` or `id`. An exception is a failure of the step, with its
   * `retry` and `on_error`; `invalid({ field: […] })` names the fields.
   */
  run(call: StepRun<Static<P>>): Promise<unknown>;
  /** Called when a process ends that this step has parked, in the transaction of a cancellation, else after the end. */
  ended?(on: Queryable, process: Pick<ProcessRef, "accountId" | "id">): Promise<void>;
  /** It has no effect: a test of a flow runs it. */
  readonly isPure?: true;
  /** What a test of a flow stores where no answer is given; without it the test says that one is missing. */
  sample?(params: Readonly<Record<string, unknown>>): unknown;
}

export interface Flows {
  /** Adds a type of step; to be called in `setup`. */
  registerStep<P extends TObject>(step: StepType<P>): void;
  /** Adds what starts flows, as triggers of theirs (`triggersOf`); to be called in `setup`. */
  registerTriggers(source: TriggerSource): void;
  /** Of the account, or this one. */
  failing(accountId: number, code?: string): Promise<readonly FailingFlow[]>;
  /** Makes the flow with this code, or changes the existing one. `userId` null = no person (a command). */
  putFlow(
    by: { readonly accountId: number; readonly userId: number | null },
    flow: NewFlow,
  ): Promise<{ readonly id: string; readonly done: "made" | "changed" | "unchanged" }>;
  /** What the flow with this code is called, active or not; undefined if there is none. */
  flowName(tx: Tx, accountId: number, code: string): Promise<string | undefined>;
  /** Goes on with a parked process after the commit. */
  wake(tx: Tx, process: ProcessRef): Promise<void>;
  /** The id of the flow process; undefined if no active flow has this code. */
  startFlow(flow: StartFlow): Promise<string | undefined>;
  /** Starts a flow and waits at most `waitMs` (default 1,000) for its end. Undefined if no active flow has this code. */
  runAction(action: {
    readonly accountId: number;
    readonly flowCode: string;
    readonly input: Readonly<Record<string, unknown>>;
    readonly scope?: StartFlow["scope"];
    readonly origin?: StartFlow["origin"];
    readonly by?: StartFlow["by"];
    readonly waitMs?: number | undefined;
    /** Called before the wait, if the process has not ended at once. */
    readonly onPending?: ((state: ActionState) => Promise<void>) | undefined;
  }): Promise<ActionState | undefined>;
  /** The flow that a process was started with, and its origin. Undefined for an unknown process. */
  originOf(process: {
    readonly accountId: number;
    readonly processId: string;
  }): Promise<{ readonly flowCode: string; readonly origin: Origin } | undefined>;
  /** The state of a process of this flow, after at most `waitSeconds` (up to 25). */
  actionStatus(action: {
    readonly accountId: number;
    readonly flowCode: string;
    readonly processId: string;
    readonly waitSeconds?: number | undefined;
    readonly signal?: AbortSignal | undefined;
  }): Promise<ActionState | undefined>;
}

export const flows = service<Flows>("flows");
