/** Reads the runtime's table of backups. They are of the whole installation, so its rows belong to no account. */
import { readPage, words, type Page, type Sql } from "platform";
import { Backup, type BackupRow } from "./answers.ts";

export async function list(sql: Sql, page: Page) {
  return readPage<BackupRow>(sql, page, {
    columns: words(sql, Backup.read),
    from: sql`backup_runs`,
    order: sql`id desc`,
  });
}

export async function byId(sql: Sql, id: number): Promise<BackupRow | undefined> {
  const [row] = await sql<BackupRow[]>`select ${words(sql, Backup.read)} from backup_runs where id = ${id}`;
  return row;
}
