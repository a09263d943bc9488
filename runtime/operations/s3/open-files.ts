import type { Config } from "../../settings/config.ts";
import type { Log } from "../../system/log.ts";
import { configuredBucket, type S3Config } from "./configured-bucket.ts";
import { parseBucketPlace } from "../../settings/bucket.ts";
import { roomIn } from "../../system/room.ts";
import { filesInBucket } from "./bucket-files.ts";
import { createFiles, type Files } from "../../files/files.ts";
import { join } from "node:path";

/** Short enough for whoever waits for an answer. */
const tuning = { waits: [200, 800, 2_000], readBytes: 2_000_000 };

/** Files where the settings say. A folder in another one is a cache, and stays on this machine. */
export function openFiles(config: Pick<Config, "dataDir" | "diskReserveBytes" | "filesBucket"> & S3Config, log: Log) {
  const place = parseBucketPlace(config.filesBucket);
  const bucket = place && configuredBucket(config, place.bucket, log, tuning);
  const room = roomIn(config.dataDir, config.diskReserveBytes);
  return (folder: string): Files => {
    const local = createFiles(join(config.dataDir, folder), room);
    if (!bucket || folder.includes("/")) return local;
    return filesInBucket(bucket, `${place.prefix}${folder}/`, local, log);
  };
}
