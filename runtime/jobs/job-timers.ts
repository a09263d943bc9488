/** The poll, a timer for what is due before the next one, and the heartbeat. */
export function createTimers(pollMs: number, poll: () => void, heartbeat: () => void) {
  let polling: ReturnType<typeof setInterval> | undefined;
  let beating: ReturnType<typeof setInterval> | undefined;
  let soon: ReturnType<typeof setTimeout> | undefined;
  let soonAt = Infinity;
  let beatMs = 5000;
  const ring = () => {
    soonAt = Infinity;
    poll();
  };
  return {
    start() {
      polling = setInterval(poll, pollMs);
      beating = setInterval(heartbeat, beatMs);
    },
    /** Polls in so many seconds, unless a poll comes first anyway. */
    arm(seconds: number) {
      const at = performance.now() + seconds * 1000;
      if (polling === undefined || seconds * 1000 > pollMs || at >= soonAt) return;
      clearTimeout(soon);
      soonAt = at;
      soon = setTimeout(ring, Math.max(1, seconds * 1000));
    },
    heartbeatWithin(ms: number) {
      if (ms >= beatMs) return;
      beatMs = ms;
      if (beating === undefined) return;
      clearInterval(beating);
      beating = setInterval(heartbeat, beatMs);
    },
    stop() {
      clearInterval(polling);
      clearInterval(beating);
      clearTimeout(soon);
      polling = undefined;
    },
  };
}

/** Waits until the condition holds, or the time is over. */
export async function untilTrue(condition: () => boolean, withinMs: number): Promise<void> {
  const end = performance.now() + withinMs;
  while (!condition() && performance.now() < end) await Bun.sleep(5);
}
