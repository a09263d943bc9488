import { readConfig, type Config } from "./config.ts";
import type { DatabaseTarget } from "./db.ts";
import { startEmbeddedPostgres } from "./embedded-postgres.ts";
import { createLog, type Log } from "./log.ts";
import { cacheMegabytes } from "./postgres-memory.ts";
import { ConfigError, type Environment } from "./settings.ts";

export interface Database {
  readonly target: DatabaseTarget;
  readonly stop: () => Promise<void>;
}

/** The database of this configuration: the one of DATABASE_URL, or the embedded one, started. */
export async function openDatabase({ config, log }: { config: Config; log: Log }): Promise<Database> {
  if (config.databaseUrl) return { target: { url: config.databaseUrl }, stop: async () => {} };
  const cache = config.databaseCacheMegabytes || cacheMegabytes();
  return startEmbeddedPostgres({ dataDir: config.dataDir, cacheMegabytes: cache, log });
}

/**
 * The same before the rest of the program is read: that and PostgreSQL are what a start waits for, and each keeps one
 * processor busy. Undefined where the settings are wrong, which who reads all of them says, and where there are plugins
 * whose settings nobody knows yet.
 */
export function beginDatabase(env: Environment): Promise<Database> | undefined {
  try {
    const config = readConfig(env);
    if (config.pluginsDir !== "") return undefined;
    const database = openDatabase({ config, log: createLog(config.logLevel) });
    database.catch(() => {}); // whoever waits for it is told
    return database;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}
