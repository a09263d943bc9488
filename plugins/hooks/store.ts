/** The SQL of arrivals, and of finding a hook by its address; hooks have the usual statements of a resource. */
import { readPage, words, type Page, type Sql, type Tx } from "platform";
import { Hook, type HookRow } from "./hook.ts";

export interface HookRef {
  readonly accountId: number;
  readonly hookId: number;
}

/** A message as it is written down. */
export interface NewArrival extends HookRef {
  readonly id: string;
  readonly messageId: string | null;
  /** Why it was not taken; null = it was. */
  readonly error: string | null;
  readonly contentType: string | null;
  /** JSON. */
  readonly headers: string;
  readonly query: string;
  readonly body: string;
  readonly bytes: number;
  readonly replayOf: string | null;
}

export interface ArrivalRow {
  readonly id: string;
  readonly messageId: string | null;
  readonly status: "waiting" | "started" | "failed" | "refused";
  readonly error: string | null;
  readonly contentType: string | null;
  readonly bytes: number;
  readonly repeats: number;
  readonly flowProcessId: string | null;
  readonly replayOf: string | null;
  readonly createdAt: Date;
}

export interface WholeArrival extends ArrivalRow {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The result of the work on an arrival. */
export interface Settled {
  readonly id: string;
  readonly processId: string | null;
  readonly error: string | null;
}

export async function hookByCode(sql: Sql, accountId: number, code: string): Promise<HookRow | undefined> {
  const [row] = await sql<HookRow[]>`
    select ${words(sql, Hook.read)} from hooks where account_id = ${accountId} and code = ${code}`;
  return row;
}

/** Those that start one of these flows. */
export const naming = (sql: Sql, accountId: number, codes: readonly string[], limit: number) =>
  sql<Pick<HookRow, "id" | "name">[]>`
    select id, name from hooks
    where account_id = ${accountId} and flow_code = any(${codes}) order by id limit ${limit}`;

/**
 * Writes messages down. Of one whose id is known it counts the repetition; `id` is then the first one's. No two of them
 * may have the same hook and id. A hook that is deleted meanwhile gets nothing: such a message has no result.
 */
export async function insert(tx: Tx, arrivals: readonly NewArrival[]): Promise<Map<string, string>> {
  const column = <K extends keyof NewArrival>(key: K) => arrivals.map((arrival) => arrival[key]);
  const rows = await tx<{ given: string; id: string }[]>`
    with given as (
      select g.* from unnest(
        ${column("accountId")}::bigint[], ${column("hookId")}::bigint[], ${column("id")}::uuid[],
        ${column("messageId")}::text[], ${column("error")}::text[], ${column("contentType")}::text[],
        ${column("headers")}::text[], ${column("query")}::text[], ${column("body")}::text[],
        ${column("bytes")}::integer[], ${column("replayOf")}::uuid[]
      ) as g (account_id, hook_id, id, message_id, error, content_type, headers, query, body, bytes, replay_of)
      where exists (select from hooks h where h.account_id = g.account_id and h.id = g.hook_id)
    ), written as (
      insert into hook_arrivals (
        account_id, hook_id, id, message_id, status, error, content_type, headers, query, body, bytes, replay_of)
      select account_id, hook_id, id, message_id, case when error is null then 'waiting' else 'refused' end, error,
        content_type, headers::json, query::json, body, bytes, replay_of
      from given
      on conflict (account_id, hook_id, message_id) where message_id is not null
        do update set repeats = hook_arrivals.repeats + 1
      returning account_id, hook_id, message_id, id
    )
    select g.id as given, w.id from given g join written w
      on w.account_id = g.account_id and w.hook_id = g.hook_id
        and (w.id = g.id or w.message_id = g.message_id)`;
  return new Map(rows.map(({ given, id }) => [given, id]));
}

/** The oldest that wait, held until the transaction ends. None is skipped: whoever counts a repetition lets go at once. */
export const waiting = (tx: Tx, { accountId, hookId }: HookRef, most: number) => tx<WholeArrival[]>`
  select ${words(tx, arrivalColumns)}, headers, query, body from hook_arrivals
  where account_id = ${accountId} and hook_id = ${hookId} and status = 'waiting'
  order by id limit ${most} for update`;

/** As it is now, for what waits. */
export async function hold(tx: Tx, { accountId, hookId }: HookRef) {
  const [row] = await tx<Pick<HookRow, "name" | "flowCode">[]>`
    select name, flow_code from hooks where account_id = ${accountId} and id = ${hookId}`;
  return row;
}

/** The oldest that waits failed. */
export async function giveUp(sql: Sql, { accountId, hookId }: HookRef, error: string): Promise<number> {
  const { count } = await sql`
    update hook_arrivals set status = 'failed', error = ${error}
    where account_id = ${accountId} and hook_id = ${hookId} and id = (
      select id from hook_arrivals
      where account_id = ${accountId} and hook_id = ${hookId} and status = 'waiting'
      order by id limit 1)`;
  return count;
}

export async function settle(sql: Sql | Tx, accountId: number, settled: readonly Settled[]): Promise<void> {
  await sql`
    update hook_arrivals a
    set status = case when s.error is null then 'started' else 'failed' end, error = s.error, flow_process_id = s.process
    from unnest(
      ${settled.map(({ id }) => id)}::uuid[], ${settled.map(({ processId }) => processId)}::uuid[],
      ${settled.map(({ error }) => error)}::text[]
    ) as s (id, process, error)
    where a.account_id = ${accountId} and a.id = s.id and a.status = 'waiting'`;
}

export interface Wanted {
  readonly status: string | undefined;
  /** Only older ones than this one. */
  readonly before: string | undefined;
}

/** The newest first. */
export const listed = (sql: Sql, { accountId, hookId }: HookRef, { status, before }: Wanted, page: Page) =>
  readPage<ArrivalRow>(sql, page, {
    columns: words(sql, arrivalColumns),
    from: sql`hook_arrivals
      where account_id = ${accountId} and hook_id = ${hookId}
        ${status === undefined ? sql`` : sql`and status = ${status}`}
        ${before === undefined ? sql`` : sql`and id < ${before}`}`,
    order: sql`id desc`,
  });

export async function one(
  sql: Sql | Tx,
  { accountId, hookId }: HookRef,
  id: string,
): Promise<WholeArrival | undefined> {
  const [row] = await sql<WholeArrival[]>`
    select ${words(sql, arrivalColumns)}, headers, query, body from hook_arrivals
    where account_id = ${accountId} and hook_id = ${hookId} and id = ${id}`;
  return row;
}

export async function prune(sql: Sql, olderThanDays: number): Promise<void> {
  await sql`delete from hook_arrivals where created_at < now() - make_interval(days => ${olderThanDays})`;
}

const arrivalColumns =
  "id, message_id, status, error, content_type, bytes, repeats, flow_process_id, replay_of, created_at";
