/** SQL that runs flow processes. A write names the fence that the writer holds, and does nothing if it has been raised. */
import { failedJob, openJob, type Fragment, type Queryable, type Sql, type Tx } from "platform";
import { rootScope, type Cursor, type Memory, type StepRecord } from "../engine/state.ts";

export type ProcessStatus = "pending" | "finished" | "error";

export interface ProcessRow {
  readonly accountId: number;
  readonly id: string;
  readonly flowCode: string;
  readonly status: ProcessStatus;
  readonly input: Readonly<Record<string, unknown>>;
  readonly data: unknown;
  readonly error: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

/** A process whose row is held. */
export interface LockedProcess extends ProcessRow {
  readonly cursor: Cursor | null;
  readonly memory: Memory | null;
  readonly trace: string | null;
}

export interface Started {
  readonly process: ProcessRow;
  readonly steps: readonly StepRecord[];
  /** Its position; null if it can never continue. */
  readonly cursor: Cursor | null;
}

/** Everything that continuing a process needs. */
export interface HeldProcess extends ProcessRow {
  readonly cursor: Cursor;
  readonly memory: Memory;
  readonly stored: number;
  readonly fence: number;
}

/** JSON as text, so that it is made only once. */
export interface NewProcess {
  readonly accountId: number;
  readonly id: string;
  readonly flowCode: string;
  readonly programId: number;
  readonly status: ProcessStatus;
  readonly input: string;
  readonly data: string | null;
  readonly error: string | null;
  readonly cursor: string | null;
  readonly memory: string | null;
  readonly steps: string;
  readonly origin: string | null;
  readonly starterKind: string | null;
  readonly starterId: string | null;
  readonly starter: string | null;
  readonly trace: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

export interface Progress {
  readonly accountId: number;
  readonly id: string;
  readonly fence: number;
  /** The number of this batch of steps. */
  readonly stored: number;
  readonly steps: string | undefined;
  /** Undefined leaves the stored value as it is. */
  readonly cursor: string | null | undefined;
  readonly memory: string | null | undefined;
  readonly end:
    | { readonly status: "finished" | "error"; readonly data: string | null; readonly error: string | null }
    | undefined;
}

export interface ProcessId {
  readonly accountId: number;
  readonly id: string;
}

export interface LostProcess extends ProcessId {
  readonly flowCode: string;
  readonly failed: boolean;
}

/** The columns of a ProcessRow, of `flow_processes p`. */
export function processColumns(sql: Queryable): Fragment {
  return sql`p.account_id, p.id, p.flow_code, p.status, p.input, p.data, p.error, p.created_at, p.finished_at`;
}

/** Many in one statement: all or none. */
export async function insert(on: Queryable, rows: readonly NewProcess[]): Promise<void> {
  await on`
    insert into flow_processes (account_id, id, flow_code, program_id, status, input, data, error, cursor, memory,
      steps, origin, starter_kind, starter_id, starter, trace, created_at, finished_at)
    select n.account_id, n.id, n.flow_code, n.program_id, n.status, n.input::json, n.data::json, n.error,
      n.cursor::json, n.memory::json, n.steps::json, n.origin::json, n.starter_kind, n.starter_id, n.starter::json, n.trace, n.created_at, n.finished_at
    from unnest(${rows.map((r) => r.accountId)}::bigint[], ${rows.map((r) => r.id)}::uuid[],
      ${rows.map((r) => r.flowCode)}::text[], ${rows.map((r) => r.programId)}::bigint[],
      ${rows.map((r) => r.status)}::text[], ${rows.map((r) => r.input)}::text[], ${rows.map((r) => r.data)}::text[],
      ${rows.map((r) => r.error)}::text[], ${rows.map((r) => r.cursor)}::text[], ${rows.map((r) => r.memory)}::text[],
      ${rows.map((r) => r.steps)}::text[], ${rows.map((r) => r.origin)}::text[],
      ${rows.map((r) => r.starterKind)}::text[], ${rows.map((r) => r.starterId)}::text[],
      ${rows.map((r) => r.starter)}::text[], ${rows.map((r) => r.trace)}::text[],
      ${rows.map((r) => r.createdAt.toISOString())}::text[]::timestamptz[],
      ${rows.map((r) => r.finishedAt?.toISOString() ?? null)}::text[]::timestamptz[]
    ) as n (account_id, id, flow_code, program_id, status, input, data, error, cursor, memory, steps, origin,
      starter_kind, starter_id, starter, trace, created_at, finished_at)`;
}

/**
 * Takes the process over: an earlier driver writes nothing from now on. Undefined unless it is pending. A crash of
 * PostgreSQL may undo this; the fence rises by a random number, so that the next one still differs.
 */
export async function take(sql: Sql, accountId: number, id: string): Promise<HeldProcess | undefined> {
  const [row] = await sql<HeldProcess[]>`
    update flow_processes p set fence = p.fence + 1 + floor(random() * 1000)::integer
    from (select set_config('synchronous_commit', 'off', true)) unsynced
    where p.account_id = ${accountId} and p.id = ${id} and p.status = 'pending'
    returning ${processColumns(sql)}, p.cursor, p.memory, p.stored, p.fence`;
  return row;
}

/** Whether it is pending with an older fence: a crash of PostgreSQL has undone the taking over. */
export async function isForgotten(sql: Sql, { accountId, id, fence }: HeldProcess): Promise<boolean> {
  const rows = await sql`
    select from flow_processes
    where account_id = ${accountId} and id = ${id} and status = 'pending' and fence < ${fence}`;
  return rows.length > 0;
}

/**
 * Pending processes without a job of these names: nothing would continue them. `failed`: their last job was given
 * up.
 */
export const lost = (sql: Sql, jobNames: readonly string[], most: number) => sql<LostProcess[]>`
  select p.account_id, p.id, p.flow_code, exists (${failedJob(sql, jobNames, sql`p.id::text`)}) as failed from flow_processes p
  where p.status = 'pending' and not exists (${openJob(sql, jobNames, sql`p.id::text`)}) limit ${most}`;

/** Stores how far it is, and its end. False if the process has ended or another driver has taken it over. */
export async function progress(
  on: Queryable,
  { accountId, id, fence, stored, steps, cursor, memory, end }: Progress,
): Promise<boolean> {
  const update = on`
    update flow_processes set fence = fence
      ${cursor === undefined ? on`` : on`, cursor = ${cursor}::text::json`}
      ${memory === undefined ? on`` : on`, memory = ${memory}::text::json`}
      ${steps === undefined ? on`` : on`, stored = ${stored + 1}`}
      ${
        end === undefined
          ? on``
          : on`, status = ${end.status}, data = ${end.data}::text::json, error = ${end.error}, finished_at = now()`
      }
    where account_id = ${accountId} and id = ${id} and fence = ${fence} and status = 'pending'`;
  if (steps === undefined) return (await on`${update}`).count === 1;
  const result = await on`
    with p as (${update} returning account_id, id)
    insert into flow_process_steps (account_id, process_id, number, steps)
    select p.account_id, p.id, ${stored}, ${steps}::text::json from p`;
  return result.count === 1;
}

/** Undefined unless it is pending. */
export async function breakOff(tx: Tx, { accountId, id }: ProcessId, error: string): Promise<ProcessRow | undefined> {
  const [row] = await tx<ProcessRow[]>`
    update flow_processes p set status = 'error', error = ${error}, finished_at = now(), fence = p.fence + 1
    where p.account_id = ${accountId} and p.id = ${id} and p.status = 'pending' returning ${processColumns(tx)}`;
  return row;
}

/** Locked until the transaction ends. */
export async function lock(tx: Tx, accountId: number, id: string): Promise<LockedProcess | undefined> {
  const [row] = await tx<LockedProcess[]>`
    select ${processColumns(tx)}, p.cursor, p.memory, p.trace from flow_processes p
    where p.account_id = ${accountId} and p.id = ${id} for no key update`;
  return row;
}

/** `memory`: with other programs than before; undefined = the stored one. */
export async function resume(
  tx: Tx,
  { accountId, id }: ProcessId,
  cursor: Cursor,
  memory: Memory | undefined,
): Promise<ProcessRow> {
  const renewed =
    memory &&
    tx`, memory = ${JSON.stringify(memory)}::text::json,
    program_id = ${memory.scopes[rootScope]?.programId ?? null}`;
  const [row] = await tx<ProcessRow[]>`
    update flow_processes p set status = 'pending', error = null, data = null, finished_at = null,
      fence = p.fence + 1, cursor = ${JSON.stringify(cursor)}::text::json ${renewed ?? tx``}
    where p.account_id = ${accountId} and p.id = ${id} returning ${processColumns(tx)}`;
  return row as ProcessRow; // `lock` held the row
}

export async function prune(sql: Sql, olderThanDays: number, most: number): Promise<number> {
  const result = await sql`
    delete from flow_processes where (account_id, id) in (
      select account_id, id from flow_processes
      where finished_at < now() - make_interval(days => ${olderThanDays}) limit ${most})`;
  return result.count;
}
