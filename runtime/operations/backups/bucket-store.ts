/** BACKUP_DIR=s3://BUCKET/PREFIX. */
import type { Bucket } from "../s3/s3.ts";
import type { BucketPlace } from "../../settings/bucket.ts";
import { timeOf } from "./backup-name.ts";
import type { BackupStore, StoredBackup } from "./backup-store.ts";

export function createBucketStore(bucket: Bucket, { bucket: name, prefix }: BucketPlace, timeIn = timeOf): BackupStore {
  const keyOf = (backup: string) => `${prefix}${backup}`;
  return {
    place: `s3://${name}/${prefix}`,
    async list() {
      const found: StoredBackup[] = [];
      for await (const { key, bytes } of bucket.list(prefix)) {
        const backup = key.slice(prefix.length);
        const at = timeIn(backup);
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
        if (timeIn(upload.key.slice(prefix.length))) await bucket.abort(upload);
    },
  };
}
