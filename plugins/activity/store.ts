/** SQL about entries, which are made of what is in the inbox (inbox-store.ts). */
import { readRows, type Notice, type Page, type Queryable, type Read, type Sql, type Static, type Tx } from "platform";
import type { Activity } from "./answers.ts";

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

export type ActivityStore = ReturnType<typeof createActivityStore>;

export function createActivityStore(sql: Sql, read: Read) {
  const columns = sql`
    a.id, a.at, a.action, a.model, a.record_id, a.name, a.actor, a.user_id, a.token_id, a.origin, a.changes,
    a.id <= (select up_to from activity_sealed) as sealed,
    (select u.login from users u where u.account_id = a.account_id and u.id = a.user_id) as person`;
  const conditions = (accountId: number, filter: ActivityFilter) => {
    const { userId, tokenId, actor, model, recordId, action, from, to, text } = filter;
    const pattern = text === undefined ? "" : `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
    return sql`
      a.account_id = ${accountId}
      ${userId === undefined ? sql`` : sql`and a.user_id = ${userId}`}
      ${tokenId === undefined ? sql`` : sql`and a.token_id = ${tokenId}`}
      ${actor === undefined ? sql`` : sql`and a.actor = ${actor}`}
      ${model === undefined ? sql`` : sql`and a.model = ${model}`}
      ${recordId === undefined ? sql`` : sql`and a.record_id = ${recordId}`}
      ${action === undefined ? sql`` : sql`and a.action = ${action}`}
      ${from === undefined ? sql`` : sql`and a.at >= ${from}`}
      ${to === undefined ? sql`` : sql`and a.at < ${to}`}
      ${text === undefined ? sql`` : sql`and (a.name ilike ${pattern} or a.record_id ilike ${pattern} or a.origin::text ilike ${pattern} or a.changes::text ilike ${pattern})`}`;
  };
  return {
    /** The newest first, before this id. */
    async list(accountId: number, filter: ActivityFilter, before: number | undefined, page: Page) {
      const earlier = before === undefined ? sql`` : sql`and a.id < ${before}`;
      const from = sql`activity a where ${conditions(accountId, filter)} ${earlier}`;
      const select = { columns, from, order: sql`a.id desc`, hasNumbers: true } as const;
      return read((on) => readRows<ActivityRow>(on, page, select));
    },

    /** The oldest first, after this id: for exports. */
    async next(accountId: number, filter: ActivityFilter, after: number, limit: number) {
      const from = sql`activity a where ${conditions(accountId, filter)} and a.id > ${after}`;
      const select = { columns, from, order: sql`a.id`, hasNumbers: true } as const;
      return (await readRows<ActivityRow>(sql, { limit, offset: 0 }, select)).rows;
    },

    async byId(accountId: number, id: number): Promise<ActivityRow | undefined> {
      const [row] = await sql<ActivityRow[]>`
        select ${columns} from activity a where a.account_id = ${accountId} and a.id = ${id}`;
      return row;
    },

    /** Those of these entries that are not the echo of what followed from the log itself. */
    async toTell(tx: Tx, accountId: number, ids: readonly number[]): Promise<ActivityRow[]> {
      return tx<ActivityRow[]>`
        select ${columns} from activity a
        where a.account_id = ${accountId} and a.id = any(${[...ids]}::bigint[]) and not coalesce(a.origin ? 'echo', false)
        order by a.id`;
    },

    async add(on: Queryable, { accountId, action, model, recordId, name, actor }: Notice): Promise<void> {
      await on`
        insert into activity_inbox (account_id, action, facts, record_id, actor)
        values (${accountId}, ${action}, ${JSON.stringify({ model, title: name })}, ${recordId ?? null},
          ${actor ? JSON.stringify(actor) : null})`;
    },
  };
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
