/**
 * Runs a plugin's function on hostile input in a child process of the same executable (architecture 5): without secrets
 * in its environment, in an empty folder, with limits of memory and time, and SIGKILL for it and everything it started.
 * A Worker cannot be stopped inside a native call or a regular expression; a process can. Processes start with the
 * first run and end when idle, so that an idle server stays small.
 *
 *     definePlugin({ name: "apps", children: { compile: () => import("./compiler/main.ts") }, … })
 *     const compile = ctx.child("compile");
 *     const output = await compile.run(input);        // throws a ChildFault
 */
import { ChildFault, type ProcessOptions } from "./child-process.ts";
import { createChildPool, type Worker } from "./child-pool.ts";

export interface ChildOptions {
  /** The maximum number of processes. A second one starts only when others wait for a long run. */
  readonly processes?: number;
  /** How long a process may take to start: the run that waits for a slower one is refused with the reason `busy`. */
  readonly startLimitMs?: number;
  /**
   * How long a run may take; up to three times as long, and at least 15 s, if the machine is too busy to
   * give it a processor, and then it is refused with the reason `busy` too.
   */
  readonly timeLimitMs?: number;
  readonly memoryBytes?: number;
  readonly maxResultBytes?: number;
  /** How many runs may wait; further ones are refused with the reason `busy`. */
  readonly maxQueued?: number;
  /** A run that has waited this long is refused too: its client's connection would time out before it finished. */
  readonly maxWaitMs?: number;
  /** A process is replaced after this many runs, */
  readonly maxRuns?: number;
  /** or when it uses this much memory after one, */
  readonly maxIdleBytes?: number;
  /** and ended when it has been idle for this long, */
  readonly idleMs?: number;
  /** or for this long if another one is idle too. */
  readonly spareIdleMs?: number;
  readonly longRunMs?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Programs of the executable (generated.ts) by the variable that tells the child where they are. */
  readonly programs?: Readonly<Record<string, string>>;
}

export interface Child {
  /** Returns the function's result. Throws a ChildFault if there is none. */
  run(input: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

/** Whose child it is; `programs` are the variables that name programs, evaluated before a process starts. */
interface ChildContext extends Pick<ProcessOptions, "plugin" | "name" | "log" | "programs"> {
  readonly options: ChildOptions;
}

const defaults = {
  processes: 2,
  // Generous: on a busy machine a process waits long before it has loaded its program.
  startLimitMs: 60_000,
  timeLimitMs: 10_000,
  memoryBytes: 1 << 30,
  maxResultBytes: 8_000_000,
  maxQueued: 32,
  maxWaitMs: 150_000,
  maxRuns: 500,
  maxIdleBytes: 400_000_000,
  idleMs: 600_000,
  spareIdleMs: 60_000,
  longRunMs: 3_000,
};

export function createChild({ options: { env = {}, ...given }, ...ctx }: ChildContext): Child {
  const options = { ...defaults, ...given, ...ctx, env };
  const queue = createChildQueue(options);
  const pump = (): void => {
    while (queue.length > 0) {
      const worker = pool.take();
      const run = worker && queue.next();
      if (!run) return;
      void work(worker, run.input).then(run.resolve, run.reject).finally(pump);
    }
  };
  const pool = createChildPool({ ...options, onLongRun: pump });

  /** A process that crashes quickly after earlier runs may just be worn out, so its run gets a second try. */
  const work = async (worker: Worker, input: Run["input"]): Promise<unknown> => {
    const mayBeWorn = worker.runs > 0;
    try {
      return await worker.ask(input);
    } catch (error) {
      // A long run that crashed one process would crash the next one too.
      const brief = error instanceof ChildFault && error.reason === "crash" && !worker.isLong;
      const another = mayBeWorn && brief ? pool.take() : undefined;
      if (!another) throw error;
      return another.ask(input);
    }
  };

  return {
    run(input) {
      const output = queue.add(input);
      pump();
      return output;
    },
    async stop() {
      queue.stop();
      pool.stop();
    },
  };
}

/** The runs that wait for a process of child-pool.ts: a limited number, and none longer than its client would wait. */
interface Run {
  readonly input: unknown;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

function createChildQueue(limits: { readonly maxQueued: number; readonly maxWaitMs: number }) {
  /** In order of arrival, each with the timer that limits its wait. */
  const waiting = new Map<Run, ReturnType<typeof setTimeout>>();
  let stopped = false;
  const leave = (run: Run): void => {
    clearTimeout(waiting.get(run));
    waiting.delete(run);
  };

  return {
    get length(): number {
      return waiting.size;
    },
    /** Resolves to the run's result; rejects with a ChildFault if the run never starts. */
    add(input: unknown): Promise<unknown> {
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
    /** Takes the run that has waited longest. */
    next(): Run | undefined {
      const [run] = waiting.keys();
      if (run) leave(run);
      return run;
    },
    /** Refuses waiting runs and all later ones. */
    stop(): void {
      stopped = true;
      for (const run of waiting.keys()) {
        leave(run);
        run.reject(new ChildFault("stopped", "the server stops"));
      }
    },
  };
}
