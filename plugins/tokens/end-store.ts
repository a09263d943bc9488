/**
 * How tokens end, and what limits those that they make. A token that ends takes with it what was made from it. Each
 * deletion returns the hashes of the tokens that ended: caches are keyed by them.
 */
import { unauthorized, type Caller, type Queryable, type Sql, type Tx } from "platform";

interface TokenRef {
  readonly tokenHash: string;
}

const hashes = (rows: readonly TokenRef[]) => rows.map(({ tokenHash }) => tokenHash);

/** Deletes them with what was made from them. */
export async function deleteTokens(db: Queryable, accountId: number, ids: readonly number[]): Promise<string[]> {
  return hashes(
    await db<TokenRef[]>`
    with recursive family as (
      select id from api_tokens where account_id = ${accountId} and id = any(${ids}::bigint[])
      union all select c.id from api_tokens c join family f on c.parent_id = f.id
    )
    delete from api_tokens where id in (select id from family) returning token_hash`,
  );
}

/** Deletes what was made from it. */
export async function deleteChildren(tx: Tx, id: number): Promise<string[]> {
  return hashes(
    await tx<TokenRef[]>`
    with recursive family as (
      select id from api_tokens where parent_id = ${id}
      union all select c.id from api_tokens c join family f on c.parent_id = f.id
    )
    delete from api_tokens where id in (select id from family) returning token_hash`,
  );
}

/** Deletes a person's sessions and what was made from them, but `keepId` with its own. */
export async function deleteSessions(tx: Tx, userId: number, keepId: number | null): Promise<string[]> {
  return hashes(
    await tx<TokenRef[]>`
    delete from api_tokens where user_id = ${userId} and purpose is not null
      and id is distinct from ${keepId}::bigint and (parent_id is distinct from ${keepId}::bigint or ${keepId}::bigint is null)
    returning token_hash`,
  );
}

/** Lets a session outlast the invitation that opened it. */
export async function detachInvited(tx: Tx, userId: number, id: number | null): Promise<void> {
  await tx`
    update api_tokens t set parent_id = null from api_tokens p
    where t.id = ${id}::bigint and t.user_id = ${userId} and t.purpose = 'session'
      and p.id = t.parent_id and p.purpose = 'invitation'`;
}

/** Deletes a person's invitations that nobody has used. */
export async function deleteUnopened(tx: Tx, accountId: number, userId: number): Promise<string[]> {
  return hashes(
    await tx<TokenRef[]>`
    delete from api_tokens
    where account_id = ${accountId} and user_id = ${userId} and purpose = 'invitation' and opened_at is null
    returning token_hash`,
  );
}

export async function pruneExpired(sql: Sql): Promise<void> {
  await sql`delete from api_tokens where purpose is not null and (expires_at < now()
      or coalesce(last_used_at, created_at) < now() - idle_seconds * interval '1 second' - interval '1 hour')`;
}

/**
 * When the tokens that this one makes must end; null = never. A session expires, but it stands for a person who has
 * signed in, so only the `web_token` that opened it limits what it makes. Throws the 401 if this one is gone.
 */
export async function endOf(db: Queryable, accountId: number, id: number): Promise<Date | null> {
  const [row] = await db<{ endsAt: Date | null }[]>`
    select case when t.purpose = 'session' then p.expires_at else t.expires_at end as ends_at
    from api_tokens t left join api_tokens p on p.id = t.parent_id
    where t.account_id = ${accountId} and t.id = ${id}`;
  if (!row) throw unauthorized();
  return row.endsAt;
}

interface Limits {
  readonly rateLimit: number | null;
  readonly networks: readonly string[];
  readonly readOnly: boolean;
}

/** Those of the caller's token: what it makes has them too. Holds both; throws the 401 if either is gone. */
export async function limitsOf(tx: Tx, { account, user, tokenId }: Caller): Promise<Limits> {
  const [row] = await tx<Limits[]>`
    select m.rate_limit, coalesce(m.networks, '{}') as networks, coalesce(m.read_only, false) as read_only
    from users u join api_tokens m on m.account_id = u.account_id and m.id = ${tokenId}
    where u.id = ${user.id} and u.account_id = ${account.id} for key share`;
  if (!row) throw unauthorized();
  return row;
}
