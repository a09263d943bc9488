import type { Sql, Tx } from "platform";

export type HealthStore = ReturnType<typeof createHealthStore>;

/** The SQL of what the server finds out about a webhook: since when it fails, and that it is switched off for it. */
export function createHealthStore(sql: Sql) {
  return {
    /** Notes since when it fails, or that it works again. False if that is known already. */
    async note(accountId: number, id: number, failing: boolean): Promise<boolean> {
      const result = failing
        ? await sql`
            update webhooks set failing_since = now()
            where account_id = ${accountId} and id = ${id} and failing_since is null`
        : await sql`
            update webhooks set failing_since = null
            where account_id = ${accountId} and id = ${id} and failing_since is not null`;
      return result.count > 0;
    },

    /** False if it is off already. */
    async switchOff(tx: Tx, accountId: number, id: number, reason: string): Promise<boolean> {
      const result = await tx`
        update webhooks set active = false, disabled_reason = ${reason}, version = version + 1, updated_at = now()
        where account_id = ${accountId} and id = ${id} and active`;
      return result.count > 0;
    },
  };
}
