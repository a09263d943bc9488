/** Fills tables with contacts, the same in Corestead and in the ceiling. */
import type { Sql } from "../../runtime/db.ts";
import { contactOf, idOf } from "./contacts.ts";

const batchSize = 10_000;

/** Hands contacts `0` to `total` - 1 to `insert`, as JSON texts of arrays of `{ id, at, …contact }`. */
export async function inBatches(total: number, insert: (json: string) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < total; start += batchSize) {
    const size = Math.min(batchSize, total - start);
    const contacts = Array.from({ length: size }, (_, i) => ({ id: idOf(start + i), ...contactOf(start + i, total) }));
    await insert(JSON.stringify(contacts));
  }
}

export async function seedCeiling(sql: Sql, total: number, tokenHash: string): Promise<void> {
  await sql.unsafe(await Bun.file(`${import.meta.dir}/ceiling-schema.sql`).text());
  await sql`insert into tokens (token_hash, user_id) values (${tokenHash}, 1)`;
  await inBatches(
    total,
    (json) => sql`
      insert into contacts (id, name, email, city, age, visits, joined_at, phone, note, active)
      select id, name, email, city, age, visits, joined_at, phone, note, active
      from json_populate_recordset(null::contacts, ${json}::text::json)`,
  );
  await sql`vacuum (analyze) contacts`;
}
