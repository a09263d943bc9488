/**
 * Backups into BACKUP_DIR: written, verified by a restore, and pruned by rule. A schedule makes them, and the command
 * `backup` without a file.
 *
 *     const runs = await makeBackup({ config, places, lineage, target, sets, files, log }); // none: another process is at it
 *     if (runs.at(-1)?.error) …
 */
import type { Config } from "../../settings/config.ts";
import { openPool, withoutTimeouts, type DatabaseTarget, type Sql } from "../../db/db.ts";
import type { Lineage } from "../../lineage/lineage.ts";
import type { Log } from "../../system/log.ts";
import { backup } from "../dump/backup.ts";
import type { FileFolders } from "../dump/backup-files.ts";
import type { MigrationSet } from "../../db/migrate.ts";
import { nameOf, reasonOf, type BackupStore, type BackupPlaces } from "./backup-store.ts";
import { isOwnBackup, mustOwn } from "./backup-owner.ts";
import { failpoint } from "../../system/failpoints.ts";
import { toPrune, type Candidate } from "../../settings/prune-rule.ts";
import { beginRun, endInterrupted, endRun, forgetOldRuns, noteRemoved, runsByFile } from "./run-store.ts";
import type { BackupRun } from "./run-store.ts";
import { dropLeftovers, verifyBackup } from "./scratch.ts";

type BackupConfig = Pick<
  Config,
  "backupKey" | "backupKeep" | "backupVerify" | "databaseListenUrl" | "databasePrepare" | "databaseConnectSeconds"
>;

export interface BackupContext extends VerifyOptions {
  readonly places: BackupPlaces;
  readonly lineage: Lineage;
}

export interface VerifyOptions {
  readonly config: BackupConfig;
  readonly target: DatabaseTarget;
  readonly sets: readonly MigrationSet[];
  readonly files: FileFolders;
  readonly log: Log;
  readonly pooled?: boolean;
  readonly clock?: () => Date;
}

/** An arbitrary number for our advisory lock: one run at a time. */
const backupLock = 7_246_139_002;

/**
 * The run, after those before it that were killed; nothing if another one is going on. Rejects only if the database
 * cannot be asked.
 */
export async function makeBackup(ctx: BackupContext): Promise<readonly BackupRun[]> {
  const { clock = () => new Date() } = ctx;
  const ended = await alone(ctx, async (sql) => [...(await endInterrupted(sql, clock())), await run(ctx, sql, clock)]);
  return ended?.did ?? [];
}

/** Whether nothing else was going on. Rejects with the reason why the stored backup could not be restored. */
export async function verifyAgain(ctx: VerifyOptions, store: BackupStore, name: string): Promise<boolean> {
  return (await alone(ctx, (sql) => verify(ctx, sql, store, name))) !== undefined;
}

/** Undefined if another process holds the lock. */
async function alone<T>({ config, target, pooled = false }: VerifyOptions, work: (sql: Sql) => Promise<T>) {
  const connectTimeoutMs = config.databaseConnectSeconds * 1000;
  // One connection holds the lock, one reads the snapshot, one does the rest.
  const sql = openPool(target, { max: 3, prepare: config.databasePrepare, pooled, connectTimeoutMs });
  try {
    return await sql.begin(async (tx) => {
      await withoutTimeouts(tx);
      const [lock] = await tx`select pg_try_advisory_xact_lock(${backupLock}) as mine`;
      return lock?.["mine"] === true ? { did: await work(sql) } : undefined;
    });
  } finally {
    await sql.end({ timeout: 2 });
  }
}

async function run(ctx: BackupContext, sql: Sql, clock: () => Date): Promise<BackupRun> {
  const { config, places, lineage, log } = ctx;
  const { backups: store } = places;
  const startedAt = clock();
  const name = nameOf(startedAt, lineage.id, config.backupKey !== "");
  const id = await beginRun(sql, startedAt, name);
  const end: { file: string | null; bytes: number | null; verified: boolean; error: string | null } = {
    file: null,
    bytes: null,
    verified: false,
    error: null,
  };
  try {
    await mustOwn(places, sql, lineage);
    await store.tidy();
    let bytes = 0;
    const counted = (chunks: AsyncIterable<Uint8Array>) => counting(chunks, (more) => (bytes += more));
    await backup(sql, (chunks) => store.write(name, counted(chunks)), quiet(log), ctx.files, config.backupKey);
    end.file = name;
    end.bytes = bytes;
    failpoint("backup written");
    if (config.backupVerify === "on") await verify(ctx, sql, store, name);
    end.verified = config.backupVerify === "on";
  } catch (error) {
    end.error = reasonOf(error);
  }
  const ended = await endRun(sql, id, { ...end, endedAt: clock() });
  const { file, bytes, verified, error } = ended;
  if (error !== null) {
    log.error("a backup has failed", { file, reason: error });
    return ended;
  }
  log.info("a backup is made", { file, bytes, verified });
  return pruned(ctx, sql, ended, clock);
}

/** The run, as one that failed if the old backups cannot be removed: the disk would fill up unnoticed. */
async function pruned(ctx: BackupContext, sql: Sql, ended: BackupRun, clock: () => Date): Promise<BackupRun> {
  try {
    await prune(ctx, sql, clock());
    return ended;
  } catch (caught) {
    const error = `the backup is made, but old ones could not be removed: ${reasonOf(caught)}`;
    ctx.log.error("old backups could not be removed", { reason: error });
    return endRun(sql, ended.id, { ...ended, endedAt: clock(), error });
  }
}

/** Counts what passes, and stops where a test kills it. */
async function* counting(chunks: AsyncIterable<Uint8Array>, add: (bytes: number) => void) {
  for await (const chunk of chunks) {
    add(chunk.length);
    failpoint("backup chunk");
    yield chunk;
  }
}

/** Restores a stored backup into a scratch database; rejects with the reason why it could not. */
async function verify(ctx: VerifyOptions, sql: Sql, store: BackupStore, name: string): Promise<void> {
  const { config, target, sets, files, log } = ctx;
  const direct = config.databaseListenUrl ? { url: config.databaseListenUrl } : target;
  await dropLeftovers(sql);
  const from = { name, read: () => store.read(name) };
  await verifyBackup({ sql, target: direct, sets, files, key: config.backupKey, log: quiet(log) }, from).catch(
    (cause: unknown) => {
      throw new Error(`${name} could not be restored into a scratch database`, { cause });
    },
  );
}

/** Only after all else went well: as long as backups fail, the old ones stay. Those of another lineage always do. */
async function prune({ config, places, lineage, log }: BackupContext, sql: Sql, at: Date): Promise<void> {
  const { backups: store } = places;
  const runs = await runsByFile(sql);
  const stored = (await store.list()).filter(({ name }) => isOwnBackup(name, lineage));
  const candidates = stored.map(({ name, at: begun }) => ({ name, at: begun, state: stateOf(runs.get(name)) }));
  for (const name of toPrune(candidates, config.backupKeep)) {
    await store.remove(name);
    await noteRemoved(sql, name, at);
    log.info("an old backup is removed", { file: name });
  }
  await forgetOldRuns(sql);
}

/** A database that was restored does not know of later backups, nor of the one that it came from. */
export function stateOf(known: BackupRun | undefined): Candidate["state"] {
  if (!known) return "unknown";
  return known.error === null ? "good" : "bad";
}

/** The tables of each backup would fill the log of a server. */
function quiet(log: Log): Log {
  return { ...log, info: () => {} };
}
