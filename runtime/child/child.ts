/**
 * Runs a plugin's function on hostile input in a child process of the same executable (architecture 5): without secrets in its
 * environment, in an empty folder, with a memory limit, a time limit and SIGKILL for it and whatever it started. A
 * Worker cannot be stopped inside a native call or a regular expression; a process can. None is there before the first
 * run, and none stays that has nothing to do: a server that stands idle is small.
 *
 *     definePlugin({ name: "apps", children: { compile: () => import("./compiler/main.ts") }, … })
 *     const compile = ctx.child("compile");
 *     const output = await compile.run(input);        // throws a ChildFault
 */
import { ChildFault } from "./child-process.ts";
import { createChildPool, type Worker } from "./child-pool.ts";
import { createChildQueue, type Run } from "./child-queue.ts";
import type { Log } from "../log.ts";

export interface ChildOptions {
  /** Processes at the most. A second one starts only when a run takes long and others wait for it. */
  readonly processes?: number;
  /** How long one run may take; three times as long where the machine is too busy to give it a processor. */
  readonly timeLimitMs?: number;
  readonly memoryBytes?: number;
  readonly maxResultBytes?: number;
  /** Runs that wait; one more is refused with the reason `busy`. */
  readonly maxQueued?: number;
  /** One that has waited so long is refused too: its client's connection would end before its turn and its run. */
  readonly maxWaitMs?: number;
  /** A process is replaced after so many runs, */
  readonly maxRuns?: number;
  /** or when it has come to hold so much memory, */
  readonly maxIdleBytes?: number;
  /** and ended when it had nothing to do for so long, */
  readonly idleMs?: number;
  /** or for so long where another one stands ready. */
  readonly spareIdleMs?: number;
  /** From here on a run takes long. */
  readonly longRunMs?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Programs of the executable (generated.ts) by the variable that tells the child where they are. */
  readonly programs?: Readonly<Record<string, string>>;
}

export interface Child {
  /** What the function answers. Throws a ChildFault where it does not. */
  run(input: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

export interface Needed {
  readonly plugin: string;
  readonly name: string;
  readonly log: Log;
  readonly options: ChildOptions;
  /** The variables that name programs, found before the first start. */
  readonly programs: () => Promise<Readonly<Record<string, string>>>;
}

const defaults = {
  processes: 2,
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

export function createChild(needed: Needed): Child {
  const { env = {}, ...given } = needed.options;
  const options = { ...defaults, ...given, ...needed, env };
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

  /** A process that had worked before and broke at once may have been worn out: its run gets a second try. */
  const work = async (worker: Worker, input: Run["input"]): Promise<unknown> => {
    const mayBeWorn = worker.runs > 0;
    try {
      return await worker.ask(input);
    } catch (error) {
      // What takes long to break one would break the next one too.
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
