/** Tokens as every request needs them: found by hash, and marked as used. */
import { words, type Sql } from "platform";
import { Token, type TokenRow } from "./token.ts";

/** An earlier text of a token, and the hash of its present one. */
interface Earlier {
  readonly tokenHash: string;
  readonly endsAt: Date;
}

export function createIdentityStore(sql: Sql) {
  return {
    async byHash(hash: string): Promise<TokenRow | undefined> {
      const [row] = await sql<TokenRow[]>`select ${words(sql, Token.read)} from api_tokens where token_hash = ${hash}`;
      return row;
    },

    /** By a text that a rotated token had before. */
    async earlier(hash: string): Promise<Earlier | undefined> {
      const [row] = await sql<Earlier[]>`
        select t.token_hash, e.ends_at from api_token_texts e join api_tokens t on t.id = e.token_id
        where e.token_hash = ${hash} and e.ends_at > now()`;
      return row;
    },

    /** The hash of any token, also of a temporary one. */
    async hashOf(id: number): Promise<string | undefined> {
      const [row] = await sql<{ tokenHash: string }[]>`select token_hash from api_tokens where id = ${id}`;
      return row?.tokenHash;
    },

    /** The hashes of tokens that were given from outside, and of what tokens were before they were rotated. */
    async givenHashes(): Promise<Set<string>> {
      const rows = await sql<{ tokenHash: string }[]>`
        select token_hash from api_tokens where given union all select token_hash from api_token_texts`;
      return new Set(rows.map(({ tokenHash }) => tokenHash));
    },

    /** Writes when and from where tokens were last used; for each token at most once a minute. */
    async touch(ids: readonly number[], at: Date, addresses: readonly (string | null)[]): Promise<void> {
      await sql`
        update api_tokens t set last_used_at = ${at}, last_address = coalesce(u.address, t.last_address)
        from unnest(${ids}::bigint[], ${addresses}::text[]) as u (id, address)
        where t.id = u.id and (t.last_used_at is null or t.last_used_at <= ${at}::timestamptz - interval '1 minute')`;
    },
  };
}

export type IdentityStore = ReturnType<typeof createIdentityStore>;
