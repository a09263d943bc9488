import type { Config } from "../config.ts";
import type { Log } from "../log.ts";
import { configuredBucket, type S3Config } from "../s3/configured-bucket.ts";
import { parseBucketPlace } from "../s3/settings.ts";
import type { BackupStore } from "./backup-store.ts";
import { createBucketStore } from "./bucket-store.ts";
import { createFolderStore } from "./folder-store.ts";

/** Where the settings say that backups are kept; undefined = nowhere. */
export function configuredStore(config: Pick<Config, "backupDir"> & S3Config, log: Log): BackupStore | undefined {
  const { backupDir } = config;
  if (backupDir === "") return undefined;
  const place = parseBucketPlace(backupDir);
  return place
    ? createBucketStore(configuredBucket(config, place.bucket, log, { readBytes: 4_000_000 }), place)
    : createFolderStore(backupDir);
}
