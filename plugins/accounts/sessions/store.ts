import type { Sql } from "platform";

/** How long failures make people wait: each one beyond `free` doubles the wait, up to `maxSeconds`. */
export interface Patience {
  readonly free: number;
  readonly maxSeconds: number;
}

/** All SQL about failed sign-ins. */
export function createFailureStore(sql: Sql) {
  return {
    /** Seconds until the last of these may try again; 0 = now. */
    async secondsToWait(accountId: number, subjects: readonly string[]): Promise<number> {
      // A failure in the future was written while the clock was ahead. It does not count.
      const [row] = await sql<{ seconds: number | null }[]>`
        select extract(epoch from max(blocked_until) - now())::float8 as seconds from sign_in_failures
        where account_id = ${accountId} and subject = any(${subjects}::text[]) and last_at <= now()`;
      return Math.max(0, row?.seconds ?? 0);
    },

    async add(accountId: number, subject: string, { free, maxSeconds }: Patience): Promise<void> {
      // After a quarter of an hour without a failure, counting starts again.
      await sql`
        insert into sign_in_failures as f (account_id, subject, failures, last_at, blocked_until)
        values (${accountId}, ${subject}, 1, now(), now())
        on conflict (account_id, subject) do update set
          failures = case when f.last_at not between now() - interval '15 minutes' and now() then 1 else f.failures + 1 end,
          last_at = now(),
          blocked_until = case
            when f.last_at not between now() - interval '15 minutes' and now() or f.failures + 1 < ${free}::integer then now()
            else now() + least(${maxSeconds}::integer, 2 ^ least(f.failures + 1 - ${free}::integer, 20)) * interval '1 second'
          end`;
    },

    async clear(accountId: number, subject: string): Promise<void> {
      await sql`delete from sign_in_failures where account_id = ${accountId} and subject = ${subject}`;
    },

    async prune(): Promise<void> {
      await sql`delete from sign_in_failures where last_at not between now() - interval '1 hour' and now()`;
    },
  };
}

export type FailureStore = ReturnType<typeof createFailureStore>;
