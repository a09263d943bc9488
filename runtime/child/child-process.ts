/** One child process, as its parent sees it: start, ask, kill. They are kept by child-pool.ts, their inside is child-main.ts. */
import { closeSync } from "node:fs";
import { lastWords, linesOf } from "./child-output.ts";
import { cpuSecondsOf } from "./cpu-time.ts";
import type { Log } from "../log.ts";
import { ownProgram } from "../command/own-program.ts";

export type ChildReason = "busy" | "crash" | "result-too-large" | "stopped" | "timeout";

/** A run in a child process that gave no result. */
export class ChildFault extends Error {
  readonly reason: ChildReason;

  constructor(reason: ChildReason, message: string) {
    super(message);
    this.name = "ChildFault";
    this.reason = reason;
  }
}

export interface ChildProcess {
  readonly alive: boolean;
  /** One at a time. */
  ask(input: unknown): Promise<Answer>;
  /** Ends it at once, with whatever it started. */
  kill(): void;
}

export interface Answer {
  readonly output: unknown;
  /** The memory that the process holds. */
  readonly rss: number;
}

export interface Needed {
  readonly plugin: string;
  readonly name: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly programs: () => Promise<Readonly<Record<string, string>>>;
  readonly timeLimitMs: number;
  readonly memoryBytes: number;
  readonly maxResultBytes: number;
  /** A run that takes so long is told of while it goes on; where it gets no processor, later. */
  readonly longRunMs: number;
  readonly onLongRun: () => void;
  readonly log: Log;
}

/** What the child prints: one line of JSON for each answer, and one when it is ready. */
type Line =
  | { readonly ready: true }
  | ({ readonly ok: true } & Answer)
  | { readonly ok: false; readonly error: string };

/**
 * `kill -9` of the server leaves no orphan: the guard waits for the end of a pipe whose other end is ours. `$1` is the
 * limit of memory in KiB. A long run must not slow the server's answers, so it is nicer than that: by itself, and where
 * Linux shares its processors between sessions first (sched(7), autogroup), as the session that it is.
 */
const launcher = `
  (exec <&- >/dev/null 2>&1; read -r end <&3; kill -9 0) &
  exec 3<&-
  ulimit -c 0
  ulimit -d "$1" 2>/dev/null
  shift
  { echo 10 >/proc/self/autogroup; } 2>/dev/null
  command -v nice >/dev/null && exec nice -n 10 "$@"
  exec "$@"`;

/** Wall-clock time: beside other work a process waits for its turn before it has read its own program. */
const startLimitMs = 60_000;

export function startChildProcess(needed: Needed): ChildProcess {
  return new GuardedProcess(needed);
}

class GuardedProcess implements ChildProcess {
  readonly #needed: Needed;
  readonly #ready = Promise.withResolvers<void>();
  readonly #startTimer = setTimeout(() => this.#end("crash", "the process did not start in time"), startLimitMs);
  #process: Spawned | undefined;
  #pending: PromiseWithResolvers<Answer> | undefined;
  /** Why it has ended. */
  #ending: ChildFault | undefined;

  constructor(needed: Needed) {
    this.#needed = needed;
    this.#ready.promise.catch(() => {}); // nobody may be waiting for it
    this.#launch().catch((error: unknown) => this.#end("crash", String(error)));
  }

  get alive(): boolean {
    return !this.#ending;
  }

