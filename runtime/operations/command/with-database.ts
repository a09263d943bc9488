/** A database for a command that does not start the plugins. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openPool, type Sql } from "../../db/db.ts";
import { inOrder } from "../start/order.ts";
import { openDatabase, type Database } from "../postgres/database.ts";
import { migrate } from "../../db/migrate.ts";
import { isPooled } from "../../db/connections.ts";
import { migrationSets } from "../../db/runtime-migrations.ts";
import { runningPostgres } from "../postgres/running-postgres.ts";
import type { Setup } from "./run.ts";

/** Whether there is one already: that of DATABASE_URL, or the embedded one's folder. */
export function hasDatabase({ config }: Pick<Setup, "config">): boolean {
  return config.databaseUrl !== "" || existsSync(join(config.dataDir, "postgres"));
}

/** For what must not make one. */
export function mustHaveDatabase(setup: Pick<Setup, "config">): void {
  if (hasDatabase(setup)) return;
  throw new Error(`there is no database in ${setup.config.dataDir}: is this the right folder, or DATA_DIR?`);
}

/** Uses the embedded server of a running Corestead, or starts one for this command. */
export async function attach(setup: Setup): Promise<Database> {
  const target = setup.config.databaseUrl ? undefined : await runningPostgres(setup.config.dataDir);
  return target ? { target, stop: async () => {} } : openDatabase(setup);
}

/** Migrates the database, passes it to `run`, and closes it. */
export function withDatabase<T>(setup: Setup, database: Database, run: (sql: Sql) => Promise<T>): Promise<T> {
  return withPool(setup, database, async (sql) => {
    await migrate(sql, migrationSets(inOrder(setup.plugins)), setup.log);
    return run(sql);
  });
}

export async function withPool<T>({ config }: Setup, database: Database, run: (sql: Sql) => Promise<T>): Promise<T> {
  const connectTimeoutMs = config.databaseConnectSeconds * 1000;
  const pooled = await isPooled(database.target, connectTimeoutMs);
  const sql = openPool(database.target, { max: 2, prepare: config.databasePrepare, pooled, connectTimeoutMs });
  try {
    return await run(sql);
  } finally {
    await sql.end({ timeout: 2 });
    await database.stop();
  }
}
