import type { Sql } from "platform";
import type { Database } from "../databases/database.ts";

/** SQL about the room that records take. */
export function createRoomStore(sql: Sql) {
  return {
    /** The size of all its records' data, as PostgreSQL stores it (large values compressed). */
    async bytesOf({ accountId, id }: Pick<Database, "accountId" | "id">): Promise<number> {
      const [row] = await sql<{ bytes: number }[]>`
        select coalesce(sum(pg_column_size(data)), 0)::float8 as bytes from records
        where account_id = ${accountId} and db_id = ${id}`;
      return row?.bytes ?? 0;
    },
  };
}

export type RoomStore = ReturnType<typeof createRoomStore>;
