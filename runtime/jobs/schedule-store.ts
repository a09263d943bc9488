/** All SQL of the schedules: one row for each due time that was fired. */
import type { Queryable, Sql } from "../db/db.ts";

/** Returns false if this due time has already fired. */
export async function note(tx: Queryable, id: string, dueAt: Date): Promise<boolean> {
  const rows = await tx`
    insert into schedule_runs (schedule_id, due_at) values (${id}, ${dueAt})
    on conflict do nothing returning due_at`;
  return rows.length > 0;
}

/** The database's time. */
export async function databaseTime(sql: Sql): Promise<Date> {
  const [row] = await sql<{ at: Date }[]>`select clock_timestamp() as at`;
  if (!row) throw new Error("a select without a condition gives a row");
  return row.at;
}

export async function lastFired(sql: Sql, id: string, at: Date): Promise<Date | undefined> {
  const [row] = await sql<{ dueAt: Date | null }[]>`
    select max(due_at) as due_at from schedule_runs where schedule_id = ${id} and due_at <= ${at}`;
  return row?.dueAt ?? undefined;
}

/** Forgets future due times that fired while the clock was ahead. All take the database's, and hardly differ. */
export async function forgetFuture(sql: Sql, at: Date): Promise<void> {
  await sql`delete from schedule_runs where due_at > ${at}::timestamptz + interval '10 s'`;
}

/** Forgets due times before `before`, except the last one of each schedule, which shows what was missed. */
export async function prune(sql: Sql, before: Date): Promise<number> {
  const result = await sql`
    delete from schedule_runs r where due_at < ${before} and exists (
      select from schedule_runs n where n.schedule_id = r.schedule_id and n.due_at > r.due_at)`;
  return result.count;
}
