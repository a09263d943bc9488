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

interface Goal {
  readonly returnTo: string;
  /** The invitation that it takes up. */
  readonly invitationHash: string | null;
}

const nowhere: Goal = { returnTo: "", invitationHash: null };

export type AttemptStore = ReturnType<typeof createAttemptStore>;

export function createAttemptStore(sql: Sql) {
  return {
    async add(attempt: Attempt, seconds: number, goal: Goal = nowhere): Promise<void> {
      const { accountId, providerId, stateHash, browserHash, purpose } = attempt;
      await sql`
        insert into sign_in_attempts
          (state_hash, account_id, provider_id, browser_hash, purpose, return_to, invitation_hash, expires_at)
        values (${stateHash}, ${accountId}, ${providerId}, ${browserHash}, ${purpose}, ${goal.returnTo},
          ${goal.invitationHash}, now() + make_interval(secs => ${seconds}))`;
    },

    /** Ends it: of two answers with one state, one counts. In another browser, or by another provider, it goes on. */
    async take(attempt: Attempt): Promise<Goal | undefined> {
      const { accountId, providerId, stateHash, browserHash, purpose } = attempt;
      const [row] = await sql<Goal[]>`
        delete from sign_in_attempts
        where state_hash = ${stateHash} and account_id = ${accountId} and provider_id = ${providerId}
          and browser_hash = ${browserHash} and purpose = ${purpose} and expires_at > now()
        returning return_to, invitation_hash`;
      return row;
    },

    async prune(): Promise<void> {
      await sql`delete from sign_in_attempts where expires_at < now()`;
    },
  };
}
