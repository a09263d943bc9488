/** The table `backup_runs`. */
import type { Queryable } from "../../db/db.ts";

/** `wal`: archiving WAL has failed, or works again. */
export type RunKind = "backup" | "base" | "wal";

export interface BackupRun {
  readonly id: number;
  readonly kind: RunKind;
  readonly startedAt: Date;
  /** Null as long as it goes on. */
  readonly endedAt: Date | null;
  /** The file's name; null if none was written. */
  readonly file: string | null;
  readonly bytes: number | null;
  /** It was restored into a scratch database, which then had the same rows. */
  readonly verified: boolean;
  /** Null if all went well. */
  readonly error: string | null;
}

export type RunEnd = Pick<BackupRun, "file" | "bytes" | "verified" | "error"> & { readonly endedAt: Date };

const columns = ["id", "kind", "started_at", "ended_at", "file", "bytes", "verified", "error"] as const;

export async function beginRun(
  sql: Queryable,
  startedAt: Date,
  file: string | null,
  kind: RunKind = "backup",
): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into backup_runs (started_at, file, kind) values (${startedAt}, ${file}, ${kind}) returning id`;
  if (!row) throw new Error("the database did not note that a backup begins");
  return row.id;
}

export async function endRun(sql: Queryable, id: number, end: RunEnd): Promise<BackupRun> {
  const { endedAt, file, bytes, verified, error } = end;
  const [row] = await sql<BackupRun[]>`
    update backup_runs set ended_at = ${endedAt}, file = ${file}, bytes = ${bytes}, verified = ${verified}, error = ${error}
    where id = ${id} returning ${sql(columns)}`;
  if (!row) throw new Error("the database forgot that a backup began");
  return row;
}

/** Ends the runs whose process was killed. Only while no other run of this kind is going on. */
export async function endInterrupted(sql: Queryable, endedAt: Date, kind: RunKind = "backup"): Promise<BackupRun[]> {
  return sql<BackupRun[]>`
    update backup_runs set ended_at = ${endedAt}, error = 'its process ended before it was done'
    where ended_at is null and kind = ${kind} returning ${sql(columns)}`;
}

/** A restored database holds the run that made the backup as one that goes on. */
export async function forgetRunning(sql: Queryable): Promise<void> {
  await sql`delete from backup_runs where ended_at is null`;
}

export async function noteRemoved(sql: Queryable, file: string, at: Date): Promise<void> {
  await sql`update backup_runs set removed_at = ${at} where file = ${file} and removed_at is null`;
}

export async function forgetOldRuns(sql: Queryable): Promise<void> {
  await sql`delete from backup_runs where started_at < now() - interval '1 year' and (removed_at is not null or error is not null or kind = 'wal')`;
}

/** By the name of their file; of several for one, the last. */
export async function runsByFile(sql: Queryable): Promise<ReadonlyMap<string, BackupRun>> {
  const rows = await sql<(BackupRun & { file: string })[]>`
    select ${sql(columns)} from backup_runs where file is not null order by id`;
  return new Map(rows.map((row) => [row.file, row]));
}

export async function lastFailed(sql: Queryable, kind: RunKind): Promise<boolean> {
  const [row] = await sql<{ failed: boolean }[]>`
    select error is not null as failed from backup_runs where kind = ${kind} order by id desc limit 1`;
  return row?.failed === true;
}

export async function runCounts(sql: Queryable): Promise<{ failures: number; lastSuccessSeconds: number }> {
  const [row] = await sql<{ failures: number; lastSuccessSeconds: number }[]>`
    select count(*) filter (where error is not null)::int as failures,
      coalesce(extract(epoch from max(ended_at) filter (where error is null and kind = 'backup')), 0)::float8 as last_success_seconds
    from backup_runs`;
  return row ?? { failures: 0, lastSuccessSeconds: 0 };
}
