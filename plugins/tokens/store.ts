/** SQL about tokens beside that of the resource: how the server makes, opens, rotates and warns of them. */
import { words, type Queryable, type Sql, type Tx } from "platform";
import { Token, type TokenRow } from "./token.ts";

export interface NewTokenRow extends Pick<
  TokenRow,
  | ("accountId" | "userId" | "purpose" | "name" | "kind" | "privileges" | "expiresAt")
  | ("tokenHash" | "tokenInfo" | "given" | "idleSeconds")
> {
  /** What it is made from: its limits are this one's too. Null = the server makes it. */
  readonly parentId: number | null;
  /** Of a session: where from and by what browser its person signed in. */
  readonly address: string | null;
  readonly browser: string | null;
}

const columns = (sql: Queryable) => words(sql, Token.read);

/** Undefined if the owner (or the parent) is gone, or if the same token exists already. */
export async function insert(db: Queryable, token: NewTokenRow): Promise<TokenRow | undefined> {
  const [row] = await db<TokenRow[]>`
    insert into api_tokens (account_id, user_id, parent_id, purpose, name, kind, privileges, expires_at, token_hash,
      token_info, given, address, browser, idle_seconds, rate_limit, networks, read_only, databases)
    select ${token.accountId}, u.id, ${token.parentId}::bigint, ${token.purpose}, ${token.name}, ${token.kind},
      ${token.privileges}::text[], ${token.expiresAt}::timestamptz, ${token.tokenHash}, ${token.tokenInfo}, ${token.given},
      ${token.address}, ${token.browser}, ${token.idleSeconds}::integer,
      p.rate_limit, coalesce(p.networks, '{}'), coalesce(p.read_only, false), p.databases
    from users u left join api_tokens p on p.id = ${token.parentId}::bigint
    where u.id = ${token.userId} and u.account_id = ${token.accountId}
      and (${token.parentId}::bigint is null
        or exists (select 1 from api_tokens where id = ${token.parentId}::bigint for key share))
    for key share of u
    on conflict (token_hash) do nothing
    returning ${columns(db)}`;
  return row;
}

/** Marks it as having opened a session; false if it had already. */
export async function open(tx: Tx, accountId: number, id: number): Promise<boolean> {
  const { count } = await tx`
    update api_tokens set opened_at = now() where account_id = ${accountId} and id = ${id} and opened_at is null`;
  return count > 0;
}

/** All of a person's that work. */
export async function switchOff(tx: Tx, accountId: number, userId: number): Promise<TokenRow[]> {
  return tx<TokenRow[]>`
    update api_tokens set active = false, version = version + 1, updated_at = now()
    where account_id = ${accountId} and user_id = ${userId} and purpose is null and active returning ${columns(tx)}`;
}

export async function lastAddress(db: Queryable, accountId: number, id: number): Promise<string | null> {
  const [row] = await db<{ lastAddress: string | null }[]>`
    select last_address from api_tokens where account_id = ${accountId} and id = ${id}`;
  return row?.lastAddress ?? null;
}

/** The text that it has works until `endsAt`, those before it no more. */
export async function replaceText(tx: Tx, { accountId, id, tokenHash }: TokenRow, endsAt: Date): Promise<void> {
  await tx`delete from api_token_texts where token_id = ${id}`;
  await tx`
    insert into api_token_texts (token_hash, account_id, token_id, ends_at)
    select ${tokenHash}, ${accountId}, ${id}, ${endsAt} where ${endsAt}::timestamptz > now()`;
}

/** Marks tokens that end within so many days as told of, each once for each end. */
export async function toWarn(tx: Tx, days: number, most: number): Promise<TokenRow[]> {
  return tx<TokenRow[]>`
    update api_tokens set warned_at = now() where id in (
      select id from api_tokens
      where purpose is null and warned_at is null and active
        and expires_at > now() and expires_at <= now() + make_interval(days => ${days})
      order by expires_at limit ${most} for update skip locked)
    returning ${columns(tx)}`;
}

/** A further text of a token that works; returns when it ends. */
export async function insertText(tx: Tx, token: Pick<TokenRow, "accountId" | "id" | "tokenHash">, seconds: number) {
  const [row] = await tx<{ endsAt: Date }[]>`
    insert into api_token_texts (token_hash, account_id, token_id, ends_at)
    select ${token.tokenHash}, account_id, id, least(now() + make_interval(secs => ${seconds}), expires_at)
    from api_tokens where account_id = ${token.accountId} and id = ${token.id}
      and active and (expires_at is null or expires_at > now())
    for key share returning ends_at`;
  return row?.endsAt;
}

export async function pruneTexts(sql: Sql): Promise<void> {
  await sql`delete from api_token_texts where ends_at < now()`;
}

/** Another text of a token, and the hash of its own. */
export interface OtherText {
  readonly tokenHash: string;
  readonly endsAt: Date;
}

/** Tokens as every request needs them: found by hash, and marked as used. */
export function createIdentityStore(sql: Sql) {
  return {
    async byHash(hash: string): Promise<TokenRow | undefined> {
      const [row] = await sql<TokenRow[]>`select ${words(sql, Token.read)} from api_tokens where token_hash = ${hash}`;
      return row;
    },

    /** By a text that a rotated token had before, or that an app was given. */
    async otherText(hash: string): Promise<OtherText | undefined> {
      const [row] = await sql<OtherText[]>`
        select t.token_hash, e.ends_at from api_token_texts e join api_tokens t on t.id = e.token_id
        where e.token_hash = ${hash} and e.ends_at > now()`;
      return row;
    },

    /** The hash of any token, also of a temporary one. */
    async hashOf(id: number): Promise<string | undefined> {
      const [row] = await sql<{ tokenHash: string }[]>`select token_hash from api_tokens where id = ${id}`;
      return row?.tokenHash;
    },

    /** The hashes of tokens that were given from outside, and of their other texts. */
    async givenHashes(): Promise<Set<string>> {
      const rows = await sql<{ tokenHash: string }[]>`
        select token_hash from api_tokens where given union all select token_hash from api_token_texts`;
      return new Set(rows.map(({ tokenHash }) => tokenHash));
    },

    /** Writes when and from where tokens were last used; for each token at most once a minute. */
    async touch(tokenIds: readonly number[], at: Date, addresses: readonly (string | null)[]): Promise<void> {
      await sql`
        update api_tokens t set last_used_at = ${at}, last_address = coalesce(u.address, t.last_address)
        from unnest(${tokenIds}::bigint[], ${addresses}::text[]) as u (id, address)
        where t.id = u.id and (t.last_used_at is null or t.last_used_at <= ${at}::timestamptz - interval '1 minute')`;
    },
  };
}

export type IdentityStore = ReturnType<typeof createIdentityStore>;
