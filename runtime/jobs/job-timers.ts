/** Three timers: the poll, an earlier poll for jobs due sooner, and the heartbeat. */
import { setTimeout as sleep } from "node:timers/promises";

export interface Called {
  readonly poll: () => void;
  readonly heartbeat: () => void;
}

export type Timers = ReturnType<typeof createTimers>;

export function createTimers(pollMs: number) {
  let called: Called | undefined;
  let polling: ReturnType<typeof setInterval> | undefined;
  let beating: ReturnType<typeof setInterval> | undefined;
  let soon: ReturnType<typeof setTimeout> | undefined;
  let soonAt = Infinity;
  let beatMs = 5000;
  const beat = () => {
    clearInterval(beating);
    beating = called && setInterval(called.heartbeat, beatMs);
  };
  return {
    start(calls: Called) {
      called = calls;
      polling = setInterval(called.poll, pollMs);
      beat();
    },
    /** Polls in this many seconds, unless an earlier poll is already set. */
    arm(seconds: number) {
      const at = performance.now() + seconds * 1000;
      if (!called || seconds * 1000 > pollMs || at >= soonAt) return;
      clearTimeout(soon);
      soonAt = at;
      soon = setTimeout(
        () => {
          soonAt = Infinity;
          called?.poll();
        },
        Math.max(1, seconds * 1000),
      );
    },
    heartbeatWithin(ms: number) {
      if (ms >= beatMs) return;
      beatMs = ms;
      beat();
    },
    stop() {
      clearInterval(polling);
      clearInterval(beating);
      clearTimeout(soon);
      called = undefined;
    },
  };
}

/** Waits until the condition holds or the time is up. */
export async function untilTrue(condition: () => boolean, withinMs: number): Promise<void> {
  const end = performance.now() + withinMs;
  while (!condition() && performance.now() < end) await sleep(5);
}
