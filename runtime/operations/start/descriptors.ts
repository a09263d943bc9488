/** How many files and connections this process may have open. Beyond that it accepts nobody, and cannot say why. */
import { readdirSync, readFileSync } from "node:fs";
import type { Log } from "../../system/log.ts";
import type { Metrics } from "../../system/metrics.ts";

/** A thousand clients, and PostgreSQL's connections and files beside them. */
const enough = 4_096;

/** Linux: Bun has raised it as far as it may. Undefined elsewhere, and where there is no limit. */
export function mostDescriptors(limits: string = textOf("/proc/self/limits")): number | undefined {
  const line = limits.split("\n").find((one) => one.startsWith("Max open files"));
  const most = Number(line?.slice("Max open files".length).trim().split(" ")[0]);
  return Number.isNaN(most) ? undefined : most;
}

export function watchDescriptors(log: Log, metrics: Metrics, most = mostDescriptors()): void {
  if (most === undefined) return;
  metrics.gauge("process_max_fds", "Files and connections that this process may have open", () => most);
  metrics.gauge("process_open_fds", "Files and connections that are open", () => readdirSync("/proc/self/fd").length);
  if (most < enough)
    log.warn("few connections fit: raise the limit of open files (ulimit -n, LimitNOFILE)", { most, wanted: enough });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
