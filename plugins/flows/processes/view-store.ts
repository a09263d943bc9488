/** SQL that shows flow processes. */
import { bytesBefore, readBounds } from "platform";
import type { Fragment, BaseContext, Page, Queryable, Sql } from "platform";
import { isUuid } from "../../connectors/api.ts";
import type { FailingFlow, Origin } from "../api.ts";
import { alarmOf } from "../manage/check.ts";
import { processColumns, type ProcessRow } from "./store.ts";
import type { Cursor, StepRecord } from "../engine/state.ts";

/** A process with its steps and its position. */
export interface WholeProcess extends ProcessRow {
  readonly cursor: Cursor | null;
  readonly steps: readonly StepRecord[];
  readonly further: readonly (readonly StepRecord[])[] | null;
  readonly starterKind?: string | null;
  readonly starterId?: string | null;
  readonly starter?: Readonly<Record<string, unknown>> | null;
  readonly trace?: string | null;
  /** Those of its program, and of the flows that this calls. */
  readonly databases?: readonly Readonly<Record<string, unknown>>[] | null;
}

/** The message for followers of processes. */
export type ProcessHead = Omit<ProcessRow, "accountId" | "input" | "data"> &
  Pick<WholeProcess, "starterKind" | "starterId" | "starter" | "trace">;

export interface ProcessFilter {
  readonly flowCode?: string | undefined;
  readonly status?: string | undefined;
  readonly starterKind?: string | undefined;
  readonly starterId?: string | undefined;
  /** Made at this time or later; before this time. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** Before the process with this id. */
  readonly before?: string | undefined;
  /** This process, or those that follow from the same change. */
  readonly trace?: string | undefined;
  /** A webhook that follows this record has started it. */
  readonly recordId?: string | undefined;
  /** A step of it has made this record. */
  readonly madeRecordId?: string | undefined;
}

const listedStepsBytes = 20_000;
const listedBatches = 20;
const listedBytes = ["input", "data", "steps", "further"]
  .map((column) => `coalesce(octet_length(l.${column}::text), 0)`)
  .join(" + ");

export async function wholeProcess(on: Queryable, accountId: number, id: string): Promise<WholeProcess | undefined> {
  const [row] = await on<WholeProcess[]>`
    select ${processColumns(on)}, ${startColumns(on)}, ${databases(on)}, p.cursor, p.steps,
      (select json_agg(s.steps order by s.number) from flow_process_steps s
        where s.account_id = p.account_id and s.process_id = p.id) as further
    from flow_processes p where p.account_id = ${accountId} and p.id = ${id}`;
  return row;
}

export async function originOf(
  sql: Sql,
  accountId: number,
  id: string,
): Promise<{ flowCode: string; origin: Origin } | undefined> {
  const [row] = await sql<{ flowCode: string; origin: Origin | null }[]>`
    select flow_code, origin from flow_processes where account_id = ${accountId} and id = ${id}`;
  return row && { flowCode: row.flowCode, origin: row.origin ?? {} };
}

export async function stateOf(on: Queryable, accountId: number, id: string): Promise<ProcessRow | undefined> {
  const [row] = await on<ProcessRow[]>`
    select ${processColumns(on)} from flow_processes p where p.account_id = ${accountId} and p.id = ${id}`;
  return row;
}

/**
 * The latest first; large batches of steps are left out, or all steps. Fewer than `limit` where they reach the bound
 * of an answer: `found` says how many there are to the limit.
 */
