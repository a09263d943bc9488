/** All SQL about sign-ins and sign-outs on their way to a provider and back. */
import type { Sql } from "platform";

interface Attempt {
  readonly accountId: number;
  readonly providerId: string;
  readonly stateHash: string;
  /** Of the cookie: the answer counts only in the browser that asked. */
  readonly browserHash: string;
  readonly purpose: "sign_in" | "sign_out";
}

export type AttemptStore = ReturnType<typeof createAttemptStore>;

export function createAttemptStore(sql: Sql) {
  return {
    async add(
      { accountId, providerId, stateHash, browserHash, purpose }: Attempt,
      returnTo: string,
      seconds: number,
    ): Promise<void> {
      await sql`
        insert into sign_in_attempts (state_hash, account_id, provider_id, browser_hash, purpose, return_to, expires_at)
        values (${stateHash}, ${accountId}, ${providerId}, ${browserHash}, ${purpose}, ${returnTo},
          now() + make_interval(secs => ${seconds}))`;
    },

    /** Ends it: of two answers with one state, one counts. In another browser, or by another provider, it goes on. */
    async take(attempt: Attempt): Promise<{ returnTo: string } | undefined> {
      const { accountId, providerId, stateHash, browserHash, purpose } = attempt;
      const [row] = await sql<{ returnTo: string }[]>`
        delete from sign_in_attempts
        where state_hash = ${stateHash} and account_id = ${accountId} and provider_id = ${providerId}
          and browser_hash = ${browserHash} and purpose = ${purpose} and expires_at > now()
        returning return_to`;
      return row;
    },

    async prune(): Promise<void> {
      await sql`delete from sign_in_attempts where expires_at < now()`;
    },
  };
}
