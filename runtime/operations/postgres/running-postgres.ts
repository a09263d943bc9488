import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DatabaseTarget } from "../../db/db.ts";
import { isUnsynced } from "../../system/whole-folder.ts";

/**
 * The embedded server of a running Corestead on this data folder, according to `postmaster.pid` (line 4: port, 5:
 * socket folder, 8: ready); undefined if none runs.
 */
export async function runningPostgres(dataDir: string): Promise<DatabaseTarget | undefined> {
  const cluster = join(dataDir, "postgres");
  const lines = (await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => ""))
    .split("\n")
    .map((line) => line.trim());
  const [, , , port = "", socketDir = "", , , status = ""] = lines;
  if (!status.startsWith("ready")) return undefined;
  const listening = () => isListening(`${socketDir}/.s.PGSQL.${port}`);
  // What a new one is told could be lost until it is on disk.
  while ((await isUnsynced(cluster)) && (await listening())) await sleep(20);
  if (!(await listening())) return undefined;
  return { socketDir, port: Number(port), database: "corestead", user: "corestead" };
}

/** The file may be left by a killed server, and another program may have its process id by now. */
function isListening(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket);
    connection.once("error", () => resolve(false));
    connection.once("connect", () => {
      connection.destroy();
      resolve(true);
    });
  });
}
