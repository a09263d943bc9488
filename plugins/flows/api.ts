/** What other plugins may know of flows: starting one, and waiting for what it comes to. */
import { service, type Tx } from "platform";

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

export interface Flows {
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
