/** A flow process as the API shows it. behaviour B.9. Pure. */
import type { Static } from "platform";
import type { FlowProcess, FlowRun } from "../answers.ts";
import type { ActionState, Usage } from "../api.ts";
import type { ProcessRow, Started } from "./process-store.ts";
import type { WholeProcess } from "./process-view-store.ts";
import { previewOf } from "../engine/journal.ts";
import { plus, type Cursor, type Frame, type StepRecord } from "../engine/state.ts";

const listedSteps = 100;
const listedChars = 1_000;

export function toApi(row: WholeProcess): Static<typeof FlowProcess> {
  const steps = stepsOf(row);
  const usage = steps.reduce<Usage | undefined>((sum, step) => plus(sum, step.usage), undefined);
  return { ...headOf(row), steps: steps.map(shownStep), ...(usage && { usage }), ...timesOf(row) };
}

/** In a list: the first hundred steps, with previews of large outputs. */
export function toListed(row: WholeProcess): Static<typeof FlowProcess> {
  const steps = stepsOf(row).slice(0, listedSteps);
  return { ...headOf(row), steps: steps.map(listedStep), ...timesOf(row) };
}

function listedStep(step: StepRecord) {
  const text = JSON.stringify(step.output);
  const output = text.length > listedChars ? previewOf(text) : step.output;
  return { ...shownStep(step), output };
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

function timesOf({ createdAt, finishedAt }: ProcessRow) {
  return { created_at: createdAt, finished_at: finishedAt };
}

type Standing = Pick<WholeProcess, "status" | "error" | "finishedAt" | "cursor" | "steps" | "further">;

/** In the order they began, also running ones. Steps that ran when the process failed have failed with it. */
function stepsOf({ status, error, finishedAt, cursor, steps, further }: Standing): StepRecord[] {
  const done = [...steps, ...(further ?? []).flat()];
  const now =
    status === "pending"
      ? ({ status, finished_at: null, error: null } as const)
      : ({ status: "error", finished_at: finishedAt?.toJSON() ?? null, error } as const);
  const open = cursor ? openSteps(cursor.frames, now) : [];
  return [...done, ...open].toSorted((a, b) => a.n - b.n);
}

type Now = Pick<StepRecord, "status" | "finished_at" | "error">;

function openSteps(frames: readonly Frame[], now: Now): StepRecord[] {
  return frames.flatMap((frame) => {
    if (frame.kind === "each") return frame.lanes.flatMap((lane) => openSteps(lane.frames, now));
    if (frame.kind !== "block" || !frame.running) return [];
    const { n, since, id, type, usage } = frame.running;
    return [{ n, id, type, started_at: new Date(since).toJSON(), output: null, ...(usage && { usage }), ...now }];
  });
}

/** A process that was started just now, without reading it again. */
export function toRun(started: Started): Static<typeof FlowRun> {
  const { process, steps, cursor } = started;
  return { ...toApi({ ...process, steps, cursor, further: null }), flow_process_id: process.id };
}

/** The steps of a run that was not stored. */
export function shownSteps(steps: readonly StepRecord[], cursor: Cursor | null, error: string | null) {
  const standing = { status: error === null ? "finished" : "error", error, finishedAt: new Date() } as const;
  return stepsOf({ ...standing, steps, cursor: error === null ? null : cursor, further: null }).map(shownStep);
}

/** A step without its number, which its place in the list shows. */
function shownStep({ id, type, status, started_at, finished_at, output, error, warnings, usage }: StepRecord) {
  const told = { ...(warnings && { warnings }), ...(usage && { usage }) };
  return { id, type, status, started_at, finished_at, output, error, ...told };
}
