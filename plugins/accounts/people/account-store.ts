/** All SQL about accounts, their settings, and the preferences of their people. */
import type { Queryable, Sql, Tx } from "platform";
import { nameSetting } from "./brand.ts";

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

export async function byId(sql: Queryable, id: number): Promise<AccountRow | undefined> {
  const [row] = await sql<AccountRow[]>`
    select a.id, coalesce(nullif(s.value, ''), a.name) as name, a.base_url, a.timezone, a.locale
    from accounts a left join account_settings s on s.account_id = a.id and s.name = ${nameSetting}
    where a.id = ${id}`;
  return row;
}

export async function firstId(sql: Sql): Promise<number | undefined> {
  const [row] = await sql<{ id: number }[]>`select id from accounts order by id limit 1`;
  return row?.id;
}

/** The account of the first of `hosts` that any account has. */
export async function idByHost(db: Queryable, hosts: readonly string[]): Promise<number | undefined> {
  const [row] = await db<{ id: number }[]>`
    select id from accounts where host = any(${hosts}::text[])
    order by array_position(${hosts}::text[], host) limit 1`;
  return row?.id;
}

export async function hostsOfAccounts(sql: Sql): Promise<{ host: string; accountId: number }[]> {
  const rows = await sql<{ host: string; accountId: number }[]>`
    select host, id as account_id from accounts where host is not null order by id`;
  return rows.map(({ host, accountId }) => ({ host: bareHost(host), accountId }));
}

/** Until the transaction ends, nobody else can take this host, with any port, for a domain or an account. */
export async function holdHost(tx: Tx, host: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${bareHost(host)}, ${hostLock}))`;
}

/** Whether an account has this host, or people have signed in there, with any port. */
export async function isReserved(tx: Tx, host: string): Promise<boolean> {
  const name = bareHost(host);
  const [row] = await tx<{ reserved: boolean }[]>`
    select exists (select 1 from accounts where regexp_replace(host, ':[0-9]+$', '') = ${name})
      or exists (select 1 from account_sign_in_hosts where host = ${name}) as reserved`;
  return row?.reserved ?? false;
}

export async function isSignInHost(sql: Sql, accountId: number, host: string): Promise<boolean> {
  const rows = await sql`
    select 1 from account_sign_in_hosts where host = ${bareHost(host)} and account_id = ${accountId}`;
  return rows.length > 0;
}

export async function addSignInHost(tx: Tx, accountId: number, host: string): Promise<void> {
  await tx`
    insert into account_sign_in_hosts (account_id, host) values (${accountId}, ${bareHost(host)})
    on conflict do nothing`;
}

/** In any account: it is a command of the installation's operator. */
export async function releaseSignInHost(sql: Sql, host: string): Promise<boolean> {
  const rows = await sql`delete from account_sign_in_hosts where host = ${bareHost(host)} returning host`;
  return rows.length > 0;
}

export async function hasSeveral(tx: Tx): Promise<boolean> {
  const rows = await tx`select 1 from accounts limit 2`;
  return rows.length > 1;
}

export async function insert(db: Queryable, input: AccountInput): Promise<number> {
  const { name, baseUrl, host, timezone, locale } = input;
  const [row] = await db<{ id: number }[]>`
    insert into accounts (name, base_url, host, timezone, locale)
    values (${name}, ${baseUrl}, ${host}, ${timezone}, ${locale}) returning id`;
  if (!row) throw new Error("an insert without a conflict clause gives its row");
  return row.id;
}

/**
 * Changes of an account's people run one after another, so that rules about several people (the last administrator,
 * unique logins) hold when two change at once.
 */
export async function lock(tx: Tx, accountId: number): Promise<void> {
  await tx`select 1 from accounts where id = ${accountId} for no key update`;
}

/** The first key of all advisory locks of hosts. */
const hostLock = 20_611;

/** "example.com:8080" -> "example.com" */
export function bareHost(host: string): string {
  return host.replace(/:\d*$/, "");
}

/** The version is that of all settings together. */
export async function settingsOf(
  sql: Queryable,
  accountId: number,
): Promise<{ version: number; values: Readonly<Record<string, string>> }> {
  const [account] = await sql<{ version: number }[]>`
    select settings_version as version from accounts where id = ${accountId}`;
  const rows = await sql<{ name: string; value: string }[]>`
    select name, value from account_settings where account_id = ${accountId}`;
  return {
    version: account?.version ?? 0,
    values: Object.fromEntries(rows.map(({ name, value }) => [name, value])),
  };
}

/** The version of the account's settings; nobody else changes them until the transaction ends. */
export async function nextSettingsVersion(tx: Tx, accountId: number): Promise<number> {
  const [row] = await tx<{ version: number }[]>`
    update accounts set settings_version = settings_version + 1 where id = ${accountId}
    returning settings_version as version`;
  return row?.version ?? 0;
}

/** `null` gives the setting its standard value again. */
export async function saveSettings(
  tx: Tx,
  accountId: number,
  userId: number,
  changes: ReadonlyMap<string, string | null>,
): Promise<void> {
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
}

interface UserRef {
  readonly accountId: number;
  readonly userId: number;
}

/** Preferences by name, as one JSON text: their values are JSON. */
export async function preferencesOf(on: Queryable, { accountId, userId }: UserRef): Promise<string> {
  const [row] = await on<{ preferences: string }[]>`
    select coalesce(json_object_agg(name, value order by name), '{}'::json)::text as preferences
    from user_preferences where account_id = ${accountId} and user_id = ${userId}`;
  return row?.preferences ?? "{}";
}

/** Those of these people with these names. */
export async function preferencesNamed(
  on: Queryable,
  accountId: number,
  userIds: readonly number[],
  names: readonly string[],
) {
  return on<{ userId: number; name: string; value: string }[]>`
    select user_id, name, value::text as value from user_preferences
    where account_id = ${accountId} and user_id = any(${[...userIds]}::bigint[]) and name = any(${[...names]}::text[])`;
}

/** Two that save at once come one after the other. */
export async function lockPerson(tx: Tx, { accountId, userId }: UserRef): Promise<void> {
  await tx`select from users where account_id = ${accountId} and id = ${userId} for update`;
}

/** `null` removes one. How many there are afterwards; `lockPerson` comes first. */
export async function savePreferences(
  tx: Tx,
  { accountId, userId }: UserRef,
  changes: ReadonlyMap<string, string | null>,
): Promise<number> {
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
}
