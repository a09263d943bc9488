/** Reads the runtime's table of backups. They are of the whole installation, so its rows belong to no account. */
import type { Page, Sql } from "platform";

export interface BackupRow {
  readonly id: number;
  readonly kind: "backup" | "base" | "wal";
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly file: string | null;
  readonly bytes: number | null;
  readonly verified: boolean;
  readonly error: string | null;
  readonly removedAt: Date | null;
}

export type BackupStore = ReturnType<typeof createBackupStore>;

export function createBackupStore(sql: Sql) {
  const columns = sql`id, kind, started_at, ended_at, file, bytes, verified, error, removed_at`;
  return {
    async list({ limit, offset }: Page): Promise<{ rows: BackupRow[]; total: number }> {
      const rows = await sql<BackupRow[]>`
        select ${columns} from backup_runs order by id desc limit ${limit} offset ${offset}`;
      const [count] = await sql<{ total: number }[]>`select count(*) as total from backup_runs`;
      return { rows, total: count?.total ?? 0 };
    },

    async byId(id: number): Promise<BackupRow | undefined> {
      const [row] = await sql<BackupRow[]>`select ${columns} from backup_runs where id = ${id}`;
      return row;
    },
  };
}
