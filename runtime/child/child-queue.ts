/** The runs that wait for a process of child-pool.ts: a limited number, and none longer than its client would wait. */
import { ChildFault } from "./child-process.ts";

export interface Run {
  readonly input: unknown;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface ChildQueue {
  readonly length: number;
  /** Resolves to the run's result; rejects with a ChildFault if the run never starts. */
  add(input: unknown): Promise<unknown>;
  /** Takes the run that has waited longest. */
  next(): Run | undefined;
  /** Refuses waiting runs and all later ones. */
  stop(): void;
}

export function createChildQueue(limits: { readonly maxQueued: number; readonly maxWaitMs: number }): ChildQueue {
  /** In order of arrival, each with the timer that limits its wait. */
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
