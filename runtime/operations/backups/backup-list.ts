/** What `corestead backups` prints. Pure. */
import type { StoredBackup } from "./backup-store.ts";
import type { BackupRun } from "./run-store.ts";

type Known = Pick<BackupRun, "endedAt" | "verified" | "error">;

export function backupLines(stored: readonly StoredBackup[], runs: ReadonlyMap<string, Known>, now: Date): string[] {
  const cells = stored.map(({ name, at, bytes }) => [
    name,
    age(now.getTime() - at.getTime()),
    size(bytes),
    state(runs.get(name)),
  ]);
  const widths = [0, 1, 2].map((at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  return cells.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  "));
}

/** A database that was restored does not know of later backups. */
function state(run: Known | undefined): string {
  if (!run) return "unknown here";
  if (run.endedAt === null) return "going on";
  const verified = run.verified ? "verified" : "not verified";
  return run.error === null ? verified : `${verified}: ${run.error}`;
}

function age(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  const [count, unit] =
    minutes < 120
      ? [minutes, "minute"]
      : minutes < 48 * 60
        ? [Math.floor(minutes / 60), "hour"]
        : [Math.floor(minutes / 1440), "day"];
  return `${count} ${unit}${count === 1 ? "" : "s"} old`;
}

function size(bytes: number): string {
  if (bytes < 1_000_000) return `${(bytes / 1e3).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
