/** The runs that wait for a process of child-pool.ts: so many at the most, and none for longer than its client does. */
import { ChildFault } from "./child-process.ts";

export interface Run {
  readonly input: unknown;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface ChildQueue {
  readonly length: number;
  /** What the run comes to; rejects with a ChildFault where it is not begun. */
  add(input: unknown): Promise<unknown>;
  /** The one that has waited longest; it waits no more. */
  next(): Run | undefined;
  /** Refuses those that wait, and whatever still comes. */
  stop(): void;
}

export function createChildQueue(limits: { readonly maxQueued: number; readonly maxWaitMs: number }): ChildQueue {
  /** In the order in which they came, each with what ends its waiting. */
  const waiting = new Map<Run, ReturnType<typeof setTimeout>>();
  let stopped = false;
  const leave = (run: Run): void => {
    clearTimeout(waiting.get(run));
    waiting.delete(run);
  };

  return {
    get length() {
      return waiting.size;
    },
    add(input) {
      if (stopped) return Promise.reject(new ChildFault("stopped", "the server stops"));
      if (waiting.size >= limits.maxQueued)
        return Promise.reject(new ChildFault("busy", `${waiting.size} others wait already`));
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const run: Run = { input, resolve, reject };
      const expire = (): void => {
        leave(run);
        reject(new ChildFault("busy", `others took more than ${limits.maxWaitMs} ms`));
      };
      waiting.set(run, setTimeout(expire, limits.maxWaitMs));
      return promise;
    },
    next() {
      const [run] = waiting.keys();
      if (run) leave(run);
      return run;
    },
    stop() {
      stopped = true;
      for (const run of waiting.keys()) {
        leave(run);
        run.reject(new ChildFault("stopped", "the server stops"));
      }
    },
  };
}
