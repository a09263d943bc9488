/** SQL about tasks. */
import { readPage, type Page, type Queryable, type Sql, type Tx } from "platform";
import type { RowFault } from "../bulk/imports/rows.ts";

export interface NewTask {
  readonly id: string;
  readonly accountId: number;
  readonly dbId: string;
  readonly kind: "import" | "export" | "reindex" | "update" | "delete";
  /** Null = no person (a command). */
  readonly userId: number | null;
}

export interface Progress {
  /** Rows that were read, records that were exported. */
  readonly done: number;
  readonly stored: number;
  readonly failed: number;
  /** The first mistakes in rows. */
  readonly errors: readonly RowFault[];
}

export interface TaskFilter {
  readonly kind: string | undefined;
  readonly status: string | undefined;
  /** Only those that this person has begun. */
  readonly userId: number | undefined;
}

export interface TaskRow {
  readonly id: string;
  readonly kind: NewTask["kind"];
  readonly status: "running" | "finished" | "failed";
  readonly done: number;
  readonly total: number | null;
  readonly stored: number;
  readonly failed: number;
  readonly error: string | null;
  readonly warnings: readonly string[];
  readonly createdById: number | null;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  /** The deletion that undoes this import. */
  readonly undoId: string | null;
}

const keptPerDatabase = 100;
/** Of one task. */
export const keptErrors = 10_000;

const listed = (sql: Queryable) =>
  sql`id, kind, status, done, total, stored, failed, error, warnings, created_by_id, started_at, finished_at, undo_id`;

/** The newest first. */
export async function list(sql: Sql, accountId: number, dbId: string, filter: TaskFilter, page: Page) {
  const { kind, status, userId } = filter;
  const where = sql`
    db_id = ${dbId}
    ${userId === undefined ? sql`` : sql`and created_by_id = ${userId}`}
    ${kind === undefined ? sql`` : sql`and kind = ${kind}`}
    ${status === undefined ? sql`` : sql`and status = ${status}`}`;
  return readPage<TaskRow>(sql, page, {
    columns: listed(sql),
    from: sql`(${shown(sql, accountId)}) t where ${where}`,
    order: sql`id desc`,
  });
}

/** The newest that a person has begun, of all databases. */
export async function own(
  sql: Sql,
  accountId: number,
  userId: number,
  { kind, status }: Omit<TaskFilter, "userId">,
  most: number,
) {
  return sql<(TaskRow & { readonly dbId: string; readonly dbName: string })[]>`
    select ${listed(sql)}, db_id, (select d.name from dbs d where d.account_id = ${accountId} and d.id = db_id) as db_name
    from (${shown(sql, accountId)}) t
    where created_by_id = ${userId}
      ${kind === undefined ? sql`` : sql`and kind = ${kind}`} ${status === undefined ? sql`` : sql`and status = ${status}`}
    order by id desc limit ${most}`;
}

export async function byId(on: Queryable, accountId: number, dbId: string, id: string) {
  const [row] = await on<(TaskRow & Pick<Progress, "errors">)[]>`
    select ${listed(on)}, coalesce((
        select json_agg(e.error order by e.n) from db_task_errors e
        where e.account_id = ${accountId} and e.task_id = t.id and e.n <= 100
      ), errors) as errors from (${shown(on, accountId)}) t
    where db_id = ${dbId} and id = ${id}`;
  return row;
}

/** Mistakes in rows, in their order. */
export async function errorsOf(sql: Sql, accountId: number, id: string, page: Page) {
  const from = sql`db_task_errors where account_id = ${accountId} and task_id = ${id}`;
  return readPage<{ error: RowFault }>(sql, page, { columns: sql`error`, from, order: sql`n` });
}

/** Adds mistakes in rows, of which the first 10,000 are kept. */
export async function addErrors(
  on: Queryable,
  accountId: number,
  id: string,
  errors: readonly RowFault[],
): Promise<void> {
  await on`
    insert into db_task_errors (task_id, n, account_id, error)
    select t.id, last.n + e.n, t.account_id, e.error
    from db_tasks t, lateral (
        select coalesce(max(n), 0) as n from db_task_errors where account_id = ${accountId} and task_id = t.id) last,
      json_array_elements(${JSON.stringify(errors)}::text::json) with ordinality as e (error, n)
    where t.id = ${id} and t.account_id = ${accountId} and last.n + e.n <= ${keptErrors}`;
}

