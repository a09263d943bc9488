/** All SQL about Idempotency-Keys. */
import type { Queryable, Sql, Tx } from "../db.ts";
import { conflict } from "../errors.ts";
import type { Reply } from "./reply.ts";

export interface KeyOwner {
  readonly accountId: number;
  /** Whose key it is: a token or a visitor. */
  readonly principal: string;
  readonly key: string;
}

/** The answer to a key, or where `status` is null the claim of whoever makes it. */
export interface Kept {
  readonly fingerprint: string;
  readonly status: number | null;
  readonly headers: Record<string, string> | null;
  readonly body: string | null;
  readonly secret: boolean;
  readonly claimedBy: string | null;
}

// Another request with this key writes. That takes moments; a server that was cut off holds the lock for a while.
const lockMs = 2000;
const lockAgainMs = 20;

export type IdempotencyStore = ReturnType<typeof createIdempotencyStore>;

export function createIdempotencyStore(sql: Sql) {
  const where = ({ accountId, principal, key }: KeyOwner) =>
    sql`account_id = ${accountId} and principal = ${principal} and key = ${key}`;
  const columnsOf = (reply: Reply) => ({
    status: reply.status,
    secret: reply.secret === true,
    headers: reply.secret ? null : sql.json({ ...reply.headers }),
    body: reply.secret ? null : reply.body,
  });

  return {
    async find(at: KeyOwner, on: Queryable = sql): Promise<Kept | undefined> {
      const [row] = await on<Kept[]>`
        select fingerprint, status, headers, body, secret, claimed_by from idempotency_keys
        where ${where(at)} and created_at > now() - interval '24 hours'`;
      return row;
    },

    /** Until the transaction ends no other one has the key. 409 where another one keeps it. */
    async lock(tx: Tx, { accountId, principal, key }: KeyOwner): Promise<void> {
      const name = JSON.stringify([accountId, principal, key]);
      for (const until = performance.now() + lockMs; ; await Bun.sleep(lockAgainMs)) {
        const [row] = await tx<{ locked: boolean }[]>`
          select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as locked`;
        if (row?.locked) return;
        if (performance.now() > until) throw conflict("a request with this Idempotency-Key is still running");
      }
    },

    /** Keeps the answer; in the place of one that is too old, or that was given before it was complete. */
    async keep(on: Queryable, at: KeyOwner, fingerprint: string, reply: Reply): Promise<void> {
      const { status, secret, headers, body } = columnsOf(reply);
      await on`
        insert into idempotency_keys as k (account_id, principal, key, fingerprint, status, secret, headers, body)
        values (${at.accountId}, ${at.principal}, ${at.key}, ${fingerprint}, ${status}, ${secret}, ${headers}, ${body})
        on conflict (account_id, principal, key) do update set fingerprint = excluded.fingerprint, status = excluded.status,
          secret = excluded.secret, headers = excluded.headers, body = excluded.body, claimed_by = null, created_at = now()`;
    },

    /** Puts a claim where there is nothing, or nothing but `instead` or what is too old. */
    async claim(at: KeyOwner, fingerprint: string, claim: string, instead: string | null): Promise<boolean> {
      const rows = await sql`
        insert into idempotency_keys as k (account_id, principal, key, fingerprint, claimed_by)
        values (${at.accountId}, ${at.principal}, ${at.key}, ${fingerprint}, ${claim})
        on conflict (account_id, principal, key) do update set fingerprint = excluded.fingerprint, status = null,
          secret = false, headers = null, body = null, claimed_by = excluded.claimed_by, created_at = now()
        where k.created_at <= now() - interval '24 hours' or (k.status is null and k.claimed_by = ${instead})
        returning 1`;
      return rows.length > 0;
    },

    /** The answer in the place of the claim. False where another has claimed the key since. */
    async answer(on: Queryable, at: KeyOwner, claim: string, fingerprint: string, reply: Reply): Promise<boolean> {
      const { status, secret, headers, body } = columnsOf(reply);
      const result = await on`
        update idempotency_keys set fingerprint = ${fingerprint}, status = ${status}, secret = ${secret},
          headers = ${headers}, body = ${body}, claimed_by = null
        where ${where(at)} and claimed_by = ${claim}`;
      return result.count === 1;
    },

    /** An answer stays. */
    async release(at: KeyOwner, claim: string): Promise<void> {
      await sql`delete from idempotency_keys where ${where(at)} and claimed_by = ${claim}`;
    },

    /** Which of these processes has a listening session. Behind a pooler that names the sessions itself, none. */
    async listening(processIds: readonly string[]): Promise<Set<string>> {
      const rows = await sql<{ id: string }[]>`
        select id from unnest(${processIds}::text[]) as id
        where exists (select from pg_stat_activity where application_name like '%' || id)`;
      return new Set(rows.map(({ id }) => id));
    },

    async prune(): Promise<void> {
      await sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`;
    },
  };
}
