/** A flow process as the API shows it. behaviour B.9. */
import { isObject, type Caller, type Queryable, type Static } from "platform";
import type { JsonDatabases } from "../../jsondb/api.ts";
import type { FlowProcess, FlowRun } from "../answers.ts";
import type { ActionState, Usage } from "../api.ts";
import type { ProcessRow, Started } from "./store.ts";
import { wholeProcess, type ProcessHead, type WholeProcess } from "./view-store.ts";
import { previewOf } from "../engine/tools.ts";
import { expandPaths } from "../program/records.ts";
import { plus, type Cursor, type Frame, type StepRecord } from "../engine/state.ts";

const listedSteps = 100;
const listedChars = 1_000;

/** Optional parts of a response. */
export interface Included {
  readonly startedBy: boolean;
  readonly inputs: boolean;
  /** Databases of which the caller may not read everything: what their steps were given and gave is hidden. */
  readonly closed?: ReadonlySet<string>;
}

const nothing: Included = { startedBy: false, inputs: false };

export function toApi(row: WholeProcess, included = nothing): Static<typeof FlowProcess> {
  const steps = stepsOf(row).map((step) => withoutClosed(step, included.closed));
  const usage = steps.reduce<Usage | undefined>((sum, step) => plus(sum, step.usage), undefined);
  const shown = steps.map((step) => ({ ...shownStep(step), ...(included.inputs && givenOf(step)) }));
  const more = { ...timesOf(row), ...(included.startedBy && startOf(row)) };
  return { ...headOf(row), steps: shown, ...(usage && { usage }), ...more };
}

export async function shownProcess(on: Queryable, accountId: number, id: string) {
  const row = await wholeProcess(on, accountId, id);
  return row && toApi(row);
}

/** The databases of these processes' steps that the caller may not read as a whole. behaviour B.7. */
export async function closedTo(
  { databases }: { readonly databases: Pick<JsonDatabases, "reaches" | "databasesAlong"> },
  caller: Caller,
  rows: readonly WholeProcess[],
): Promise<ReadonlySet<string>> {
  const read = new Map(
    rows.flatMap((row) => stepsOf(row).flatMap((step) => readBy(step) ?? [])).map((one) => [keyOf(one), one]),
  );
  const closed = new Set<string>();
  for (const [key, { db, expand }] of read) {
    // What is no link any more may have led anywhere.
    const along = await databases.databasesAlong(caller.account.id, db, expand).catch(() => undefined);
    const isOpen = (code: string) => databases.reaches(caller.account.id, code, "read", async () => [caller]);
    const open = along && (await Promise.all([db, ...along].map(isOpen)));
    if (!open?.every(Boolean)) closed.add(key);
  }
  return closed;
}

/** What a step has read: a database, and those that links of it lead to. */
function readBy({ type, input }: StepRecord): { readonly db: string; readonly expand: readonly string[] } | undefined {
  if (type !== "db" || !isObject(input) || typeof input["db"] !== "string") return undefined;
  return { db: input["db"], expand: expandPaths(input) };
}

const keyOf = (read: NonNullable<ReturnType<typeof readBy>>) => JSON.stringify([read.db, ...read.expand]);

const hidden = "[hidden]";

function withoutClosed(step: StepRecord, closed?: ReadonlySet<string>): StepRecord {
  const read = closed?.size ? readBy(step) : undefined;
  return read && closed?.has(keyOf(read)) ? { ...step, input: hidden, output: hidden } : step;
}

/** In a list: the first hundred steps, with previews of large outputs. */
export function toListed(row: WholeProcess, { startedBy, inputs, closed } = nothing): Static<typeof FlowProcess> {
  const steps = stepsOf(row)
    .slice(0, listedSteps)
    .map((step) => withoutClosed(step, closed));
  const shown = steps.map((step) => ({ ...listedStep(step), ...(inputs && givenOf(step, listedChars)) }));
  return { ...headOf(row), steps: shown, ...timesOf(row), ...(startedBy && startOf(row)) };
}

function listedStep(step: StepRecord) {
  return { ...shownStep(step), output: shortened(step.output, listedChars) };
}

