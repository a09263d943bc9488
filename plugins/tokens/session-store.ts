/** SQL about the sessions that a person sees as their own. */
import { readPage, type Caller, type Page, type Queryable, type Sql, type Tx } from "platform";
import type { Session, TokenOrigin } from "./api.ts";

/** The newest first. */
export async function list(sql: Sql, caller: Caller, page: Page) {
  return readPage<Session>(sql, page, {
    columns: sql`id, created_at, last_used_at, address, browser`,
    from: sql`api_tokens where ${own(sql, caller)}`,
    order: sql`id desc`,
  });
}

/** A `web_token` signs in nobody in person, an invitation does. */
export async function standingOf(sql: Sql, { account, tokenId }: Caller): Promise<TokenOrigin> {
  const [row] = await sql<TokenOrigin[]>`
    select t.purpose is not distinct from 'session' as is_session,
      t.purpose is not distinct from 'session' and t.created_at between now() - interval '10 minutes' and now()
        and (t.parent_id is null or p.purpose is not distinct from 'invitation') as is_fresh,
      t.purpose is not distinct from 'session' and p.purpose is not distinct from 'invitation' as is_invited
    from api_tokens t left join api_tokens p on p.id = t.parent_id
    where t.account_id = ${account.id} and t.id = ${tokenId}`;
  return row ?? { isSession: false, isFresh: false, isInvited: false };
}

export async function has(tx: Tx, caller: Caller, id: number): Promise<boolean> {
  return (await tx`select 1 from api_tokens where id = ${id} and ${own(tx, caller)}`).length > 0;
}

export async function ids(tx: Tx, caller: Caller): Promise<number[]> {
  return (await tx<{ id: number }[]>`select id from api_tokens where ${own(tx, caller)}`).map(({ id }) => id);
}

/** All of a person's. */
export async function idsOf(tx: Tx, accountId: number, userId: number): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    select id from api_tokens where account_id = ${accountId} and user_id = ${userId} and purpose = 'session'`;
  return rows.map(({ id }) => id);
}

/** Those that work; for a narrowed token only itself and those that can do no more than it. */
const own = (sql: Queryable, { account, user, tokenId, narrowedTo }: Caller) => sql`
  account_id = ${account.id} and user_id = ${user.id} and purpose = 'session' and active
  and (expires_at is null or expires_at > now())
  and (idle_seconds is null or coalesce(last_used_at, created_at) > now() - idle_seconds * interval '1 second')
  and (${narrowedTo}::text[] = '{}' or id = ${tokenId}
    or (privileges <> '{}' and privileges <@ ${narrowedTo}::text[]))`;
