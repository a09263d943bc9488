/**
 * One child process as its parent sees it: start, ask, kill. child-pool.ts keeps them; child-main.ts runs inside them.
 */
import { host } from "#host";
import { lastWords, linesOf } from "./child-output.ts";
import { parseExactly } from "../base/exact-number.ts";
import type { Log } from "../system/log.ts";
import { ownProgram, start, machineMemory, type Started } from "../system/process.ts";
import { readdirSync, readFileSync } from "node:fs";

/** `busy` and `stopped` are no fault of the input: the same run may work later. */
export type ChildReason = "busy" | "crash" | "result-too-large" | "stopped" | "timeout";

/** A run in a child process failed to give a result. */
export class ChildFault extends Error {
  readonly reason: ChildReason;

  constructor(reason: ChildReason, message: string) {
    super(message);
    this.name = "ChildFault";
    this.reason = reason;
  }
}

interface Answer {
  readonly output: unknown;
  /** The memory that the process uses. */
  readonly rss: number;
}

export interface ProcessOptions {
  readonly plugin: string;
  readonly name: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly programs: () => Promise<Readonly<Record<string, string>>>;
  readonly startLimitMs: number;
  readonly timeLimitMs: number;
  readonly memoryBytes: number;
  readonly maxResultBytes: number;
  /** `onLongRun` is called after this long, or later if the process gets no processor time. */
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
 * memory limit in KiB, `$2` its processors. A long run must not slow down the server, so the process is nice. Where
 * Linux shares processors between sessions first (sched(7), autogroup), its whole session is too. Beside a server that
 * is as nice already it would starve, and is its equal. Where memory runs out, Linux ends it rather than the server or
 * PostgreSQL.
 */
const launcher = `
  (exec <&- >/dev/null 2>&1; read -r end <&3; kill -9 0) &
  exec 3<&-
  ulimit -c 0
  ulimit -d "$1" 2>/dev/null
  [ -n "$2" ] && taskset -pc "$2" $$ >/dev/null 2>&1
  shift 2
  { echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null
  own=$(nice 2>/dev/null) && [ "$own" -lt 10 ] || exec "$@"
  { echo 10 >/proc/self/autogroup; } 2>/dev/null
  exec nice -n $((10 - own)) "$@"`;

/** Starts at once. */
export class GuardedProcess {
  readonly #options: ProcessOptions;
  readonly #ready = Promise.withResolvers<void>();
  readonly #startTimer: ReturnType<typeof setTimeout>;
  #isReady = false;
  #process: Started | undefined;
  #pending: PromiseWithResolvers<Answer> | undefined;
  /** Why the process has ended. */
  #ending: ChildFault | undefined;

  constructor(options: ProcessOptions) {
    this.#options = options;
    const tooSlow = (): void => this.#starve(`it did not start in ${options.startLimitMs} ms`);
    this.#startTimer = setTimeout(tooSlow, options.startLimitMs);
    this.#ready.promise.catch(() => {}); // perhaps nobody is waiting for it
    this.#launch().catch((error: unknown) => this.#fail(String(error)));
  }

  get alive(): boolean {
    return !this.#ending;
  }

