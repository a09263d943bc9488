import type { Queryable, Sql, Tx } from "platform";

export interface AccountRow {
  readonly id: number;
  readonly name: string;
  readonly baseUrl: string | null;
  readonly timezone: string;
  readonly locale: string;
}

export interface AccountInput {
  readonly name: string;
  readonly baseUrl: string | null;
  readonly host: string | null;
  readonly timezone: string;
  readonly locale: string;
}

/** All SQL about accounts. */
export function createAccountStore(sql: Sql) {
  return {
    async byId(id: number): Promise<AccountRow | undefined> {
      const [row] = await sql<AccountRow[]>`select id, name, base_url, timezone, locale from accounts where id = ${id}`;
      return row;
    },

    async firstId(): Promise<number | undefined> {
      const [row] = await sql<{ id: number }[]>`select id from accounts order by id limit 1`;
      return row?.id;
    },

    /** The account of the first of `hosts` that any account has. */
    async idByHost(hosts: readonly string[], db: Queryable = sql): Promise<number | undefined> {
      const [row] = await db<{ id: number }[]>`
        select id from accounts where host = any(${hosts}::text[])
        order by array_position(${hosts}::text[], host) limit 1`;
      return row?.id;
    },

    async insert(db: Queryable, input: AccountInput): Promise<number> {
      const { name, baseUrl, host, timezone, locale } = input;
      const [row] = await db<{ id: number }[]>`
        insert into accounts (name, base_url, host, timezone, locale)
        values (${name}, ${baseUrl}, ${host}, ${timezone}, ${locale}) returning id`;
      if (!row) throw new Error("an insert without a conflict clause gives its row");
      return row.id;
    },

    /**
     * Changes of an account's people happen one after another: so the rules that look at several of them (the last
     * administrator, who has which login) hold when two change at once.
     */
    async lock(tx: Tx, accountId: number): Promise<void> {
      await tx`select 1 from accounts where id = ${accountId} for no key update`;
    },
  };
}

export type AccountStore = ReturnType<typeof createAccountStore>;
