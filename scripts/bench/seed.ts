/** Fills tables with contacts, the same in Corestead and in the ceiling. */
import type { Sql } from "../../runtime/db.ts";
import { contactOf, idOf, schema } from "./contacts.ts";
import { adminToken, type Server } from "./processes.ts";

const batchSize = 10_000;

export async function seedCeiling(sql: Sql, total: number): Promise<void> {
  await sql.unsafe(await Bun.file(`${import.meta.dir}/ceiling-schema.sql`).text());
  const hash = new Bun.CryptoHasher("sha256").update(adminToken).digest("hex");
  await sql`insert into tokens (token_hash, user_id) values (${hash}, 1)`;
  const insert = (json: string) => sql`
    insert into contacts (id, name, email, city, age, visits, joined_at, phone, note, active)
    select id, name, email, city, age, visits, joined_at, phone, note, active
    from json_populate_recordset(null::contacts, ${json}::text::json)`;
  await withoutIndexes(sql, "contacts", () => inBatches(total, insert));
}

/** Makes a database by the API and fills it past the API: a million requests would take longer than the benchmark. */
export async function seedCorestead(server: Server, sql: Sql, code: string, total: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${server.port}/core/dbs.json`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify({ db: { name: code, code, schema } }),
  });
  if (response.status !== 201) throw new Error(`the database was not made: ${await response.text()}`);
  const columns = ["name", "email", "city", "age", "visits", "joined_at", null];
  const insert = (json: string) => sql`
    insert into records (db_id, id, account_id, data, idx_str_1, idx_str_2, idx_str_3, idx_int_1, idx_int_2, idx_time_1,
      inexact, plan_version, created_at, updated_at)
    select dbs.id, (row ->> 'id')::uuid, dbs.account_id, row - 'id', str_1, str_2, str_3, int_1, int_2, time_1,
      inexact, dbs.plan_version, now(), now()
    from dbs, jsonb_array_elements(${json}::text::jsonb) row, record_index(row - 'id', ${columns}::text[])
    where dbs.code = ${code}`;
  await withoutIndexes(sql, "records", () => inBatches(total, insert));
}

/** Hands contacts `0` to `total` - 1 to `insert`, as JSON texts of arrays of `{ id, …contact }`. */
async function inBatches(total: number, insert: (json: string) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < total; start += batchSize) {
    const size = Math.min(batchSize, total - start);
    const contacts = Array.from({ length: size }, (_, i) => ({ id: idOf(start + i), ...contactOf(start + i, total) }));
    await insert(JSON.stringify(contacts));
  }
}

/** Builds the table's indexes after `fill`: faster, and as tight for one server's table as for the other's. */
async function withoutIndexes(sql: Sql, table: string, fill: () => Promise<void>): Promise<void> {
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
    from pg_index where indrelid = ${table}::regclass and not indisprimary`;
  for (const { name } of indexes) await sql`drop index ${sql(name)}`;
  await fill();
  const reserved = await sql.reserve();
  await reserved`set maintenance_work_mem = '256MB'`;
  for (const { definition } of indexes) await reserved.unsafe(definition);
  await reserved`reset maintenance_work_mem`;
  await reserved.unsafe(`vacuum (analyze) ${table}`);
  reserved.release();
}
