/** SQL of links: who names whom, and the records at the other end. */
import { readBounds, type Queryable, type Sql, type Tx } from "platform";
import { anyTable, inScope, openData } from "../access/reach-store.ts";
import { mayAll } from "../access/reach.ts";
import type { Database } from "../databases/database.ts";
import type { Table } from "../databases/schema.ts";
import { betweenRecords, rawRecord, withoutOwn } from "../records/parts-store.ts";
import { rawsOf } from "../records/print.ts";
import { newArgs } from "../search/filter-store.ts";

/** A field of a record that names another. */
export interface StoredLink {
  readonly dbId: string;
  readonly tableName: string;
  readonly field: string;
  readonly recordId: string;
}

type Ids = readonly string[];

/** Few texts of statements are without conditions of grants: connections keep the plans of those. */
const planned = (db: Database) => ({ prepare: mayAll(db, "read") });

/** The databases of an account whose schemas have links: few. */
export function linking(sql: Sql, accountId: number) {
  return sql<{ id: string }[]>`
    select id from dbs where account_id = ${accountId} and strpos(schema::text, '"link"') > 0 order by id`;
}

/** Those of these records that are open, held so that they are not deleted before the links to them are written. */
export async function held(
  tx: Queryable,
  db: Database,
  table: Table | undefined,
  ids: Ids,
): Promise<ReadonlySet<string>> {
  const args = newArgs();
  const scope = table ? { table, allTables: false } : anyTable;
  const text = `select r.id::text from records r where ${inScope(args, db, scope, [])}
    and r.id = any(${args.bind([...ids], "uuid[]")}) order by r.id for key share`;
  return new Set((await tx.unsafe<{ id: string }[]>(text, args.values)).map(({ id }) => id));
}

/** Makes these the links of a record's fields. */
export async function replace(
  tx: Tx,
  of: { readonly accountId: number; readonly dbId: string; readonly tableName: string; readonly recordId: string },
  links: readonly { readonly field: string; readonly target: string }[],
): Promise<void> {
  const { accountId, dbId, tableName, recordId } = of;
  const [fields, targets] = [links.map(({ field }) => field), links.map(({ target }) => target)];
  await tx`
    delete from record_links l where l.account_id = ${accountId} and l.record_id = ${recordId} and l.db_id = ${dbId}
      and not (l.table_name = ${tableName} and (l.field, l.target_id) in (
        select * from unnest(${fields}::text[], ${targets}::uuid[])))`;
  if (links.length > 0)
    await tx`
      insert into record_links (account_id, target_id, db_id, table_name, field, record_id)
      select ${accountId}, target, ${dbId}, ${tableName}, field, ${recordId}
      from unnest(${fields}::text[], ${targets}::uuid[]) as n (field, target)
      on conflict do nothing`;
}

/** A link of a new record. */
export interface NewLink {
  readonly recordId: string;
  readonly field: string;
  readonly target: string;
  /** Where the target is; any table of the database where undefined. */
  readonly targetDb: string;
  readonly targetTable: string | undefined;
}

/**
 * Before the insert of new records of one table, in the same statement: their links, and the condition that all lead to
 * records, which are held so that they are not deleted before. Without it nothing is written.
 */
export function newLinks(on: Queryable, db: Database, tableName: string, links: readonly NewLink[]) {
  const all = links.toSorted((a, b) => (a.target < b.target ? -1 : 1)); // so that two writes seldom deadlock
  const only = on`and (select count(*) from held_links) = ${all.length}`;
  const first = on`held_links as materialized (
      select n.* from unnest((select ${all.map((link) => link.recordId)}::uuid[]), (select ${all.map((link) => link.field)}::text[]),
        (select ${all.map((link) => link.target)}::uuid[]), (select ${all.map((link) => link.targetDb)}::uuid[]),
        (select ${all.map((link) => link.targetTable ?? null)}::text[])) as n (record_id, field, target_id, in_db, in_table),
        lateral (
          select from records t
          where t.db_id = n.in_db and t.id = n.target_id and t.account_id = ${db.accountId}
            and (n.in_table is null or t.table_name = n.in_table) for key share) t
    ), new_links as (
      insert into record_links (account_id, target_id, db_id, table_name, field, record_id)
      select d.account_id, h.target_id, d.id, ${tableName}, h.field, h.record_id from held_links h, dbs d
      where d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion} ${only})`;
  return { first, only };
}

/** The links of many new records of one table, whose targets are held. */
export async function add(
  tx: Tx,
  of: { readonly accountId: number; readonly dbId: string; readonly tableName: string },
  links: readonly { readonly field: string; readonly target: string; readonly recordId: string }[],
): Promise<void> {
  const columns = (["field", "target", "recordId"] as const).map((key) => links.map((link) => link[key]));
  const [fields = [], targets = [], records = []] = columns;
  await tx`
    insert into record_links (account_id, target_id, db_id, table_name, field, record_id)
    select ${of.accountId}, target, ${of.dbId}, ${of.tableName}, field, record
    from unnest(${fields}::text[], ${targets}::uuid[], ${records}::uuid[]) as n (field, target, record)
    on conflict do nothing`;
}

/** Who links to a record. */
export function to(on: Queryable, accountId: number, target: string, limit: number) {
  return on<StoredLink[]>`
    select db_id, table_name, field, record_id from record_links
    where account_id = ${accountId} and target_id = ${target}
    order by db_id, table_name, field, record_id limit ${limit}`;
}

