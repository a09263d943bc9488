import { readdirSync, readFileSync } from "node:fs";

/** USER_HZ, the same on every Linux. */
const ticksPerSecond = 100;

/** Processor seconds that a process and what it started have used so far; undefined where the system does not say. */
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
  // The name stands in brackets and may hold anything; the times are the 14th and 15th field of all.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const children = readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1");
    return children.split(" ").filter(Boolean).map(Number);
  });
}
