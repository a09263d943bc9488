import { event } from "../base/references.ts";

/** A backup of the schedule that ended, well or not. */
export interface BackupEnd {
  /** Its row in backup_runs. */
  readonly id: number;
  /** `base`: for point-in-time recovery. `wal`: changes are not archived, or are again. Absent in older events. */
  readonly kind?: "backup" | "base" | "wal";
  readonly startedAt: string;
  readonly endedAt: string;
  /** Null if none was written. */
  readonly file: string | null;
  readonly bytes: number | null;
  readonly verified: boolean;
  /** Null if all went well. */
  readonly error: string | null;
}

export const backupEnded = event<BackupEnd>("core.backup.ended");
