/** All SQL about which sessions began by which provider, and about logout tokens that were used. */
import type { Sql, Tx } from "platform";

interface Place {
  readonly accountId: number;
  readonly providerId: string;
}

export interface OriginRow extends Place {
  readonly id: string;
  readonly issuer: string;
  /** Sealed for this row. */
  readonly idToken: string | null;
}

export interface NewOrigin extends OriginRow {
  readonly subject: string;
  readonly sid: string | null;
}

/** Whose sessions a provider has ended: of a subject, of one of its own sessions, or both. */
export interface Ended {
  readonly issuer: string;
  readonly subject: string | undefined;
  readonly sid: string | undefined;
}

export type OriginStore = ReturnType<typeof createOriginStore>;

export function createOriginStore(sql: Sql) {
  return {
    async add({ accountId, id, providerId, issuer, subject, sid, idToken }: NewOrigin): Promise<void> {
      await sql`
        insert into sign_in_origins (account_id, id, provider_id, issuer, subject, sid, id_token)
        values (${accountId}, ${id}, ${providerId}, ${issuer}, ${subject}, ${sid}, ${idToken})`;
    },

    /** False if the provider has ended this sign-in meanwhile. */
    async start(tx: Tx, accountId: number, id: string, sessionId: number): Promise<boolean> {
      const result = await tx`
        update sign_in_origins set session_id = ${sessionId}
        where account_id = ${accountId} and id = ${id} and session_id is null`;
      return result.count === 1;
    },

    async ofSession(accountId: number, sessionId: number): Promise<OriginRow | undefined> {
      const [row] = await sql<OriginRow[]>`
        select account_id, id, provider_id, issuer, id_token from sign_in_origins
        where account_id = ${accountId} and session_id = ${sessionId}`;
      return row;
    },

    /** Deletes them, and gives their sessions. A sign-in of which no `sid` is known ends with its subject. */
    async end(tx: Tx, { accountId, providerId }: Place, { issuer, subject, sid }: Ended): Promise<number[]> {
      const rows = await tx<{ sessionId: number | null }[]>`
        delete from sign_in_origins
        where account_id = ${accountId} and provider_id = ${providerId} and issuer = ${issuer}
          and (${subject ?? null}::text is null or subject = ${subject ?? null})
          and (${sid ?? null}::text is null or sid = ${sid ?? null} or (sid is null and ${subject ?? null}::text is not null))
        returning session_id`;
      return rows.flatMap(({ sessionId }) => sessionId ?? []);
    },

    async deleteAll(tx: Tx, { accountId, providerId }: Place): Promise<void> {
      await tx`delete from sign_in_origins where account_id = ${accountId} and provider_id = ${providerId}`;
    },

    /** False if it was used before. */
    async useLogout(tx: Tx, { accountId, providerId }: Place, tokenHash: string, seconds: number): Promise<boolean> {
      const result = await tx`
        insert into sign_in_logouts (account_id, provider_id, token_hash, expires_at)
        values (${accountId}, ${providerId}, ${tokenHash}, now() + make_interval(secs => ${seconds}))
        on conflict do nothing`;
      return result.count === 1;
    },

    async prune(): Promise<void> {
      await sql`delete from sign_in_logouts where expires_at < now()`;
      await sql`delete from sign_in_origins where session_id is null and created_at < now() - interval '1 hour'`;
    },
  };
}
