/** Waits and time limits that were set while the clock was ahead. Pure. */
import type { Frame } from "./state.ts";

/**
 * Cuts each wait and each time limit to its own length, counted from `now`: no right clock can have set one that ends
 * later. Otherwise a process would wait, after the clock is right again, until the time that the wrong one showed.
 */
export function cutToLength(frames: readonly Frame[], now: number): void {
  for (const frame of frames) {
    if (frame.kind === "each") for (const lane of frame.lanes) cutToLength(lane.frames, now);
    if (frame.kind !== "block") continue;
    frame.wake = cut(frame.wake, frame.wakeMs, now);
    frame.deadline = cut(frame.deadline, frame.deadlineMs, now);
  }
}

/** Processes that were stored by an earlier version lack the length. */
function cut(at: number | undefined, lengthMs: number = Infinity, now: number): number | undefined {
  return at === undefined ? undefined : Math.min(at, now + lengthMs);
}
