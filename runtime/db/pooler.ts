import { openPool, type DatabaseTarget } from "./db.ts";

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
