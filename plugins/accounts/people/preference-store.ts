import type { Sql, Tx } from "platform";

interface Whose {
  readonly accountId: number;
  readonly userId: number;
}

/** All SQL about people's own preferences. Values are JSON texts. */
export function createPreferenceStore(sql: Sql) {
  return {
    /** By name, as one JSON text. */
    async ofPerson({ accountId, userId }: Whose, on: Sql | Tx = sql): Promise<string> {
      const [row] = await on<{ preferences: string }[]>`
        select coalesce(json_object_agg(name, value order by name), '{}'::json)::text as preferences
        from user_preferences where account_id = ${accountId} and user_id = ${userId}`;
      return row?.preferences ?? "{}";
    },

    /** Two that save at once come one after the other. */
    async lock(tx: Tx, { accountId, userId }: Whose): Promise<void> {
      await tx`select from users where account_id = ${accountId} and id = ${userId} for update`;
    },

    /** `null` removes one. How many there are afterwards; `lock` comes first. */
    async save(tx: Tx, { accountId, userId }: Whose, changes: ReadonlyMap<string, string | null>): Promise<number> {
      const removed = [...changes].flatMap(([name, value]) => (value === null ? [name] : []));
      const kept = [...changes].flatMap(([name, value]) => (value === null ? [] : [{ name, value }]));
      await tx`
        delete from user_preferences
        where account_id = ${accountId} and user_id = ${userId} and name = any(${removed}::text[])`;
      await tx`
        insert into user_preferences (account_id, user_id, name, value)
        select ${accountId}, ${userId}, name, value::json
        from unnest(${kept.map(({ name }) => name)}::text[], ${kept.map(({ value }) => value)}::text[]) as k (name, value)
        on conflict (account_id, user_id, name) do update set value = excluded.value, updated_at = now()`;
      const [row] = await tx<{ count: number }[]>`
        select count(*) as count from user_preferences where account_id = ${accountId} and user_id = ${userId}`;
      return row?.count ?? 0;
    },
  };
}

export type PreferenceStore = ReturnType<typeof createPreferenceStore>;