function givenOf({ input, attempts = 1 }: StepRecord, mostChars = Infinity) {
  return { ...(input !== undefined && { input: shortened(input, mostChars) }), attempts };
}

function shortened(value: unknown, mostChars: number): unknown {
  const text = JSON.stringify(value);
  return text.length > mostChars ? previewOf(text) : value;
}

/** As followers are told of it: without its input, its data and its steps. */
export function toHead(row: ProcessHead) {
  const { id, flowCode, status, error } = row;
  return { id, flow_code: flowCode, status, error, ...timesOf(row), ...startOf(row) };
}

type Start = Pick<WholeProcess, "starterKind" | "starterId" | "starter" | "trace">;

function startOf({ starterKind = null, starterId = null, starter, trace = null }: Start) {
  const startedBy = starterKind === null ? null : { kind: starterKind, id: starterId, ...starter };
  return { started_by: startedBy, trace_id: trace };
}

export function toAction({ id, status, data, error }: ProcessRow): ActionState {
  return { flow_process_id: id, status, data: data ?? null, error };
}

/** As `Connect::FlowProcess` delivers it, without its steps. */
export function toEvent(row: ProcessRow) {
  return { ...headOf(row), ...timesOf(row) };
}

function headOf({ id, flowCode, status, input, data, error }: ProcessRow) {
  return { id, flow_code: flowCode, status, input, data: data ?? null, error };
}

function timesOf({ createdAt, finishedAt }: Pick<ProcessRow, "createdAt" | "finishedAt">) {
  return { created_at: createdAt, finished_at: finishedAt };
}

type ProcessProgress = Pick<WholeProcess, "status" | "error" | "finishedAt" | "cursor" | "steps" | "further">;

/** In the order they began, also running ones. Steps that ran when the process failed have failed with it. */
function stepsOf({ status, error, finishedAt, cursor, steps, further }: ProcessProgress): StepRecord[] {
  const done = [...steps, ...(further ?? []).flat()];
  const now =
    status === "pending"
      ? ({ status, finished_at: null, error: null } as const)
      : ({ status: "error", finished_at: finishedAt?.toJSON() ?? null, error } as const);
  const open = cursor ? openSteps(cursor.frames, now) : [];
  return [...done, ...open].toSorted((a, b) => a.n - b.n);
}

type StepStatus = Pick<StepRecord, "status" | "finished_at" | "error">;

function openSteps(frames: readonly Frame[], now: StepStatus): StepRecord[] {
  return frames.flatMap((frame) => {
    if (frame.kind === "each") return frame.lanes.flatMap((lane) => openSteps(lane.frames, now));
    if (frame.kind !== "block" || !frame.running) return [];
    const { n, since, id, type, usage, input } = frame.running;
    const given = { ...(input !== undefined && { input }), ...(frame.tries && { attempts: frame.tries + 1 }) };
    const seen = { ...given, ...(usage && { usage }) };
    return [{ n, id, type, started_at: new Date(since).toJSON(), output: null, ...seen, ...now }];
  });
}

/** A process that was started just now, without reading it again. */
export function toRun(started: Started): Static<typeof FlowRun> {
  const { process, steps, cursor } = started;
  return { ...toApi({ ...process, steps, cursor, further: null }), flow_process_id: process.id };
}

/** The steps of a run that was not stored. */
export function shownSteps(
  steps: readonly StepRecord[],
  cursor: Cursor | null,
  error: string | null,
  { inputs } = nothing,
) {
  const standing = { status: error === null ? "finished" : "error", error, finishedAt: new Date() } as const;
  const all = stepsOf({ ...standing, steps, cursor: error === null ? null : cursor, further: null });
  return all.map((step) => ({ ...shownStep(step), ...(inputs && givenOf(step)) }));
}

/** A step without its number, which its place in the list shows. */
function shownStep({ id, type, status, started_at, finished_at, output, error, warnings, usage }: StepRecord) {
  const told = { ...(warnings && { warnings }), ...(usage && { usage }) };
  return { id, type, status, started_at, finished_at, output, error, ...told };
}
