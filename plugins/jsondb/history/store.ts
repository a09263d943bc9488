/** SQL about what is kept of changes (kept-store.ts). The reach decides on each state of a record as on a record. */
import { bytesBefore, readBounds, type Page, type Queryable, type ReadPage, type Sql, type Tx } from "platform";
import { anyTable, inScope, openConditions, openData } from "../access/reach-store.ts";
import type { Database } from "../databases/database.ts";
import { newArgs, type Args } from "../search/filter-store.ts";

type Data = Readonly<Record<string, unknown>>;

export interface EntryRow {
  readonly n: number;
  readonly at: Date;
  readonly op: string;
  readonly userId: number | null;
  readonly userName: string | null;
  readonly source: string;
  readonly changes: Readonly<Record<string, readonly [before: unknown, after: unknown]>>;
}

/** A record as it was, with the fields that may be seen. */
export interface State {
  readonly tableName: string;
  readonly data: Data;
  readonly createdAt: Date;
}

export interface WholeState extends State {
  readonly whole: Data;
  readonly updatedAt: Date;
  readonly mayEdit: boolean;
}

/** Whether the record is open, or was when it was deleted. */
export async function isOpen(sql: Sql, db: Database, id: string): Promise<boolean> {
  const args = newArgs();
  const its = `r.id = ${args.bind(id, "uuid")}`;
  const there = `r.account_id = ${args.bind(db.accountId, "bigint")} and r.db_id = ${args.bind(db.id, "uuid")} and ${its}`;
  const text = `
    select case when exists (select from records r where ${there})
      then exists (select from records r where ${inScope(args, db, anyTable, [])} and ${its})
      else exists (select from ${lastDeletion(args, db, id)} where ${openState(args, db)}) end as is`;
  const [row] = await sql.unsafe<{ is: boolean }[]>(text, args.values);
  return row?.is ?? false;
}

/** The newest first: entries after which the record was open, and of each state the fields that were. */
export async function list(sql: Sql, db: Database, id: string, { limit, offset }: Page): Promise<ReadPage<EntryRow>> {
  const args = newArgs();
  const where = `${ofRecord(args, db, id)} and ${openState(args, db)}`;
  const text = `
    with page as materialized (
      select h.n, h.at, h.op, h.user_id, u.name as user_name, h.source, c.changes
      from record_history h left join users u on u.account_id = h.account_id and u.id = h.user_id,
        lateral ${stateAfter(args, db)} r, lateral ${changes(args, db)} c
      where ${where} order by h.n desc limit ${args.bind(limit, "int")} offset ${args.bind(offset, "bigint")}),
    sized as (select page.*, ${bytesBefore("octet_length(changes::text)", "n desc")} as bytes_before from page)
    select n, at, op, user_id, user_name, source, changes, (select count(*)::int from page) as whole,
      (select count(*) from record_history h, lateral ${stateAfter(args, db)} r where ${where}) as total
    from sized where bytes_before < ${readBounds.answerBytes} order by n desc`;
  const rows = await sql.unsafe<(EntryRow & { whole: number; total: number })[]>(text, args.values);
  const [first] = rows;
  const total = first?.total ?? (offset === 0 ? 0 : await count(sql, db, id));
  return { rows, total, next: first && first.whole > rows.length ? offset + rows.length : undefined };
}

/** A place among the changes of a database: what comes after it is older. */
export interface Place {
  /** Microseconds since 1970, as text. */
  readonly moment: string;
  readonly id: string;
  readonly n: number;
}

export interface DbEntryRow extends EntryRow, Place {
  readonly tableName: string;
  readonly title: string | null;
}

/** Of all records, as `list` shows those of one; `next` is the last of them, if there are more. */
export async function listAll(sql: Sql, db: Database, limit: number, after?: Place) {
  const args = newArgs();
  const older = after
    ? `and (h.at, h.id, h.n) < (timestamptz 'epoch' + ${args.bind(after.moment, "bigint")} * interval '1 microsecond', ${args.bind(after.id, "uuid")}, ${args.bind(after.n, "int")})`
    : "";
  const titles = Object.fromEntries([...db.schema.tables].map(([name, { titleField }]) => [name, titleField ?? null]));
  const title = `left(${openData(args, db, anyTable)} ->> (${args.bind(JSON.stringify(titles), "text")}::jsonb ->> r.table_name), 200)`;
  const text = `
    with page as materialized (
      select h.id, h.n, h.at, h.op, h.user_id, u.name as user_name, h.source, c.changes, r.table_name, ${title} as title
      from record_history h left join users u on u.account_id = h.account_id and u.id = h.user_id,
        lateral ${stateAfter(args, db)} r, lateral ${changes(args, db)} c
      where h.account_id = ${args.bind(db.accountId, "bigint")} and h.db_id = ${args.bind(db.id, "uuid")} ${older}
        and ${openState(args, db)}
      order by h.at desc, h.id desc, h.n desc limit ${args.bind(limit + 1, "int")}),
    sized as (select page.*, ${bytesBefore("octet_length(changes::text)", "at desc, id desc, n desc")} as bytes_before from page)
    select *, (extract(epoch from at) * 1000000)::bigint::text as moment, (select count(*) from page)::int as whole
    from sized where bytes_before < ${readBounds.answerBytes} order by at desc, id desc, n desc limit ${args.bind(limit, "int")}`;
  const rows = await sql.unsafe<(DbEntryRow & { whole: number })[]>(text, args.values);
  const last = rows.at(-1);
  return { rows, next: last && last.whole > rows.length ? last : undefined };
}

