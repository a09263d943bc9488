import { join } from "node:path";
import type { DatabaseTarget } from "./db.ts";

/**
 * The embedded server that a running Corestead has on this data folder, by the word of its `postmaster.pid` (line 4:
 * port, 5: socket folder, 8: ready); undefined where none runs.
 */
export async function runningPostgres(dataDir: string): Promise<DatabaseTarget | undefined> {
  const file = Bun.file(join(dataDir, "postgres", "postmaster.pid"));
  const lines = (await file.text().catch(() => "")).split("\n").map((line) => line.trim());
  const [pid = "", , , port = "", socketDir = "", , , status = ""] = lines;
  if (!status.startsWith("ready") || !isAlive(Number(pid))) return undefined;
  return { socketDir, port: Number(port), database: "corestead", user: "corestead" };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
