/**
 * What `backup`, `backups` and `restore` do. They do not start the plugins, which need the right secret key: a backup
 * must work even if that is lost.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { backupLines, timeOf, configuredPlaces, configuredStore, configuredWalStore } from "../backups/backup-store.ts";
import type { BackupStore } from "../backups/backup-store.ts";
import { makeBackup, verifyAgain } from "../backups/backups.ts";
import { own } from "../backups/backup-owner.ts";
import { forgetRunning, runsByFile, type BackupRun } from "../backups/run-store.ts";
import { momentLines } from "../backups/recovery-plan.ts";
import { recover } from "../backups/recovery.ts";
import { heldSets } from "../backups/scratch.ts";
import { parseWalName, type Base, type Piece } from "../backups/wal-names.ts";
import { forgetArchived } from "../backups/wal-store.ts";
import type { Sql } from "../../db/db.ts";
import { failpoint } from "../../system/failpoints.ts";
import { openFiles } from "../s3/open-files.ts";
import { dropAnchors } from "../../lineage/home.ts";
import { adopted, mustAct, noteRestored } from "../../lineage/lineage.ts";
import { replaceLineage } from "../../lineage/lineage-store.ts";
import { inOrder } from "../start/order.ts";
import type { BackupSource } from "../dump/backup-file.ts";
import type { FileFolders } from "../dump/backup-files.ts";
import { backup, backupMigrations, restore } from "../dump/backup.ts";
import { openDatabase, type Database } from "../postgres/database.ts";
import { isMigrated, isUpToDate, migrate } from "../../db/migrate.ts";
import { isPooled } from "../../db/connections.ts";
import { migrationSets } from "../../db/runtime-migrations.ts";
import { forgetRestore, noteRestore } from "../postgres/unfinished-restore.ts";
import { backupNotes, isFilled, restoreNotes } from "../../db/secret-key.ts";
import type { Setup } from "./run.ts";
import { attach, hasDatabase, withDatabase, withPool } from "./with-database.ts";

export async function backupTo(setup: Setup, file: string): Promise<string[]> {
  const { config, log } = setup;
  const notes = await withDatabase(setup, await attach(setup), async (sql) => {
    await backup(sql, file, log, fileFolders(setup), config.backupKey);
    return backupNotes(sql, config);
  });
  const how = config.backupKey === "" ? "" : ", encrypted with BACKUP_KEY";
  return [`the backup is in ${file}${how}`, ...notes];
}

/** What the schedule does, at once. */
export async function backupNow(setup: Setup): Promise<string[]> {
  const { config, log } = setup;
  const places = configuredPlaces(config, log);
  if (!places) throw nowhere();
  const database = await attach(setup);
  return withDatabase(setup, database, async (sql) => {
    const lineage = await mustAct(sql, { config, target: database.target });
    const made = (await makeBackup({ ...(await neededFor(setup, database)), places, lineage })).at(-1);
    if (!made) throw new Error("another backup is going on");
    if (made.error !== null) throw new Error(made.error);
    const how = made.verified ? "and verified" : "and not verified";
    return [
      `the backup is ${made.file} in ${places.backups.place} (${how})`,
      ...(config.backupKey === "" ? ["it is not encrypted: set BACKUP_KEY"] : []),
      ...(await backupNotes(sql, config)),
    ];
  });
}

export async function listBackups(setup: Setup): Promise<string[]> {
  const store = mustHaveStore(setup);
  const runs = await knownRuns(setup);
  const stored = await store.list();
  const lines = stored.length === 0 ? [`there is no backup in ${store.place}`] : backupLines(stored, runs, new Date());
  return [...lines, ...momentLines(await walFiles(setup))];
}

/** A listing makes and migrates nothing. */
async function knownRuns(setup: Setup): Promise<ReadonlyMap<string, BackupRun>> {
  if (!hasDatabase(setup)) return new Map();
  const runtime = migrationSets([]);
  return withPool(setup, await attach(setup), async (sql) =>
    (await isUpToDate(sql, runtime)) ? runsByFile(sql) : new Map<string, BackupRun>(),
  );
}

export async function verifyStored(setup: Setup, given: string | undefined): Promise<string[]> {
  const store = mustHaveStore(setup);
  const name = given ?? (await store.list())[0]?.name;
  if (name === undefined) throw new Error(`there is no backup in ${store.place}`);
  const database = await (hasDatabase(setup) ? attach(setup) : scratchServer(setup));
  return withPool(setup, database, async () => {
    if (!(await verifyAgain(await neededFor(setup, database), store, name))) throw new Error("a backup is going on");
    return [`${name} could be restored`];
  });
}

/** Where there is no database, such as on a machine that only keeps the backups: one that is gone afterwards. */
async function scratchServer(setup: Setup): Promise<Database> {
  const dataDir = await mkdtemp(join(tmpdir(), "corestead-verify-"));
  const database = await openDatabase({ ...setup, config: { ...setup.config, dataDir, backupWal: "off" }, bare: true });
  const stop = () => database.stop().then(() => rm(dataDir, { recursive: true, force: true }));
  return { ...database, stop };
}

