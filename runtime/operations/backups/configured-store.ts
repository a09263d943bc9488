import { join } from "node:path";
import type { Config } from "../../settings/config.ts";
import type { Log } from "../../system/log.ts";
import { configuredBucket, type S3Config } from "../s3/configured-bucket.ts";
import { parseBucketPlace } from "../../settings/bucket.ts";
import type { BackupPlaces } from "./backup-owner.ts";
import type { BackupStore } from "./backup-store.ts";
import { createBucketStore } from "./bucket-store.ts";
import { createFolderStore } from "./folder-store.ts";
import { parseWalName } from "./wal-names.ts";

type StoreConfig = Pick<Config, "backupDir"> & S3Config;

/** Where the settings say that backups are kept; undefined = nowhere. */
export function configuredStore(config: StoreConfig, log: Log): BackupStore | undefined {
  return openStore(config, log);
}

/** Both, for who writes there. */
export function configuredPlaces(config: StoreConfig, log: Log): BackupPlaces | undefined {
  const [backups, wal] = [configuredStore(config, log), configuredWalStore(config, log)];
  return backups && wal && { backups, wal };
}

/** Where WAL is archived: the folder `wal` there. */
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
  if (!place) return createFolderStore(part ? join(backupDir, part.folder) : backupDir, part?.timeIn);
  const bucket = configuredBucket(config, place.bucket, log, { readBytes: 4_000_000 });
  const prefix = part ? `${place.prefix}${part.folder}/` : place.prefix;
  return createBucketStore(bucket, { ...place, prefix }, part?.timeIn);
}
