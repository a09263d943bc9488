import { join } from "node:path";
import { readConfig, type Config } from "../../settings/config.ts";
import { waitForDatabase } from "./database-wait.ts";
import type { DatabaseTarget } from "../../db/db.ts";
import { connectionsOf } from "../../db/connections.ts";
import { beginEmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres.ts";
import { processLog, type Log } from "../../system/log.ts";
import { cacheMegabytes, stopSignal, type StopSignal } from "../../system/process.ts";
import { existing, freeIn, isDiskFull } from "../../system/room.ts";
import { refuseUnfinished } from "./unfinished-restore.ts";
import { ConfigError, type Environment } from "../../settings/settings.ts";
import { exists } from "../../system/whole-folder.ts";

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