export async function listProcesses(
  { sql, read }: BaseContext,
  accountId: number,
  filter: ProcessFilter,
  { limit, offset }: Page,
  withSteps: boolean,
) {
  const steps = withSteps
    ? sql`case when pg_column_size(p.steps) <= ${listedStepsBytes} then p.steps else '[]' end as steps,
      (select json_agg(s.steps order by s.number) from flow_process_steps s
        where s.account_id = p.account_id and s.process_id = p.id and s.number <= ${listedBatches}
          and pg_column_size(s.steps) <= ${listedStepsBytes}) as further, p.cursor`
    : sql`'[]'::json as steps, null::json as further, null::json as cursor`;
  return read(
    (on) => on<(WholeProcess & { readonly found: number })[]>`
    select * from (
      select l.*, count(*) over ()::int as found, ${sql.unsafe(bytesBefore(listedBytes, "l.id desc"))} as bytes_before
      from (
        select ${processColumns(sql)}, ${startColumns(sql)}, ${databases(sql)}, ${steps}
        from flow_processes p where ${matching(sql, accountId, filter)}
        order by p.id desc limit ${limit} offset ${offset}) l) l
    where l.bytes_before < ${readBounds.answerBytes} order by l.id desc`,
  );
}

export async function countProcesses(
  { sql, read }: BaseContext,
  accountId: number,
  filter: ProcessFilter,
): Promise<number> {
  const [count] = await read(
    (on) => on<{ total: number }[]>`
    select count(*) as total from flow_processes p where ${matching(sql, accountId, filter)}`,
  );
  return count?.total ?? 0;
}

/** The latest that were made since then or are pending, and these. */
export async function recentHeads(
  sql: Sql,
  accountId: number,
  since: Date,
  ids: readonly string[],
  most: number,
): Promise<ProcessHead[]> {
  return sql<ProcessHead[]>`
    select id, flow_code, status, error, created_at, finished_at, starter_kind, starter_id, starter, trace
    from flow_processes p where p.account_id = ${accountId} and p.id in (
      (select id from flow_processes where account_id = ${accountId} and id >= ${firstIdAt(since)}
        order by id desc limit ${most})
      union all
      (select id from flow_processes where account_id = ${accountId} and status = 'pending'
        order by id desc limit ${most})
      union all select unnest(${ids}::uuid[]))
    order by p.id`;
}

/** What started it and led to it, of `flow_processes p`. */
function startColumns(sql: Queryable): Fragment {
  return sql`p.starter_kind, p.starter_id, p.starter, p.trace`;
}

/** What its program reads and writes, whether its steps are shown or not. */
function databases(sql: Queryable): Fragment {
  return sql`(
    with recursive programs (id) as (
      select p.program_id
      union
      select f.program_id from programs n
      join flow_programs g on g.account_id = p.account_id and g.id = n.id
      cross join jsonb_path_query(g.program::jsonb, '$.** ? (@.type == "flow").flow') called
      join flows f on f.account_id = p.account_id and f.code = called #>> '{}')
    select json_agg(json_build_object('db', coalesce(step -> 'db', step -> 'filter' -> 'db_code'), 'expand', step -> 'expand'))
    from programs n join flow_programs g on g.account_id = p.account_id and g.id = n.id
    cross join jsonb_path_query(g.program::jsonb, '$.** ? (@.type == "db" || @.type == "wait_for")') step) as databases`;
}

