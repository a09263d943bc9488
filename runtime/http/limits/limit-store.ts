/** Limits that are counted in the database, by its clock: exact over all machines. */
import { transaction, type Sql } from "../../db/db.ts";
import { takeFrom, type Counter, type LimitResult } from "./rate-limit.ts";
import type { LimitUse } from "./shared-limits.ts";

/** In sequence for one key: the row is locked until the commit. */
export function take(sql: Sql, { name, key, n, limit, windowSeconds }: LimitUse): Promise<LimitResult> {
  return transaction(sql, async (tx) => {
    await tx`
      insert into rate_limits (name, key, number, current, previous, expires_at)
      values (${name}, ${key}, 0, 0, 0, now()) on conflict do nothing`;
    const [row] = await tx<(Counter & { seconds: number })[]>`
      select number::float8 as window, current::float8, previous::float8,
        extract(epoch from clock_timestamp())::float8 as seconds
      from rate_limits where name = ${name} and key = ${key} for update`;
    if (!row) throw new Error("the row of a limit was removed by its prune, try again");
    const { counter, take: taken } = takeFrom(row, n, { limit, windowSeconds, position: row.seconds / windowSeconds });
    await tx`
      update rate_limits set number = ${counter.window}, current = ${counter.current},
        previous = ${counter.previous}, expires_at = now() + ${2 * windowSeconds} * interval '1 second'
      where name = ${name} and key = ${key}`;
    return taken;
  });
}

export async function prune(sql: Sql): Promise<void> {
  // The grace keeps a row that was inserted a moment ago.
  await sql`delete from rate_limits where expires_at < now() - interval '1 minute'`;
}