/** Adds a task; only the newest of each database are kept. */
export async function insert(on: Queryable, { id, accountId, dbId, kind, userId }: NewTask): Promise<void> {
  await on`
    delete from db_tasks where account_id = ${accountId} and db_id = ${dbId} and status <> 'running' and id in (
      select id from db_tasks where account_id = ${accountId} and db_id = ${dbId}
      order by id desc offset ${keptPerDatabase - 1})`;
  await on`
    insert into db_tasks (id, account_id, db_id, kind, created_by_id)
    values (${id}, ${accountId}, ${dbId}, ${kind}, ${userId})`;
}

/** The tables whose records an import has made, as far as that is known. */
export async function tablesOf(sql: Sql, accountId: number, id: string): Promise<string[]> {
  const rows = await sql<{ tableName: string }[]>`
    select distinct table_name from db_task_records where account_id = ${accountId} and task_id = ${id}`;
  return rows.map(({ tableName }) => tableName);
}

/** False if another task undoes the import, or has done so. */
export async function claimUndo(tx: Tx, accountId: number, importId: string, taskId: string): Promise<boolean> {
  const { count } = await tx`
    update db_tasks t set undo_id = ${taskId}
    where t.account_id = ${accountId} and t.id = ${importId} and not exists (
      select from db_tasks u where u.account_id = t.account_id and u.id = t.undo_id and u.status <> 'failed')`;
  return count === 1;
}

export async function progress(
  sql: Sql,
  accountId: number,
  id: string,
  { done, stored, failed, errors }: Progress,
): Promise<void> {
  await sql`
    update db_tasks set done = ${done}, stored = ${stored}, failed = ${failed},
      errors = ${JSON.stringify(errors)}::text::json, updated_at = now()
    where account_id = ${accountId} and id = ${id} and status = 'running'`;
}

/** With an error it has failed. */
export async function end(
  sql: Sql,
  accountId: number,
  id: string,
  ended: Progress & Pick<TaskRow, "error" | "warnings">,
) {
  const { done, stored, failed, errors, error, warnings } = ended;
  await sql`
    update db_tasks set status = ${error === null ? "finished" : "failed"}, error = ${error}, done = ${done},
      total = ${error === null ? done : null}, stored = ${stored}, failed = ${failed},
      errors = ${JSON.stringify(errors)}::text::json, warnings = ${JSON.stringify(warnings)}::text::json,
      updated_at = now(), finished_at = now()
    where account_id = ${accountId} and id = ${id} and status = 'running'`;
}

/** Nothing if it has ended already. */
export async function fail(sql: Sql, accountId: number, id: string, error: string): Promise<void> {
  await sql`
    update db_tasks set status = 'failed', error = ${error}, updated_at = now(), finished_at = now()
    where account_id = ${accountId} and id = ${id} and status = 'running'`;
}

/** A later change of the schema: the work that is left belongs to the new task. */
export async function replaceReindex(tx: Tx, accountId: number, dbId: string): Promise<void> {
  await tx`
    update db_tasks set status = 'failed', error = 'the schema was changed again', updated_at = now(),
      finished_at = now()
    where account_id = ${accountId} and db_id = ${dbId} and kind = 'reindex' and status = 'running'`;
}

/** Counts what is left to be indexed. */
export async function measureReindex(sql: Sql, dbId: string, planVersion: number): Promise<void> {
  await sql`
    update db_tasks set updated_at = now(), total = done + (
      select count(*) from records where db_id = ${dbId} and plan_version < ${planVersion})
    where account_id = (select account_id from dbs where id = ${dbId}) and db_id = ${dbId} and kind = 'reindex' and status = 'running'`;
}

export async function endReindex(sql: Sql, dbId: string): Promise<void> {
  await sql`
    update db_tasks set status = 'finished', total = done, updated_at = now(), finished_at = now()
    where account_id = (select account_id from dbs where id = ${dbId}) and db_id = ${dbId} and kind = 'reindex' and status = 'running'`;
}

export async function prune(sql: Sql, olderThanDays: number): Promise<void> {
  await sql`delete from db_tasks where updated_at < now() - make_interval(days => ${olderThanDays})`;
}

// An import or export ends with its process; what a job does goes on in another one.
function shown(sql: Queryable, accountId: number) {
  return sql`
  select id, account_id, db_id, kind, case when lost then 'failed' else status end as status, done, total, stored,
    failed, case when lost then 'the server stopped before it was done' else error end as error, errors, warnings,
    created_by_id, started_at, case when lost then updated_at else finished_at end as finished_at,
    undo_id
  from db_tasks, lateral (
    select status = 'running' and kind in ('import', 'export') and updated_at < now() - interval '2 minutes' as lost) l
  where account_id = ${accountId}`;
}
