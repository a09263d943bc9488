import { join } from "node:path";
import type { DatabaseTarget } from "../db.ts";

/**
 * The embedded server of a running Corestead on this data folder, according to `postmaster.pid` (line 4: port, 5:
 * socket folder, 8: ready); undefined if none runs.
 */
export async function runningPostgres(dataDir: string): Promise<DatabaseTarget | undefined> {
  const file = Bun.file(join(dataDir, "postgres", "postmaster.pid"));
  const lines = (await file.text().catch(() => "")).split("\n").map((line) => line.trim());
  const [, , , port = "", socketDir = "", , , status = ""] = lines;
  if (!status.startsWith("ready") || !(await isListening(`${socketDir}/.s.PGSQL.${port}`))) return undefined;
  return { socketDir, port: Number(port), database: "corestead", user: "corestead" };
}

/** The file may be left by a killed server, and another program may have its process id by now. */
async function isListening(socket: string): Promise<boolean> {
  try {
    const connection = await Bun.connect({ unix: socket, socket: { data: () => {} } });
    connection.end();
    return true;
  } catch {
    return false;
  }
}