  async ask(input: unknown): Promise<Answer> {
    await this.#ready.promise;
    if (this.#ending || !this.#process) throw this.#ending ?? new Error("ready without a process");
    const { timeLimitMs, longRunMs, onLongRun } = this.#needed;
    const answer = (this.#pending = Promise.withResolvers<Answer>());
    const tooLong = (): void => this.#end("timeout", `no result in ${timeLimitMs} ms`);
    const spent = processorTimeOf(this.#process.pid);
    const stops = [limitTime(spent, timeLimitMs, tooLong), limitTime(spent, longRunMs, onLongRun)];
    send(this.#process, { input });
    return answer.promise.finally(() => {
      for (const stop of stops) stop();
    });
  }

  kill(): void {
    this.#end("stopped", "the process was stopped");
  }

  async #launch(): Promise<void> {
    const programs = await this.#needed.programs();
    if (this.#ending) return;
    this.#process = spawn(this.#needed, { ...this.#needed.env, ...programs });
    void this.#bury(this.#process);
    const { maxResultBytes } = this.#needed;
    for await (const text of linesOf(this.#process.stdout, maxResultBytes)) {
      if (text === undefined) return this.#end("result-too-large", `the result is larger than ${maxResultBytes} bytes`);
      this.#take(JSON.parse(text) as Line); // child-main.ts writes it
    }
  }

  #take(line: Line): void {
    if ("ready" in line) {
      clearTimeout(this.#startTimer);
      this.#ready.resolve();
    } else if (line.ok) {
      this.#pending?.resolve(line);
      this.#pending = undefined;
    } else this.#end("crash", line.error);
  }

  /** Waits for its end, whoever brings it about. */
  async #bury(process: Spawned): Promise<void> {
    const complaints = lastWords(process.stderr);
    const code = await process.exited;
    closePipe(process);
    const stderr = await complaints;
    if (!this.#ending) this.#needed.log.warn("a child process ended", { child: this.#needed.name, code, stderr });
    this.#end("crash", `the process ended (${process.signalCode ?? code})`);
  }

  #end(reason: ChildReason, message: string): void {
    if (this.#ending) return; // its process group is gone, and the number may be another's by now
    this.#ending = new ChildFault(reason, message);
    clearTimeout(this.#startTimer);
    if (this.#process) killGroup(this.#process.pid);
    this.#ready.reject(this.#ending);
    this.#pending?.reject(this.#ending);
    this.#pending = undefined;
  }
}

type Spawned = ReturnType<typeof spawn>;

function spawn({ plugin, name, cwd, memoryBytes }: Needed, env: Readonly<Record<string, string>>) {
  const { PATH = "/usr/local/bin:/usr/bin:/bin" } = process.env;
  const limit = `${Math.floor(memoryBytes / 1024)}`;
  const command = [...ownProgram(), "child", plugin, name];
  return Bun.spawn(["/bin/sh", "-c", launcher, "sh", limit, ...command], {
    cwd,
    env: {
      PATH,
      // Address space that is kept for compiled code counts as data: the default would take most of the limit.
      BUN_JSC_jitMemoryReservationSize: "67108864",
      BUN_JSC_forceRAMSize: `${memoryBytes >> 1}`,
      // One run is the work of one processor: the others are left to who waits for an answer.
      BUN_JSC_numberOfGCMarkers: "1",
      BUN_JSC_numberOfDFGCompilerThreads: "1",
      BUN_JSC_numberOfFTLCompilerThreads: "1",
      BUN_ENABLE_CRASH_REPORTING: "0",
      DO_NOT_TRACK: "1",
      ...env,
    },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    detached: true, // a process group of its own, so that one signal reaches all of it
  });
}

/**
 * Calls `end` when a run has had its time. On a machine that is busy with more urgent work a nice process gets little of
 * it: one that did not have a processor for half of its time is given more, up to three times as much. Answers with the
 * way to stop.
 */
function limitTime(spentMs: () => number | undefined, limitMs: number, end: () => void): () => void {
  const check = (elapsedMs: number): void => {
    const spent = spentMs();
    const starved = spent !== undefined && spent < limitMs / 2;
    if (!starved || elapsedMs >= 3 * limitMs) return end();
    timer = setTimeout(() => check(elapsedMs + limitMs / 4), limitMs / 4);
  };
  let timer = setTimeout(() => check(limitMs), limitMs);
  return () => clearTimeout(timer);
}

/** What a process uses from now on, in milliseconds; undefined where the system does not say. */
function processorTimeOf(pid: number): () => number | undefined {
  const before = cpuSecondsOf(pid) ?? 0;
  return () => {
    const used = cpuSecondsOf(pid);
    return used === undefined ? undefined : (used - before) * 1000;
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

/** One that has just ended takes no more input: #bury says so. */
function send(process: Spawned, line: unknown): void {
  const written = async (): Promise<void> => {
    await process.stdin.write(`${JSON.stringify(line)}\n`);
    await process.stdin.flush();
  };
  written().catch(() => {});
}

/** Bun leaves further pipes of a process open. */
function closePipe(process: Spawned): void {
  const guard = process.stdio[3];
  if (typeof guard === "number") closeSync(guard);
}