/** Ids begin with their time. */
function firstIdAt(time: Date): string {
  const hex = Math.max(0, Math.min(time.getTime(), 2 ** 48 - 1))
    .toString(16)
    .padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

function matching(sql: Sql, accountId: number, filter: ProcessFilter): Fragment {
  const { flowCode, status, starterKind, starterId, from, to, before, trace, recordId, madeRecordId } = filter;
  const none = sql``;
  return sql`p.account_id = ${accountId}
    ${flowCode === undefined ? none : sql`and p.flow_code = ${flowCode}`}
    ${status === undefined ? none : statusIs(sql, status)}
    ${starterKind === undefined ? none : sql`and p.starter_kind = ${starterKind}`}
    ${starterId === undefined ? none : sql`and p.starter_id = ${starterId}`}
    ${from === undefined ? none : sql`and p.id >= ${firstIdAt(from)}`}
    ${to === undefined ? none : sql`and p.id < ${firstIdAt(to)}`}
    ${recordId === undefined ? none : sql`and p.starter_kind = 'webhook' and p.starter ->> 'record_id' = ${recordId}`}
    ${madeRecordId === undefined ? none : sql`and p.id in (${makersOf(sql, accountId, madeRecordId)})`}
    ${before === undefined ? none : sql`and p.id < ${before}`}
    ${trace === undefined ? none : sql`and (p.trace = ${trace} ${isUuid(trace) ? sql`or p.id = ${trace}` : none})`}`;
}

/** No index knows what steps have made: the processes are read that had begun when the record was made, the latest first. */
const mostMakers = 1000;

function makersOf(sql: Sql, accountId: number, recordId: string): Fragment {
  const named = `%"id":"${recordId}"%`;
  // Ids begin with their time.
  const end = `${recordId.slice(0, 13)}-ffff-ffff-ffffffffffff`;
  return sql`
    select c.id from (
      select id, steps from flow_processes where account_id = ${accountId} and id <= ${end}::uuid
      order by id desc limit ${mostMakers}) c
    where c.steps::text like ${named} or exists (
      select from flow_process_steps s
      where s.account_id = ${accountId} and s.process_id = c.id and s.steps::text like ${named})`;
}

/** As it is written in the indexes of what is not finished, which no parameter would use. */
function statusIs(sql: Sql, status: string): Fragment {
  if (status === "pending") return sql`and p.status = 'pending'`;
  if (status === "error") return sql`and p.status = 'error'`;
  return status === "finished" ? sql`and p.status = 'finished'` : sql`and false`;
}

export interface RunStats {
  readonly from: Date;
  readonly runs: number;
  readonly failed: number;
  /** Milliseconds from the start to the end, waits included, of those that have ended; null without any. */
  readonly times: readonly [p50: number, p99: number] | null;
}

/** Of the latest processes of a flow, by hours or days of the time zone, the oldest first. */
export async function statsOf(
  sql: Sql,
  accountId: number,
  flowCode: string,
  { unit, days, timezone, most }: { unit: "hour" | "day"; days: number; timezone: string; most: number },
): Promise<readonly RunStats[]> {
  return sql<RunStats[]>`
    select date_trunc(${unit}, created_at at time zone ${timezone}) at time zone ${timezone} as from,
      count(*)::integer as runs, count(*) filter (where status = 'error')::integer as failed,
      percentile_cont(array[0.5, 0.99]) within group (order by extract(epoch from finished_at - created_at) * 1000)
        filter (where finished_at is not null) as times
    from (
      select status, created_at, finished_at from flow_processes
      where account_id = ${accountId} and flow_code = ${flowCode}
        and created_at >= now() - make_interval(days => ${days})
      order by id desc limit ${most}) latest
    group by 1 order by 1`;
}

/** By the latest runs up to one that went well; one that was cancelled is neither. */
export async function failing(sql: Sql, accountId: number, code?: string): Promise<FailingFlow[]> {
  const rows = await sql<(Omit<FailingFlow, "after" | "to"> & { readonly alarm: unknown })[]>`
    select f.id, f.code, f.name, f.fields -> 'alarm' as alarm, r.*
    from flows f cross join lateral (
      select count(*)::integer as count, min(finished_at) as since, (array_agg(id order by id))[1] as first_run_id,
        (array_agg(id order by id desc))[1] as last_run_id
      from (select *, count(*) filter (where status = 'finished') over (order by id desc) as successes
        from (select p.id, p.status, p.finished_at from flow_processes p
          where p.account_id = f.account_id and p.flow_code = f.code and p.status <> 'pending'
            and p.error is distinct from 'cancelled'
          order by p.id desc limit 200) ended) latest
      where successes = 0) r
    where f.account_id = ${accountId} and f.active and (f.fields -> 'alarm') is not null and r.count > 0
      ${code === undefined ? sql`` : sql`and f.code = ${code}`}`;
  return rows.flatMap(({ alarm: given, ...row }) => {
    const alarm = alarmOf({ alarm: given });
    return alarm && row.count >= alarm.after ? [{ ...row, ...alarm }] : [];
  });
}
