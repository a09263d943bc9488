/** One child process, as its parent sees it: start, ask, kill. The pool of them is child.ts, its inside child-main.ts. */
import { closeSync } from "node:fs";
import { join } from "node:path";
import { cpuSecondsOf } from "./cpu-time.ts";
import type { Log } from "./log.ts";

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

export interface ChildProcessOptions {
  readonly plugin: string;
  readonly name: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly programs: () => Promise<Readonly<Record<string, string>>>;
  readonly timeLimitMs: number;
  readonly memoryBytes: number;
  readonly maxResultBytes: number;
  readonly log: Log;
}

/** What the child prints: one line of JSON for each answer, and one when it is ready. */
type Line =
  | { readonly ready: true }
  | ({ readonly ok: true } & Answer)
  | { readonly ok: false; readonly error: string };

/**
 * `kill -9` of the server leaves no orphan: the guard waits for the end of a pipe whose other end is ours. `$1` is the
 * limit of memory in KiB. A long run must not slow the server's answers, so it is nicer than that.
 */
const launcher = `
  (exec <&- >/dev/null 2>&1; read -r end <&3; kill -9 0) &
  exec 3<&-
  ulimit -c 0
  ulimit -d "$1" 2>/dev/null
  shift
  command -v nice >/dev/null && exec nice -n 5 "$@"
  exec "$@"`;

const startLimitMs = 20_000;

export function startChildProcess(options: ChildProcessOptions): ChildProcess {
  let ending: ChildFault | undefined;
  let process: Spawned | undefined;
  const ready = Promise.withResolvers<void>();
  let pending: PromiseWithResolvers<Answer> | undefined;
  ready.promise.catch(() => {}); // nobody may be waiting for it

  const end = (reason: ChildReason, message: string): void => {
    if (ending) return; // its process group is gone, and the number may be another's by now
    ending = new ChildFault(reason, message);
    if (process) killGroup(process.pid);
    ready.reject(ending);
    pending?.reject(ending);
    pending = undefined;
  };
  const take = (line: Line): void => {
    if ("ready" in line) ready.resolve();
    else if (line.ok) {
      pending?.resolve(line);
      pending = undefined;
    } else end("crash", line.error);
  };
  const launch = async (): Promise<void> => {
    const programs = await options.programs();
    if (ending) return;
    process = spawn(options, { ...options.env, ...programs });
    const complaints = tail(process.stderr);
    void process.exited.then(async (code) => {
      closePipe(process);
      const last = await complaints;
      if (!ending) options.log.warn("a child process ended", { child: options.name, code, stderr: last });
      end("crash", `the process ended (${process?.signalCode ?? code})`);
    });
    for await (const text of lines(process.stdout, options.maxResultBytes)) {
      if (text === undefined)
        return end("result-too-large", `the result is larger than ${options.maxResultBytes} bytes`);
      take(JSON.parse(text) as Line); // child-main.ts writes it
    }
  };
  const startTimer = setTimeout(() => end("crash", "the process did not start in time"), startLimitMs);
  void ready.promise.catch(() => {}).finally(() => clearTimeout(startTimer));
  launch().catch((error: unknown) => end("crash", String(error)));

  return {
    get alive() {
      return !ending;
    },
    async ask(input) {
      await ready.promise;
      if (ending || !process) throw ending ?? new Error("ready without a process");
      const answer = Promise.withResolvers<Answer>();
      pending = answer;
      const stopTimer = limitTime(process.pid, options.timeLimitMs, () =>
        end("timeout", `no result in ${options.timeLimitMs} ms`),
      );
      void process.stdin.write(`${JSON.stringify({ input })}\n`);
      void process.stdin.flush();
      return answer.promise.finally(stopTimer);
    },
    kill: () => end("stopped", "the process was stopped"),
  };
}

type Spawned = ReturnType<typeof spawn>;

function spawn({ plugin, name, cwd, memoryBytes }: ChildProcessOptions, env: Readonly<Record<string, string>>) {
  const { PATH = "/usr/local/bin:/usr/bin:/bin" } = process.env;
  const limit = `${Math.floor(memoryBytes / 1024)}`;
  const command = [process.execPath, ...mainFile(), "child", plugin, name];
  return Bun.spawn(["/bin/sh", "-c", launcher, "sh", limit, ...command], {
    cwd,
    env: {
      PATH,
      // Address space that is kept for compiled code counts as data: the default would take most of the limit.
      BUN_JSC_jitMemoryReservationSize: "67108864",
      BUN_JSC_forceRAMSize: `${memoryBytes >> 1}`,
      BUN_ENABLE_CRASH_REPORTING: "0",
      DO_NOT_TRACK: "1",
      ...env,
    },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    detached: true, // a process group of its own, so that one signal reaches all of it
  });
}

/** In development this program is `bun runtime/main.ts`, in the binary it is the executable itself. */
function mainFile(): string[] {
  return /^(\/\$bunfs|.*~BUN)/.test(import.meta.dir) ? [] : [join(import.meta.dir, "main.ts")];
}

/**
 * Ends a run after its time. On a machine that is busy with more urgent work a nice process gets little of it: one that
 * did not have a processor for half of its time is given more, up to three times as much. Answers with the way to stop.
 */
function limitTime(pid: number, limitMs: number, end: () => void): () => void {
  const before = cpuSecondsOf(pid) ?? 0;
  const check = (elapsedMs: number): void => {
    const used = cpuSecondsOf(pid);
    const starved = used !== undefined && (used - before) * 1000 < limitMs / 2;
    if (!starved || elapsedMs >= 3 * limitMs) return end();
    timer = setTimeout(() => check(elapsedMs + limitMs / 4), limitMs / 4);
  };
  let timer = setTimeout(() => check(limitMs), limitMs);
  return () => clearTimeout(timer);
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

/** Bun leaves further pipes of a process open. */
function closePipe(process: Spawned | undefined): void {
  const guard = process?.stdio[3];
  if (typeof guard === "number") closeSync(guard);
}

/** The lines of a stream; undefined, and then no more, where one is longer than `maxBytes`. */
async function* lines(stream: ReadableStream<Uint8Array>, maxBytes: number): AsyncGenerator<string | undefined> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    let rest = chunk;
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      if (length + at > maxBytes) {
        yield undefined;
        return;
      }
      yield Buffer.concat([...parts, rest.subarray(0, at)]).toString("utf8");
      parts = [];
      length = 0;
      rest = rest.subarray(at + 1);
    }
    length += rest.length;
    if (length > maxBytes) {
      yield undefined;
      return;
    }
    if (rest.length > 0) parts.push(rest);
  }
}

/** The end of what a process complains about. */
async function tail(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let last = "";
  try {
    for await (const chunk of stream) last = (last + decoder.decode(chunk, { stream: true })).slice(-1000);
  } catch {
    // The stream of a killed process may end in an error.
  }
  return last;
}
