/** All SQL about passkeys and their challenges. */
import type { Sql, Tx } from "platform";
import type { Owner } from "./api.ts";

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

export function createPasskeyStore(sql: Sql) {
  const columns = sql`id, user_id, name, credential_id, public_key, counter, transports, created_at, last_used_at`;

  return {
    async list({ accountId, userId }: Owner): Promise<readonly PasskeyRow[]> {
      return sql<PasskeyRow[]>`
        select ${columns} from passkeys where account_id = ${accountId} and user_id = ${userId} order by id`;
    },

    async anyIn(accountId: number): Promise<boolean> {
      return (await sql`select 1 from passkeys where account_id = ${accountId} limit 1`).length > 0;
    },

    async byCredential(accountId: number, credentialId: string): Promise<PasskeyRow | undefined> {
      const [row] = await sql<PasskeyRow[]>`
        select ${columns} from passkeys where account_id = ${accountId} and credential_id = ${credentialId}`;
      return row;
    },

    /** Undefined if the credential is known already. */
    async add(tx: Tx, { accountId, userId }: Owner, passkey: NewPasskey): Promise<PasskeyRow | undefined> {
      const { name, credentialId, publicKey, counter, transports } = passkey;
      const [row] = await tx<PasskeyRow[]>`
        insert into passkeys (account_id, user_id, name, credential_id, public_key, counter, transports)
        values (${accountId}, ${userId}, ${name}, ${credentialId}, ${publicKey}, ${counter}, ${transports}::text[])
        on conflict do nothing returning ${columns}`;
      return row;
    },

    async rename({ accountId, userId }: Owner, id: number, name: string): Promise<PasskeyRow | undefined> {
      const [row] = await sql<PasskeyRow[]>`
        update passkeys set name = ${name} where account_id = ${accountId} and user_id = ${userId} and id = ${id}
        returning ${columns}`;
      return row;
    },

    /** False if it has been used meanwhile: then its counter is no longer what was checked. */
    async used(accountId: number, { id, counter }: PasskeyRow, newCounter: number): Promise<boolean> {
      const { count } = await sql`
        update passkeys set counter = ${newCounter}, last_used_at = now()
        where account_id = ${accountId} and id = ${id} and counter = ${counter}`;
      return count > 0;
    },

    /** Locked together, so that of two requests at once one sees what the other leaves. */
    async lockAll(tx: Tx, { accountId, userId }: Owner): Promise<readonly number[]> {
      const rows = await tx<{ id: number }[]>`
        select id from passkeys where account_id = ${accountId} and user_id = ${userId} order by id for update`;
      return rows.map(({ id }) => id);
    },

    async delete(tx: Tx, { accountId, userId }: Owner, ids: readonly number[]): Promise<void> {
      await tx`
        delete from passkeys
        where account_id = ${accountId} and user_id = ${userId} and id = any(${ids}::bigint[])`;
    },

    async addChallenge(accountId: number, userId: number | null, challenge: string, expiresAt: Date): Promise<void> {
      await sql`
        insert into passkey_challenges (challenge, account_id, user_id, expires_at)
        values (${challenge}, ${accountId}, ${userId}, ${expiresAt})`;
    },

    /** Whether it was made for this; it is used up now. */
    async takeChallenge(accountId: number, userId: number | null, challenge: string): Promise<boolean> {
      const { count } = await sql`
        delete from passkey_challenges
        where challenge = ${challenge} and account_id = ${accountId} and user_id is not distinct from ${userId}::bigint
          and expires_at > now()`;
      return count > 0;
    },

    async prune(): Promise<void> {
      await sql`delete from passkey_challenges where expires_at < now()`;
    },
  };
}

export type PasskeyStore = ReturnType<typeof createPasskeyStore>;
