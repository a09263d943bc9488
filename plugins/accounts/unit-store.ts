import { readPage, type Page, type Queryable, type Sql, type Static, type Tx } from "platform";
import type { Unit as ShownUnit } from "./answers.ts";
import type { Unit, UnitKind } from "./api.ts";

export interface UnitRow extends Unit {
  /** How many are in it. */
  readonly people: number;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** All SQL about teams, departments and groups. */
export function createUnitStore(sql: Sql) {
  const columns = sql`
    id, kind, name, version, created_at, updated_at, (select count(*) from memberships where unit_id = units.id) as people`;

  return {
    async list(accountId: number, kind: UnitKind, q: string | undefined, page: Page) {
      const where = sql`account_id = ${accountId} and kind = ${kind} ${q === undefined ? sql`` : sql`and name ilike ${q}`}`;
      return readPage<UnitRow>(sql, page, { columns, from: sql`units where ${where}`, order: sql`id` });
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

    /** The same, locked until the transaction ends. */
    async lock(tx: Tx, accountId: number, kind: UnitKind, id: number): Promise<UnitRow | undefined> {
      const [row] = await tx<UnitRow[]>`
        select ${columns} from units where account_id = ${accountId} and kind = ${kind} and id = ${id} for update`;
      return row;
    },

    async rename(tx: Tx, accountId: number, id: number, name: string): Promise<UnitRow> {
      const [row] = await tx<UnitRow[]>`
        update units set name = ${name}, version = version + 1, updated_at = now()
        where account_id = ${accountId} and id = ${id} returning ${columns}`;
      if (!row) throw new Error("an update of a locked row finds it");
      return row;
    },

    /** The ids of the people who were in it: that changes them too. */
    async delete(tx: Tx, accountId: number, id: number): Promise<number[]> {
      const members = await tx<{ id: number }[]>`
        update users set version = version + 1
        where account_id = ${accountId} and id in (select user_id from memberships where unit_id = ${id})
        returning id`;
      await tx`delete from units where account_id = ${accountId} and id = ${id}`;
      return members.map((member) => member.id);
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
