/** All SQL about Idempotency-Keys. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Queryable, Sql, Tx } from "../../db/db.ts";
import { conflict } from "../../base/errors.ts";
import type { Reply } from "../answers/reply.ts";

export interface KeyOwner {
  readonly accountId: number;
  /** The owner of the key: a token or a visitor. */
  readonly principal: string;
  readonly key: string;
}

/** The answer to a key, or a claim if `status` is null. */
export interface Kept {
  readonly fingerprint: string;
  readonly status: number | null;
  readonly headers: Record<string, string> | null;
  readonly body: string | null;
  readonly secret: boolean;
  readonly claimedBy: string | null;
}

// Another request with this key is writing. That takes moments, but a server that was cut off holds the lock longer.
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

    /** Locks the key until the transaction ends. 409 if another transaction keeps it locked. */
    async lock(tx: Tx, { accountId, principal, key }: KeyOwner): Promise<void> {
      const name = JSON.stringify([accountId, principal, key]);
      for (const until = performance.now() + lockMs; ; await sleep(lockAgainMs)) {
        const [row] = await tx<{ locked: boolean }[]>`
          select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as locked`;
        if (row?.locked) return;
        if (performance.now() > until) throw conflict("a request with this Idempotency-Key is still running");
      }
    },

    /** Stores the answer, replacing one that has expired or was incomplete. */
    async keep(on: Queryable, at: KeyOwner, fingerprint: string, reply: Reply): Promise<void> {
      const { status, secret, headers, body } = columnsOf(reply);
      await on`
        insert into idempotency_keys as k (account_id, principal, key, fingerprint, status, secret, headers, body)
        values (${at.accountId}, ${at.principal}, ${at.key}, ${fingerprint}, ${status}, ${secret}, ${headers}, ${body})
        on conflict (account_id, principal, key) do update set fingerprint = excluded.fingerprint, status = excluded.status,
          secret = excluded.secret, headers = excluded.headers, body = excluded.body, claimed_by = null, created_at = now()`;
    },

    /** Inserts a claim, or replaces `instead` or an expired row. */
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

    /** Replaces the claim by the answer. False if another request has claimed the key since. */
    async answer(on: Queryable, at: KeyOwner, claim: string, fingerprint: string, reply: Reply): Promise<boolean> {
      const { status, secret, headers, body } = columnsOf(reply);
      const result = await on`
        update idempotency_keys set fingerprint = ${fingerprint}, status = ${status}, secret = ${secret},
          headers = ${headers}, body = ${body}, claimed_by = null
        where ${where(at)} and claimed_by = ${claim}`;
      return result.count === 1;
    },

    /** Deletes a claim, never an answer. */
    async release(at: KeyOwner, claim: string): Promise<void> {
      await sql`delete from idempotency_keys where ${where(at)} and claimed_by = ${claim}`;
    },

    async prune(): Promise<void> {
      await sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`;
    },
  };
}
