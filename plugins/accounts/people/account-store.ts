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

    async hosts(): Promise<{ host: string; accountId: number }[]> {
      const rows = await sql<{ host: string; accountId: number }[]>`
        select host, id as account_id from accounts where host is not null order by id`;
      return rows.map(({ host, accountId }) => ({ host: bareHost(host), accountId }));
    },

    /** Until the transaction ends, nobody else can take this host, with any port, for a domain or an account. */
    async holdHost(tx: Tx, host: string): Promise<void> {
      await tx`select pg_advisory_xact_lock(hashtextextended(${bareHost(host)}, ${hostLock}))`;
    },

    /** Whether an account has this host, or people have signed in there, with any port. */
    async isReserved(tx: Tx, host: string): Promise<boolean> {
      const name = bareHost(host);
      const [row] = await tx<{ reserved: boolean }[]>`
        select exists (select 1 from accounts where regexp_replace(host, ':[0-9]+$', '') = ${name})
          or exists (select 1 from account_sign_in_hosts where host = ${name}) as reserved`;
      return row?.reserved ?? false;
    },

    async isSignInHost(accountId: number, host: string): Promise<boolean> {
      const rows = await sql`
        select 1 from account_sign_in_hosts where host = ${bareHost(host)} and account_id = ${accountId}`;
      return rows.length > 0;
    },

    async addSignInHost(tx: Tx, accountId: number, host: string): Promise<void> {
      await tx`
        insert into account_sign_in_hosts (account_id, host) values (${accountId}, ${bareHost(host)})
        on conflict do nothing`;
    },

    /** In any account: it is a command of the installation's operator. */
    async releaseSignInHost(host: string): Promise<boolean> {
      const rows = await sql`delete from account_sign_in_hosts where host = ${bareHost(host)} returning host`;
      return rows.length > 0;
    },

    async hasSeveral(tx: Tx): Promise<boolean> {
      const rows = await tx`select 1 from accounts limit 2`;
      return rows.length > 1;
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
     * Changes of an account's people run one after another, so that rules about several people (the last administrator,
     * unique logins) hold when two change at once.
     */
    async lock(tx: Tx, accountId: number): Promise<void> {
      await tx`select 1 from accounts where id = ${accountId} for no key update`;
    },
  };
}

/** The first key of all advisory locks of hosts. */
const hostLock = 20_611;

/** "example.com:8080" -> "example.com" */
export function bareHost(host: string): string {
  return host.replace(/:\d*$/, "");
}

export type AccountStore = ReturnType<typeof createAccountStore>;
