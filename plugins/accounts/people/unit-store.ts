import type { Queryable, Sql, Tx } from "platform";
import type { Unit, UnitKind } from "../api.ts";

/** SQL about who is in which team, department or group. */
export function createUnitStore(sql: Sql) {
  return {
    /** A new version of everybody who is in it; their ids. */
    async touchMembers(tx: Tx, accountId: number, id: number): Promise<number[]> {
      const members = await tx<{ id: number }[]>`
        update users set version = version + 1
        where account_id = ${accountId} and id in (select user_id from memberships where unit_id = ${id})
        returning id`;
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
