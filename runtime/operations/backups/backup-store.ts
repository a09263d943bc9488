import { createReadStream } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { nameOfPartial, sync, writeWhole } from "../../system/whole-folder.ts";
import { codeOf } from "../../base/values.ts";
import type { Bucket } from "../s3/s3.ts";
import { parseBucketPlace, type BucketPlace } from "../../settings/bucket.ts";
import type { Config } from "../../settings/config.ts";
import type { Log } from "../../system/log.ts";
import { configuredBucket, type S3Config } from "../s3/configured-bucket.ts";
import { parseWalName, timeIn, timeText } from "./wal-names.ts";
import type { BackupRun } from "./run-store.ts";

/** Where backups are kept: ours by their names (wal-names.ts has those of the archive). Whatever else lies there is not ours. */
export interface StoredBackup {
  readonly name: string;
  /** When it was begun. */
  readonly at: Date;
  readonly bytes: number;
}

export interface BackupStore {
  /** For people. */
  readonly place: string;
  /** The newest first. */
  list(): Promise<StoredBackup[]>;
  /** When it resolves, all bytes are durable under the name; if it rejects or the process is killed, none are. */
  write(name: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  read(name: string): AsyncIterable<Uint8Array>;
  has(name: string): Promise<boolean>;
  remove(name: string): Promise<void>;
  /** Removes what an interrupted run has left. Only while no run goes on. */
  tidy(): Promise<void>;
}

/** The backups' folder, and its folder `wal`. */
export interface BackupPlaces {
  readonly backups: BackupStore;
  readonly wal: BackupStore;
}

/** Names of scheduled backups: when they were begun, their lineage, and whether they are sealed. */
const ours = /^corestead-(\d{8}T\d{6}Z)(?:-([\da-f]{8}))?\.backup(\.sealed)?$/;

export function nameOf(at: Date, lineage: string, isSealed: boolean): string {
  return `corestead-${timeText(at)}-${lineage}.backup${isSealed ? ".sealed" : ""}`;
}

/** Undefined in the names of earlier versions. */
export function lineageIn(name: string): string | undefined {
  return ours.exec(name)?.[2];
}

/** Undefined if it is not the name of a backup. */
export function timeOf(name: string): Date | undefined {
  return timeIn(ours.exec(name)?.[1] ?? "");
}

/** With what caused it: the outermost message alone seldom tells what to mend. */
export function reasonOf(error: unknown): string {
  const reasons: string[] = [];
  for (let at = error; at instanceof Error && reasons.length < 5; at = at.cause) reasons.push(at.message);
  return (reasons.length > 0 ? reasons.join(": ") : String(error)).slice(0, 2_000);
}

/** BACKUP_DIR. */
export function backupsInFolder(folder: string, readTime = timeOf): BackupStore {
  return {
    place: folder,
    async list() {
      const found: StoredBackup[] = [];
      for (const name of await readdir(folder).catch(ifMissing)) {
        const at = readTime(name);
        const facts = at && (await stat(join(folder, name)).catch(() => undefined));
        if (at && facts?.isFile()) found.push({ name, at, bytes: facts.size });
      }
      return found.toSorted((a, b) => b.at.getTime() - a.at.getTime());
    },
    async write(name, chunks) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeWhole(join(folder, name), chunks);
      await sync(folder);
    },
    read: (name) => createReadStream(join(folder, name)),
    async has(name) {
      return (await stat(join(folder, name)).catch(() => undefined))?.isFile() === true;
    },
    remove: (name) => rm(join(folder, name), { force: true }),
    async tidy() {
      for (const name of await readdir(folder).catch(ifMissing))
        if (readTime(nameOfPartial(name) ?? "")) await rm(join(folder, name), { force: true });
    },
  };
}

function ifMissing(error: unknown): string[] {
  if (codeOf(error) === "ENOENT") return [];
  throw error;
}

/** BACKUP_DIR=s3://BUCKET/PREFIX. */
export function backupsInBucket(bucket: Bucket, { bucket: name, prefix }: BucketPlace, readTime = timeOf): BackupStore {
  const keyOf = (backup: string) => `${prefix}${backup}`;
  return {
    place: `s3://${name}/${prefix}`,
    async list() {
      const found: StoredBackup[] = [];
      for await (const { key, bytes } of bucket.list(prefix)) {
        const backup = key.slice(prefix.length);
        const at = readTime(backup);
        if (at) found.push({ name: backup, at, bytes });
      }
      return found.toSorted((a, b) => b.at.getTime() - a.at.getTime());
    },
    write: (backup, chunks) => bucket.write(keyOf(backup), chunks),
    read: (backup) => bucket.read(keyOf(backup)),
    has: async (backup) => (await bucket.head(keyOf(backup))) !== undefined,
    remove: (backup) => bucket.remove(keyOf(backup)),
    async tidy() {
      for await (const upload of bucket.unfinished(prefix))
        if (readTime(upload.key.slice(prefix.length))) await bucket.abort(upload);
    },
  };
}

type StoreConfig = Pick<Config, "backupDir"> & S3Config;

/** The configured place of backups; undefined = none. */
export function configuredStore(config: StoreConfig, log: Log): BackupStore | undefined {
  return openStore(config, log);
}

/** Both, for who writes there. */
export function configuredPlaces(config: StoreConfig, log: Log): BackupPlaces | undefined {
  const [backups, wal] = [configuredStore(config, log), configuredWalStore(config, log)];
  return backups && wal && { backups, wal };
}

/** The archive of WAL: the folder `wal` of the backups. */
export function configuredWalStore(config: StoreConfig, log: Log): BackupStore | undefined {
  return openStore(config, log, { folder: "wal", timeIn: (name) => parseWalName(name)?.at });
}

interface Part {
  readonly folder: string;
  readonly timeIn: (name: string) => Date | undefined;
}

function openStore(config: StoreConfig, log: Log, part?: Part): BackupStore | undefined {
  const { backupDir } = config;
  if (backupDir === "") return undefined;
  const place = parseBucketPlace(backupDir);
  if (!place) return backupsInFolder(part ? join(backupDir, part.folder) : backupDir, part?.timeIn);
  const bucket = configuredBucket(config, place.bucket, log, { readBytes: 4_000_000 });
  const prefix = part ? `${place.prefix}${part.folder}/` : place.prefix;
  return backupsInBucket(bucket, { ...place, prefix }, part?.timeIn);
}

/** The output of `corestead backups`. Pure. */
type RunOutcome = Pick<BackupRun, "endedAt" | "verified" | "error">;

export function backupLines(
  stored: readonly StoredBackup[],
  runs: ReadonlyMap<string, RunOutcome>,
  now: Date,
): string[] {
  const cells = stored.map(({ name, at, bytes }) => [
    name,
    age(now.getTime() - at.getTime()),
    size(bytes),
    state(runs.get(name)),
  ]);
  const widths = [0, 1, 2].map((at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  return cells.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  "));
}

/** A database that was restored does not know of later backups. */
function state(run: RunOutcome | undefined): string {
  if (!run) return "unknown here";
  if (run.endedAt === null) return "going on";
  const verified = run.verified ? "verified" : "not verified";
  return run.error === null ? verified : `${verified}: ${run.error}`;
}

function age(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  const [count, unit] =
    minutes < 120
      ? [minutes, "minute"]
      : minutes < 48 * 60
        ? [Math.floor(minutes / 60), "hour"]
        : [Math.floor(minutes / 1440), "day"];
  return `${count} ${unit}${count === 1 ? "" : "s"} old`;
}

function size(bytes: number): string {
  if (bytes < 1_000_000) return `${(bytes / 1e3).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
