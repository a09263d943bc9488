import type { Sql } from "platform";
import type { Database } from "../databases/database.ts";

/** SQL about the room that records take. */
export function createRoomStore(sql: Sql) {
  return {
    /** The size of all its records' data as text, which is what reading them costs. */
    async bytesOf({ accountId, id }: Pick<Database, "accountId" | "id">): Promise<number> {
      const [row] = await sql<{ bytes: number }[]>`
        select coalesce(sum(octet_length(data::text)), 0)::float8 as bytes from records
        where account_id = ${accountId} and db_id = ${id}`;
      return row?.bytes ?? 0;
    },
  };
}

export type RoomStore = ReturnType<typeof createRoomStore>;
