/** SQL of what is done with many records: exports, batches, and changes of all that filters find. */
import * as taskStore from "../tasks/store.ts";
import { readBounds, type BaseContext, type Queryable, type Tx } from "platform";
import type { Database } from "../databases/database.ts";
import { isSmall } from "../records/parts-store.ts";
import { newArgs, dataSourceOf, filterConditions, phraseCondition, type Args } from "../search/filter-store.ts";
import { idList, pageOf, type ExportPage, type IdList } from "./exports/bytes.ts";
import { anyTable, openData, inScope } from "../access/reach-store.ts";
import type { Level } from "../access/access.ts";
import { decidingFields, isNarrowed, type Sort, type Scope } from "../search/query.ts";
import { orderBy, sortKey } from "../search/sort-store.ts";
import type { RowFault } from "./imports/rows.ts";
import type { Data } from "../records/record.ts";

type Reading = Pick<BaseContext, "read">;

export interface KeysPage {
  readonly keys: readonly string[];
  /** The last record that was looked at; null at the end. */
  readonly last: string | null;
}

/** Where a page begins, or which records it has. */
export type ExportPlace = { readonly after: string } | { readonly ids: readonly string[] };

/** Before every id. */
export const noId = "00000000-0000-0000-0000-000000000000";

/** A page with a record larger than its share of `readBounds.pageBytes` ends before it, unless it is a common size. */
const commonBytes = 16_000;
/** The most columns of a CSV file. */
export const maxColumns = 1000;
const maxInt = 2 ** 31 - 1;
const keysPerPage = 10_000;

/**
 * The next records by id: at most `limit`, and fewer if one is much larger than the others are expected to be. Null
 * at the end. As arrays in binary formats: to print ids and times as texts, or to send a row of its own for each
 * record, costs both sides as much again as the records themselves.
 */
export async function exportPage(
  ctx: Reading,
  db: Database,
  scope: Scope,
  from: ExportPlace,
  limit: number,
): Promise<ExportPage | null> {
  const args = newArgs();
  const most = limit === 1 ? maxInt : Math.max(commonBytes, Math.floor(readBounds.pageBytes / limit));
  const small = Math.min(2000, Math.floor(readBounds.pageBytes / 2 / limit));
  // What is surely small is not printed for its length.
  const fits = `${isSmall(args.bind(small, "int"))} or octet_length(r.data::text) <= ${args.bind(most, "int")}`;
  const data = `case when ${fits} then ${openData(args, db, scope)} end as data`;
  const columns = ["id", "created_at", "updated_at", "table_name", "data"];
  const arrays = columns.map((column) => `array_agg(r.${column})`).join(", ");
  const own = columns.slice(0, -1).map((column) => `r.${column}`);
  const of = [...own, data].join(", ");
  const records =
    "ids" in from ? named(args, db, scope, from.ids, of) : recordsPage(args, db, scope, from.after, limit, of);
  const text = `select ${arrays} from (${records}) r`;
  // Of filters there are too many to keep a plan for each.
  const options = { binary: true, prepare: "ids" in from || !isNarrowed(scope) };
  const [arraysOfPage = []] = await ctx.read((sql) => sql.unsafe(text, args.values, options).raw());
  return pageOf(arraysOfPage);
}

/** The ids of at most so many records in this order. */
export async function orderedIds(ctx: Reading, db: Database, scope: Scope, sort: Sort, limit: number): Promise<IdList> {
  const args = newArgs();
  const key = sortKey(args, dataSourceOf(db, scope), sort, true);
  const text = `select array_agg(o.id) from (
    select r.id from records r where ${matching(args, db, scope, { sort })}
    order by ${orderBy(key, sort, true)} limit ${args.bind(limit, "int")}) o`;
  const [[ids = null] = []] = await ctx.read((sql) => sql.unsafe(text, args.values, { binary: true }).raw());
  return idList(ids);
}

