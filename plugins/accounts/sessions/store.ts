/** All SQL about signing in: failures, steps that wait for a second factor, and devices. */
import type { Sql, Tx } from "platform";

/** Each failure beyond `free` doubles the wait, up to `maxSeconds`. */
export interface Backoff {
  readonly free: number;
  readonly maxSeconds: number;
}

/** Seconds until the last of these may try again; 0 = now. */
export async function secondsToWait(sql: Sql, accountId: number, subjects: readonly string[]): Promise<number> {
  // A failure in the future was written while the clock was ahead. It does not count.
  const [row] = await sql<{ seconds: number | null }[]>`
    select extract(epoch from max(blocked_until) - now())::float8 as seconds from sign_in_failures
    where account_id = ${accountId} and subject = any(${subjects}::text[]) and last_at <= now()`;
  return Math.max(0, row?.seconds ?? 0);
}

export async function addFailure(
  sql: Sql,
  accountId: number,
  subject: string,
  { free, maxSeconds }: Backoff,
): Promise<void> {
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
}

export async function clearFailures(sql: Sql, accountId: number, subject: string): Promise<void> {
  await sql`delete from sign_in_failures where account_id = ${accountId} and subject = ${subject}`;
}

export async function pruneFailures(sql: Sql): Promise<void> {
  await sql`delete from sign_in_failures where last_at not between now() - interval '1 hour' and now()`;
}

const mostFailures = 5;

interface NewStep {
  readonly hash: string;
  readonly accountId: number;
  readonly userId: number;
  readonly expiresAt: Date;
  /** An invitation in place of a password. */
  readonly openedBy?: number | undefined;
  readonly origin?: string | undefined;
}

interface StepOrigin {
  readonly openedById: number | null;
  readonly origin: string | null;
}

export async function addStep(
  sql: Sql,
  { hash, accountId, userId, expiresAt, openedBy, origin }: NewStep,
): Promise<void> {
  await sql`
    insert into sign_in_steps (token_hash, account_id, user_id, expires_at, opened_by_id, origin)
    select ${hash}, u.account_id, u.id, ${expiresAt}, ${openedBy ?? null}::bigint, ${origin ?? null}::text from users u
    where u.account_id = ${accountId} and u.id = ${userId}`;
}

export async function userIdOfStep(sql: Sql, accountId: number, hash: string): Promise<number | undefined> {
  const [row] = await sql<{ userId: number }[]>`
    select user_id from sign_in_steps
    where token_hash = ${hash} and account_id = ${accountId} and expires_at > now() and failures < ${mostFailures}`;
  return row?.userId;
}

export async function failedStep(sql: Sql, accountId: number, hash: string): Promise<void> {
  await sql`update sign_in_steps set failures = failures + 1 where token_hash = ${hash} and account_id = ${accountId}`;
}

/** Ends it; undefined if it has ended already. */
export async function takeStep(sql: Sql, accountId: number, hash: string): Promise<StepOrigin | undefined> {
  const [row] = await sql<StepOrigin[]>`
    delete from sign_in_steps
    where token_hash = ${hash} and account_id = ${accountId} and expires_at > now() and failures < ${mostFailures}
    returning opened_by_id, origin`;
  return row;
}

export async function pruneSteps(sql: Sql): Promise<void> {
  await sql`delete from sign_in_steps where expires_at < now()`;
}

const keptDays = 365;

interface SignedInBy {
  readonly accountId: number;
  readonly userId: number;
  readonly device: string;
}

/** Notes the device. True if it is new and the person has others; the first one is no news. */
export async function isNewDevice(tx: Tx, { accountId, userId, device }: SignedInBy): Promise<boolean> {
  const [row] = await tx<{ isNews: boolean }[]>`
    with known as (
      select bool_or(device = ${device}) as is_known from sign_in_devices
      where account_id = ${accountId} and user_id = ${userId}
    ), noted as (
      insert into sign_in_devices (account_id, user_id, device)
      select account_id, id, ${device} from users where account_id = ${accountId} and id = ${userId}
      on conflict (account_id, user_id, device) do update set last_at = now()
    )
    select is_known is false as is_news from known`;
  return row?.isNews === true;
}

export async function pruneDevices(sql: Sql): Promise<void> {
  await sql`delete from sign_in_devices where last_at < now() - make_interval(days => ${keptDays})`;
}

/** False if the provider by which the person came has ended this sign-in meanwhile. */
export async function startOrigin(tx: Tx, accountId: number, id: string, sessionId: number): Promise<boolean> {
  const result = await tx`
    update sign_in_origins set session_id = ${sessionId}
    where account_id = ${accountId} and id = ${id} and session_id is null`;
  return result.count === 1;
}
