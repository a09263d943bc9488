import type { Sql, Tx } from "platform";

/** All SQL about the settings of accounts. */
export function createSettingStore(sql: Sql) {
  return {
    /** The version is that of all settings together. */
    async ofAccount(accountId: number): Promise<{ version: number; values: Readonly<Record<string, string>> }> {
      const [account] = await sql<{ version: number }[]>`
        select settings_version as version from accounts where id = ${accountId}`;
      const rows = await sql<{ name: string; value: string }[]>`
        select name, value from account_settings where account_id = ${accountId}`;
      return {
        version: account?.version ?? 0,
        values: Object.fromEntries(rows.map(({ name, value }) => [name, value])),
      };
    },

    /** The version of the account's settings; nobody else changes them until the transaction ends. */
    async nextVersion(tx: Tx, accountId: number): Promise<number> {
      const [row] = await tx<{ version: number }[]>`
        update accounts set settings_version = settings_version + 1 where id = ${accountId}
        returning settings_version as version`;
      return row?.version ?? 0;
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
