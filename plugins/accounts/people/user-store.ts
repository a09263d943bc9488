import { readPage, type Page, type Queryable, type Role, type Sql, type Tx } from "platform";
import type { Person } from "../api.ts";

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

/** People and their memberships; login-store.ts finds them by what they sign in with. */
export function createUserStore(sql: Sql) {
  const columns = sql`
    u.id, u.account_id, u.login, u.email, u.name, u.role, u.active, u.privileges, m.team_ids, m.group_ids,
    m.department_ids, u.version, u.created_at, u.updated_at`;
  const withUnits = sql`
    cross join lateral (
      select coalesce(array_agg(n.id order by n.id) filter (where n.kind = 'team'), '{}') as team_ids,
             coalesce(array_agg(n.id order by n.id) filter (where n.kind = 'group'), '{}') as group_ids,
             coalesce(array_agg(n.id order by n.id) filter (where n.kind = 'department'), '{}') as department_ids
      from memberships s join units n on n.id = s.unit_id where s.user_id = u.id
    ) m`;

  return {
    async list(accountId: number, filter: UserFilter, page: Page) {
      const { q, role, active, unitId } = filter;
      const where = sql`
        u.account_id = ${accountId}
        ${q === undefined ? sql`` : sql`and (u.login ilike ${q} or u.email ilike ${q} or u.name ilike ${q})`}
        ${role === undefined ? sql`` : sql`and u.role = ${role}`}
        ${active === undefined ? sql`` : sql`and u.active = ${active}`}
        ${unitId === undefined ? sql`` : sql`and exists (select 1 from memberships where user_id = u.id and unit_id = ${unitId})`}`;
      return readPage<UserRow>(sql, page, {
        columns,
        from: sql`users u ${withUnits} where ${where}`,
        order: sql`u.id`,
        counted: sql`users u where ${where}`,
      });
    },

    async byId(db: Queryable, accountId: number, id: number): Promise<UserRow | undefined> {
      const [row] = await db<UserRow[]>`
        select ${columns} from users u ${withUnits} where u.account_id = ${accountId} and u.id = ${id}`;
      return row;
    },

    /** For the cache of who may do what: the id comes from a stored token, not from a request. */
    async byTokenOwner(id: number): Promise<UserRow | undefined> {
      const [row] = await sql<UserRow[]>`select ${columns} from users u ${withUnits} where u.id = ${id}`;
      return row;
    },

    async insert(tx: Tx, accountId: number, input: UserInput): Promise<number> {
      const { login, email, name, role, active, privileges, passwordHash } = input;
      const [row] = await tx<{ id: number }[]>`
        insert into users (account_id, login, email, name, role, active, privileges, password_hash)
        values (${accountId}, ${login}, ${email}, ${name}, ${role}, ${active}, ${privileges}::text[], ${passwordHash ?? null})
        returning id`;
      if (!row) throw new Error("an insert without a conflict clause gives its row");
      return row.id;
    },

    async update(tx: Tx, accountId: number, id: number, input: UserInput): Promise<void> {
      const { login, email, name, role, active, privileges, passwordHash } = input;
      await tx`
        update users set login = ${login}, email = ${email}, name = ${name}, role = ${role}, active = ${active},
          privileges = ${privileges}::text[], password_hash = ${passwordHash === undefined ? tx`password_hash` : passwordHash},
          version = version + 1, updated_at = now()
        where account_id = ${accountId} and id = ${id}`;
    },

    async delete(tx: Tx, accountId: number, id: number): Promise<void> {
      await tx`delete from users where account_id = ${accountId} and id = ${id}`;
    },

    async setUnits(tx: Tx, userId: number, unitIds: readonly number[]): Promise<void> {
      await tx`delete from memberships where user_id = ${userId} and unit_id <> all(${unitIds}::bigint[])`;
      await tx`
        insert into memberships (user_id, unit_id) select ${userId}, unnest(${unitIds}::bigint[]) on conflict do nothing`;
    },

    async hasOtherAdmin(tx: Tx, accountId: number, id: number): Promise<boolean> {
      const rows = await tx`
        select 1 from users where account_id = ${accountId} and id <> ${id} and role = 'admin' and active limit 1`;
      return rows.length > 0;
    },

    /**
     * Which of the two would make another person's sign-in ambiguous: a login that is someone else's address, or the
     * reverse.
     */
    async clash(tx: Tx, accountId: number, id: number, login: string, email: string | null) {
      const [row] = await tx<{ login: boolean; email: boolean; taken: boolean }[]>`
        select exists (select 1 from users where account_id = ${accountId} and id <> ${id} and lower(email) = lower(${login})) as login,
               exists (select 1 from users where account_id = ${accountId} and id <> ${id} and lower(login) = lower(${email})) as email,
               exists (select 1 from users where account_id = ${accountId} and id <> ${id} and lower(email) = lower(${email})) as taken`;
      return row ?? { login: false, email: false, taken: false };
    },
  };
}

export type UserStore = ReturnType<typeof createUserStore>;

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
