/** SQL about the sessions that a person sees as their own. */
import { readPage, type Caller, type Page, type Sql, type Tx } from "platform";
import type { Standing } from "../accounts/api.ts";
import type { Session } from "./api.ts";

export function createSessionStore(sql: Sql) {
  /** Those that work; for a narrowed token only itself and those that can do no more than it. */
  const own = ({ account, user, tokenId, narrowedTo }: Caller) => sql`
    account_id = ${account.id} and user_id = ${user.id} and purpose = 'session' and active
    and (expires_at is null or expires_at > now())
    and (idle_seconds is null or coalesce(last_used_at, created_at) > now() - idle_seconds * interval '1 second')
    and (${narrowedTo}::text[] = '{}' or id = ${tokenId}
      or (privileges <> '{}' and privileges <@ ${narrowedTo}::text[]))`;

  return {
    /** The newest first. */
    async list(caller: Caller, page: Page) {
      return readPage<Session>(sql, page, {
        columns: sql`id, created_at, last_used_at, address, browser`,
        from: sql`api_tokens where ${own(caller)}`,
        order: sql`id desc`,
      });
    },

    /** A `web_token` signs in nobody in person, an invitation does. */
    async standingOf({ account, tokenId }: Caller): Promise<Standing> {
      const [row] = await sql<Standing[]>`
        select t.purpose is not distinct from 'session' as is_session,
          t.purpose is not distinct from 'session' and t.created_at between now() - interval '10 minutes' and now()
            and (t.parent_id is null or p.purpose is not distinct from 'invitation') as is_fresh,
          t.purpose is not distinct from 'session' and p.purpose is not distinct from 'invitation' as is_invited
        from api_tokens t left join api_tokens p on p.id = t.parent_id
        where t.account_id = ${account.id} and t.id = ${tokenId}`;
      return row ?? { isSession: false, isFresh: false, isInvited: false };
    },

    async has(tx: Tx, caller: Caller, id: number): Promise<boolean> {
      return (await tx`select 1 from api_tokens where id = ${id} and ${own(caller)}`).length > 0;
    },

    async ids(tx: Tx, caller: Caller): Promise<number[]> {
      return (await tx<{ id: number }[]>`select id from api_tokens where ${own(caller)}`).map(({ id }) => id);
    },

    /** All of a person's. */
    async idsOf(tx: Tx, accountId: number, userId: number): Promise<number[]> {
      const rows = await tx<{ id: number }[]>`
        select id from api_tokens where account_id = ${accountId} and user_id = ${userId} and purpose = 'session'`;
      return rows.map(({ id }) => id);
    },
  };
}

export type SessionStore = ReturnType<typeof createSessionStore>;
