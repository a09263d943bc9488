/** How many connections an installation opens. */
import type { Config } from "../settings/config.ts";

/** What else each process opens: to serve all plugins beside one that is stuck, to listen, and to tell whether it is ready. */
const besidePool = 4;

/** For the archive of WAL: a lock, what is done under it, and the same for a base. */
export const archivePool = 4;

/** Of all processes of this machine together. */
export function connectionsOf(
  config: Pick<Config, "workers" | "databasePool" | "databaseReadUrl" | "backupWal">,
): number {
  const { workers, databasePool, databaseReadUrl, backupWal } = config;
  // One that asks how far the replicas must be.
  const forReplicas = databaseReadUrl === "" ? 0 : 1;
  const forArchive = backupWal === "on" ? archivePool : 0;
  return workers * (databasePool + besidePool + forReplicas + forArchive);
}
