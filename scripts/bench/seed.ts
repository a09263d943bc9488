/** Fills tables with contacts, the same in Corestead and in the ceiling. */
import type { Sql } from "../../runtime/db.ts";
import { databaseOf, tableForWrite } from "../../plugins/jsondb/databases/database.ts";
import { createRecordStore } from "../../plugins/jsondb/records/record-store.ts";
import type { DbRow } from "../../plugins/jsondb/databases/database-store.ts";
import { contactOf, idOf, schema as wideSchema, type Contact } from "./contacts.ts";
import { adminToken, type CeilingName, type Server } from "./processes.ts";

const batchSize = 5_000;

export async function seedCeiling(sql: Sql, total: number, ceiling: CeilingName = "wide"): Promise<void> {
  for (const file of ["schema", `${ceiling}-indexes`])
    await sql.unsafe(await Bun.file(`${import.meta.dir}/ceiling-${file}.sql`).text());
  const hash = new Bun.CryptoHasher("sha256").update(adminToken).digest("hex");
  await sql`insert into tokens (token_hash, user_id) values (${hash}, 1)`;
  const insert = (batch: readonly Seeded[]) => sql`
    insert into contacts (id, name, email, city, age, visits, joined_at, phone, note, active)
    select id, name, email, city, age, visits, joined_at, phone, note, active
    from json_populate_recordset(null::contacts, ${JSON.stringify(batch)}::text::json)`;
  await withoutIndexes(sql, "contacts", () => inBatches(total, insert));
}

/**
 * Creates a database through the API and fills it directly: a million requests would take longer than the benchmark.
 * With `tableName` it becomes a multi-table database with that table.
 */
export async function seedCorestead(
  server: Server,
  sql: Sql,
  code: string,
  total: number,
  { tableName, schema = wideSchema }: { readonly tableName?: string; readonly schema?: object } = {},
): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${server.port}/core/dbs.json`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify({
      db: { name: code, code, schema: tableName ? { tables: { [tableName]: schema } } : schema },
    }),
  });
  if (response.status !== 201) throw new Error(`the database was not made: ${await response.text()}`);
  const { id } = (await response.json()) as { id: string };
  const [row] = await sql<DbRow[]>`select * from dbs where id = ${id}`;
  if (!row) throw new Error("the database is not there");
  const db = databaseOf(row);
  const store = createRecordStore(sql);
  const insert = (batch: readonly Seeded[]) => {
    const records = batch.map(({ id: recordId, ...data }) => ({
      id: recordId,
      createdAt: new Date(),
      json: JSON.stringify(data),
    }));
    return store.createMany(db, tableForWrite(db, tableName), records);
  };
  await withoutIndexes(sql, "records", () => inBatches(total, insert));
}

interface Seeded extends Contact {
  readonly id: string;
}

/** Passes contacts `0` to `total` - 1 to `insert`. */
async function inBatches(total: number, insert: (batch: readonly Seeded[]) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < total; start += batchSize) {
    const size = Math.min(batchSize, total - start);
    await insert(Array.from({ length: size }, (_, i) => ({ id: idOf(start + i), ...contactOf(start + i, total) })));
  }
}

/** Builds the table's indexes after `fill`: this is faster, and makes them equally compact for both servers. */
async function withoutIndexes(sql: Sql, table: string, fill: () => Promise<void>): Promise<void> {
  const indexes = await sql<{ name: string; definition: string; comment: string | null }[]>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition,
      obj_description(indexrelid, 'pg_class') as comment
    from pg_index where indrelid = ${table}::regclass and not indisprimary`;
  for (const { name } of indexes) await sql`drop index ${sql(name)}`;
  await fill();
  const reserved = await sql.reserve();
  await reserved`set maintenance_work_mem = '256MB'`;
  for (const { name, definition, comment } of indexes) {
    await reserved.unsafe(definition);
    // By which version of ICU it is built: without it the server builds it anew.
    if (comment !== null) await reserved.unsafe(`comment on index ${name} is '${comment}'`);
  }
  await reserved`reset maintenance_work_mem`;
  await reserved.unsafe(`vacuum (analyze) ${table}`);
  reserved.release();
}
