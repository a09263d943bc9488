/** Reads the runtime's table of backups. They are of the whole installation, so its rows belong to no account. */
import { readPage, type Page, type Sql } from "platform";

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
    async list(page: Page) {
      return readPage<BackupRow>(sql, page, { columns, from: sql`backup_runs`, order: sql`id desc` });
    },

    async byId(id: number): Promise<BackupRow | undefined> {
      const [row] = await sql<BackupRow[]>`select ${columns} from backup_runs where id = ${id}`;
      return row;
    },
  };
}
