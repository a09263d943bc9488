/** All SQL about Idempotency-Keys. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Fragment, Queryable, Sql, Tx } from "../../db/db.ts";
import { conflict } from "../../base/errors.ts";
import type { Reply } from "../answers/reply.ts";

export interface KeyOwner {
  readonly accountId: number;
  /** The owner of the key: a token or a visitor. */
  readonly principal: string;
  readonly key: string;
}

/** The answer to a key, or a claim if `status` is null. */
export interface KeyRow {
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

const where = (on: Queryable, { accountId, principal, key }: KeyOwner): Fragment =>
  on`account_id = ${accountId} and principal = ${principal} and key = ${key}`;

const columnsOf = (on: Queryable, { status, secret = false, headers, body }: Reply) => ({
  status,
  secret,
  headers: secret ? null : on.json({ ...headers }),
  body: secret ? null : body,
});

export async function find(on: Queryable, at: KeyOwner): Promise<KeyRow | undefined> {
  const [row] = await on<KeyRow[]>`
    select fingerprint, status, headers, body, secret, claimed_by from idempotency_keys
    where ${where(on, at)} and created_at > now() - interval '24 hours'`;
  return row;
}

/** Locks the key until the transaction ends. 409 if another transaction keeps it locked. */
export async function lock(tx: Tx, { accountId, principal, key }: KeyOwner): Promise<void> {
  const name = JSON.stringify([accountId, principal, key]);
  for (const until = performance.now() + lockMs; ; await sleep(lockAgainMs)) {
    const [row] = await tx<{ locked: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as locked`;
    if (row?.locked) return;
    if (performance.now() > until) throw conflict("a request with this Idempotency-Key is still running");
  }
}

/** Stores the answer, replacing one that has expired or was incomplete. */
export async function keep(on: Queryable, at: KeyOwner, fingerprint: string, reply: Reply): Promise<void> {
  const { status, secret, headers, body } = columnsOf(on, reply);
  await on`
    insert into idempotency_keys as k (account_id, principal, key, fingerprint, status, secret, headers, body)
    values (${at.accountId}, ${at.principal}, ${at.key}, ${fingerprint}, ${status}, ${secret}, ${headers}, ${body})
    on conflict (account_id, principal, key) do update set fingerprint = excluded.fingerprint, status = excluded.status,
      secret = excluded.secret, headers = excluded.headers, body = excluded.body, claimed_by = null, created_at = now()`;
}

/** Inserts a claim, or replaces `instead` or an expired row. */
export async function claim(
  sql: Sql,
  at: KeyOwner,
  fingerprint: string,
  own: string,
  instead: string | null,
): Promise<boolean> {
  const rows = await sql`
    insert into idempotency_keys as k (account_id, principal, key, fingerprint, claimed_by)
    values (${at.accountId}, ${at.principal}, ${at.key}, ${fingerprint}, ${own})
    on conflict (account_id, principal, key) do update set fingerprint = excluded.fingerprint, status = null,
      secret = false, headers = null, body = null, claimed_by = excluded.claimed_by, created_at = now()
    where k.created_at <= now() - interval '24 hours' or (k.status is null and k.claimed_by = ${instead})
    returning 1`;
  return rows.length > 0;
}

/** Replaces the claim by the answer. False if another request has claimed the key since. */
export async function answer(
  on: Queryable,
  at: KeyOwner,
  own: string,
  fingerprint: string,
  reply: Reply,
): Promise<boolean> {
  const { status, secret, headers, body } = columnsOf(on, reply);
  const result = await on`
    update idempotency_keys set fingerprint = ${fingerprint}, status = ${status}, secret = ${secret},
      headers = ${headers}, body = ${body}, claimed_by = null
    where ${where(on, at)} and claimed_by = ${own}`;
  return result.count === 1;
}

/** Deletes a claim, never an answer. */
export async function release(sql: Sql, at: KeyOwner, own: string): Promise<void> {
  await sql`delete from idempotency_keys where ${where(sql, at)} and claimed_by = ${own}`;
}

export async function prune(sql: Sql): Promise<void> {
  await sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`;
}
