/**
 * A real PostgreSQL that lives and dies with this process, for installations without a server of their own.
 *
 *     const server = await startEmbeddedPostgres({ dataDir: "./data", log });
 *     const sql = openPool(server.target);
 *     …
 *     await sql.end();
 *     await server.stop();
 */
import { closeSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openPool, type SocketTarget } from "../db.ts";
import type { Log } from "../log.ts";
import { start, type Started } from "../process.ts";
import { bundledCluster, noPostgresHere, postgresHome } from "./postgres-binaries.ts";
import {
  lockFolder,
  mayRun,
  prepareFolder,
  type RunAs,
  seedCluster,
  socketFolder,
  spawnAs,
  unnamed,
  usualConnections,
} from "./postgres-folder.ts";
import { clearLeftovers, clearUnfinished } from "./postgres-leftovers.ts";
import { dropSlots, walSettings } from "./wal-slot.ts";
import { exists } from "./whole-folder.ts";

export interface EmbeddedPostgres {
  target: SocketTarget;
  /** Stops the server: aborts running statements and keeps what is committed. */
  stop(): Promise<void>;
  /** Resolves when the folder is on disk: what a new one keeps survives a power cut from then on. */
  synced: Promise<void>;
  /** The server's process id while it runs. */
  pid(): number | undefined;
}

export interface Needed {
  dataDir: string;
  log: Log;
  /** Memory for the page cache; default: the value in postgresql.conf. */
  cacheMegabytes?: number;
  /** How many the server must take at least; the value in postgresql.conf is enough for the usual ones. */
  connections?: number;
  /** Whether changes are archived (backups/wal-archive.ts). */
  archived?: boolean;
  /** Empties the database that the archive in the binary has migrated: for the backup of an older version. */
  bare?: boolean;
  /** Whether the caller waits for `synced` itself. */
  early?: boolean;
  /** Called when initdb or the server has been started and there is nothing to do but wait. */
  onWait?: () => void;
  /** Called when the server has died and runs again. */
  onRestart?: () => void;
}

export const database = "corestead";
/** The name that initdb gives to the database that becomes ours. */
const administrative = "postgres";
export const user = "corestead";
export const port = 5432;
const usuallyReadyWithinMs = 60_000;
const stopsWithinMs = 8_000;
/** For the superuser, the doctor, a backup and the other commands that run beside a server. */
const keptFree = 12;
const logMaxBytes = 5_000_000;

