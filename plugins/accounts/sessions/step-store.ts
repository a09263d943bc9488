/** All SQL about sign-ins that wait for their second factor. */
import type { Sql, Tx } from "platform";

const mostFailures = 5;

interface NewStep {
  readonly hash: string;
  readonly accountId: number;
  readonly userId: number;
  readonly expiresAt: Date;
  /** An invitation in place of a password. */
  readonly openedBy?: number | undefined;
  readonly origin?: string | undefined;
}

interface Taken {
  readonly openedById: number | null;
  readonly origin: string | null;
}

export function createStepStore(sql: Sql) {
  return {
    async add({ hash, accountId, userId, expiresAt, openedBy, origin }: NewStep): Promise<void> {
      await sql`
        insert into sign_in_steps (token_hash, account_id, user_id, expires_at, opened_by_id, origin)
        select ${hash}, u.account_id, u.id, ${expiresAt}, ${openedBy ?? null}::bigint, ${origin ?? null}::text from users u
        where u.account_id = ${accountId} and u.id = ${userId}`;
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

    /** Ends it; undefined if it has ended already. */
    async take(accountId: number, hash: string): Promise<Taken | undefined> {
      const [row] = await sql<Taken[]>`
        delete from sign_in_steps
        where token_hash = ${hash} and account_id = ${accountId} and expires_at > now() and failures < ${mostFailures}
        returning opened_by_id, origin`;
      return row;
    },

    /** Whoever knew the old password must begin again. */
    async endOf(tx: Tx, userId: number): Promise<void> {
      await tx`
        delete from sign_in_steps
        where account_id = (select account_id from users where id = ${userId}) and user_id = ${userId}`;
    },

    async prune(): Promise<void> {
      await sql`delete from sign_in_steps where expires_at < now()`;
    },
  };
}

export type StepStore = ReturnType<typeof createStepStore>;
