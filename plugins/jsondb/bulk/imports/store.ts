/** SQL of imports: their parts are kept as finished rows, which PostgreSQL stores without another look at their data. */
import type { Sql, Tx } from "platform";
import { indexColumns } from "../../databases/columns.ts";
import type { Database } from "../../databases/database.ts";
import { flagColumns, indexColumnList } from "../../databases/columns-store.ts";
import { indexArrays, type IndexedRecord } from "../../records/many-store.ts";
import { byNow } from "../../history/kept-store.ts";
import { begin, end, once } from "../../records/parts-store.ts";
import type { Place } from "./rows.ts";

/** Some rows of an import, kept until the whole body has been read. */
export interface Part {
  readonly importId: string;
  readonly number: number;
  readonly tableName: string;
}

export interface PlacedRecord extends IndexedRecord {
  readonly place: Place;
}

const listed = [...indexColumns, ...flagColumns];
const parts = once((on) => ({
  columns: on.unsafe(indexColumnList),
  recordColumns: on.unsafe(
    `db_id, id, account_id, table_name, data, ${indexColumnList}, plan_version, rules_version, created_at, updated_at`,
  ),
  indexed: on.unsafe(listed.map((name) => `n.${name}`).join(", ")),
  // Not arrays of JSON: quotes would be escaped and read twice.
  rows: on.unsafe(`
    rows from (unnest(p.ids), string_to_table(p.body, E'\\n'), unnest(p.created_at),
      ${listed.map((name) => `unnest(p.${name})`).join(", ")})
    as n (id, json, created_at, ${indexColumnList})`),
}));

export async function keep(
  sql: Sql,
  { importId, number, tableName }: Part,
  accountId: number,
  all: readonly PlacedRecord[],
): Promise<void> {
  await sql`
    insert into record_imports (import_id, part, account_id, table_name, body, ids, places, lines, created_at, ${parts(sql).columns})
    values (${importId}, ${number}, ${accountId}, ${tableName}, ${all.map(({ json }) => json).join("\n")},
      ${all.map(({ id }) => id)}::uuid[], ${all.map(({ place }) => place.row)}::int[],
      ${all.map(({ place }) => place.line ?? null)}::int[], ${all.map(({ createdAt }) => createdAt.toJSON())}::timestamptz[]
      ${indexArrays(sql, all)})`;
}

/**
 * Stores a part; gives back how many records those are: none if the database has another schema by now or is gone, or
 * if the part is.
 */
export async function store(
  tx: Tx,
  db: Database,
  { importId, number, tableName }: Part,
  actor: string | undefined,
  without: readonly string[],
): Promise<number> {
  const by = byNow(db, tableName);
  const to = { db, actor, by };
  const { recordColumns, indexed, rows } = parts(tx);
  const { count } = await tx`
    ${begin(tx, to)} insert into records as r (${recordColumns} ${by ? tx`, entries` : tx``})
    select d.id, n.id, d.account_id, ${tableName}, n.json::jsonb, ${indexed}, d.plan_version, d.rules_version,
      n.created_at, n.created_at ${by ? tx`, 1` : tx``}
    from dbs d, record_imports p, ${rows}
    where d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion}
      and p.import_id = ${importId} and p.part = ${number} and p.account_id = d.account_id
      ${without.length > 0 ? tx`and not n.id = any(${[...without]}::uuid[])` : tx``}
    ${end(tx, to, "create", undefined)}`;
  return count;
}

/** The rows of a part. Undefined if PostgreSQL was restarted since: the table is unlogged. */
export async function kept(tx: Tx, accountId: number, { importId, number }: Part) {
  const [part] = await tx<
    { ids: readonly string[]; body: string; places: number[] | null; lines: (number | null)[] | null }[]
  >`
    select ids::text[] as ids, body, places, lines from record_imports
    where import_id = ${importId} and part = ${number} and account_id = ${accountId}`;
  const lines = part?.body.split("\n") ?? [];
  return part?.ids.map((id, at) => {
    const line = part.lines?.[at] ?? undefined;
    const place: Place = { row: part.places?.[at] ?? 0, ...(line !== undefined && { line }) };
    return { id, json: lines[at] ?? "", place };
  });
}

/** Keeps which records an import makes, with its task. Their ids are in order: each is made after the one before. */
export async function remember(tx: Tx, accountId: number, importId: string, taskId: string): Promise<void> {
  await tx`
    insert into db_task_records (account_id, task_id, n, table_name, first_id, last_id, ids)
    select account_id, ${taskId}, part, table_name, ids[1], ids[cardinality(ids)], ids
    from record_imports where account_id = ${accountId} and import_id = ${importId}`;
}

export async function forget(sql: Sql, importId: string, accountId: number): Promise<void> {
  await sql`delete from record_imports where import_id = ${importId} and account_id = ${accountId}`;
}

/** Deletes the parts of imports whose process died. */
export async function prune(sql: Sql, olderThanHours: number): Promise<void> {
  await sql`delete from record_imports where at < now() - make_interval(hours => ${olderThanHours})`;
}
