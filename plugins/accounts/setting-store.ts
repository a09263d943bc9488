import type { Sql, Tx } from "platform";

/** All SQL about the settings of accounts. */
export function createSettingStore(sql: Sql) {
  return {
    async ofAccount(accountId: number): Promise<Readonly<Record<string, string>>> {
      const rows = await sql<{ name: string; value: string }[]>`
        select name, value from account_settings where account_id = ${accountId}`;
      return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
    },

    /** `null` gives the setting its standard value again. */
    async save(tx: Tx, accountId: number, userId: number, changes: ReadonlyMap<string, string | null>): Promise<void> {
      const standard = [...changes].flatMap(([name, value]) => (value === null ? [name] : []));
      await tx`delete from account_settings where account_id = ${accountId} and name = any(${standard}::text[])`;
      for (const [name, value] of changes) {
        if (value === null) continue;
        await tx`
          insert into account_settings (account_id, name, value, updated_by_id)
          values (${accountId}, ${name}, ${value}, ${userId})
          on conflict (account_id, name) do update
            set value = excluded.value, updated_by_id = excluded.updated_by_id, updated_at = now()`;
      }
    },
  };
}

export type SettingStore = ReturnType<typeof createSettingStore>;
