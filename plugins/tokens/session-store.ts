/** SQL about the sessions that a person sees as their own. */
import type { Caller, Page, Sql, Tx } from "platform";
import type { Session } from "./api.ts";

export function createSessionStore(sql: Sql) {
  /** Those that work; for a narrowed token only itself and those that can do no more than it. */
  const own = ({ account, user, tokenId, narrowedTo }: Caller) => sql`
    account_id = ${account.id} and user_id = ${user.id} and purpose = 'session' and active
    and (expires_at is null or expires_at > now())
    and (${narrowedTo}::text[] = '{}' or id = ${tokenId}
      or (privileges <> '{}' and privileges <@ ${narrowedTo}::text[]))`;

  return {
    /** The newest first. */
    async list(caller: Caller, { limit, offset }: Page) {
      const rows = await sql<Session[]>`
        select id, created_at, last_used_at, address, browser from api_tokens where ${own(caller)}
        order by id desc limit ${limit} offset ${offset}`;
      const [count] = await sql<{ total: number }[]>`select count(*) as total from api_tokens where ${own(caller)}`;
      return { rows, total: count?.total ?? 0 };
    },

    async has(tx: Tx, caller: Caller, id: number): Promise<boolean> {
      return (await tx`select 1 from api_tokens where id = ${id} and ${own(caller)}`).length > 0;
    },
  };
}

export type SessionStore = ReturnType<typeof createSessionStore>;