async function count(sql: Sql, db: Database, id: string): Promise<number> {
  const args = newArgs();
  const text = `select count(*) as total from record_history h, lateral ${stateAfter(args, db)} r
    where ${ofRecord(args, db, id)} and ${openState(args, db)}`;
  const [row] = await sql.unsafe<{ total: number }[]>(text, args.values);
  return row?.total ?? 0;
}

/** The record after entry `n`, or before it if that is its deletion. */
export async function stateAt(tx: Tx, db: Database, id: string, n: number): Promise<State | undefined> {
  const args = newArgs();
  const text = `
    select r.table_name, ${openData(args, db, anyTable)} as data, r.created_at
    from record_history h, lateral ${stateAfter(args, db)} r
    where ${ofRecord(args, db, id)} and h.n = ${args.bind(n, "bigint")} and ${openState(args, db)}`;
  const [row] = await tx.unsafe<State[]>(text, args.values);
  return row;
}

/** The record as it is, if it is open, held until the transaction ends. */
export async function current(tx: Tx, db: Database, id: string): Promise<WholeState | undefined> {
  const args = newArgs();
  const text = `select ${wholeState(args, db)} from records r
    where ${inScope(args, db, anyTable, [])} and r.id = ${args.bind(id, "uuid")} for no key update`;
  const [row] = await tx.unsafe<WholeState[]>(text, args.values);
  return row;
}

/** A deleted record as it was last, if it was open. */
export async function deleted(tx: Tx, db: Database, id: string): Promise<WholeState | undefined> {
  const args = newArgs();
  const text = `select ${wholeState(args, db)} from ${lastDeletion(args, db, id)} where ${openState(args, db)}`;
  const [row] = await tx.unsafe<WholeState[]>(text, args.values);
  return row;
}

/** Until the transaction ends nobody else gives the record back. */
export async function hold(tx: Tx, { accountId, id: dbId }: Database, id: string): Promise<void> {
  await tx`select from record_trash where account_id = ${accountId} and db_id = ${dbId} and id = ${id} for update`;
  await tx`
    select from record_history where account_id = ${accountId} and db_id = ${dbId} and id = ${id}
    order by n desc limit 1 for update`;
}

/** Of a record that is deleted for good. */
export async function forget(on: Queryable, { accountId, id: dbId }: Database, id: string): Promise<void> {
  await on`delete from record_history where account_id = ${accountId} and db_id = ${dbId} and id = ${id}`;
}

/** How much of a record as it is its history takes with the next change. */
export async function sizeOf(sql: Sql, { accountId, id: dbId }: Database, id: string): Promise<number> {
  const [row] = await sql<{ size: number }[]>`
    select pg_column_size(data) as size from records where account_id = ${accountId} and db_id = ${dbId} and id = ${id}`;
  return row?.size ?? 0;
}

export interface Bounds {
  readonly days: number;
  /** For each record. */
  readonly entries: number;
  readonly bytes: number;
}

/** Deletes some of the entries that are too old; gives how many. */
export async function prune(sql: Sql, { days }: Pick<Bounds, "days">, most: number): Promise<number> {
  const { count: gone } = await sql`
    delete from record_history where at < now() - make_interval(days => ${days}) and ctid = any(array(
      select ctid from record_history where at < now() - make_interval(days => ${days}) order by at limit ${most}))`;
  return gone;
}

/** A record that may have too many entries. */
export interface Crowded {
  readonly dbId: string;
  readonly id: string;
}

