import { readPage, type Page, type Queryable, type Sql, type Static, type Tx } from "platform";
import type { ApiToken } from "./answers.ts";

export interface TokenRow {
  readonly id: number;
  readonly accountId: number;
  readonly userId: number;
  readonly purpose: "session" | "temporary" | "invitation" | null;
  readonly name: string | null;
  readonly code: string | null;
  readonly kind: "web_token" | null;
  readonly integrationAppCode: string | null;
  readonly forAccount: boolean;
  readonly active: boolean;
  readonly privileges: readonly string[];
  readonly expiresAt: Date | null;
  readonly tokenHash: string;
  readonly tokenInfo: string;
  readonly lastUsedAt: Date | null;
  /** Of a session: it ends after so long without a request. */
  readonly idleSeconds: number | null;
  /** Requests a minute; null = as many as it likes. */
  readonly rateLimit: number | null;
  /** Where it may be used from; empty = from anywhere. */
  readonly networks: readonly string[];
  readonly readOnly: boolean;
  /** Whether agents may delete with it over `/mcp`. */
  readonly mcpDelete: boolean;
  /** Raised by what people change, not by the use of the token. */
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface TokenInput {
  readonly name: string | null;
  readonly code: string | null;
  readonly kind: "web_token" | null;
  readonly integrationAppCode: string | null;
  readonly forAccount: boolean;
  readonly active: boolean;
  readonly privileges: readonly string[];
  readonly expiresAt: Date | null;
}

export interface NewTokenRow extends TokenInput {
  readonly accountId: number;
  readonly userId: number;
  readonly parentId: number | null;
  readonly purpose: TokenRow["purpose"];
  readonly tokenHash: string;
  readonly tokenInfo: string;
  readonly given: boolean;
  /** Of a session: where from and by what browser its person signed in. */
  readonly address: string | null;
  readonly browser: string | null;
  readonly idleSeconds: number | null;
  /** The token by which somebody makes it: its limits are this one's too. Null = the server makes it. */
  readonly madeBy: number | null;
}

export interface TokenFilter {
  /** The tokens of the whole account, or a person's own: those made through the API, or with `kind` also their sessions. */
  readonly of: { readonly userId: number; readonly webTokens: boolean } | "account";
  /** Matches the name or the code. */
  readonly q: string | undefined;
  /** Those that are switched off or have expired, or those that work. */
  readonly ended: boolean | undefined;
}

/** A row as `api_tokens t` gives it. */
export const tokenColumns = (sql: Sql) => sql`
  t.id, t.account_id, t.user_id, t.purpose, t.name, t.code, t.kind, t.integration_app_code, t.for_account, t.active,
  t.privileges, t.expires_at, t.token_hash, t.token_info, t.last_used_at, t.idle_seconds, t.rate_limit,
  t.networks, t.read_only, t.mcp_delete, t.version,
  t.created_at, t.updated_at`;

/** Tokens as people make, see and change them. identity-store.ts finds out who asks, end-store.ts ends tokens. */
export function createTokenStore(sql: Sql) {
  const columns = tokenColumns(sql);

  return {
    async list(accountId: number, filter: TokenFilter, page: Page) {
      const mine = (userId: number, webTokens: boolean) => sql`
        t.user_id = ${userId} and ${webTokens ? sql`t.kind = 'web_token' and (t.purpose is null or t.purpose = 'session')` : sql`t.purpose is null`}`;
      const works = sql`(t.active and (t.expires_at is null or t.expires_at > now()))`;
      const where = sql`
        t.account_id = ${accountId}
        and ${filter.of === "account" ? sql`t.for_account` : mine(filter.of.userId, filter.of.webTokens)}
        ${filter.q === undefined ? sql`` : sql`and (t.name ilike ${filter.q} or t.code ilike ${filter.q})`}
        ${filter.ended === undefined ? sql`` : sql`and ${works} <> ${filter.ended}`}`;
      return readPage<TokenRow>(sql, page, { columns, from: sql`api_tokens t where ${where}`, order: sql`t.id` });
    },

    /** A token that people may see; temporary ones are hidden. */
    async byId(db: Queryable, accountId: number, id: number): Promise<TokenRow | undefined> {
      const [row] = await db<TokenRow[]>`
        select ${columns} from api_tokens t
        where t.account_id = ${accountId} and t.id = ${id} and t.purpose is distinct from 'temporary'`;
      return row;
    },

    /** The same, and nobody changes it until the transaction ends. */
    async lockById(tx: Tx, accountId: number, id: number): Promise<TokenRow | undefined> {
      const [row] = await tx<TokenRow[]>`
        select ${columns} from api_tokens t
        where t.account_id = ${accountId} and t.id = ${id} and t.purpose is distinct from 'temporary' for update`;
      return row;
    },

    /**
     * When the tokens that this one makes must end; null = never. A session expires, but it stands for a person who has
     * signed in, so only the `web_token` that opened it limits what it makes.
     */
    async endOf(db: Queryable, accountId: number, id: number): Promise<Date | null> {
      const [row] = await db<{ endsAt: Date | null }[]>`
        select case when t.purpose = 'session' then p.expires_at else t.expires_at end as ends_at
        from api_tokens t left join api_tokens p on p.id = t.parent_id
        where t.account_id = ${accountId} and t.id = ${id}`;
      return row?.endsAt ?? null;
    },

    /** Marks it as having opened a session; false if it had already. */
    async open(tx: Tx, accountId: number, id: number): Promise<boolean> {
      const { count } = await tx`
        update api_tokens set opened_at = now() where account_id = ${accountId} and id = ${id} and opened_at is null`;
      return count > 0;
    },

    /** Undefined if the owner (or the parent) is gone, or if the same token exists already. */
    async insert(db: Queryable, token: NewTokenRow): Promise<TokenRow | undefined> {
      const [row] = await db<TokenRow[]>`
        insert into api_tokens as t (account_id, user_id, parent_id, purpose, name, code, kind, integration_app_code,
          for_account, active, privileges, expires_at, token_hash, token_info, given, address, browser, idle_seconds,
          rate_limit, networks, read_only)
        select ${token.accountId}, u.id, ${token.parentId}::bigint, ${token.purpose}, ${token.name}, ${token.code},
          ${token.kind}, ${token.integrationAppCode}, ${token.forAccount}, ${token.active},
          ${token.privileges}::text[], ${token.expiresAt}::timestamptz, ${token.tokenHash}, ${token.tokenInfo}, ${token.given},
          ${token.address}, ${token.browser}, ${token.idleSeconds}::integer,
          m.rate_limit, coalesce(m.networks, '{}'), coalesce(m.read_only, false)
        from users u left join api_tokens m on m.id = coalesce(${token.parentId}::bigint, ${token.madeBy}::bigint)
        where u.id = ${token.userId} and u.account_id = ${token.accountId}
          and (${token.parentId}::bigint is null
            or exists (select 1 from api_tokens p where p.id = ${token.parentId}::bigint for key share))
        for key share of u
        on conflict (token_hash) do nothing
        returning ${columns}`;
      return row;
    },

    async update(tx: Tx, accountId: number, id: number, token: TokenInput): Promise<TokenRow | undefined> {
      const [row] = await tx<TokenRow[]>`
        update api_tokens t set name = ${token.name}, code = ${token.code}, kind = ${token.kind},
          integration_app_code = ${token.integrationAppCode}, for_account = ${token.forAccount}, active = ${token.active},
          privileges = ${token.privileges}::text[], expires_at = ${token.expiresAt}, version = version + 1,
          warned_at = case when expires_at is distinct from ${token.expiresAt}::timestamptz then null else warned_at end,
          updated_at = now()
        where t.account_id = ${accountId} and t.id = ${id} returning ${columns}`;
      return row;
    },

    /** All of a person's that work. */
    switchOff: (tx: Tx, accountId: number, userId: number) => tx<TokenRow[]>`
      update api_tokens t set active = false, version = version + 1, updated_at = now()
      where t.account_id = ${accountId} and t.user_id = ${userId} and t.purpose is null and t.active returning ${columns}`,
  };
}

export type TokenStore = ReturnType<typeof createTokenStore>;

/** A token as the API shows it, without its text. */
export function toApi(row: TokenRow): Static<typeof ApiToken> {
  return {
    id: row.id,
    name: row.name,
    code: row.code,
    kind: row.kind,
    active: row.active,
    expires_at: row.expiresAt,
    integration_app_code: row.integrationAppCode,
    for_account: row.forAccount,
    privileges: row.privileges,
    token_info: row.tokenInfo,
    user_id: row.userId,
    last_used_at: row.lastUsedAt,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
