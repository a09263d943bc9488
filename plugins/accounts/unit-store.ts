import type { Page, Queryable, Sql, Static, Tx } from "platform";
import type { Unit as ShownUnit } from "./answers.ts";
import type { Unit, UnitKind } from "./api.ts";

export interface UnitRow extends Unit {
  /** How many are in it. */
  readonly people: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** All SQL about teams, departments and groups. */
export function createUnitStore(sql: Sql) {
  const columns = sql`
    id, kind, name, created_at, updated_at, (select count(*) from memberships where unit_id = units.id) as people`;

  return {
    async list(accountId: number, kind: UnitKind, q: string | undefined, { limit, offset }: Page) {
      const where = sql`account_id = ${accountId} and kind = ${kind} ${q === undefined ? sql`` : sql`and name ilike ${q}`}`;
      const rows = await sql<UnitRow[]>`
        select ${columns} from units where ${where} order by id limit ${limit} offset ${offset}`;
      const [count] = await sql<{ total: number }[]>`select count(*) as total from units where ${where}`;
      return { rows, total: count?.total ?? 0 };
    },

    async byId(accountId: number, kind: UnitKind, id: number): Promise<UnitRow | undefined> {
      const [row] = await sql<UnitRow[]>`
        select ${columns} from units where account_id = ${accountId} and kind = ${kind} and id = ${id}`;
      return row;
    },

    async insert(tx: Tx, accountId: number, kind: UnitKind, name: string): Promise<UnitRow> {
      const [row] = await tx<UnitRow[]>`
        insert into units (account_id, kind, name) values (${accountId}, ${kind}, ${name}) returning ${columns}`;
      if (!row) throw new Error("an insert without a conflict clause gives its row");
      return row;
    },

    async rename(
      accountId: number,
      kind: UnitKind,
      id: number,
      name: string | undefined,
    ): Promise<UnitRow | undefined> {
      const [row] = await sql<UnitRow[]>`
        update units set name = coalesce(${name ?? null}, name), updated_at = now()
        where account_id = ${accountId} and kind = ${kind} and id = ${id} returning ${columns}`;
      return row;
    },

    /** The ids of the people who were in it, or undefined if the unit does not exist. */
    async delete(tx: Tx, accountId: number, kind: UnitKind, id: number): Promise<number[] | undefined> {
      const members = await tx<{ userId: number }[]>`select user_id from memberships where unit_id = ${id}`;
      const gone = await tx`
        delete from units where account_id = ${accountId} and kind = ${kind} and id = ${id} returning 1`;
      return gone.length > 0 ? members.map(({ userId }) => userId) : undefined;
    },

    /** Those of `ids` that are units of this account and kind. */
    async known(db: Queryable, accountId: number, kind: UnitKind, ids: readonly number[]): Promise<Set<number>> {
      const rows = await db<{ id: number }[]>`
        select id from units where account_id = ${accountId} and kind = ${kind} and id = any(${ids}::bigint[])`;
      return new Set(rows.map(({ id }) => id));
    },

    async ofUser(accountId: number, userId: number): Promise<Unit[]> {
      return sql<Unit[]>`
        select n.id, n.kind, n.name from units n join memberships m on m.unit_id = n.id
        where n.account_id = ${accountId} and m.user_id = ${userId} order by n.id`;
    },
  };
}

export type UnitStore = ReturnType<typeof createUnitStore>;

export function toApi({ id, name, people, createdAt, updatedAt }: UnitRow): Static<typeof ShownUnit> {
  return { id, name, people, created_at: createdAt, updated_at: updatedAt };
}
