/** How many connections an installation opens. */
import type { Config } from "../settings/config.ts";
import { openPool, type DatabaseTarget } from "./db.ts";

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

/**
 * Whether an address leads through a pooler such as pgbouncer. A pooler invents the process id that it tells a client,
 * whereas PostgreSQL tells the id of the process that serves the session.
 */
export async function isPooled(target: DatabaseTarget, connectTimeoutMs: number): Promise<boolean> {
  if (!("url" in target)) return false;
  const options = { max: 1, prepare: false, pooled: true, connectTimeoutMs, applicationName: "corestead start" };
  const sql = openPool(target, options);
  try {
    const rows = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    return rows[0]?.pid !== rows.state.pid;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
