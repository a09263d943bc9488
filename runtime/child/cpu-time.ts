import { readdirSync, readFileSync } from "node:fs";

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
