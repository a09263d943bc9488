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

const columnsOf = (sql: Sql) => sql`id, kind, started_at, ended_at, file, bytes, verified, error, removed_at`;

export async function list(sql: Sql, page: Page) {
  return readPage<BackupRow>(sql, page, { columns: columnsOf(sql), from: sql`backup_runs`, order: sql`id desc` });
}

export async function byId(sql: Sql, id: number): Promise<BackupRow | undefined> {
  const [row] = await sql<BackupRow[]>`select ${columnsOf(sql)} from backup_runs where id = ${id}`;
  return row;
}
