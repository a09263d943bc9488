/** Which server processes of this installation live: what one of them held when it died is free. */
import type { Sql } from "./db.ts";

export interface Peers {
  /** Of this process. */
  readonly id: string;
  /** Whether the process with this id may still be working. */
  isAlive(id: string): Promise<boolean>;
}

/** `alone`: no other process uses the database. */
export function peersOf(sql: Sql, own: string, alone: boolean): Peers {
  return {
    id: own,
    async isAlive(id) {
      if (id === own || alone) return id === own;
      const listening = await listeningOf(sql, [own, id]);
      // If the list does not even contain us, it says nothing about others.
      return listening.has(id) || !listening.has(own);
    },
  };
}

/** Which of these processes have a listening session; none behind a pooler that names sessions itself. */
export async function listeningOf(sql: Sql, processIds: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select id from unnest(${processIds}::text[]) as id
    where exists (select from pg_stat_activity where application_name like '%' || id)`;
  return new Set(rows.map(({ id }) => id));
}
