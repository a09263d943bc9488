/** Verifies a backup: restores it into a database of its own on the same server, which is dropped afterwards. */
import { openPool, transaction, withoutTimeouts, type DatabaseTarget, type Sql } from "../../db/db.ts";
import type { Log } from "../../system/log.ts";
import { backupMigrations, restore } from "../dump/backup.ts";
import type { BackupSource } from "../dump/backup-file.ts";
import type { FileFolders } from "../dump/backup-files.ts";
import { quoted } from "../dump/backup-schema.ts";
import { migrate, type MigrationSet } from "../../db/migrate.ts";

export interface VerifyOptions {
  readonly sql: Sql;
  /** PostgreSQL itself, not a pooler: the scratch database is reached there. */
  readonly target: DatabaseTarget;
  readonly sets: readonly MigrationSet[];
  readonly files: FileFolders;
  readonly key: string;
  readonly log: Log;
}

/** Rejects with the reason why the backup could not be restored. */
export async function verifyBackup(needed: VerifyOptions, from: BackupSource): Promise<void> {
  const { sql, target, sets, files, key, log } = needed;
  const name = `${await prefixFor(sql)}${crypto.randomUUID().slice(0, 8)}`;
  await createScratch(sql, name);
  try {
    const scratch = openPool(onDatabase(target, name), { max: 2 });
    try {
      await migrate(scratch, heldSets(sets, await backupMigrations(from, key)), log);
      await sameCounts(scratch, await restore(scratch, from, log, { files, key, checkFilesOnly: true, force: true }));
    } finally {
      await scratch.end({ timeout: 2 });
    }
  } finally {
    await dropDatabase(sql, name);
  }
}

/** The migrations that a backup has: a database as it was then. */
export function heldSets(
  sets: readonly MigrationSet[],
  inFile: readonly { readonly plugin: string; readonly name: string }[],
): MigrationSet[] {
  const held = new Set(inFile.map(({ plugin, name }) => `${plugin}/${name}`));
  return sets.map(({ plugin, migrations }) => ({
    plugin,
    migrations: migrations.filter(({ name }) => held.has(`${plugin}/${name}`)),
  }));
}

/** Drops what a crash has left. Only while no other run of this installation is going on. */
export async function dropLeftovers(sql: Sql): Promise<void> {
  const prefix = await prefixFor(sql);
  const rows = await sql<{ name: string }[]>`
    select datname::text as name from pg_database where starts_with(datname::text, ${prefix})`;
  for (const { name } of rows) await dropDatabase(sql, name);
}

/** Other installations on the same server have scratch databases too. */
async function prefixFor(sql: Sql): Promise<string> {
  const [row] = await sql<{ prefix: string }[]>`
    select 'corestead_check_' || left(md5(current_database()), 8) || '_' as prefix`;
  if (!row) throw new Error("PostgreSQL does not say which database this is");
  return row.prefix;
}

async function createScratch(sql: Sql, name: string): Promise<void> {
  const [row] = await sql<{ encoding: string }[]>`
    select pg_encoding_to_char(encoding)::text as encoding from pg_database where datname = current_database()`;
  // C goes with every encoding.
  const how = `template template0 encoding '${row?.encoding ?? "UTF8"}' lc_collate 'C' lc_ctype 'C'`;
  await sql.unsafe(`create database ${name} ${how}`).catch((cause: unknown) => {
    throw new Error("no scratch database can be made (grant the role CREATEDB, or set BACKUP_VERIFY=off)", { cause });
  });
}

async function dropDatabase(sql: Sql, name: string): Promise<void> {
  await sql.unsafe(`drop database if exists ${name} with (force)`);
}

function onDatabase(target: DatabaseTarget, database: string): DatabaseTarget {
  if (!("url" in target)) return { ...target, database };
  const hosts = target.url.indexOf("//") + 2;
  const query = target.url.indexOf("?", hosts);
  const end = query === -1 ? target.url.length : query;
  const path = target.url.indexOf("/", hosts);
  const address = target.url.slice(0, path === -1 || path > end ? end : path);
  return { url: `${address}/${database}${target.url.slice(end)}` };
}

async function sameCounts(sql: Sql, expected: ReadonlyMap<string, number>): Promise<void> {
  await transaction(sql, async (tx) => {
    await withoutTimeouts(tx);
    for (const [table, rows] of expected) {
      const [row] = await tx.unsafe<{ count: string }[]>(`select count(*)::text as count from ${quoted(table)}`);
      if (row?.count !== `${rows}`)
        throw new Error(`table ${table} has ${row?.count} rows after a restore, and ${rows} in the backup`);
    }
  });
}
