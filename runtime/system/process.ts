/** Starts processes, in the way that all hosts share. */
import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { constants } from "node:os";

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
