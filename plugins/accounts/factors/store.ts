/** All SQL about authenticator apps, recovery codes and passkeys. */
import type { Queryable, Sql, Tx } from "platform";
import type { Owner } from "./api.ts";

interface TotpRow {
  readonly secret: string;
  readonly lastStep: number;
  /** Codes are refused for so long after too many wrong ones. */
  readonly secondsToWait: number;
}

interface FactorRow {
  readonly totpAt: Date | null;
  readonly recoveryCodes: number;
  readonly passkeys: number;
  readonly hasAny: boolean;
}

/** When the app was set up, how many recovery codes are left, and whether there is an app or a passkey. */
export async function of(sql: Sql, { accountId, userId }: Owner): Promise<FactorRow> {
  const [row] = await sql<Omit<FactorRow, "hasAny">[]>`
    select (select created_at from totp_factors where account_id = ${accountId} and user_id = ${userId}) as totp_at,
      (select count(*) from recovery_codes where account_id = ${accountId} and user_id = ${userId}) as recovery_codes,
      (select count(*) from passkeys where account_id = ${accountId} and user_id = ${userId}) as passkeys`;
  const { totpAt, recoveryCodes, passkeys } = row ?? { totpAt: null, recoveryCodes: 0, passkeys: 0 };
  return { totpAt, recoveryCodes, passkeys, hasAny: totpAt !== null || passkeys > 0 };
}

/** Locked, so that guesses take turns. */
export async function lockTotp(tx: Tx, { accountId, userId }: Owner): Promise<TotpRow | undefined> {
  const [row] = await tx<TotpRow[]>`
    select secret, last_step, greatest(extract(epoch from blocked_until - clock_timestamp())::float8, 0) as seconds_to_wait
    from totp_factors where account_id = ${accountId} and user_id = ${userId} for update`;
  return row;
}

export async function setTotp(tx: Tx, { accountId, userId }: Owner, sealed: string, step: number): Promise<void> {
  await tx`
    insert into totp_factors (user_id, account_id, secret, last_step)
    values (${userId}, ${accountId}, ${sealed}, ${step})
    on conflict (account_id, user_id) do update set secret = excluded.secret, last_step = excluded.last_step, failures = 0,
      blocked_until = now(), created_at = now()`;
}

export async function usedStep(tx: Tx, { accountId, userId }: Owner, step: number): Promise<void> {
  await tx`
    update totp_factors set last_step = ${step}, failures = 0, blocked_until = now()
    where account_id = ${accountId} and user_id = ${userId}`;
}

/** From the tenth wrong code in a row on, the wait doubles up to a quarter of an hour. */
export async function failed(tx: Tx, { accountId, userId }: Owner): Promise<void> {
  await tx`
    update totp_factors set failures = least(failures + 1, 1000),
      blocked_until = case when failures < 9 then now()
        else now() + least(900, 2 ^ least(failures - 9, 20)) * interval '1 second' end
    where account_id = ${accountId} and user_id = ${userId}`;
}

/** Somebody who has proved themselves otherwise need not wait for what others have guessed. */
export async function forgive(db: Queryable, { accountId, userId }: Owner): Promise<void> {
  await db`
    update totp_factors set failures = 0, blocked_until = now()
    where account_id = ${accountId} and user_id = ${userId} and failures > 0`;
}

export async function deleteTotp(tx: Tx, { accountId, userId }: Owner): Promise<void> {
  await tx`delete from totp_factors where account_id = ${accountId} and user_id = ${userId}`;
}

export async function setRecoveryCodes(tx: Tx, { accountId, userId }: Owner, hashes: readonly string[]): Promise<void> {
  // One after the other, so that two requests at once do not leave twenty.
  await tx`select 1 from users where account_id = ${accountId} and id = ${userId} for no key update`;
  await tx`delete from recovery_codes where account_id = ${accountId} and user_id = ${userId}`;
  await tx`
    insert into recovery_codes (account_id, user_id, code_hash)
    select ${accountId}, ${userId}, unnest(${hashes}::text[])`;
}

export async function hasRecoveryCodes(tx: Tx, { accountId, userId }: Owner): Promise<boolean> {
  const rows = await tx`
    select 1 from recovery_codes where account_id = ${accountId} and user_id = ${userId} limit 1`;
  return rows.length > 0;
}

/** Codes alone are no factor. */
export async function dropIdleCodes(tx: Tx, { accountId, userId }: Owner): Promise<void> {
  await tx`
    delete from recovery_codes where account_id = ${accountId} and user_id = ${userId}
      and not exists (select 1 from totp_factors where account_id = ${accountId} and user_id = ${userId})
      and not exists (select 1 from passkeys where account_id = ${accountId} and user_id = ${userId})`;
}