async function neededFor(setup: Setup, { target }: Database) {
  const { config, log } = setup;
  const pooled = await isPooled(target, config.databaseConnectSeconds * 1000);
  return { config, target, pooled, sets: migrationSets(inOrder(setup.plugins)), files: fileFolders(setup), log };
}

function mustHaveStore({ config, log }: Setup): BackupStore {
  const store = configuredStore(config, log);
  if (!store) throw nowhere();
  return store;
}

function nowhere(): Error {
  return new Error("where are the backups? set BACKUP_DIR (or say corestead backup FILE)");
}

/** This database is the original from now on, and BACKUP_DIR its own. */
export async function adopt(setup: Setup, database: Database): Promise<string[]> {
  const { config, log } = setup;
  const places = configuredPlaces(config, log);
  return withDatabase(setup, database, async (sql) => {
    const { known, next } = await adopted(sql, { config, target: database.target });
    // First, so that no other installation writes there when this one begins to.
    if (places) await own(places.backups, next.id);
    if (!(await replaceLineage(sql, known, next))) throw new Error("another process has just adopted it: try again");
    if (known && known.id !== next.id) await dropAnchors(config.dataDir);
    const as = known?.id === next.id ? "as before" : "from now on";
    return [
      `the lineage ${next.id} of this database acts on the outside ${as}: restart the server if it runs`,
      ...(places ? [`${places.backups.place} is its own`] : []),
    ];
  });
}

/**
 * Refuses while a server runs on the database. The backup of an older version is loaded into a database as that version
 * had it, which is then migrated.
 */
export async function restoreFrom(setup: Setup, file: string, force: boolean): Promise<string[]> {
  const key = setup.config.backupKey;
  const from = sourceOf(setup, file);
  const sets = migrationSets(inOrder(setup.plugins));
  const then = heldSets(sets, await backupMigrations(from, key));
  const { dataDir } = setup.config;
  // Not before it is certain that no server is running there.
  const isNew = !hasDatabase(setup);
  if (isNew) await noteRestore(dataDir, file);
  const notes = await withPool(setup, await openDatabase({ ...setup, bare: true }), async (sql) => {
    const isUsed = (await isMigrated(sql)) && (await isFilled(sql));
    if (!isNew) await noteRestore(dataDir, file);
    try {
      await migrate(sql, (await isMigrated(sql)) ? sets : then, setup.log);
      failpoint("restoring");
      await restore(sql, from, setup.log, { force, files: fileFolders(setup), key });
    } catch (error) {
      // What was there before is there as it was.
      if (isUsed) await forgetRestore(dataDir);
      throw error;
    }
    await migrate(sql, sets, setup.log);
    await forgetRunning(sql);
    await noteRestored(sql);
    await dropAnchors(dataDir);
    const said = await restoreNotes(sql, setup.config);
    await forgetRestore(dataDir);
    return said;
  });
  return [`${file} is restored`, ...notes, adoptNote];
}

/** The embedded PostgreSQL as it was at a moment, or at the newest that is archived. */
export async function restoreAt(setup: Setup, at: string | undefined): Promise<string[]> {
  const { config, log } = setup;
  if (config.databaseUrl)
    throw new Error(
      "--at is for the embedded PostgreSQL: use the tools of the server of DATABASE_URL, or restore a backup",
    );
  const store = configuredWalStore(config, log);
  if (!store) throw new Error("where is the archive? set BACKUP_DIR, and BACKUP_KEY if it has one");
  const until = at === undefined ? undefined : momentOf(at);
  const notes: string[] = [];
  const finish = async (sql: Sql) => {
    await forgetRunning(sql);
    await forgetArchived(sql);
    await noteRestored(sql);
    await dropAnchors(config.dataDir);
    notes.push(...(await restoreNotes(sql, config)));
  };
  const last = await recover({ store, key: config.backupKey, dataDir: config.dataDir, until, log, finish });
  const known = last ? `: the last change in it is of ${last.toISOString()}` : "";
  return [`the database is restored in ${config.dataDir}${known}`, ...notes, adoptNote];
}

const adoptNote =
  "if it takes the original's place, say `corestead serve --adopt` (or `corestead adopt`, and start the service); until then it runs as a rehearsal";

/** `2026-01-31T12:30:00+01:00`: without an offset it could mean two moments. */
function momentOf(text: string): Date {
  const isWhole = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const at = new Date(text);
  if (isWhole && !Number.isNaN(at.getTime())) return at;
  throw new Error(`--at takes a time with its offset, such as 2026-01-31T12:30:00+01:00, not "${text}"`);
}

async function walFiles({ config, log }: Setup): Promise<(Base | Piece)[]> {
  const files = (await configuredWalStore(config, log)?.list()) ?? [];
  return files.flatMap(({ name }) => parseWalName(name) ?? []);
}

/** A file that is there, or else a scheduled backup of that name. */
function sourceOf({ config, log }: Setup, file: string): BackupSource {
  const store = existsSync(file) || !timeOf(file) ? undefined : configuredStore(config, log);
  return store ? { name: file, read: () => store.read(file) } : file;
}

function fileFolders({ config, plugins, log }: Setup): FileFolders {
  return { open: openFiles(config, log), folders: plugins.flatMap(({ files = [] }) => files) };
}
