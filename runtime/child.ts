/**
 * Runs a plugin's function on hostile input in a child process of the same executable (DESIGN 5): without secrets in its
 * environment, in an empty folder, with a memory limit, a time limit and SIGKILL for it and whatever it started. A
 * Worker cannot be stopped inside a native call or a regular expression; a process can.
 *
 *     definePlugin({ name: "apps", children: { compile: () => import("./compiler/main.ts") }, … })
 *     const compile = ctx.child("compile");
 *     const output = await compile.run(input);        // throws a ChildFault
 */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { ChildFault, startChildProcess, type ChildProcess } from "./child-process.ts";
import type { Log } from "./log.ts";

export interface ChildOptions {
  /** Processes at work; left out = one, or two where there are four processors or more. */
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
  /** and stopped when it had nothing to do for so long. */
  readonly idleMs?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** `warm` gives the server a moment for itself first. */
  readonly warmAfterMs?: number;
  /** Programs of the executable (generated.ts) by the variable that tells the child where they are. */
  readonly programs?: Readonly<Record<string, string>>;
}

export interface Child {
  /** What the function answers. Throws a ChildFault where it does not. */
  run(input: unknown): Promise<unknown>;
  /** Starts a process before it is needed. */
  warm(): void;
  stop(): Promise<void>;
}

export interface ChildSetup {
  readonly plugin: string;
  readonly name: string;
  readonly log: Log;
  readonly options: ChildOptions;
  /** The variables that name programs, found before the first start. */
  readonly programs: () => Promise<Readonly<Record<string, string>>>;
}

interface Run {
  readonly input: unknown;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Ends its waiting. */
  readonly expiry: ReturnType<typeof setTimeout>;
}

interface Slot {
  process: ChildProcess | undefined;
  runs: number;
}

const defaults = {
  processes: availableParallelism() >= 4 ? 2 : 1,
  timeLimitMs: 10_000,
  memoryBytes: 1 << 30,
  maxResultBytes: 8_000_000,
  maxQueued: 32,
  maxWaitMs: 150_000,
  maxRuns: 500,
  maxIdleBytes: 400_000_000,
  idleMs: 3_600_000,
  warmAfterMs: 2_000,
};
/** A run that takes so long is likely to be cut off: the process after it starts meanwhile. */
const suspiciousMs = 2_000;
/** So many runs before its last one a process's successor is started. */
const runsAhead = 5;

export function createChild(setup: ChildSetup): Child {
  const options = { ...defaults, ...setup.options };
  const slots: Slot[] = Array.from({ length: options.processes }, () => ({ process: undefined, runs: 0 }));
  const idle = [...slots];
  const waiting: Run[] = [];
  let folder: string | undefined;
  let standby: ChildProcess | undefined;
  let idleTimer: ReturnType<typeof setTimeout> | undefined;
  let warmTimer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;

  const start = (): ChildProcess => {
    folder ??= mkdtempSync(join(tmpdir(), "corestead-child-"));
    return startChildProcess({ ...options, ...setup, env: setup.options.env ?? {}, cwd: folder });
  };
  const prepare = (): void => {
    if (!stopped) standby ??= start();
  };
  const takeProcess = (): ChildProcess => {
    const process = standby?.alive ? standby : start();
    standby = undefined;
    return process;
  };
  const retire = (slot: Slot): void => {
    slot.process?.kill();
    slot.process = undefined;
    slot.runs = 0;
  };

  /** One run on this slot's process; a process that had already worked before and broke gets a second try elsewhere. */
  const work = async (slot: Slot, { input }: Run): Promise<unknown> => {
    for (;;) {
      if (!slot.process?.alive) {
        retire(slot);
        slot.process = takeProcess();
      }
      const { process } = slot;
      const worn = slot.runs > 0;
      const began = performance.now();
      const suspicion = setTimeout(prepare, suspiciousMs);
      try {
        const { output, rss } = await process.ask(input);
        slot.runs++;
        if (slot.runs === options.maxRuns - runsAhead) prepare();
        if (slot.runs >= options.maxRuns || rss > options.maxIdleBytes) retire(slot);
        return output;
      } catch (error) {
        retire(slot);
        prepare();
        // It may have been worn out before; what takes long to break it would break the next one too.
        const brief = performance.now() - began < suspiciousMs;
        const again = error instanceof ChildFault && error.reason === "crash" && worn && brief && !stopped;
        if (!again) throw error;
      } finally {
        clearTimeout(suspicion);
      }
    }
  };

  const rest = (): void => {
    for (const slot of slots) retire(slot);
    standby?.kill();
    standby = undefined;
  };
  const pump = (): void => {
    clearTimeout(idleTimer);
    while (waiting.length > 0 && idle.length > 0) {
      const at = Math.max(
        0,
        idle.findIndex(({ process }) => process?.alive),
      ); // rather one that stands ready
      const [slot] = idle.splice(at, 1);
      const run = waiting.shift();
      if (!slot || !run) return;
      clearTimeout(run.expiry);
      void work(slot, run)
        .then(run.resolve, run.reject)
        .finally(() => {
          idle.push(slot);
          pump();
        });
    }
    if (idle.length < slots.length) return;
    idleTimer = setTimeout(rest, options.idleMs);
    idleTimer.unref();
  };
  const warm = (): void => {
    if (slots.some(({ process }) => process?.alive)) return;
    prepare();
    pump(); // nobody may ever ask for it
  };

  return {
    run(input) {
      if (stopped) return Promise.reject(new ChildFault("stopped", "the server stops"));
      if (waiting.length >= options.maxQueued)
        return Promise.reject(new ChildFault("busy", `${waiting.length} others wait already`));
      return new Promise((resolve, reject) => {
        const expiry = setTimeout(() => {
          waiting.splice(waiting.indexOf(run), 1);
          reject(new ChildFault("busy", `others took more than ${options.maxWaitMs} ms`));
        }, options.maxWaitMs);
        const run: Run = { input, resolve, reject, expiry };
        waiting.push(run);
        pump();
      });
    },
    warm() {
      warmTimer ??= setTimeout(warm, options.warmAfterMs);
      warmTimer.unref();
    },
    async stop() {
      stopped = true;
      clearTimeout(idleTimer);
      clearTimeout(warmTimer);
      for (const { reject, expiry } of waiting.splice(0)) {
        clearTimeout(expiry);
        reject(new ChildFault("stopped", "the server stops"));
      }
      rest();
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