/** The data keys of the next records, without the known ones. */
export async function keysPage(
  ctx: Reading,
  db: Database,
  scope: Scope,
  after: string,
  known: readonly string[],
): Promise<KeysPage> {
  const args = newArgs();
  const others = () => `${openData(args, db, scope)} - ${args.bind([...known], "text[]")}`;
  // Whether there are any is asked first, because most pages have none, and listing keys takes longer.
  const found = recordsPage(args, db, scope, after, keysPerPage, `r.id, ${others()} <> '{}' as has_others`);
  const [seen] = await run<{ hasOthers: boolean | null; last: string | null }[]>(
    ctx,
    `select bool_or(p.has_others) as has_others, max(p.id::text) as last from (${found}) p`,
    args,
  );
  if (!seen?.hasOthers) return { keys: [], last: seen?.last ?? null };
  const again = recordsPage(args, db, scope, after, keysPerPage, `${others()} as others`);
  const listed = `
    select array_agg(k) as keys from (
      select distinct k from (${again}) p, jsonb_object_keys(p.others) as k limit ${maxColumns + 1}) k`;
  const [row] = await run<{ keys: string[] | null }[]>(ctx, listed, args);
  return { keys: row?.keys ?? [], last: seen.last };
}

/**
 * Locks these records until the transaction ends, always in the same order, so that two batches never deadlock.
 * Gives back when each has changed last.
 */
