/** The dependencies of starting and driving flow processes, their jobs and the news of them. */
import { event, job, modelChanged, type BaseContext, type ModelEvent, type Tx } from "platform";
import type { Accounts } from "../../accounts/api.ts";
import type { Connectors } from "../../connectors/api.ts";
import type { FlowStore } from "../manage/flow-store.ts";
import type { ProcessId, ProcessRow, ProcessStore } from "./process-store.ts";
import type { ProcessViewStore } from "./process-view-store.ts";
import type { Program } from "../program/program.ts";
import type { FlowRecords } from "./records.ts";
import { toEvent } from "./show.ts";
import type { StepTypes } from "../program/step-types.ts";
import type { Templates } from "../program/template.ts";
import type { Waiting } from "./waiting.ts";

export interface CurrentFlow {
  readonly code: string;
  readonly programId: number;
  readonly program: Program;
}

export interface Needed {
  readonly ctx: Pick<
    BaseContext,
    "transaction" | "keyed" | "changed" | "wanted" | "emit" | "enqueue" | "broadcast" | "log"
  >;
  readonly processStore: ProcessStore;
  readonly processViewStore: ProcessViewStore;
  readonly flowStore: FlowStore;
  readonly accounts: Accounts;
  readonly connectors: Connectors;
  readonly templates: Templates;
  readonly waiting: Waiting;
  /** The active flow of this code. */
  readonly flowOf: (accountId: number, code: string) => Promise<CurrentFlow | undefined>;
  readonly records: FlowRecords;
  readonly stepTypes: StepTypes;
  readonly leaseSeconds: number;
}

export interface DrivenProcess extends ProcessId {
  /** Jobs of earlier versions lack it. */
  readonly flowCode?: string;
  /** It has come to a call, which takes time but computes nothing: it needs no turn. */
  readonly calls?: boolean;
}

/** A new process has steps that reach outside. This is an event, so that flows that start each other count as a chain. */
export const processStarted = event<DrivenProcess>("connect.flow.started");
export const driveHandler = "drive";
/** Continues a process. */
export const driveProcess = job<DrivenProcess>("flows.drive");
/** Continues a process of a flow that computes much: the processes of one flow take turns. */
export const computeProcess = job<DrivenProcess>("flows.compute");

/** Processes that hang keep no place of another flow or account. */
export function placeOf({ accountId, flowCode }: { readonly accountId: number; readonly flowCode: string }) {
  return { accountId, share: flowCode };
}

export const processModel = "Connect::FlowProcess";

/** The kinds of event that a process causes when it gets this status. */
export const kindsOf = { pending: [], finished: ["update", "finished"], error: ["update", "error"] } as const;

/** The events of processes. */
export interface News {
  /** The kinds that somebody follows. */
  wanted(row: ProcessRow, kinds: readonly string[]): string[];
  tell(row: ProcessRow, kinds: readonly string[], tx: Tx): Promise<void>;
}

export function createNews(ctx: Pick<BaseContext, "changed" | "wanted">): News {
  return {
    wanted: (row, kinds) => kinds.filter((kind) => ctx.wanted(modelChanged, eventOf(row, kind))),
    async tell(row, kinds, tx) {
      for (const kind of kinds) await ctx.changed(eventOf(row, kind), tx);
    },
  };
}

function eventOf(row: ProcessRow, kind: string): ModelEvent {
  return { accountId: row.accountId, sourceType: processModel, kind, id: row.id, data: toEvent(row) };
}