  /** One question at a time. */
  async ask(input: unknown): Promise<Answer> {
    await this.#ready.promise;
    if (this.#ending || !this.#process) throw this.#ending ?? new Error("ready without a process");
    const { timeLimitMs, longRunMs, onLongRun } = this.#options;
    const answer = (this.#pending = Promise.withResolvers<Answer>());
    const tooLong = (starved: boolean): void =>
      starved
        ? this.#starve(`it got less than ${timeLimitMs / 2} ms of processor time in ${patienceMs(timeLimitMs)} ms`)
        : this.#end("timeout", `no result in ${timeLimitMs} ms`);
    const spent = processorTimeOf(this.#process.pid);
    const stops = [limitTime(spent, timeLimitMs, tooLong), limitTime(spent, longRunMs, onLongRun)];
    send(this.#process, { input });
    return answer.promise.finally(() => {
      for (const stop of stops) stop();
    });
  }

  /** Ends it at once, with everything it started. */
  kill(): void {
    this.#end("stopped", "the process was stopped");
  }

  async #launch(): Promise<void> {
    const programs = await this.#options.programs();
    if (this.#ending) return;
    this.#process = spawn(this.#options, { ...this.#options.env, ...programs });
    void this.#bury(this.#process);
    const { maxResultBytes } = this.#options;
    for await (const text of linesOf(this.#process.stdout ?? [], maxResultBytes)) {
      if (text === undefined) return this.#end("result-too-large", `the result is larger than ${maxResultBytes} bytes`);
      this.#take(parseExactly(text) as Line); // child-main.ts writes it
    }
  }

  #take(line: Line): void {
    if ("ready" in line) {
      clearTimeout(this.#startTimer);
      this.#isReady = true;
      this.#ready.resolve();
    } else if (line.ok) {
      this.#pending?.resolve(line);
      this.#pending = undefined;
    } else this.#end("crash", line.error);
  }

  /** Waits for its end, whatever the cause. */
  async #bury(process: Started): Promise<void> {
    const complaints = lastWords(process.stderr ?? []);
    const code = await process.exited;
    const stderr = await complaints;
    if (!this.#ending) this.#options.log.warn("a child process ended", { child: this.#options.name, code, stderr });
    this.#fail(`the process ended (${process.signalCode ?? code}) ${stderr.slice(-300)}`.trimEnd());
  }

  #starve(message: string): void {
    this.#options.log.warn("a child process was starved", { child: this.#options.name, message });
    this.#end("busy", `the process was starved: ${message}`);
  }

  /** A process that was not ready has read no input. */
  #fail(message: string): void {
    this.#end(this.#isReady ? "crash" : "busy", message);
  }

  #end(reason: ChildReason, message: string): void {
    if (this.#ending) return; // its process group is gone, and another process may have the number
    this.#ending = new ChildFault(reason, message);
    clearTimeout(this.#startTimer);
    if (this.#process) killGroup(this.#process.pid);
    this.#ready.reject(this.#ending);
    this.#pending?.reject(this.#ending);
    this.#pending = undefined;
  }
}

/** Address space that a runtime reserves and does not use; it counts as data. */
const reservedBytes = 700_000_000;

/** A process may have half of the machine's or container's memory: the rest is the server's and PostgreSQL's. */
function spawn({ plugin, name, cwd, memoryBytes }: ProcessOptions, env: Readonly<Record<string, string>>) {
  const { PATH = "/usr/local/bin:/usr/bin:/bin" } = process.env;
  const limit = `${Math.floor(Math.min(memoryBytes, reservedBytes + machineMemory() / 2) / 1024)}`;
  const command = [...ownProgram(), "child", plugin, name];
  return start(["/bin/sh", "-c", launcher, "sh", limit, processorsOfChildren(), ...command], {
    cwd,
    env: {
      PATH,
      ...host.childEnv(memoryBytes),
      ...env,
    },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    detached: true, // in its own process group, so that one signal reaches everything
  });
}

/**
 * Calls `end` when a run has used its time. A nice process gets little processor time on a busy machine, so one that
 * had a processor for less than half of the limit is starved: it gets more time. Returns a function that cancels.
 */
function limitTime(spentMs: () => number | undefined, limitMs: number, end: (starved: boolean) => void): () => void {
  const check = (elapsedMs: number): void => {
    const spent = spentMs();
    const starved = spent !== undefined && spent < limitMs / 2;
    if (!starved || elapsedMs >= patienceMs(limitMs)) return end(starved);
    timer = setTimeout(() => check(elapsedMs + limitMs / 4), limitMs / 4);
  };
  let timer = setTimeout(() => check(limitMs), limitMs);
  return () => clearTimeout(timer);
}

const patienceMs = (limitMs: number): number => Math.max(3 * limitMs, 15_000);
/** Processor time that a process uses from now on, in milliseconds; undefined if the system does not tell. */
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
    // It has already ended.
  }
}

/** Errors are ignored here: if the process has just ended, #bury reports that. */
function send(process: Started, line: unknown): void {
  process.stdin?.write(`${JSON.stringify(line)}\n`, () => {});
}

/** USER_HZ, the same on every Linux. */
const ticksPerSecond = 100;

/** Processor seconds used so far by a process and everything it started; undefined if the system does not tell. */
export function cpuSecondsOf(pid: number): number | undefined {
  try {
    const own = ticksOf(pid) / ticksPerSecond;
    return childrenOf(pid).reduce((sum, child) => sum + (cpuSecondsOf(child) ?? 0), own);
  } catch {
    return undefined;
  }
}

function ticksOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name is in parentheses and may contain anything; the times are fields 14 and 15, counted from the start.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const children = readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1");
    return children.split(" ").filter(Boolean).map(Number);
  });
}

/*
 * The processors of child processes: the upper half of those that the server may use. A request passes between server,
 * PostgreSQL and client several times. If a run may be on any processor, each of them finds a free one less often, and
 * waits for another of them, or until the run is interrupted, however low its priority is.
 */

/** As taskset(1) reads it; "" if the system does not tell, or if there is only one processor. */
export function processorsOfChildren(): string {
  try {
    return upperHalf(processorsOf("self")).join(",");
  } catch {
    return "";
  }
}

/** The processors that a process may use. */
export function processorsOf(pid: number | "self"): number[] {
  const list = /^Cpus_allowed_list:\s+(\S+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
  return list === undefined ? [] : parseProcessors(list);
}

/** `0-2,8` -> 0, 1, 2, 8. */
export function parseProcessors(list: string): number[] {
  return list.split(",").flatMap((range) => {
    const [first = NaN, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  });
}

/** Of an odd number, the server keeps one more. */
export function upperHalf(processors: readonly number[]): number[] {
  return processors.slice(Math.ceil(processors.length / 2));
}