/** Whether there was such a code; it is used up now. */
export async function takeRecoveryCode(db: Queryable, { accountId, userId }: Owner, hash: string): Promise<boolean> {
  const { count } = await db`
    delete from recovery_codes where account_id = ${accountId} and user_id = ${userId} and code_hash = ${hash}`;
  return count > 0;
}

export interface PasskeyRow {
  readonly id: number;
  readonly userId: number;
  readonly name: string;
  readonly credentialId: string;
  readonly publicKey: string;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

export type NewPasskey = Pick<PasskeyRow, "name" | "credentialId" | "publicKey" | "counter" | "transports">;

const columns = (sql: Queryable) =>
  sql`id, user_id, name, credential_id, public_key, counter, transports, created_at, last_used_at`;

export async function passkeysOf(sql: Sql, { accountId, userId }: Owner): Promise<readonly PasskeyRow[]> {
  return sql<PasskeyRow[]>`
    select ${columns(sql)} from passkeys where account_id = ${accountId} and user_id = ${userId} order by id`;
}

export async function anyPasskeyIn(sql: Sql, accountId: number): Promise<boolean> {
  return (await sql`select 1 from passkeys where account_id = ${accountId} limit 1`).length > 0;
}

export async function passkeyByCredential(
  sql: Sql,
  accountId: number,
  credentialId: string,
): Promise<PasskeyRow | undefined> {
  const [row] = await sql<PasskeyRow[]>`
    select ${columns(sql)} from passkeys where account_id = ${accountId} and credential_id = ${credentialId}`;
  return row;
}

/** Undefined if the credential is known already. */
export async function addPasskey(
  tx: Tx,
  { accountId, userId }: Owner,
  passkey: NewPasskey,
): Promise<PasskeyRow | undefined> {
  const { name, credentialId, publicKey, counter, transports } = passkey;
  const [row] = await tx<PasskeyRow[]>`
    insert into passkeys (account_id, user_id, name, credential_id, public_key, counter, transports)
    values (${accountId}, ${userId}, ${name}, ${credentialId}, ${publicKey}, ${counter}, ${transports}::text[])
    on conflict do nothing returning ${columns(tx)}`;
  return row;
}

export async function renamePasskey(
  sql: Sql,
  { accountId, userId }: Owner,
  id: number,
  name: string,
): Promise<PasskeyRow | undefined> {
  const [row] = await sql<PasskeyRow[]>`
    update passkeys set name = ${name} where account_id = ${accountId} and user_id = ${userId} and id = ${id}
    returning ${columns(sql)}`;
  return row;
}

/** False if it has been used meanwhile: then its counter is no longer what was checked. */
export async function usedPasskey(
  sql: Sql,
  accountId: number,
  { id, counter }: PasskeyRow,
  newCounter: number,
): Promise<boolean> {
  const { count } = await sql`
    update passkeys set counter = ${newCounter}, last_used_at = now()
    where account_id = ${accountId} and id = ${id} and counter = ${counter}`;
  return count > 0;
}

/** Locked together, so that of two requests at once one sees what the other leaves. */
export async function lockPasskeys(tx: Tx, { accountId, userId }: Owner): Promise<readonly number[]> {
  const rows = await tx<{ id: number }[]>`
    select id from passkeys where account_id = ${accountId} and user_id = ${userId} order by id for update`;
  return rows.map(({ id }) => id);
}

export async function removePasskeys(tx: Tx, { accountId, userId }: Owner, ids: readonly number[]): Promise<void> {
  await tx`
    delete from passkeys
    where account_id = ${accountId} and user_id = ${userId} and id = any(${ids}::bigint[])`;
}

export async function addChallenge(
  sql: Sql,
  accountId: number,
  userId: number | null,
  challenge: string,
  expiresAt: Date,
): Promise<void> {
  await sql`
    insert into passkey_challenges (challenge, account_id, user_id, expires_at)
    values (${challenge}, ${accountId}, ${userId}, ${expiresAt})`;
}

/** Whether it was made for this; it is used up now. */
export async function takeChallenge(
  sql: Sql,
  accountId: number,
  userId: number | null,
  challenge: string,
): Promise<boolean> {
  const { count } = await sql`
    delete from passkey_challenges
    where challenge = ${challenge} and account_id = ${accountId} and user_id is not distinct from ${userId}::bigint
      and expires_at > now()`;
  return count > 0;
}

export async function pruneChallenges(sql: Sql): Promise<void> {
  await sql`delete from passkey_challenges where expires_at < now()`;
}
