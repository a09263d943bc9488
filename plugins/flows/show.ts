/** A flow process as the API shows it. CONTRACT 9. Pure. */
import type { ActionState } from "./api.ts";
import type { ProcessRow, WholeProcess } from "./process-store.ts";
import type { Frame, StepRecord } from "./state.ts";

const listedSteps = 100;

export function toApi(row: WholeProcess) {
  return { ...headOf(row), steps: stepsOf(row).map(shownStep), ...timesOf(row) };
}

/** In a list: the first hundred steps, without what they gave. */
export function toListed(row: WholeProcess) {
  const steps = stepsOf(row).slice(0, listedSteps);
  return { ...headOf(row), steps: steps.map((step) => ({ ...shownStep(step), output: null })), ...timesOf(row) };
}

export function toAction({ id, status, data, error }: ProcessRow): ActionState {
  return { flow_process_id: id, status, data: data ?? null, error };
}

/** As `Connect::FlowProcess` delivers it: the steps are to be asked for. */
export function toEvent(row: ProcessRow) {
  return { ...headOf(row), ...timesOf(row) };
}

function headOf({ id, flowCode, status, input, data, error }: ProcessRow) {
  return { id, flow_code: flowCode, status, input, data: data ?? null, error };
}

function timesOf({ createdAt, finishedAt }: ProcessRow) {
  return { created_at: createdAt, finished_at: finishedAt };
}

/** In the order they began, those under way too. */
function stepsOf({ status, cursor, steps, further }: WholeProcess): StepRecord[] {
  const done = [...steps, ...(further ?? []).flat()];
  const open = cursor ? openSteps(cursor.frames, status === "pending" ? "pending" : "error") : [];
  return [...done, ...open].toSorted((a, b) => a.n - b.n);
}

function openSteps(frames: readonly Frame[], status: "pending" | "error"): StepRecord[] {
  return frames.flatMap((frame) => {
    if (frame.kind === "each") return frame.lanes.flatMap((lane) => openSteps(lane.frames, status));
    if (frame.kind !== "block" || !frame.running) return [];
    const { n, since, id, type } = frame.running;
    const started_at = new Date(since).toJSON();
    return [{ n, id, type, status, started_at, finished_at: null, output: null, error: null }];
  });
}

/** A process that ended at once, shown from what was stored. */
export function toRun(row: ProcessRow, steps: readonly StepRecord[]) {
  return { ...headOf(row), steps: steps.map(shownStep), ...timesOf(row), flow_process_id: row.id };
}

/** A step without its number: the order tells it. */
export function shownStep({ id, type, status, started_at, finished_at, output, error }: StepRecord) {
  return { id, type, status, started_at, finished_at, output, error };
}