/** Forgets the links of records that are gone. */
export async function forget(on: Queryable, accountId: number, ids: Ids): Promise<void> {
  await on`delete from record_links where account_id = ${accountId} and record_id = any(${[...ids]}::uuid[])`;
}

/** As many ids as one statement takes. */
export const mostEnds = 500;

/**
 * Open records as flat raw texts (print.ts), in no order; of one that is longer than `mostBytes` only its id. Arrays as
 * `(select …)` and `lateral`, as many-store.ts has them.
 */
export async function flat(
  on: Queryable,
  db: Database,
  table: Table | undefined,
  ids: Ids,
  mostBytes = readBounds.answerBytes / mostEnds,
): Promise<readonly string[]> {
  const args = newArgs();
  const scope = table ? { table, allTables: false } : anyTable;
  const found = `select case when octet_length(raw) <= ${args.bind(mostBytes, "float8")} then raw else id::text end as raw
    from unnest((select ${args.bind(`{${ids.join(",")}}`, "text")}::uuid[])) as a (asked), lateral (
      select r.id, ${rawRecord(withoutOwn(openData(args, db, scope)))} as raw from records r
      where ${inScope(args, db, scope, [])} and r.id = a.asked offset 0) f`;
  // As one row: to take twenty apart costs the process more than the text.
  const text = `select string_agg(raw, ${betweenRecords}) as raws from (${found}) e`;
  const [row] = await on.unsafe<{ raws: string | null }[]>(text, args.values, planned(db));
  return row?.raws ? rawsOf(row.raws) : [];
}

/** Those of these records that are open. */
export async function open(on: Queryable, db: Database, ids: Ids): Promise<readonly string[]> {
  const args = newArgs();
  const text = `select r.id::text from records r where ${inScope(args, db, anyTable, [])}
    and r.id = any(${args.bind([...ids], "uuid[]")}) order by r.id`;
  return (await on.unsafe<{ id: string }[]>(text, args.values)).map(({ id }) => id);
}

export interface Linked {
  readonly count: number;
  /** The newest, raw and flat. */
  readonly raws: readonly string[];
}

/** How many records link to this one by a field, and the newest of them: of those that are open. */
export async function linked(
  on: Queryable,
  db: Database,
  { tableName, field, target, isWhole }: { tableName: string; field: string; target: string; isWhole: boolean },
  most: number,
): Promise<Linked> {
  const args = newArgs();
  const table = db.schema.tables.get(tableName);
  const scope = table ? { table, allTables: false } : anyTable;
  const own = `l.account_id = ${args.bind(db.accountId, "bigint")} and l.target_id = ${args.bind(target, "uuid")}
    and l.db_id = ${args.bind(db.id, "uuid")} and l.table_name = ${args.bind(tableName, "text")}
    and l.field = ${args.bind(field, "text")}`;
  const isOpen = inScope(args, db, scope, [field]);
  // The link of a record that is gone is gone with it: where all are open, none of them need be read to be counted.
  const count = isWhole
    ? `(select count(*) from record_links l where ${own})`
    : `(select count(*) from record_links l join records r on r.id = l.record_id where ${own} and ${isOpen})`;
  const text = `
    select ${count}::int as count, array(
      select ${rawRecord(withoutOwn(openData(args, db, scope)))}
      from record_links l join records r on r.id = l.record_id
      where ${own} and ${isOpen} order by l.record_id desc limit ${args.bind(most, "int")}) as raws`;
  const [row] = await on.unsafe<Linked[]>(text, args.values, planned(db));
  return row ?? { count: 0, raws: [] };
}

interface Aggregated {
  readonly table: Table;
  /** The link. */
  readonly field: string;
  readonly targets: Ids;
  readonly op: "count" | "sum" | "min" | "max" | "avg";
  readonly measured: string | undefined;
  readonly isTime: boolean;
  readonly isWhole: boolean;
}

/** What the open records that link to each of these amount to, as texts; none for those that nobody links to. */
export async function aggregated(on: Queryable, db: Database, asked: Aggregated) {
  const { table, field, targets, op, measured, isTime, isWhole } = asked;
  const args = newArgs();
  const own = `l.account_id = ${args.bind(db.accountId, "bigint")} and l.target_id = any(${args.bind([...targets], "uuid[]")})
    and l.db_id = ${args.bind(db.id, "uuid")} and l.table_name = ${args.bind(table.name, "text")}
    and l.field = ${args.bind(field, "text")}`;
  // Where all are open, none of them need be read to be counted.
  const isCount = measured === undefined;
  const names = [field, ...(isCount ? [] : [measured])];
  const records = `record_links l join records r on r.id = l.record_id
    where ${own} and ${inScope(args, db, { table, allTables: false }, names)}`;
  const from = isCount && isWhole ? `record_links l where ${own}` : records;
  const value = () => `r.data -> ${args.bind(measured ?? "", "text")}`;
  const result = isCount
    ? "count(*)::text"
    : isTime
      ? `to_char(${op}(record_instant(${value()} #>> '{}')) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
      : `trim_scale(${op}(record_number(${value()})))::text`;
  const text = `select l.target_id::text as target, ${result} as value from ${from} group by l.target_id`;
  return on.unsafe<{ target: string; value: string | null }[]>(text, args.values, planned(db));
}
