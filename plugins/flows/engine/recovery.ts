/** Handles a failed step: by another attempt, its `on_error` steps, or those of a step around it. */
import type { StepFault } from "./fault.ts";
import type { BlockFrame, Frame } from "./state.ts";
import { idOf, placeIn, stepOf, type Thread } from "./thread.ts";
import { clear, type Tools } from "./tools.ts";

/** False if nothing handles the failure: the process ends with it. */
export function recover(tools: Tools, thread: Thread, fault: StepFault): boolean {
  const { frames } = thread;
  // A time limit ends its own step, with all steps in it.
  let reached = !fault.timedOut;
  for (let at = frames.length - 1; at >= 0; at--) {
    const frame = frames[at];
    const step = stepOf(tools.world, thread, at);
    if (frame?.kind !== "block" || !frame.running || !step) continue;
    reached ||= frame.deadline !== undefined && frame.deadline <= tools.host.now();
    if (!reached) continue;
    if (step.retry !== undefined && (frame.tries ?? 0) < step.retry.times) {
      tryAgain(tools, thread, at, frame, fault);
      return true;
    }
    if (!step.on_error) continue;
    runOnError(tools, thread, at, frame, fault);
    return true;
  }
  const frame = frames[innermost(frames)];
  tools.journal.record(frame, "error", null, fault.message);
  if (frame?.kind === "block") frame.running = frame.waiting = undefined;
  return false;
}

function tryAgain(tools: Tools, thread: Thread, at: number, frame: BlockFrame, fault: StepFault): void {
  const step = stepOf(tools.world, thread, at);
  leaveAbove(tools, thread, at, at + 1, fault);
  frame.tries = (frame.tries ?? 0) + 1;
  frame.deadline = frame.deadlineMs = frame.waiting = undefined;
  frame.wakeMs = (step?.retry?.delay ?? 1) * 1000;
  frame.wake = tools.host.now() + frame.wakeMs;
}

function runOnError(tools: Tools, thread: Thread, at: number, frame: BlockFrame, fault: StepFault): void {
  const stepId = idOf(tools.world, thread, innermost(thread.frames));
  leaveAbove(tools, thread, at, at, fault);
  const place = placeIn(frame, "on_error");
  clear(frame);
  frame.at += 1;
  const error = { message: fault.message, step: stepId, status: fault.status, data: fault.data };
  thread.frames.push({ kind: "block", place, at: 0, error });
}

/** Removes the frames above `at`, and records the steps from `failedFrom` on as failed. */
function leaveAbove(tools: Tools, { frames }: Thread, at: number, failedFrom: number, fault: StepFault): void {
  tools.journal.recordAll(frames.slice(failedFrom), fault.message);
  tools.journal.drop(frames.splice(at + 1));
  tools.happened();
}

function innermost(frames: readonly Frame[]): number {
  return frames.findLastIndex((frame) => frame.kind === "block" && frame.running !== undefined);
}
