/** A flow process as the API shows it. behaviour B.9. */
import { isObject, type Caller, type Queryable, type Static } from "platform";
import type { FlowProcess, FlowRun } from "../answers.ts";
import type { ActionState, Usage } from "../api.ts";
import type { JsonDatabases } from "../../jsondb/api.ts";
import type { ProcessRow, Started } from "./store.ts";
import { wholeProcess, type ProcessHead, type WholeProcess } from "./view-store.ts";
import { previewOf } from "../engine/tools.ts";
import { expandPaths } from "../program/records.ts";
import { plus, type Cursor, type Frame, type StepRecord } from "../engine/state.ts";

const listedSteps = 100;
const listedChars = 1_000;

interface Deciding {
  readonly databases: Pick<JsonDatabases, "reaches" | "databasesAlong">;
}

/** Optional parts of a response. */
export interface Included {
  readonly startedBy: boolean;
  readonly inputs: boolean;
  readonly closed?: Closed;
}

/** What somebody may not read whole, with all fields: what came out of it is hidden. */
interface Closed {
  readonly keys: ReadonlySet<string>;
  /** Who looks. A process answers those who started it. */
  readonly userId: number | null;
}

const nothing: Included = { startedBy: false, inputs: false };

export function toApi(row: WholeProcess, included = nothing): Static<typeof FlowProcess> {
  const own = withoutClosed(row, included.closed);
  const usage = own.steps.reduce<Usage | undefined>((sum, step) => plus(sum, step.usage), undefined);
  const shown = own.steps.map((step) => ({ ...shownStep(step), ...(included.inputs && givenOf(step)) }));
  const more = { ...timesOf(row), ...(included.startedBy && startOf(row)) };
  return { ...headOf(own.row), steps: shown, ...(usage && { usage }), ...more };
}

/** A process as the caller may see it; undefined if there is none. */
export async function shownTo(ctx: Deciding, on: Queryable, caller: Caller, id: string, included = nothing) {
  const row = await wholeProcess(on, caller.account.id, id);
  return row && toApi(row, { ...included, closed: await closedTo(ctx, caller, [row]) });
}

/** What these processes have read and the caller may not read as a whole. behaviour B.7. */
export async function closedTo(ctx: Deciding, caller: Caller, rows: readonly WholeProcess[]): Promise<Closed> {
  return { keys: await closedKeys(ctx, caller.account.id, [caller], rows), userId: caller.user.id };
}

async function closedKeys(
  { databases }: Deciding,
  accountId: number,
  people: readonly (Caller | null)[],
  rows: readonly WholeProcess[],
): Promise<ReadonlySet<string>> {
  const reads = new Map(rows.flatMap(readsOf).map((one) => [keyOf(one), one]));
  const keys = new Set<string>();
  for (const [key, { db, expand }] of reads) {
    // What is no link any more may have led anywhere.
    const along = await databases.databasesAlong(accountId, db, expand, true).catch(() => undefined);
    const isOpen = (code: string) => databases.reaches(accountId, code, "read", async () => people);
    const open = along && (await Promise.all([db, ...along].map(isOpen)));
    if (!open?.every(Boolean)) keys.add(key);
  }
  return keys;
}

/** A database, and the links by which others are read. */
interface Read {
  readonly db: string;
  readonly expand: readonly string[];
}

/** By its steps, by its program, and by the record that started it. */
function readsOf(row: WholeProcess): Read[] {
  const started = { db: row.starter?.["db_code"] };
  const steps = stepsOf(row).flatMap(({ type, input }) => {
    if (!isObject(input)) return [];
    if (type === "wait_for" && isObject(input["filter"])) return [{ db: input["filter"]["db_code"] }];
    return type === "db" ? [input] : [];
  });
  return [started, ...steps, ...(row.databases ?? [])].flatMap((one: Readonly<Record<string, unknown>>) =>
    typeof one["db"] === "string" ? [{ db: one["db"], expand: expandPaths(one) }] : [],
  );
}

const keyOf = ({ db, expand }: Read) => JSON.stringify([db, ...expand]);

const hidden = "[hidden]";

/** A step hands on what another one has read, so all of them are hidden where one met such a database. */
function withoutClosed(row: WholeProcess, closed: Closed | undefined) {
  const steps = stepsOf(row);
  if (!closed?.keys.size || !readsOf(row).some((one) => closed.keys.has(keyOf(one)))) return { row, steps };
  const isStarter = row.starterKind === "person" && row.starterId === String(closed.userId);
  return {
    row: isStarter ? row : { ...row, input: {}, data: row.data === null ? null : hidden },
    steps: steps.map((step) => ({ ...step, input: hidden, output: step.output === null ? null : hidden })),
  };
}

/** In a list: the first hundred steps, with previews of large outputs. */
export function toListed(row: WholeProcess, { startedBy, inputs, closed } = nothing): Static<typeof FlowProcess> {
  const own = withoutClosed(row, closed);
  const shown = own.steps
    .slice(0, listedSteps)
    .map((step) => ({ ...listedStep(step), ...(inputs && givenOf(step, listedChars)) }));
  return { ...headOf(own.row), steps: shown, ...timesOf(row), ...(startedBy && startOf(row)) };
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

/**
 * As `Connect::FlowProcess` delivers it to whoever follows it: what it was given and gave is hidden where it has met a
 * database that is not open to everybody.
 */
export async function toOpenEvent(ctx: Deciding, on: Queryable, row: ProcessRow) {
  const whole = await wholeProcess(on, row.accountId, row.id);
  if (!whole) return toEvent(row);
  const keys = await closedKeys(ctx, row.accountId, [null], [whole]);
  return toEvent(withoutClosed({ ...whole, ...row }, { keys, userId: null }).row);
}

/** Without its steps. */
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

/** A process that the caller has started just now, without reading it again. */
export async function toRun(ctx: Deciding, caller: Caller, started: Started): Promise<Static<typeof FlowRun>> {
  const { process, steps, cursor } = started;
  const by = { starterKind: "person", starterId: String(caller.user.id) };
  const row = { ...process, ...by, steps, cursor, further: null };
  return { ...toApi(row, { ...nothing, closed: await closedTo(ctx, caller, [row]) }), flow_process_id: process.id };
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
