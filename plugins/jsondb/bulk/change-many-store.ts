/** SQL of changes of all records that filters find. */
import type { Tx } from "platform";
import type { RowFault } from "./imports/rows.ts";
import { noId } from "./bulk-store.ts";
import type { Scope } from "../search/query.ts";
import type { Database } from "../databases/database.ts";
import {
  newArgs,
  dataSourceOf,
  filterConditions,
  inScope,
  phraseCondition,
  type Args,
} from "../search/filter-store.ts";
import type { Data } from "../records/record.ts";
import * as taskStore from "../tasks/store.ts";

export interface NewChange {
  readonly taskId: string;
  readonly accountId: number;
  readonly query: string;
  /** Undefined deletes. */
  readonly data: Data | undefined;
}

/** A change that is under way. */
export interface Change {
  readonly taskId: string;
  readonly accountId: number;
  readonly dbId: string;
  readonly query: string;
  /** Null deletes. */
  readonly data: Data | null;
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

/** What one step has done. */
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

export async function insert(tx: Tx, db: Database, { taskId, accountId, query, data }: NewChange): Promise<void> {
  const json = data === undefined ? null : JSON.stringify(data);
  await tx`
    insert into bulk_changes (task_id, account_id, query, data, until_id)
    values (${taskId}, ${accountId}, ${query}, ${json}::text::json, coalesce((
      select r.id from records r where r.db_id = ${db.id} and r.account_id = ${accountId}
      order by r.id desc limit 1), ${noId}))`;
}

/** Held until the transaction ends, so that no two processes work at it. Undefined if it was stopped. */
export async function lock(tx: Tx, accountId: number, taskId: string): Promise<Change | undefined> {
  const [row] = await tx<Change[]>`
    select b.task_id, b.account_id, t.db_id, b.query, b.data, b.until_id, b.after_id, t.done, t.total
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

function whereOf(args: Args, db: Database, scope: Scope, { afterId, untilId }: Change) {
  const source = dataSourceOf(db, scope);
  const phrase = scope.phrase ? [phraseCondition(args, source, scope.phrase)] : [];
  const between = `r.id > ${args.bind(afterId, "uuid")} and r.id <= ${args.bind(untilId, "uuid")}`;
  return [inScope(args, db, scope), ...filterConditions(args, source, scope), ...phrase, between].join(" and ");
}
