/** SQL about entries, which are made of what is in the inbox (inbox-store.ts). */
import { readRows, type Notice, type Page, type Queryable, type Static, type Tx } from "platform";
import type { Activity } from "./answers.ts";
import type { ActivityContext } from "./context.ts";

export interface ActivityFilter {
  readonly userId: number | undefined;
  readonly tokenId: number | undefined;
  readonly actor: string | undefined;
  readonly model: string | undefined;
  readonly recordId: string | undefined;
  readonly action: string | undefined;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  readonly text: string | undefined;
}

interface Origin {
  readonly login?: string;
  readonly ip?: string;
  readonly agent?: string;
  readonly request?: string;
  readonly app?: string;
  readonly process?: string;
  readonly command?: string;
}

export interface ActivityRow {
  readonly id: number;
  readonly at: Date;
  readonly action: string;
  readonly model: string | null;
  readonly recordId: string | null;
  readonly name: string | null;
  readonly actor: string;
  readonly userId: number | null;
  readonly tokenId: number | null;
  readonly origin: Origin | null;
  readonly changes: Readonly<Record<string, unknown>> | null;
  readonly sealed: boolean;
  /** The login now, of whoever has not been deleted. */
  readonly person: string | null;
}

const columns = (ctx: ActivityContext) => ctx.sql`
  a.id, a.at, a.action, a.model, a.record_id, a.name, a.actor, a.user_id, a.token_id, a.origin, a.changes,
  a.id <= (select up_to from activity_sealed) as sealed,
  (select u.login from users u where u.account_id = a.account_id and u.id = a.user_id) as person`;

/** The newest first, before this id. */
export async function list(
  ctx: ActivityContext,
  accountId: number,
  filter: ActivityFilter,
  before: number | undefined,
  page: Page,
) {
  const earlier = before === undefined ? ctx.sql`` : ctx.sql`and a.id < ${before}`;
  const from = ctx.sql`activity a where ${conditions(ctx, accountId, filter)} ${earlier}`;
  const select = { columns: columns(ctx), from, order: ctx.sql`a.id desc` };
  return ctx.read((on) => readRows<ActivityRow>(on, page, select));
}

/** The oldest first, after this id: for exports. */
export async function next(
  ctx: ActivityContext,
  accountId: number,
  filter: ActivityFilter,
  after: number,
  limit: number,
) {
  const from = ctx.sql`activity a where ${conditions(ctx, accountId, filter)} and a.id > ${after}`;
  const select = { columns: columns(ctx), from, order: ctx.sql`a.id` };
  return (await readRows<ActivityRow>(ctx.sql, { limit, offset: 0 }, select)).rows;
}

export async function byId(ctx: ActivityContext, accountId: number, id: number): Promise<ActivityRow | undefined> {
  const [row] = await ctx.sql<ActivityRow[]>`
    select ${columns(ctx)} from activity a where a.account_id = ${accountId} and a.id = ${id}`;
  return row;
}

/** Entries to emit as events, without those that the log's own events caused. */
export async function toTell(ctx: ActivityContext, tx: Tx, accountId: number, ids: readonly number[], page: Page) {
  return readRows<ActivityRow>(tx, page, {
    columns: columns(ctx),
    from: tx`activity a
      where a.account_id = ${accountId} and a.id = any(${[...ids]}::bigint[]) and not coalesce(a.origin ? 'echo', false)`,
    order: tx`a.id`,
  });
}

export async function add(on: Queryable, { accountId, action, model, recordId, name, actor }: Notice): Promise<void> {
  await on`
    insert into activity_inbox (account_id, action, facts, record_id, actor)
    values (${accountId}, ${action}, ${JSON.stringify({ model, title: name })}, ${recordId ?? null},
      ${actor ? JSON.stringify(actor) : null})`;
}

function conditions(ctx: ActivityContext, accountId: number, filter: ActivityFilter) {
  const { userId, tokenId, actor, model, recordId, action, from, to, text } = filter;
  const pattern = text === undefined ? "" : `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
  return ctx.sql`
    a.account_id = ${accountId}
    ${userId === undefined ? ctx.sql`` : ctx.sql`and a.user_id = ${userId}`}
    ${tokenId === undefined ? ctx.sql`` : ctx.sql`and a.token_id = ${tokenId}`}
    ${actor === undefined ? ctx.sql`` : ctx.sql`and a.actor = ${actor}`}
    ${model === undefined ? ctx.sql`` : ctx.sql`and a.model = ${model}`}
    ${recordId === undefined ? ctx.sql`` : ctx.sql`and a.record_id = ${recordId}`}
    ${action === undefined ? ctx.sql`` : ctx.sql`and a.action = ${action}`}
    ${from === undefined ? ctx.sql`` : ctx.sql`and a.at >= ${from}`}
    ${to === undefined ? ctx.sql`` : ctx.sql`and a.at < ${to}`}
    ${text === undefined ? ctx.sql`` : ctx.sql`and (a.name ilike ${pattern} or a.record_id ilike ${pattern} or a.origin::text ilike ${pattern} or a.changes::text ilike ${pattern})`}`;
}

export function toApi(row: ActivityRow): Static<typeof Activity> {
  const { login, ip, agent, request, app, process, command } = row.origin ?? {};
  return {
    id: row.id,
    at: row.at,
    action: row.action,
    model: row.model,
    record_id: row.recordId,
    name: row.name,
    actor: row.actor,
    user_id: row.userId,
    // Whoever signs in is nobody yet when their session is made.
    login: login ?? row.person,
    token_id: row.tokenId,
    address: ip ?? null,
    user_agent: agent ?? null,
    request_id: request ?? null,
    app_id: app ?? null,
    process_id: process ?? null,
    command: command ?? null,
    changes: row.changes ?? {},
    sealed: row.sealed,
  };
}
