/** How tokens end. A token that ends takes with it what was made from it. */
import type { Queryable, Sql, Tx } from "platform";

interface Hashed {
  readonly tokenHash: string;
}

const hashes = (rows: readonly Hashed[]) => rows.map(({ tokenHash }) => tokenHash);

/** Each deletion gives back the hashes of the tokens that ended: caches are keyed by them. */
export function createTokenEndStore(sql: Sql) {
  return {
    /** Deletes them with what was made from them. */
    async delete(db: Queryable, accountId: number, ids: readonly number[]): Promise<string[]> {
      return hashes(
        await db<Hashed[]>`
        with recursive family as (
          select id from api_tokens where account_id = ${accountId} and id = any(${ids}::bigint[])
          union all select c.id from api_tokens c join family f on c.parent_id = f.id
        )
        delete from api_tokens where id in (select id from family) returning token_hash`,
      );
    },

    /** Deletes what was made from it. */
    async deleteChildren(tx: Tx, id: number): Promise<string[]> {
      return hashes(
        await tx<Hashed[]>`
        with recursive family as (
          select id from api_tokens where parent_id = ${id}
          union all select c.id from api_tokens c join family f on c.parent_id = f.id
        )
        delete from api_tokens where id in (select id from family) returning token_hash`,
      );
    },

    /** Deletes a person's sessions and what was made from them, but `keepId` with its own. */
    async deleteSessions(tx: Tx, userId: number, keepId: number | null): Promise<string[]> {
      return hashes(
        await tx<Hashed[]>`
        delete from api_tokens where user_id = ${userId} and purpose is not null
          and id is distinct from ${keepId}::bigint and (parent_id is distinct from ${keepId}::bigint or ${keepId}::bigint is null)
        returning token_hash`,
      );
    },

    /** Lets a session outlast the invitation that opened it. */
    async detachInvited(tx: Tx, userId: number, id: number | null): Promise<void> {
      await tx`
        update api_tokens t set parent_id = null from api_tokens p
        where t.id = ${id}::bigint and t.user_id = ${userId} and t.purpose = 'session'
          and p.id = t.parent_id and p.purpose = 'invitation'`;
    },

    /** Deletes a person's invitations that nobody has used. */
    async deleteUnopened(tx: Tx, accountId: number, userId: number): Promise<string[]> {
      return hashes(
        await tx<Hashed[]>`
        delete from api_tokens
        where account_id = ${accountId} and user_id = ${userId} and purpose = 'invitation' and opened_at is null
        returning token_hash`,
      );
    },

    async pruneExpired(): Promise<void> {
      await sql`delete from api_tokens where purpose is not null and (expires_at < now()
          or coalesce(last_used_at, created_at) < now() - idle_seconds * interval '1 second' - interval '1 hour')`;
    },
  };
}

export type TokenEndStore = ReturnType<typeof createTokenEndStore>;
