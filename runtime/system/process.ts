/** Starts processes, in the way that all hosts share. */
import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { constants, totalmem } from "node:os";
import { join } from "node:path";
import { host } from "#host";

export interface Started extends ChildProcess {
  readonly pid: number;
  /** The exit code: 128 and the signal's number if a signal ended it. Rejects if there is no such program. */
  readonly exited: Promise<number>;
}

export function start([program = "", ...words]: readonly string[], options: SpawnOptions): Started {
  const child = spawn(program, words, options);
  child.stdin?.on("error", () => {}); // a process that has ended takes no more input
  const exited = exitOf(child);
  exited.catch(() => {});
  return Object.assign(child, { exited, pid: child.pid ?? 0 });
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

/** Everything that a stream gives, as text. */
export async function textOf(stream: AsyncIterable<Uint8Array> | null): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of stream ?? []) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

/** A service is stopped by SIGTERM; SIGINT comes from a person who waits at the terminal. */
export type StopSignal = "SIGTERM" | "SIGINT";

/** Resolves at the next of them. */
export function stopSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    process.once("SIGTERM", () => resolve("SIGTERM"));
    process.once("SIGINT", () => resolve("SIGINT"));
  });
}

/** The command that starts this program again: the executable itself, or the host (Bun) and `plugins/main.ts`. */
export function ownProgram(): string[] {
  return host.ownProgram(join(import.meta.dirname, "../../plugins/main.ts"));
}

const leastMegabytes = 128;
const mostMegabytes = 1024;

/**
 * The embedded server's default page cache (`shared_buffers`): an eighth of the memory of this machine or container.
 * Other pages are copied from the kernel's cache at 4 µs each: with 128 MB, a filter for 200 scattered records of a
 * million took twice as long. Unused cache takes no memory.
 */
export function cacheMegabytes(bytes: number = machineMemory()): number {
  return Math.min(mostMegabytes, Math.max(leastMegabytes, Math.floor(bytes / 8 / 2 ** 20)));
}

/** Bytes of this machine or container. */
export function machineMemory(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}
