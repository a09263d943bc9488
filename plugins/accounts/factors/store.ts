/** All SQL about authenticator apps and recovery codes. */
import type { Queryable, Sql, Tx } from "platform";
import type { Owner } from "./api.ts";

interface TotpRow {
  readonly secret: string;
  readonly lastStep: number;
  /** How long no code is taken, after too many wrong ones. */
  readonly secondsToWait: number;
}

interface FactorRow {
  readonly totpAt: Date | null;
  readonly recoveryCodes: number;
  readonly passkeys: number;
  readonly hasAny: boolean;
}

export function createFactorStore(sql: Sql) {
  return {
    /** When the app was set up, how many recovery codes are left, and whether there is an app or a passkey. */
    async of({ accountId, userId }: Owner): Promise<FactorRow> {
      const [row] = await sql<Omit<FactorRow, "hasAny">[]>`
        select (select created_at from totp_factors where account_id = ${accountId} and user_id = ${userId}) as totp_at,
          (select count(*) from recovery_codes where account_id = ${accountId} and user_id = ${userId}) as recovery_codes,
          (select count(*) from passkeys where account_id = ${accountId} and user_id = ${userId}) as passkeys`;
      const { totpAt, recoveryCodes, passkeys } = row ?? { totpAt: null, recoveryCodes: 0, passkeys: 0 };
      return { totpAt, recoveryCodes, passkeys, hasAny: totpAt !== null || passkeys > 0 };
    },

    /** Locked, so that guesses take turns. */
    async lockTotp(tx: Tx, { accountId, userId }: Owner): Promise<TotpRow | undefined> {
      const [row] = await tx<TotpRow[]>`
        select secret, last_step, greatest(extract(epoch from blocked_until - clock_timestamp())::float8, 0) as seconds_to_wait
        from totp_factors where account_id = ${accountId} and user_id = ${userId} for update`;
      return row;
    },

    async setTotp(tx: Tx, { accountId, userId }: Owner, sealed: string, step: number): Promise<void> {
      await tx`
        insert into totp_factors (user_id, account_id, secret, last_step)
        values (${userId}, ${accountId}, ${sealed}, ${step})
        on conflict (account_id, user_id) do update set secret = excluded.secret, last_step = excluded.last_step, failures = 0,
          blocked_until = now(), created_at = now()`;
    },

    async usedStep(tx: Tx, { accountId, userId }: Owner, step: number): Promise<void> {
      await tx`
        update totp_factors set last_step = ${step}, failures = 0, blocked_until = now()
        where account_id = ${accountId} and user_id = ${userId}`;
    },

    /** From the tenth wrong code in a row on, the wait doubles up to a quarter of an hour. */
    async failed(tx: Tx, { accountId, userId }: Owner): Promise<void> {
      await tx`
        update totp_factors set failures = least(failures + 1, 1000),
          blocked_until = case when failures < 9 then now()
            else now() + least(900, 2 ^ least(failures - 9, 20)) * interval '1 second' end
        where account_id = ${accountId} and user_id = ${userId}`;
    },

    /** Somebody who has proved themselves otherwise need not wait for what others have guessed. */
    async forgive({ accountId, userId }: Owner, db: Queryable = sql): Promise<void> {
      await db`
        update totp_factors set failures = 0, blocked_until = now()
        where account_id = ${accountId} and user_id = ${userId} and failures > 0`;
    },

    async deleteTotp(tx: Tx, { accountId, userId }: Owner): Promise<void> {
      await tx`delete from totp_factors where account_id = ${accountId} and user_id = ${userId}`;
    },

    async setRecoveryCodes(tx: Tx, { accountId, userId }: Owner, hashes: readonly string[]): Promise<void> {
      // One after the other, so that two requests at once do not leave twenty.
      await tx`select 1 from users where account_id = ${accountId} and id = ${userId} for no key update`;
      await tx`delete from recovery_codes where account_id = ${accountId} and user_id = ${userId}`;
      await tx`
        insert into recovery_codes (account_id, user_id, code_hash)
        select ${accountId}, ${userId}, unnest(${hashes}::text[])`;
    },

    async hasRecoveryCodes(tx: Tx, { accountId, userId }: Owner): Promise<boolean> {
      const rows = await tx`
        select 1 from recovery_codes where account_id = ${accountId} and user_id = ${userId} limit 1`;
      return rows.length > 0;
    },

    /** Codes alone are no factor. */
    async dropIdleCodes(tx: Tx, { accountId, userId }: Owner): Promise<void> {
      await tx`
        delete from recovery_codes where account_id = ${accountId} and user_id = ${userId}
          and not exists (select 1 from totp_factors where account_id = ${accountId} and user_id = ${userId})
          and not exists (select 1 from passkeys where account_id = ${accountId} and user_id = ${userId})`;
    },

    /** Whether there was such a code; it is used up now. */
    async takeRecoveryCode(db: Queryable, { accountId, userId }: Owner, hash: string): Promise<boolean> {
      const { count } = await db`
        delete from recovery_codes where account_id = ${accountId} and user_id = ${userId} and code_hash = ${hash}`;
      return count > 0;
    },
  };
}

export type FactorStore = ReturnType<typeof createFactorStore>;
