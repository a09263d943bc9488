/** SQL of the fields that become unique, and of those that are no longer. */
import type { Queryable, Sql, Tx } from "platform";
import type { Database } from "./database.ts";
import { named } from "../records/keys-store.ts";
import type { Claim, KeySet } from "./unique.ts";

type Whose = Pick<Database, "id" | "accountId">;

/** Adds the sets; gives the transaction of that. Undefined if one of the fields is being made unique already. */
export async function begin(sql: Sql, db: Whose, sets: readonly KeySet[]): Promise<string | undefined> {
  const [row] = await sql<{ xid: string }[]>`
    update dbs set key_sets = key_sets || ${JSON.stringify(sets)}::text::jsonb, schema_version = schema_version + 1
    where id = ${db.id} and account_id = ${db.accountId} and not exists (
      select from jsonb_array_elements(key_sets) e, jsonb_array_elements(${JSON.stringify(sets)}::text::jsonb) n
      where e -> 'table' = n -> 'table' and e -> 'field' = n -> 'field' and not (e -> 'filled')::boolean)
    returning pg_current_xact_id()::text as xid`;
  return row?.xid;
}

/** From here on nothing writes their keys; the sets that a schema has by now stay, unless they are not filled. */
export async function withdraw(sql: Sql, db: Whose, ids: readonly string[]): Promise<void> {
  await sql`
    update dbs set key_sets = (
      select coalesce(jsonb_agg(e), '[]') from jsonb_array_elements(key_sets) e where not e ->> 'id' = any(${[...ids]})),
      schema_version = schema_version + 1
    where id = ${db.id} and account_id = ${db.accountId}`;
}

/** In the transaction that changes the schema. */
export async function setKeySets(tx: Tx, db: Whose, sets: readonly KeySet[]): Promise<void> {
  await tx`
    update dbs set key_sets = ${JSON.stringify(sets)}::text::jsonb where id = ${db.id} and account_id = ${db.accountId}`;
}

/** As `oldWritersEnd` of the database's plan, for what that transaction has changed. */
export async function writersEnd(sql: Sql, xid: string): Promise<string | undefined> {
  const [row] = await sql<{ end: string }[]>`
    select pg_snapshot_xmax(pg_current_snapshot())::text as end where not exists (
      select from pg_stat_activity a
      where a.datname = current_database() and a.backend_type = 'client backend' and a.pid <> pg_backend_pid()
        and age(a.backend_xmin) >= age(${xid}::text::xid8::xid))`;
  return row?.end;
}

/** Writes the keys of the next records; gives the last record, and those whose key somebody has. */
export async function fill(sql: Sql, db: Whose, set: KeySet, after: string, most: number) {
  const [row] = await sql<{ last: string | null; others: string[] }[]>`
    with page as materialized (
      select r.id, record_key(nullif(${named(sql)} ->> ${set.field}, ''), ${set.type === "datetime"}) as key from records r
      where r.db_id = ${db.id} and r.account_id = ${db.accountId} and r.table_name = ${set.table} and r.id > ${after}
      order by r.id limit ${most}
    ), made as (
      insert into record_keys (account_id, db_id, set_id, key, id)
      select ${db.accountId}, ${db.id}, ${set.id}, p.key, p.id from page p where p.key is not null order by p.key, p.id
      on conflict do nothing returning id
    )
    select (select max(id::text) from page) as last, array(
      select p.id::text from page p where p.key is not null and not exists (select from made m where m.id = p.id)) as others`;
  return row ?? { last: null, others: [] };
}

/** The same for these records alone. */
export async function fillThese(tx: Tx, db: Whose, set: KeySet, ids: readonly string[]): Promise<void> {
  await tx`
    insert into record_keys (account_id, db_id, set_id, key, id)
    select ${db.accountId}, ${db.id}, ${set.id}, record_key(${named(tx)} ->> ${set.field}, ${set.type === "datetime"}), r.id
    from records r
    where r.db_id = ${db.id} and r.account_id = ${db.accountId} and r.table_name = ${set.table}
      and r.id = any(${[...ids]}::uuid[]) and ${named(tx)} ->> ${set.field} <> ''
    order by 4, 5 on conflict do nothing`;
}

/** The values of these records, as claims. */
export async function valuesOf(sql: Queryable, db: Whose, set: KeySet, ids: readonly string[]): Promise<Claim[]> {
  const rows = await sql<{ id: string; value: string }[]>`
    select r.id, ${named(sql)} ->> ${set.field} as value from records r
    where r.db_id = ${db.id} and r.account_id = ${db.accountId} and r.table_name = ${set.table}
      and r.id = any(${[...ids]}::uuid[]) and ${named(sql)} ->> ${set.field} <> ''`;
  return rows.map(({ id, value }) => ({ set, id, value }));
}

/** Deletes some keys of sets that are no longer; gives how many. */
export async function dropKeys(sql: Sql, db: Whose, sets: readonly string[], most: number): Promise<number> {
  const { count } = await sql`
    delete from record_keys where db_id = ${db.id} and account_id = ${db.accountId} and (set_id, key) in (
      select k.set_id, k.key from record_keys k
      where k.db_id = ${db.id} and k.account_id = ${db.accountId} and k.set_id = any(${[...sets]}::uuid[]) limit ${most})`;
  return count;
}

/** The databases with a field that was to become unique an hour ago, and whose process has died. */
export function unfinished(sql: Sql) {
  return sql<{ id: string; accountId: number; code: string; keySets: unknown }[]>`
    select id, account_id, code, key_sets from dbs
    where key_sets @> '[{"filled":false}]' and exists (
      select from jsonb_array_elements(key_sets) e
      where not (e -> 'filled')::boolean and (e ->> 'since')::timestamptz < now() - interval '1 hour')`;
}
