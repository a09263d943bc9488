/** All SQL about people: what they sign in with, and in which teams, departments and groups they are. */
import { readPage, type Page, type Queryable, type Role, type Sql, type Tx } from "platform";
import type { Person, Unit, UnitKind } from "../api.ts";

export interface UserRow {
  readonly id: number;
  readonly accountId: number;
  readonly login: string;
  readonly email: string | null;
  readonly name: string;
  readonly role: Role;
  readonly active: boolean;
  readonly privileges: readonly string[];
  readonly teamIds: readonly number[];
  readonly groupIds: readonly number[];
  readonly departmentIds: readonly number[];
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The stored fields of a person, without memberships. */
export interface UserInput {
  readonly login: string;
  readonly email: string | null;
  readonly name: string;
  readonly role: Role;
  readonly active: boolean;
  readonly privileges: readonly string[];
  /** Undefined leaves it as it is, null ends it. */
  readonly passwordHash: string | null | undefined;
}

export interface UserFilter {
  readonly q?: string | undefined;
  readonly role?: string | undefined;
  readonly active?: boolean | undefined;
  /** Members of this team, department or group. */
  readonly unitId?: number | undefined;
}

const columns = (sql: Queryable) => sql`
  u.id, u.account_id, u.login, u.email, u.name, u.role, u.active, u.privileges, m.team_ids, m.group_ids,
  m.department_ids, u.version, u.created_at, u.updated_at`;
const withUnits = (sql: Queryable) => sql`
  cross join lateral (
    select coalesce(array_agg(n.id order by n.id) filter (where n.kind = 'team'), '{}') as team_ids,
           coalesce(array_agg(n.id order by n.id) filter (where n.kind = 'group'), '{}') as group_ids,
           coalesce(array_agg(n.id order by n.id) filter (where n.kind = 'department'), '{}') as department_ids
    from memberships s join units n on n.id = s.unit_id where s.user_id = u.id
  ) m`;

export async function listed(sql: Sql, accountId: number, filter: UserFilter, page: Page) {
  const { q, role, active, unitId } = filter;
  const where = sql`
    u.account_id = ${accountId}
    ${q === undefined ? sql`` : sql`and (u.login ilike ${q} or u.email ilike ${q} or u.name ilike ${q})`}
    ${role === undefined ? sql`` : sql`and u.role = ${role}`}
    ${active === undefined ? sql`` : sql`and u.active = ${active}`}
    ${unitId === undefined ? sql`` : sql`and exists (select 1 from memberships where user_id = u.id and unit_id = ${unitId})`}`;
  return readPage<UserRow>(sql, page, {
    columns: columns(sql),
    from: sql`users u ${withUnits(sql)} where ${where}`,
    order: sql`u.id`,
    counted: sql`users u where ${where}`,
  });
}

export async function byId(db: Queryable, accountId: number, id: number): Promise<UserRow | undefined> {
  const [row] = await db<UserRow[]>`
    select ${columns(db)} from users u ${withUnits(db)} where u.account_id = ${accountId} and u.id = ${id}`;
  return row;
}

/** For the cache of who may do what: the id comes from a stored token, not from a request. */
export async function byTokenOwner(sql: Queryable, id: number): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`select ${columns(sql)} from users u ${withUnits(sql)} where u.id = ${id}`;
  return row;
}

export async function insert(tx: Tx, accountId: number, input: UserInput): Promise<number> {
  const { login, email, name, role, active, privileges, passwordHash } = input;
  const [row] = await tx<{ id: number }[]>`
    insert into users (account_id, login, email, name, role, active, privileges, password_hash)
    values (${accountId}, ${login}, ${email}, ${name}, ${role}, ${active}, ${privileges}::text[], ${passwordHash ?? null})
    returning id`;
  if (!row) throw new Error("an insert without a conflict clause gives its row");
  return row.id;
}

export async function update(tx: Tx, accountId: number, id: number, input: UserInput): Promise<void> {
  const { login, email, name, role, active, privileges, passwordHash } = input;
  await tx`
    update users set login = ${login}, email = ${email}, name = ${name}, role = ${role}, active = ${active},
      privileges = ${privileges}::text[], password_hash = ${passwordHash === undefined ? tx`password_hash` : passwordHash},
      version = version + 1, updated_at = now()
    where account_id = ${accountId} and id = ${id}`;
}

export async function remove(tx: Tx, accountId: number, id: number): Promise<void> {
  await tx`delete from users where account_id = ${accountId} and id = ${id}`;
}

/** Ends what would let the person in, or change them, without the password in use: steps of a sign-in and links in mails. */
export async function endProofs(tx: Tx, { accountId, id }: { readonly accountId: number; readonly id: number }) {
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

export async function hasOtherAdmin(tx: Tx, accountId: number, id: number): Promise<boolean> {
  const rows = await tx`
    select 1 from users where account_id = ${accountId} and id <> ${id} and role = 'admin' and active limit 1`;
  return rows.length > 0;
}

/**
 * Which of the two would make another person's sign-in ambiguous: a login that is someone else's address, or the
 * reverse.
 */
export async function clash(tx: Tx, accountId: number, id: number, login: string, email: string | null) {
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

export async function passwordById(sql: Sql, accountId: number, id: number): Promise<string | null | undefined> {
  const [row] = await sql<PasswordRow[]>`
    select id, active, password_hash from users where account_id = ${accountId} and id = ${id}`;
  return row?.passwordHash;
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

export function toApi(row: UserRow): Person {
  return {
    id: row.id,
    login: row.login,
    email: row.email,
    name: row.name,
    role: row.role,
    active: row.active,
    privileges: row.privileges,
    team_ids: row.teamIds,
    group_ids: row.groupIds,
    department_ids: row.departmentIds,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
