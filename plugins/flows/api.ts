/** What other plugins may know of flows: starting one, and waiting for what it comes to. */
import { service, type Static, type TObject, type Tx } from "platform";

export type { CallOutcome, ConnectorEvent } from "../connectors/api.ts";

/** A flow process as an app's action sees it (behaviour 4.3). */
export interface ActionState {
  readonly flow_process_id: string;
  readonly status: "pending" | "finished" | "error";
  readonly data: unknown;
  readonly error: string | null;
}

/** What the starter of a process wants to know of it later. */
export type Origin = Readonly<Record<string, unknown>>;

export interface StartFlow {
  readonly accountId: number;
  readonly code: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Further names that the program, and every flow that it calls, finds: no input takes their place. */
  readonly scope?: Readonly<Record<string, unknown>> | undefined;
  /** Kept with the process for `originOf`; JSON, and shown to nobody. */
  readonly origin?: Origin | undefined;
  /** Starts it with this transaction: after its commit, or never. */
  readonly tx?: Tx | undefined;
}

/** A flow as a request makes one (behaviour B.9). What is left out stays as it is. */
export interface NewFlow {
  readonly name: string;
  readonly code: string;
  readonly kind?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly active?: boolean;
}

/** One run of a plugin's own step. */
export interface StepRun<Params> {
  readonly accountId: number;
  readonly params: Params;
  /** The same for every attempt of this step of this process: a step runs at least once, and the key tells it apart. */
  readonly key: string;
  /** Aborted when the time is up, the process is cancelled or the server stops. */
  readonly signal: AbortSignal;
  /** The time that the run has: the step's `timeout`, or that of a step around it, else a minute. */
  readonly timeoutMs: number;
}

/** A type of step that a plugin adds to flows: `{ "type": "shopping-list.notify", "params": { … } }`. */
export interface StepType<P extends TObject = TObject> {
  /** `<plugin>.<name>`. */
  readonly type: string;
  /** A sentence on what it does, for whoever writes flows. */
  readonly doc: string;
  readonly params: P;
  /** What the person who saves a flow with such a step needs, besides `flows`. */
  readonly privilege?: string;
  /**
   * Gives a JSON value, which is stored under the step's `as` or `id`. Whatever it throws is a failure of the step, with
   * its `retry` and `on_error`; `invalid({ field: […] })` names the fields.
   */
  run(call: StepRun<Static<P>>): Promise<unknown>;
}

export interface Flows {
  /** Adds a type of step; in `setup` of the plugin that has it. */
  registerStep<P extends TObject>(step: StepType<P>): void;
  /** Makes the flow of this code, or changes the one that stands there to it. `userId` null = no person (a command). */
  putFlow(
    by: { readonly accountId: number; readonly userId: number | null },
    flow: NewFlow,
  ): Promise<{ readonly id: string; readonly done: "made" | "changed" | "unchanged" }>;
  /** Whether there is a flow of this code, active or not. */
  flowExists(accountId: number, code: string): Promise<boolean>;
  /** The id of the flow process; undefined where there is no active flow of this code. */
  startFlow(flow: StartFlow): Promise<string | undefined>;
  /** Starts a flow and waits at most `waitMs` (1,000 when left out) for its end. Undefined where there is no active flow. */
  runAction(action: {
    readonly accountId: number;
    readonly flowCode: string;
    readonly input: Readonly<Record<string, unknown>>;
    readonly scope?: StartFlow["scope"];
    readonly origin?: StartFlow["origin"];
    readonly waitMs?: number | undefined;
    /** Called where it has not ended at once, before it is waited for. */
    readonly onPending?: ((state: ActionState) => Promise<void>) | undefined;
  }): Promise<ActionState | undefined>;
  /** Of a process: the flow it was started with, and its origin. Undefined where there is none. */
  originOf(process: {
    readonly accountId: number;
    readonly processId: string;
  }): Promise<{ readonly flowCode: string; readonly origin: Origin } | undefined>;
  /** The state of a process that this flow has started, after at most `waitSeconds` (25 at most). */
  actionStatus(action: {
    readonly accountId: number;
    readonly flowCode: string;
    readonly processId: string;
    readonly waitSeconds?: number | undefined;
    readonly signal?: AbortSignal | undefined;
  }): Promise<ActionState | undefined>;
}

export const flows = service<Flows>("flows");
