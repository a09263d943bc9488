/** All SQL about sign-ins that wait for their second factor. */
import type { Sql, Tx } from "platform";

const mostFailures = 5;

export function createStepStore(sql: Sql) {
  return {
    async add(hash: string, accountId: number, userId: number, expiresAt: Date): Promise<void> {
      await sql`
        insert into sign_in_steps (token_hash, account_id, user_id, expires_at)
        select ${hash}, u.account_id, u.id, ${expiresAt} from users u where u.account_id = ${accountId} and u.id = ${userId}`;
    },

    async userIdOf(accountId: number, hash: string): Promise<number | undefined> {
      const [row] = await sql<{ userId: number }[]>`
        select user_id from sign_in_steps
        where token_hash = ${hash} and account_id = ${accountId} and expires_at > now() and failures < ${mostFailures}`;
      return row?.userId;
    },

    async failed(accountId: number, hash: string): Promise<void> {
      await sql`update sign_in_steps set failures = failures + 1 where token_hash = ${hash} and account_id = ${accountId}`;
    },

    /** Ends it; false if it has ended already. */
    async take(accountId: number, hash: string): Promise<boolean> {
      const { count } = await sql`
        delete from sign_in_steps
        where token_hash = ${hash} and account_id = ${accountId} and expires_at > now() and failures < ${mostFailures}`;
      return count > 0;
    },

    /** Whoever knew the old password must begin again. */
    async endOf(tx: Tx, userId: number): Promise<void> {
      await tx`delete from sign_in_steps where user_id = ${userId}`;
    },

    async prune(): Promise<void> {
      await sql`delete from sign_in_steps where expires_at < now()`;
    },
  };
}

export type StepStore = ReturnType<typeof createStepStore>;