/** The next ones after `after`. */
export function crowded(sql: Sql, after: Crowded, most: number) {
  return sql<Crowded[]>`
    select distinct db_id, id from record_history
    where (n % 100 = 0 or bytes > 100000) and (db_id, id) > (${after.dbId}, ${after.id})
    order by db_id, id limit ${most}`;
}

/** Deletes some of a record's oldest entries, where it has more than are kept; gives how many. */
export async function thin(sql: Sql, { dbId, id }: Crowded, { entries }: Pick<Bounds, "entries">, most: number) {
  const { count: gone } = await sql`
    delete from record_history where db_id = ${dbId} and id = ${id} and n = any(array(
      select n from record_history where db_id = ${dbId} and id = ${id} and n <= ${entries}::int * -1 + (
        select max(n) from record_history where db_id = ${dbId} and id = ${id})
      order by n limit ${most}))`;
  return gone;
}

/** Deletes the oldest of them where they are larger together; never the newest. */
export async function shrink(sql: Sql, { dbId, id }: Crowded, { bytes }: Pick<Bounds, "bytes">): Promise<void> {
  await sql`
    delete from record_history h using (
      select n, row_number() over (order by n desc) as place, sum(bytes) over (order by n desc) as taken
      from record_history where db_id = ${dbId} and id = ${id}) o
    where h.db_id = ${dbId} and h.id = ${id} and h.n = o.n and o.place > 1 and o.taken > ${bytes}`;
}

// Entries `h`, and records `r` as they were after one.

function ofRecord(args: Args, db: Database, id: string): string {
  return `h.account_id = ${args.bind(db.accountId, "bigint")} and h.db_id = ${args.bind(db.id, "uuid")}
    and h.id = ${args.bind(id, "uuid")}`;
}

function openState(args: Args, db: Database): string {
  return ["true", ...openConditions(args, db, anyTable)].join(" and ");
}

function wholeState(args: Args, db: Database): string {
  const mayEdit = ["true", ...openConditions(args, db, anyTable, [], "edit")].join(" and ");
  return `r.table_name, ${openData(args, db, anyTable)} as data, r.data as whole, r.created_at, r.updated_at,
    (${mayEdit}) is true as may_edit`;
}

/** `r` of its last entry, if that is its deletion. */
function lastDeletion(args: Args, db: Database, id: string): string {
  const entry = `select * from record_history h where ${ofRecord(args, db, id)} order by h.n desc limit 1`;
  return `(select * from (${entry}) h where h.op = 'delete') h, lateral ${stateAfter(args, db)} r`;
}

function stateAfter(args: Args, db: Database): string {
  const data = "case h.op when 'restore' then h.patch else coalesce(h.old, '{}') || coalesce(h.patch, '{}') end";
  return `(select h.account_id, h.db_id, h.id, h.table_name, ${named(args, db, data, "h.table_name")} as data,
    h.created_at, h.updated_at)`;
}

/** Nothing of a record that was not there. A filter by `updated_at` means that of the entry before. */
function stateBefore(args: Args, db: Database): string {
  const table = "coalesce(h.left_table, h.table_name)";
  return `(select h.account_id, h.db_id, h.id, ${table} as table_name, ${named(args, db, "h.old", table)} as data,
    h.created_at, case when h.op = 'delete' then h.updated_at else (
      select p.updated_at from record_history p where p.db_id = h.db_id and p.id = h.id and p.n = h.n - 1) end as updated_at
    where h.old is not null)`;
}

/** Under the names that its fields have today. */
function named(args: Args, { former }: Database, data: string, table: string): string {
  if (former.length === 0) return data;
  const names = `${args.bind(JSON.stringify(former, ["table", "from", "to", "schema", "plan"]), "text")}::jsonb`;
  return `record_as_named(${data}, ${names}, ${table}, h.schema_version, h.plan_version)`;
}

/** Field to what it was and became, null where there was nothing or it was not to be seen. */
function changes(args: Args, db: Database): string {
  const shown = openData(args, db, anyTable);
  return `(
    select coalesce(jsonb_object_agg(k.key, jsonb_build_array(b.data -> k.key, a.data -> k.key)), '{}') as changes
    from (select ${named(args, db, "h.old", "coalesce(h.left_table, h.table_name)")} as was,
        case when h.op <> 'delete' then r.data end as became offset 0) s,
      (select case when h.op = 'delete' then '{}' else ${shown} end as data offset 0) a,
      (select coalesce((select ${shown} from ${stateBefore(args, db)} r where ${openState(args, db)}), '{}') as data
        offset 0) b,
      jsonb_object_keys(b.data || a.data) as k (key)
    where nullif(s.was -> k.key, 'null') is distinct from nullif(s.became -> k.key, 'null'))`;
}
