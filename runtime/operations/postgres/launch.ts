/** Starts PostgreSQL's server process in a folder, and ends it with ours. */
import { closeSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { start, type Started } from "../../system/process.ts";
import { noPostgresHere } from "./postgres-binaries.ts";
import { type RunAs, spawnAs, usualConnections } from "./postgres-folder.ts";
import { clearLeftovers } from "./postgres-leftovers.ts";
import { dropSlots, walSettings } from "./wal-slot.ts";

export const port = 5432;
const usuallyReadyWithinMs = 60_000;
const stopsWithinMs = 8_000;
/** For the superuser, the doctor, a backup and the other commands that run beside a server. */
const keptFree = 12;
const logMaxBytes = 5_000_000;

export interface LaunchOptions {
  home: string;
  cluster: string;
  socketDir: string;
  logFile: string;
  runAs: RunAs;
  connections: number;
  archived: boolean;
  /** More settings, as `name=value`. */
  settings?: readonly string[];
  cacheMegabytes?: number;
  onWait?: () => void;
  /** Default: a minute. */
  readyWithinMs?: number;
}

/** One run of the server process. */
export interface Run {
  pid: number;
  exited: Promise<number>;
  end(): Promise<void>;
}

/**
 * The shell becomes the server. Before that it starts a guard that reads from a pipe to us: when this process ends for
 * any reason, the pipe closes and the guard stops the server. The guard must not be the server's child, because the
 * server would take the death of an unknown child for a crash.
 */
const guarded = `exec 3<&0 </dev/null
( (
  cd /
  read -r word <&3
  [ "$word" = ended ] && exit
  kill -INT $$ || exit
  for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1; kill -0 $$ || exit; done
  kill -QUIT $$
) >/dev/null 2>&1 & )
exec "$@" 3<&-`;

/** Starts a server in this place, without watching it. */
export async function launch({
  home,
  cluster,
  socketDir,
  logFile,
  runAs,
  connections,
  archived,
  settings: more = [],
  cacheMegabytes,
  onWait,
  readyWithinMs = usuallyReadyWithinMs,
}: LaunchOptions): Promise<Run> {
  // Also so that `isReady` does not read an earlier server's file: in a container process ids repeat.
  await clearLeftovers({ cluster, socketDir, port });
  const settings = ["listen_addresses=", `unix_socket_directories=${quoteList(socketDir)}`, `port=${port}`];
  settings.push(
    "unix_socket_permissions=0700",
    "cluster_name=corestead",
    "logging_collector=off",
    "log_destination=stderr",
  );
  const wanted = connections + keptFree;
  if (wanted > usualConnections) settings.push(`max_connections=${wanted}`);
  if (cacheMegabytes !== undefined) settings.push(`shared_buffers=${cacheMegabytes}MB`);
  settings.push(...more);
  if (archived) settings.push(...walSettings);
  else await dropSlots(cluster);
  const args = ["-D", cluster, ...settings.flatMap((setting) => ["-c", setting])];
  rotate(logFile);
  const log = openSync(logFile, "a", 0o600);
  const logStart = statSync(logFile).size;
  const command = ["/bin/sh", "-c", guarded, "corestead-postgres", join(home, "bin/postgres"), ...args];
  const [words, identity] = spawnAs(command, runAs);
  const child = start(words, {
    cwd: cluster,
    stdio: ["pipe", log, log],
    // Its own session: Ctrl-C in the terminal is meant for us, and we stop the server when we have finished with it.
    detached: true,
    ...identity,
  });
  closeSync(log);
  onWait?.();
  const exited = child.exited.then(async (code) => {
    // The guard must not signal another process that has this id by then.
    child.stdin?.end("ended\n");
    return code;
  });
  const end = () => endServer(child, exited);
  const dead = exited.then((code) => {
    const said = readFileSync(logFile).subarray(logStart).toString().trim();
    if (code === 126 || code === 127) throw noPostgresHere(said);
    throw new Error(`PostgreSQL ended while it started (status ${code}): ${said.split("\n").slice(-5).join(" | ")}`);
  });
  await Promise.race([isReady(cluster, child.pid, readyWithinMs), dead]).catch(async (error: unknown) => {
    await end();
    throw error;
  });
  dead.catch(() => {});
  return { pid: child.pid, exited, end };
}

async function endServer(child: Started, exited: Promise<number>): Promise<void> {
  child.kill("SIGINT"); // "fast": roll back and write a checkpoint
  const late = setTimeout(() => child.kill("SIGQUIT"), stopsWithinMs);
  await exited;
  clearTimeout(late);
}

/** The server writes "ready" to the eighth line of postmaster.pid when it accepts connections. */
async function isReady(cluster: string, pid: number, readyWithinMs: number): Promise<void> {
  for (const end = Date.now() + readyWithinMs; Date.now() < end; await sleep(1)) {
    const lines = await readFile(join(cluster, "postmaster.pid"), "utf8")
      .then((text) => text.split("\n"))
      .catch((): string[] => []);
    if (lines[0] === String(pid) && lines[7]?.startsWith("ready")) return;
  }
  throw new Error(`PostgreSQL was not ready within ${readyWithinMs / 1000} s`);
}

/** The setting is a list: quotes keep a comma or space in the path from splitting it. */
function quoteList(path: string): string {
  return `"${path.replaceAll('"', '""')}"`;
}

function rotate(file: string): void {
  try {
    if (statSync(file).size > logMaxBytes) renameSync(file, `${file}.1`);
  } catch {
    // There is no log yet.
  }
}
