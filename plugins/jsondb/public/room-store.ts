import type { Sql } from "platform";
import type { Database } from "../databases/database.ts";

/** The size of all its records' data as text, which is what reading them costs. */
export async function bytesOf(sql: Sql, { accountId, id }: Pick<Database, "accountId" | "id">): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select coalesce(sum(octet_length(data::text)), 0)::float8 as bytes from records
    where account_id = ${accountId} and db_id = ${id}`;
  return row?.bytes ?? 0;
}
