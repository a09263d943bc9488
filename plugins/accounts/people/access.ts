/** Accounts by host and people with what they may do: cached, because every request asks for both. */
import type { Account, BaseContext, Queryable, Role, Tx } from "platform";
import type { Access as PersonAccess } from "../api.ts";
import * as accountStore from "./account-store.ts";
import { bareHost } from "./account-store.ts";
import type { UserRow } from "./fields.ts";

export type Access = ReturnType<typeof createAccess>;

export function createAccess(
  ctx: Pick<BaseContext, "cache" | "origin" | "baseUrl" | "plugins" | "sql">,
  byTokenOwner: (on: Queryable, id: number) => Promise<UserRow | undefined>,
) {
  const { sql } = ctx;
  // A guessed host is nobody's own: only BASE_URL gives the first account one.
  const firstHost = ctx.baseUrl === "" ? "" : new URL(ctx.baseUrl).host;
  // An unknown host is an answer too, and the most common one: most installations have one account and no BASE_URL.
  const hosts = ctx.cache<{ accountId: number | undefined }>({
    name: "accounts.hosts",
    max: 1_000,
    load: async (host) => ({ accountId: await accountOfHost(host) }),
  });
  const accountsById = ctx.cache<Account>({
    name: "accounts.accounts",
    max: 1_000,
    load: (id) => loadAccount(Number(id)),
  });
  const people = ctx.cache<PersonAccess>({
    name: "accounts.people",
    max: 20_000,
    load: (id) => loadAccess(Number(id)),
  });
  let first: number | undefined;

  const firstId = async () => {
    // It never changes once it exists.
    first ??= await accountStore.firstId(sql);
    return first;
  };

  async function accountOfHost(host: string): Promise<number | undefined> {
    const names = hostNames(host);
    return (await accountStore.idByHost(sql, names)) ?? (names.includes(firstHost) ? firstId() : undefined);
  }

  async function loadAccount(id: number, on: Queryable = sql): Promise<Account | undefined> {
    const row = await accountStore.byId(on, id);
    if (!row) return undefined;
    const { name, baseUrl, timezone, locale } = row;
    // The server knows its address only once it listens.
    return {
      id,
      name,
      timezone,
      locale,
      isGuess: baseUrl === null && ctx.baseUrl === "",
      get baseUrl() {
        return baseUrl ?? ctx.origin();
      },
    };
  }

  // In a transaction a cache would load by a second connection, for which all that hold one could wait.
  async function accountById(id: number, tx?: Tx): Promise<Account | undefined> {
    return tx ? (accountsById.peek(`${id}`) ?? loadAccount(id, tx)) : accountsById.get(`${id}`);
  }

  async function loadAccess(id: number, tx?: Tx): Promise<PersonAccess | undefined> {
    const row = await byTokenOwner(tx ?? sql, id);
    const account = row && (await accountById(row.accountId, tx));
    if (!row || !account) return undefined;
    return {
      account,
      user: userOf(row),
      active: row.active,
      privileges: new Set([...privilegesOfRole(row.role), ...row.privileges]),
    };
  }

  const privilegesOfRole = (role: Role): string[] => {
    const ofRole = ctx.plugins.flatMap((plugin) =>
      plugin.privileges.filter(({ roles }) => role === "admin" || roles.includes(role)),
    );
    return ofRole.map(({ name }) => name);
  };

  return {
    accountForHost: async (host: string): Promise<Account | undefined> => {
      if (host.length > maxHostChars) return undefined;
      const found = hosts.peek(host) ?? (await hosts.get(host));
      if (found?.accountId === undefined) return undefined;
      const key = `${found.accountId}`;
      return accountsById.peek(key) ?? accountsById.get(key);
    },
    isReservedHost: async (host: string, tx: Tx): Promise<boolean> => {
      const own = [firstHost, new URL(ctx.origin()).host].map(bareHost);
      return own.includes(bareHost(host)) || accountStore.isReserved(tx, host);
    },
    defaultAccount: async (): Promise<Account> => {
      const id = await firstId();
      const account = id === undefined ? undefined : await accountsById.get(`${id}`);
      if (!account) throw new Error("the database has no account");
      return account;
    },
    accountById,
    access: async (userId: number, tx?: Tx) =>
      tx ? (people.peek(`${userId}`) ?? loadAccess(userId, tx)) : people.get(`${userId}`),
    privilegesOfRole,
    isPrivilege: (name: string) =>
      ctx.plugins.some(({ privileges }) => privileges.some((known) => known.name === name)),
    /** After the commit, before the answer. */
    forgetPerson: (userId: number) => people.invalidate(`${userId}`),
    forgetPeople: async (userIds: readonly number[]) => {
      if (userIds.length > 100) await people.clear();
      else await Promise.all(userIds.map((id) => people.invalidate(`${id}`)));
    },
    forgetHosts: () => hosts.clear(),
    /** Its name has changed: people are kept with their account. */
    forgetAccount: async (accountId: number) => {
      await Promise.all([accountsById.invalidate(`${accountId}`), people.clear()]);
    },
  };
}

// The longest name of a host, and a port.
const maxHostChars = 260;

/** A Host header as given, and without its port: `["a.example:3000", "a.example"]`. */
export function hostNames(host: string): string[] {
  const bare = bareHost(host);
  return bare === host ? [host] : [host, bare];
}

function userOf(row: UserRow): PersonAccess["user"] {
  const { id, login, email, name, role, teamIds, groupIds, departmentIds } = row;
  return { id, login, email, name, role, teamIds, groupIds, departmentIds };
}