/** Starts the server; creates its folder on the first start. Throws if the folder is in use or unusable. */
export async function startEmbeddedPostgres(needed: Needed): Promise<EmbeddedPostgres> {
  if (process.platform === "win32") throw noPostgresHere("Windows has no server of ours");
  const { dataDir, cluster, runAs } = await prepareFolder(needed.dataDir);
  const unlock = lockFolder(dataDir);
  let socketDir: string | undefined;
  let settled = Promise.resolve();
  const cleanUp = async () => {
    await settled;
    if (socketDir && !socketDir.startsWith(dataDir)) await rm(socketDir, { recursive: true, force: true });
    unlock();
  };
  try {
    await clearUnfinished(dataDir);
    const programs = postgresHome(dataDir, (program) => mayRun(program, runAs));
    // A cluster that only has to be unpacked does not wait for the programs.
    const seeded = seedCluster(programs, cluster, runAs, needed.onWait);
    const [{ home, sync: syncPrograms }, { isNew, sync: syncCluster }] = await Promise.all([programs, seeded]);
    const anew = isNew && bundledCluster() !== undefined && needed.bare === true;
    const note = join(cluster, unnamed);
    if (anew) await writeFile(note, "");
    socketDir = await socketFolder(dataDir, runAs);
    const logFile = join(dataDir, "postgres.log");
    const onWait = needed.onWait && { onWait: needed.onWait };
    const target = { socketDir, port, database, user };
    const bare = {
      home,
      cluster,
      socketDir,
      logFile,
      runAs,
      connections: needed.connections ?? 0,
      archived: needed.archived ?? false,
      ...onWait,
    };
    const { place, first } = await launchWithCache(bare, needed);
    if (await exists(note)) {
      await ensureDatabase(target, anew).catch(async (error: unknown) => {
        await first.end();
        throw error;
      });
      await rm(note);
    }
    // Not before PostgreSQL runs, because its own small files would wait for all of these.
    const synced = syncCluster();
    // Nobody waits for the programs: a start that finds them unsynced unpacks them again.
    settled = synced.then(syncPrograms).catch(() => {});
    const watched = watch(first, () => launch(place), needed);
    const stop = async () => {
      await watched.stop();
      await cleanUp();
    };
    let stopping: Promise<void> | undefined;
    if (!needed.early) await untilSynced(synced, watched.stop);
    return { target, synced, pid: watched.pid, stop: () => (stopping ??= stop()) };
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

/** A server on a folder that the disk does not take is of no use. */
async function untilSynced(synced: Promise<void>, stop: () => Promise<void>): Promise<void> {
  await synced.catch(async (error: unknown) => {
    await stop();
    throw error;
  });
}

export interface Place {
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
interface Run {
  pid: number;
  exited: Promise<number>;
  end(): Promise<void>;
}

/**
 * A kernel that does not overcommit memory may refuse a large cache. A server with a small cache is better than none.
 */
async function launchWithCache(place: Place, { cacheMegabytes, log }: Needed) {
  if (cacheMegabytes === undefined) return { place, first: await launch(place) };
  const roomy = { ...place, cacheMegabytes };
  try {
    return { place: roomy, first: await launch(roomy) };
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes("could not map anonymous shared memory")) throw error;
    log.warn("PostgreSQL gets no memory for its cache and is started with less", { cacheMegabytes });
    return { place, first: await launch(place) };
  }
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
}: Place): Promise<Run> {
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

/**
 * A new cluster contains an unused administrative database. The first start renames it to ours, because creating
 * another one would take longer than everything else.
 */
async function ensureDatabase(target: SocketTarget, anew: boolean): Promise<void> {
  if (!anew && (await answers(target))) return;
  const sql = openPool({ ...target, database: "template1" }, { max: 1, applicationName: "corestead start" });
  try {
    if (anew) await sql`drop database if exists ${sql(target.database)}`;
    const [unused] = await sql`select 1 from pg_database where datname = ${administrative}`;
    if (unused) await sql`alter database ${sql(administrative)} rename to ${sql(target.database)}`;
    else await sql`create database ${sql(target.database)}`;
  } finally {
    await sql.end();
  }
}

/** False if there is no such database. */
async function answers(target: SocketTarget): Promise<boolean> {
  const sql = openPool(target, { max: 1, applicationName: "corestead start" });
  try {
    await sql`select 1`;
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "3D000") return false;
    throw error;
  } finally {
    await sql.end();
  }
}

/** Restarts the server when it dies, until it is stopped. */
function watch(first: Run, again: () => Promise<Run>, { log, onRestart }: Needed) {
  let current: Run | undefined = first;
  const stopping = new AbortController();
  const watching = (async () => {
    while (current) {
      const code = await current.exited;
      current = undefined;
      if (stopping.signal.aborted) return;
      log.error("PostgreSQL died and is restarted", { status: code });
      current = await untilItRuns(again, stopping.signal, log);
      if (stopping.signal.aborted) return current?.end();
      onRestart?.();
    }
  })();
  const stop = async () => {
    stopping.abort();
    await current?.end();
    await watching;
  };
  return { stop, pid: () => current?.pid };
}

/** The backends of a killed server take a moment to notice; until they are gone, a new server refuses to start. */
async function untilItRuns(again: () => Promise<Run>, stopping: AbortSignal, log: Log): Promise<Run | undefined> {
  const stopped = new Promise<void>((resolve) => stopping.addEventListener("abort", () => resolve()));
  for (let delayMs = 20; !stopping.aborted; delayMs = Math.min(delayMs * 2, 5_000)) {
    try {
      return await again();
    } catch (error) {
      log.warn("PostgreSQL could not be restarted", { error });
      await Promise.race([sleep(delayMs), stopped]);
    }
  }
  return undefined;
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
