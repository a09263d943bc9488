/** SQL about what protects tokens: limits, networks, rotation, the warning before their end. */
import type { Queryable, Sql, Tx } from "platform";
import { tokenColumns, type TokenRow } from "./store.ts";

export interface Care {
  readonly rateLimit: number | null;
  readonly networks: readonly string[];
  readonly readOnly: boolean;
  readonly mcpDelete: boolean;
}

export interface Rotation {
  readonly tokenHash: string;
  readonly tokenInfo: string;
  /** When the text that it had stops working. */
  readonly endsAt: Date;
}

/** What an earlier text of a token stands for. */
export interface Earlier {
  readonly tokenHash: string;
  readonly endsAt: Date;
}

export type CareStore = ReturnType<typeof createCareStore>;

export function createCareStore(sql: Sql) {
  const columns = tokenColumns(sql);
  return {
    async lastAddress(db: Queryable, accountId: number, id: number): Promise<string | null> {
      const [row] = await db<{ lastAddress: string | null }[]>`
        select last_address from api_tokens where account_id = ${accountId} and id = ${id}`;
      return row?.lastAddress ?? null;
    },

    async save(tx: Tx, accountId: number, id: number, care: Care): Promise<TokenRow | undefined> {
      const { rateLimit, networks, readOnly, mcpDelete } = care;
      const [row] = await tx<TokenRow[]>`
        update api_tokens t set rate_limit = ${rateLimit}, networks = ${[...networks]}::text[],
          read_only = ${readOnly}, mcp_delete = ${mcpDelete}, version = version + 1, updated_at = now()
        where t.account_id = ${accountId} and t.id = ${id} returning ${columns}`;
      return row;
    },

    /** Gives the token another text; the one that it had works until `endsAt`, those before it no more. */
    async rotate(tx: Tx, { accountId, id, tokenHash: old }: TokenRow, to: Rotation): Promise<TokenRow | undefined> {
      await tx`delete from api_token_texts where token_id = ${id}`;
      await tx`
        insert into api_token_texts (token_hash, account_id, token_id, ends_at)
        select ${old}, ${accountId}, ${id}, ${to.endsAt} where ${to.endsAt}::timestamptz > now()`;
      const [row] = await tx<TokenRow[]>`
        update api_tokens t set token_hash = ${to.tokenHash}, token_info = ${to.tokenInfo}, given = false,
          version = version + 1, updated_at = now()
        where t.account_id = ${accountId} and t.id = ${id} returning ${columns}`;
      return row;
    },

    async earlier(hash: string): Promise<Earlier | undefined> {
      const [row] = await sql<Earlier[]>`
        select t.token_hash, e.ends_at from api_token_texts e join api_tokens t on t.id = e.token_id
        where e.token_hash = ${hash} and e.ends_at > now()`;
      return row;
    },

    /** Marks tokens that end within so many days as told of, each once for each end. */
    async toWarn(tx: Tx, days: number, most: number): Promise<TokenRow[]> {
      return tx<TokenRow[]>`
        update api_tokens t set warned_at = now() where t.id in (
          select id from api_tokens
          where purpose is null and warned_at is null and active
            and expires_at > now() and expires_at <= now() + make_interval(days => ${days})
          order by expires_at limit ${most} for update skip locked)
        returning ${columns}`;
    },

    async prune(): Promise<void> {
      await sql`delete from api_token_texts where ends_at < now()`;
    },
  };
}
