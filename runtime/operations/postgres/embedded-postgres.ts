/**
 * A real PostgreSQL that lives and dies with this process, for installations without a server of their own.
 *
 *     const server = await startEmbeddedPostgres({ dataDir: "./data", log });
 *     const sql = openPool(server.target);
 *     …
 *     await sql.end();
 *     await server.stop();
 */
import { codeOf } from "../../base/values.ts";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openPool, type SocketTarget } from "../../db/db.ts";
import type { Log } from "../../system/log.ts";
import { launch, port, type LaunchOptions, type Run } from "./launch.ts";
import { bundledCluster, noPostgresHere, postgresHome } from "./postgres-binaries.ts";
import { lockFolder, mayRun, prepareFolder, seedCluster, socketFolder, unnamed } from "./postgres-folder.ts";
import type { RunAs } from "./postgres-folder.ts";
import { clearUnfinished } from "./postgres-leftovers.ts";
import { exists } from "../../system/whole-folder.ts";

export interface EmbeddedPostgres {
  target: SocketTarget;
  /** Stops the server: aborts running statements and keeps what is committed. */
  stop(): Promise<void>;
  /**
   * Resolves when the folder is on disk: what a new one keeps survives a power cut from then on. The caller of
   * `startEmbeddedPostgres` need not wait for it.
   */
  synced: Promise<void>;
  /** The server's process id while it runs. */
  pid(): number | undefined;
}

export interface PostgresOptions {
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
  /** Called when initdb or the server has been started and there is nothing to do but wait. */
  onWait?: () => void;
  /** Called when the server has died and runs again. */
  onRestart?: () => void;
}

export const database = "corestead";
/** The name that initdb gives to the database that becomes ours. */
const administrative = "postgres";
export const user = "corestead";

/** A server that is starting. */
export interface StartingPostgres {
  target: SocketTarget;
  /** Resolves when it answers; the folder may not be on disk then (`synced`). */
  server: Promise<EmbeddedPostgres>;
}

/** Starts the server; creates its folder on the first start. Throws if the folder is in use or unusable. */
export async function startEmbeddedPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const server = await (await beginEmbeddedPostgres(options)).server;
  await untilSynced(server.synced, server.stop);
  return server;
}

/** The same, without waiting for the server. */
export async function beginEmbeddedPostgres(options: PostgresOptions): Promise<StartingPostgres> {
  if (process.platform === "win32") throw noPostgresHere("Windows has no server of ours");
  const { dataDir, cluster, runAs } = await prepareFolder(options.dataDir);
  const unlock = lockFolder(dataDir);
  let socketDir: string | undefined;
  const cleanUp = async () => {
    if (socketDir && !socketDir.startsWith(dataDir)) await rm(socketDir, { recursive: true, force: true });
    unlock();
  };
  const failed = async (error: unknown) => {
    await cleanUp();
    throw error;
  };
  try {
    socketDir = socketFolder(dataDir, runAs);
  } catch (error) {
    return failed(error);
  }
  const target = { socketDir, port, database, user };
  const server = run({ dataDir, cluster, runAs, target }, options, cleanUp).catch(failed);
  server.catch(() => {}); // who waits for it gets the error
  return { target, server };
}

interface Prepared {
  dataDir: string;
  cluster: string;
  runAs: RunAs;
  target: SocketTarget;
}

async function run(
  { dataDir, cluster, runAs, target }: Prepared,
  options: PostgresOptions,
  cleanUp: () => Promise<void>,
): Promise<EmbeddedPostgres> {
  await clearUnfinished(dataDir);
  const programs = postgresHome(dataDir, (program) => mayRun(program, runAs));
  // A cluster that only has to be unpacked does not wait for the programs.
  const seeded = seedCluster(programs, cluster, runAs, options.onWait);
  const [{ home, sync: syncPrograms }, { isNew, sync: syncCluster }] = await Promise.all([programs, seeded]);
  const anew = isNew && bundledCluster() !== undefined && options.bare === true;
  const note = join(cluster, unnamed);
  if (anew) await writeFile(note, "");
  const { connections = 0, archived = false, onWait } = options;
  const logFile = join(dataDir, "postgres.log");
  const { socketDir } = target;
  const bare = { home, cluster, socketDir, logFile, runAs, connections, archived, ...(onWait && { onWait }) };
  const { place, first } = await launchWithCache(bare, options);
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
  const settled = synced.then(syncPrograms).catch(() => {});
  const watched = watch(first, () => launch(place), options);
  const stop = async () => {
    await watched.stop();
    await settled;
    await cleanUp();
  };
  let stopping: Promise<void> | undefined;
  return { target, synced, pid: watched.pid, stop: () => (stopping ??= stop()) };
}

/** A server on a folder that the disk does not take is of no use. */
async function untilSynced(synced: Promise<void>, stop: () => Promise<void>): Promise<void> {
  await synced.catch(async (error: unknown) => {
    await stop();
    throw error;
  });
}

/**
 * A kernel that does not overcommit memory may refuse a large cache. A server with a small cache is better than none.
 */
async function launchWithCache(place: LaunchOptions, { cacheMegabytes, log }: PostgresOptions) {
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
    if (codeOf(error) === "3D000") return false;
    throw error;
  } finally {
    await sql.end();
  }
}

/** Restarts the server when it dies, until it is stopped. */
function watch(first: Run, again: () => Promise<Run>, { log, onRestart }: PostgresOptions) {
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