export async function lockAll(tx: Tx, db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, Date>> {
  const args = newArgs();
  const text = `select r.id, r.updated_at from records r
    where ${inScope(args, db, anyTable, [])} and r.id = any(${args.bind([...ids], "uuid[]")})
    order by r.id for no key update`;
  const rows = await tx.unsafe<{ id: string; updatedAt: Date }[]>(text, args.values);
  return new Map(rows.map(({ id, updatedAt }) => [id, updatedAt]));
}

function matching(
  args: Args,
  db: Database,
  scope: Scope,
  { sort, level }: { readonly sort?: Sort; readonly level?: Level } = {},
) {
  // The order of ids takes no other index.
  const source = dataSourceOf(db, scope);
  const phrase = scope.phrase ? [phraseCondition(args, source, scope.phrase, openData(args, db, scope))] : [];
  const names = [...decidingFields(scope), ...(sort ? [sort.field] : [])];
  return [
    inScope(args, db, scope, names, level && { level }),
    ...filterConditions(args, source, scope),
    ...phrase,
  ].join(" and ");
}

function named(args: Args, db: Database, scope: Scope, ids: readonly string[], columns: string) {
  return `
  select ${columns} from unnest(${args.bind([...ids], "uuid[]")}) with ordinality as o (id, n)
  join records r on r.db_id = ${args.bind(db.id, "uuid")} and r.id = o.id
  where ${inScope(args, db, { ...scope, allTables: true }, decidingFields(scope))} order by o.n`;
}

function recordsPage(args: Args, db: Database, scope: Scope, after: string, limit: number, columns: string) {
  return `
    select ${columns} from records r
    where ${matching(args, db, scope)} and r.id > ${args.bind(after, "uuid")}
    order by r.id limit ${args.bind(limit, "int")}`;
}

function run<T extends object[]>(ctx: Reading, text: string, { values }: Args) {
  return ctx.read<T>((sql) => sql.unsafe<T>(text, values));
}

// SQL of changes of all records that filters find.

export interface NewChange {
  readonly taskId: string;
  readonly accountId: number;
  readonly query: string;
  /** Undefined deletes. */
  readonly data: Data | undefined;
  /** The import whose records these are; undefined: any. */
  readonly undoes: string | undefined;
}

/** A change that is under way. */
export interface Change {
  readonly taskId: string;
  readonly accountId: number;
  readonly dbId: string;
  /** Who began it; null if they are gone. */
  readonly userId: number | null;
  readonly query: string;
  /** Null deletes. */
  readonly data: Data | null;
  readonly undoes: string | null;
  readonly untilId: string;
  readonly afterId: string;
  readonly done: number;
  /** Null until the records were counted. */
  readonly total: number | null;
}

export interface Found {
  readonly id: string;
  readonly tableName: string;
}

/** The result of one step. */
export interface Step {
  /** The last record that was looked at; undefined if there was none. */
  readonly last: string | undefined;
  readonly stored: number;
  readonly faults: readonly RowFault[];
  readonly failed: number;
}

/** Whether one of this database is under way. */
export async function isUnderWay(tx: Tx, accountId: number, dbId: string): Promise<boolean> {
  const rows = await tx`
    select from db_tasks
    where account_id = ${accountId} and db_id = ${dbId} and kind in ('update', 'delete') and status = 'running'`;
  return rows.length > 0;
}

export async function insert(tx: Tx, db: Database, { taskId, accountId, query, data, undoes }: NewChange) {
  const json = data === undefined ? null : JSON.stringify(data);
  const [last, first] = undoes
    ? [
        tx`select max(last_id::text)::uuid ${ofImport(tx, accountId, undoes)}`,
        tx`select (left(min(first_id::text), 13) || ${noId.slice(13)})::uuid ${ofImport(tx, accountId, undoes)}`,
      ]
    : [
        tx`select r.id from records r where r.db_id = ${db.id} and r.account_id = ${accountId} order by r.id desc limit 1`,
        tx`select null::uuid`,
      ];
  await tx`
    insert into bulk_changes (task_id, account_id, query, data, undoes, until_id, after_id)
    values (${taskId}, ${accountId}, ${query}, ${json}::text::json, ${undoes ?? null},
      coalesce((${last}), ${noId}), coalesce((${first}), ${noId}))`;
}

const ofImport = (on: Queryable, accountId: number, taskId: string) =>
  on`from db_task_records where account_id = ${accountId} and task_id = ${taskId}`;

/** Held until the transaction ends, so that no two processes work at it. Undefined if it was stopped. */
export async function lock(tx: Tx, accountId: number, taskId: string): Promise<Change | undefined> {
  const [row] = await tx<Change[]>`
    select b.task_id, b.account_id, t.db_id, t.created_by_id as user_id, b.query, b.data, b.undoes, b.until_id, b.after_id, t.done, t.total
    from bulk_changes b join db_tasks t on t.account_id = b.account_id and t.id = b.task_id
    where b.task_id = ${taskId} and b.account_id = ${accountId} and t.status = 'running'
    for no key update of t`;
  return row;
}

export async function count(tx: Tx, db: Database, scope: Scope, change: Change): Promise<number> {
  const args = newArgs();
  const text = `select count(*)::int as found from records r where ${whereOf(args, db, scope, change)}`;
  const [row] = await tx.unsafe<{ found: number }[]>(text, args.values);
  return row?.found ?? 0;
}

export async function measured(tx: Tx, { accountId, taskId }: Change, total: number): Promise<void> {
  await tx`update db_tasks set total = ${total}, updated_at = now()
    where account_id = ${accountId} and id = ${taskId}`;
}

/**
 * The next records by id, locked. One that somebody else is changing is waited for, and left out if the filters no
 * longer find it then.
 */
export async function page(
  tx: Tx,
  db: Database,
  scope: Scope,
  change: Change,
  limit: number,
): Promise<readonly Found[]> {
  const args = newArgs();
  const text = `
    select r.id, r.table_name from records r where ${whereOf(args, db, scope, change)}
    order by r.id limit ${args.bind(limit, "int")} for no key update`;
  return tx.unsafe<Found[]>(text, args.values);
}

/** In the transaction of the step, so that no record is counted or changed twice. */
export async function advance(
  tx: Tx,
  change: Change,
  { last, stored, faults, failed }: Step,
  isEnd: boolean,
): Promise<void> {
  const { taskId, accountId } = change;
  if (last !== undefined)
    await tx`
      update bulk_changes set after_id = greatest(after_id, ${last})
      where account_id = ${accountId} and task_id = ${taskId}`;
  if (faults.length > 0) await taskStore.addErrors(tx, accountId, taskId, faults);
  await tx`
    update db_tasks t set done = t.done + ${stored + failed}, stored = t.stored + ${stored},
      failed = t.failed + ${failed}, updated_at = now()
    where t.account_id = ${accountId} and t.id = ${taskId}`;
  if (isEnd)
    await tx`
      update db_tasks set status = 'finished', total = done, finished_at = now()
      where account_id = ${accountId} and id = ${taskId}`;
}

function whereOf(args: Args, db: Database, scope: Scope, { accountId, afterId, untilId, undoes }: Change) {
  const made =
    undoes === null
      ? ""
      : ` and exists (select from db_task_records t where t.account_id = ${args.bind(accountId, "bigint")}
          and t.task_id = ${args.bind(undoes, "uuid")} and r.id between t.first_id and t.last_id and r.id = any(t.ids))`;
  const between = `r.id > ${args.bind(afterId, "uuid")} and r.id <= ${args.bind(untilId, "uuid")}`;
  return `${matching(args, db, scope, { level: "edit" })} and ${between}${made}`;
}
