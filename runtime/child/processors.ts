/**
 * The processors of child processes: the upper half of those that the server may use. A request passes between server,
 * PostgreSQL and client several times. If a run may be on any processor, each of them finds a free one less often, and
 * waits for another of them, or until the run is interrupted, however low its priority is.
 */
import { readFileSync } from "node:fs";

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
