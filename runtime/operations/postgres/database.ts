import { join } from "node:path";
import { readConfig, type Config } from "../../settings/config.ts";
import { databaseFault, openPool, type DatabaseTarget, type Sql } from "../../db/db.ts";
import { connectionsOf } from "../../db/connections.ts";
import { beginEmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres.ts";
import { processLog, type Log } from "../../system/log.ts";
import { cacheMegabytes, stopSignal, type StopSignal } from "../../system/process.ts";
import { existing, freeIn, isDiskFull } from "../../system/room.ts";
import { refuseUnfinished } from "./unfinished-restore.ts";
import { ConfigError, type Environment } from "../../settings/settings.ts";
import { exists } from "../../system/whole-folder.ts";
import { setTimeout as sleep } from "node:timers/promises";

export interface Database {
  readonly target: DatabaseTarget;
  readonly stop: () => Promise<void>;
  /** Of `early` only: resolves when the database answers. */
  readonly ready?: Promise<void>;
  /** Of `early` only: resolves when nothing that the database keeps is lost in a power cut. */
  readonly synced?: Promise<void>;
}

/** An embedded server that is starting. */
export interface StartingDatabase {
  readonly database: Promise<Database>;
  /** Resolves when the process is asked to stop. */
  readonly stopped: Promise<StopSignal>;
}

interface Opening {
  readonly config: Config;
  readonly log: Log;
  /** Without tables, if it has to be made. */
  readonly bare?: boolean;
  /** Whether the caller waits for `ready` and `synced` itself. */
  readonly early?: boolean;
  /** Called when there is only another program to wait for. */
  readonly onWait?: () => void;
}

/** The configured database: that of DATABASE_URL, once it answers, or the embedded one, started. */
export async function openDatabase({ config, log, bare = false, early = false, onWait }: Opening): Promise<Database> {
  if (!bare) refuseUnfinished(config.dataDir);
  if (config.databaseUrl) {
    const target = { url: config.databaseUrl };
    const answering = waitForDatabase(target, { seconds: config.databaseWaitSeconds, log });
    onWait?.();
    await answering;
    return { target, stop: async () => {} };
  }
  const cache = config.databaseCacheMegabytes || cacheMegabytes();
  const { dataDir } = config;
  const connections = connectionsOf(config);
  const archived = config.backupWal === "on";
  const more = { archived, ...(onWait && { onWait }) };
  const needed = { dataDir, cacheMegabytes: cache, connections, log, bare, ...more };
  await mustFit(dataDir);
  if (!early) return startEmbeddedPostgres(needed).catch(noSpaceIn(dataDir));
  const { target, server } = await beginEmbeddedPostgres(needed).catch(noSpaceIn(dataDir));
  const ready = server.then(() => {}, noSpaceIn(dataDir));
  const synced = server.then((running) => running.synced);
  for (const promise of [ready, synced]) promise.catch(() => {}); // who waits for them gets the error
  const stop = async () => (await server.catch(() => undefined))?.stop();
  return { target, ready, synced, stop };
}

/** Disk usage of a first start: the executable's programs and an empty database. */
const firstStartBytes = 150_000_000;

async function mustFit(dataDir: string): Promise<void> {
  if (await exists(join(dataDir, "postgres"))) return;
  const free = await freeIn(await existing(dataDir));
  if (free < firstStartBytes)
    throw new Error(
      `no space left in DATA_DIR (${dataDir}): ${Math.floor(free / 1e6)} MB are free, and a first start takes ${firstStartBytes / 1e6} MB`,
    );
}

/** A full disk makes PostgreSQL end in many ways, few of which name it. */
function noSpaceIn(dataDir: string) {
  return async (error: unknown): Promise<never> => {
    const free = await freeIn(dataDir);
    if (!isDiskFull(error) && free > 1_000_000) throw error;
    throw new Error(`no space left in DATA_DIR (${dataDir})`, { cause: error });
  };
}

/**
 * The same, before the rest of the program is loaded: loading and PostgreSQL are what a start waits for, and each keeps
 * one processor busy. Resolves when PostgreSQL is working, because loading blocks everything else. Undefined if the
 * settings are wrong, which the later reading of all settings reports, and if there are external plugins, whose
 * settings are not known yet.
 */
export async function beginDatabase(env: Environment): Promise<StartingDatabase | undefined> {
  try {
    const config = readConfig(env);
    if (config.pluginsDir !== "") return undefined;
    const stopped = stopSignal(); // the one who listens stops PostgreSQL too
    const working = Promise.withResolvers<void>();
    const database = openDatabase({ config, log: processLog(config), early: true, onWait: working.resolve });
    const failing = database.then(({ ready }) => ready);
    await Promise.race([working.promise, failing]).catch(() => {}); // the one who waits for it gets the error
    return { database, stopped };
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

interface WaitOptions {
  readonly seconds: number;
  readonly log: Log;
}

const pauseMs = 250;

/** Resolves when the server answers. Throws if it does not in time, and at once if waiting cannot help. */
export async function waitForDatabase(target: DatabaseTarget, { seconds, log }: WaitOptions): Promise<void> {
  // Works through any pooler, because it prepares no statements and begins without settings that a pooler may not know.
  const sql = openPool(target, { max: 1, prepare: false, pooled: true, applicationName: "corestead start" });
  const end = Date.now() + seconds * 1000;
  try {
    for (let isFirst = true; ; isFirst = false) {
      const fault = await faultOf(sql, end);
      if (fault === undefined) return;
      if (Date.now() >= end || !isPassing(fault)) throw fault;
      if (isFirst)
        log.warn("the database does not answer yet, waiting for it", {
          seconds,
          reason: fault instanceof Error ? fault.message : fault,
        });
      await sleep(pauseMs);
    }
  } catch (cause) {
    if (!isPassing(cause)) throw cause;
    const waited = `it was waited for ${seconds} s (DATABASE_WAIT_SECONDS)`;
    throw new Error(`the database of DATABASE_URL does not answer, ${waited}`, { cause });
  } finally {
    await sql.end({ timeout: 0 });
  }
}

/** A server that accepts the connection but does not answer does not count as up. */
async function faultOf(sql: Sql, end: number): Promise<unknown> {
  const late = new AbortController();
  const silence = new Promise<Error>((resolve) => {
    const timer = setTimeout(() => resolve(new Error("no answer")), Math.max(1_000, end - Date.now()));
    late.signal.addEventListener("abort", () => clearTimeout(timer));
  });
  const answer = sql`select 1`.then(
    () => undefined,
    (error: unknown) => error,
  );
  const fault = await Promise.race([answer, silence]);
  late.abort();
  return fault;
}

/** Anything but a final answer of the server, such as a wrong password or an unknown database. */
function isPassing(fault: unknown): boolean {
  const isAnswer = fault instanceof Error && fault.name === "PostgresError";
  return !isAnswer || databaseFault(fault) === "unavailable";
}
