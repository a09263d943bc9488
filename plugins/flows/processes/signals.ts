/** The jobs that continue flow processes, and the events that tell others of them. */
import { event, job, modelChanged, type BaseContext, type ModelEvent, type Tx } from "platform";
import { runFailed } from "../api.ts";
import type { FlowContext } from "../context.ts";
import { alarmOf } from "../manage/check.ts";
import { toEvent, toOpenEvent } from "./show.ts";
import type { ProcessId, ProcessRow } from "./store.ts";

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
/** The topic of cancelled processes: the server process that drives one breaks it off. */
export const cancelled = "flows.cancelled";

/** Processes that hang keep no place of another flow or account. */
export function shareOf({ accountId, flowCode }: { readonly accountId: number; readonly flowCode: string }) {
  return { accountId, share: flowCode };
}

export const processModel = "Connect::FlowProcess";

/** The kinds of event that a process causes when it gets this status. */
export const kindsOf = { pending: [], finished: ["update", "finished"], error: ["update", "error"] } as const;

/** The kinds of event that somebody follows. */
export function wantedKinds(ctx: BaseContext, row: ProcessRow, kinds: readonly string[]): string[] {
  return kinds.filter((kind) => ctx.wanted(modelChanged, eventOf(row, kind)));
}

export async function emitChanges(ctx: FlowContext, row: ProcessRow, kinds: readonly string[], tx: Tx): Promise<void> {
  const wanted = wantedKinds(ctx, row, kinds);
  if (wanted.length === 0) return;
  const data = await toOpenEvent(ctx, tx, row);
  for (const kind of wanted) await ctx.changed(eventOf(row, kind, data), tx);
}

function eventOf(row: ProcessRow, kind: string, data = toEvent(row)): ModelEvent {
  return { accountId: row.accountId, sourceType: processModel, kind, id: row.id, data };
}

/** To be called in the transaction that stores the end of a run, or after it. Costs nothing where there is no alarm. */
export async function runHasFailed(ctx: FlowContext, { accountId, flowCode }: ProcessRow, tx?: Tx): Promise<void> {
  const flow = await ctx.flowLookup.current(accountId, flowCode, tx);
  const process = { accountId, flowCode };
  if (alarmOf(flow?.fields)) await ctx.enqueue(runFailed, process, { tx, ...shareOf(process) });
}
