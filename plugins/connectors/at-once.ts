/** Lets few calls of a connector run at a time in this process, whatever way they come. */
import { createTurns } from "platform";

/** Of a kind that says nothing else. */
const standard = 100;
/** Calls that nobody's engine bounds, as those of requests. */
const mostWaiting = 200;

/** The call was not begun: others have not ended in its time, or too many wait already. */
export class Busy extends Error {
  override name = "Busy";
}

interface Asked {
  readonly id: string;
  readonly atOnce?: number | undefined;
  readonly timeoutMs: number;
  /** Of flows, webhooks and conversations, which are bounded where they are made: as many as there are may wait. */
  readonly signal?: AbortSignal | undefined;
}

export function createCallTurns() {
  const lines = new Map<string, { readonly turns: ReturnType<typeof createTurns>; calls: number }>();

  return async <T>({ id, atOnce = standard, timeoutMs, signal }: Asked, run: () => Promise<T>): Promise<T> => {
    const line = lines.get(id) ?? { turns: createTurns(atOnce), calls: 0 };
    if (!signal && line.calls >= atOnce + mostWaiting) throw new Busy();
    lines.set(id, line);
    line.calls += 1;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Busy()), timeoutMs);
    try {
      // It ends the waiting alone: what runs already has limits of its own.
      return await line.turns(run, signal ? AbortSignal.any([signal, late.signal]) : late.signal);
    } finally {
      clearTimeout(timer);
      line.calls -= 1;
      if (line.calls === 0) lines.delete(id);
    }
  };
}
