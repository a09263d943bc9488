/** All SQL about people: what they sign in with, and in which teams, departments and groups they are. */
import { words, type Fragment, type Queryable, type Sql, type Tx } from "platform";
import type { Unit } from "../api.ts";
import type { PersonRef } from "./context.ts";
import type { UnitKind, UserRow } from "./fields.ts";

/** Members of the team, department or group that the query names. One that cannot exist has none. */
export function inUnit(sql: Sql, query: URLSearchParams, name: string): Fragment | undefined {
  const unit = query.get(name);
  const id = /^\d{1,15}$/.test(unit ?? "") ? Number(unit) : 0;
  return unit ? sql`exists (select 1 from memberships where user_id = users.id and unit_id = ${id})` : undefined;
}

export async function activeAdmins(sql: Sql, columns: string, accountId: number): Promise<UserRow[]> {
  return sql<UserRow[]>`
    select ${words(sql, columns)} from users
    where account_id = ${accountId} and role = 'admin' and active order by id limit 1000`;
}

/** For the cache of who may do what: the id comes from a stored token, not from a request. */
export async function byTokenOwner(on: Queryable, columns: string, id: number): Promise<UserRow | undefined> {
  const [row] = await on<UserRow[]>`select ${words(on, columns)} from users where id = ${id}`;
  return row;
}

/** The administrator of a new account. */
export async function insertFirst(tx: Tx, accountId: number, login: string, passwordHash: string): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into users (account_id, login, name, role, password_hash)
    values (${accountId}, ${login}, ${login}, 'admin', ${passwordHash}) returning id`;
  if (!row) throw new Error("an insert without a conflict clause gives its row");
  return row.id;
}

/** Ends what would let the person in, or change them, without the password in use: steps of a sign-in and links in mails. */
export async function endProofs(tx: Tx, { accountId, id }: PersonRef): Promise<void> {
  await tx`delete from sign_in_steps where account_id = ${accountId} and user_id = ${id}`;
  await tx`delete from password_links where account_id = ${accountId} and user_id = ${id}`;
  await tx`delete from email_changes where account_id = ${accountId} and user_id = ${id}`;
}

/** Ends the links of a person who has another address or was switched off, but keeps their invitation in the list. */
export async function updateLinks(tx: Tx, { accountId, id: userId, active, email }: UserRow): Promise<void> {
  const moved = tx`lower(email) is distinct from lower(${email}::text)`;
  await tx`
    delete from password_links
    where account_id = ${accountId} and user_id = ${userId} and (${moved} or not ${active}::boolean)
      and (purpose = 'reset' or (not is_new and not ${active}::boolean))`;
  await tx`
    update password_links set is_new = is_new and not ${active}::boolean,
      expires_at = case when ${moved} then least(expires_at, now()) else expires_at end,
      email = coalesce(${email}::text, email)
    where account_id = ${accountId} and user_id = ${userId}`;
}

export async function setUnits(tx: Tx, userId: number, unitIds: readonly number[]): Promise<void> {
  await tx`delete from memberships where user_id = ${userId} and unit_id <> all(${unitIds}::bigint[])`;
  await tx`
    insert into memberships (user_id, unit_id) select ${userId}, unnest(${unitIds}::bigint[]) on conflict do nothing`;
}

export async function hasOtherAdmin(tx: Tx, { accountId, id }: PersonRef): Promise<boolean> {
  const rows = await tx`
    select 1 from users where account_id = ${accountId} and id <> ${id} and role = 'admin' and active limit 1`;
  return rows.length > 0;
}

/**
 * Which of the two would make another person's sign-in ambiguous: a login that is someone else's address, or the
 * reverse.
 */
export async function clash(tx: Tx, { accountId, id }: PersonRef, login: string, email: string | null) {
  const [row] = await tx<{ login: boolean; email: boolean; taken: boolean }[]>`
    select exists (select 1 from users where account_id = ${accountId} and id <> ${id} and lower(email) = lower(${login})) as login,
           exists (select 1 from users where account_id = ${accountId} and id <> ${id} and lower(login) = lower(${email})) as email,
           exists (select 1 from users where account_id = ${accountId} and id <> ${id} and lower(email) = lower(${email})) as taken`;
  return row ?? { login: false, email: false, taken: false };
}

interface PasswordRow {
  readonly id: number;
  readonly active: boolean;
  readonly passwordHash: string | null;
}

/** As it was typed, and as it is stored: with composed letters. */
const forms = (sql: Queryable, typed: string) => sql`(lower(${typed}), lower(${typed.normalize("NFC")}))`;

export async function idByLogin(sql: Sql, accountId: number, login: string): Promise<number | undefined> {
  const [row] = await sql<{ id: number }[]>`
    select id from users where account_id = ${accountId} and lower(login) in ${forms(sql, login)}`;
  return row?.id;
}

export async function passwordByLogin(
  sql: Sql,
  accountId: number,
  loginOrEmail: string,
): Promise<PasswordRow | undefined> {
  const [row] = await sql<PasswordRow[]>`
    select id, active, password_hash from users
    where account_id = ${accountId} and (lower(login) in ${forms(sql, loginOrEmail)} or lower(email) in ${forms(sql, loginOrEmail)})
    order by lower(login) in ${forms(sql, loginOrEmail)} desc limit 1`;
  return row;
}

/** A new version of everybody who is in it; their ids. */
export async function touchMembers(tx: Tx, accountId: number, id: number): Promise<number[]> {
  const members = await tx<{ id: number }[]>`
    update users set version = version + 1
    where account_id = ${accountId} and id in (select user_id from memberships where unit_id = ${id})
    returning id`;
  return members.map((member) => member.id);
}

/** Selects the units of this account and kind among `ids`. */
export async function knownUnits(
  db: Queryable,
  accountId: number,
  kind: UnitKind,
  ids: readonly number[],
): Promise<Set<number>> {
  const rows = await db<{ id: number }[]>`
    select id from units where account_id = ${accountId} and kind = ${kind} and id = any(${ids}::bigint[])`;
  return new Set(rows.map(({ id }) => id));
}

export async function unitsOf(sql: Sql, accountId: number, userId: number): Promise<Unit[]> {
  return sql<Unit[]>`
    select n.id, n.kind, n.name from units n join memberships m on m.unit_id = n.id
    where n.account_id = ${accountId} and m.user_id = ${userId} order by n.id`;
}
