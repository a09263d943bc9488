/** SQL about comments beside that of the resource, and about notices. */
import { readPage, uuidv7, words, type Fragment, type Page, type Queryable, type Sql, type Tx } from "platform";
import type { Level } from "../access/access.ts";
import { anyTable, inScope } from "../access/reach-store.ts";
import type { Database } from "../databases/database.ts";
import { keptRecords } from "../databases/store.ts";
import { newArgs } from "../search/filter-store.ts";

type Of = Pick<Database, "id" | "accountId">;

export function ofRecord(on: Queryable, { id }: Of, recordId: string): Fragment {
  return on`db_id = ${id} and record_id = ${recordId}`;
}

/** Which of these records are open to the level. */
export async function openRecords(
  on: Queryable,
  db: Database,
  ids: readonly string[],
  level: Level,
): Promise<ReadonlySet<string>> {
  const args = newArgs();
  const open = inScope(args, db, anyTable, [], { level });
  const text = `select r.id from records r where ${open} and r.id = any(${args.bind([...ids], "uuid[]")})`;
  const rows = await on.unsafe<{ id: string }[]>(text, args.values, { prepare: true });
  return new Set(rows.map(({ id }) => id));
}

/** The oldest first. */
export async function page<Row>(sql: Sql, db: Of, recordId: string, read: string, asked: Page) {
  return readPage<Row>(sql, asked, {
    columns: words(sql, read),
    from: sql`record_comments where account_id = ${db.accountId} and ${ofRecord(sql, db, recordId)}`,
    order: sql`id`,
  });
}

/** How many a record has; until the transaction ends nobody else adds one. */
export async function count(tx: Tx, db: Of, recordId: string): Promise<number> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`jsondb.comments ${recordId}`}, 0))`;
  const [row] = await tx<{ total: number }[]>`
    select count(*) as total from record_comments where account_id = ${db.accountId} and ${ofRecord(tx, db, recordId)}`;
  return row?.total ?? 0;
}

/** The ids of people with these logins. */
export async function idsByLogin(sql: Sql, accountId: number, logins: readonly string[]) {
  return sql<{ id: number; login: string }[]>`
    select id, lower(login) as login from users
    where account_id = ${accountId} and active and lower(login) = any(${[...logins]}::text[])`;
}

/** Of a database that is gone. */
export async function drop(sql: Sql, accountId: number, dbId: string): Promise<void> {
  await sql`
    delete from record_comments where account_id = ${accountId} and db_id = ${dbId}
      and not exists (select from dbs where id = ${dbId}) and not exists (select from db_trash where id = ${dbId})`;
}

/** Deletes comments of records that are neither there nor in the trash; in each statement at most this many. */
export async function dropLost(sql: Sql, most = 1000): Promise<void> {
  let after = "00000000-0000-0000-0000-000000000000";
  for (;;) {
    const rows = await sql<{ id: string; accountId: number; dbId: string; recordId: string }[]>`
      select id, account_id, db_id, record_id from record_comments where id > ${after} order by id limit ${most}`;
    for (const [dbId, its] of Map.groupBy(rows, (row) => row.dbId)) {
      const kept = await keptRecords(sql, dbId, [...new Set(its.map(({ recordId }) => recordId))]);
      const lost = its.filter(({ recordId }) => !kept.has(recordId));
      for (const { id, accountId } of lost)
        await sql`delete from record_comments where account_id = ${accountId} and id = ${id}`;
    }
    const last = rows.at(-1);
    if (!last || rows.length < most) return;
    after = last.id;
  }
}

// Notices.

const kept = 200;

export interface NoticeRow {
  readonly id: string;
  readonly dbId: string;
  readonly recordId: string;
  readonly commentId: string;
  readonly text: string;
  readonly fromUserId: number | null;
  readonly fromUserName: string | null;
  /** Null of a deleted database. */
  readonly dbName: string | null;
  readonly createdAt: Date;
  readonly readAt: Date | null;
}

/** The notices that are new. */
export async function notify(
  tx: Tx,
  { accountId, id }: { readonly accountId: number; readonly id: string },
  userIds: readonly number[],
): Promise<readonly { id: string; userId: number }[]> {
  if (userIds.length === 0) return [];
  const ids = userIds.map(() => uuidv7());
  return tx<{ id: string; userId: number }[]>`
    insert into inbox_notices (id, account_id, user_id, comment_id)
    select n.id, ${accountId}, n.user_id, ${id}
    from unnest(${ids}::uuid[], ${[...userIds]}::bigint[]) as n (id, user_id)
    on conflict (account_id, comment_id, user_id) do nothing returning id, user_id`;
}

/** The newest of a person, or one of them. */
export async function notices(sql: Sql, accountId: number, userId: number, id?: string): Promise<readonly NoticeRow[]> {
  return sql<NoticeRow[]>`
    select n.id, c.db_id, c.record_id, n.comment_id, left(c.text, 500) as text, c.created_by_id as from_user_id,
      (select u.name from users u where u.id = c.created_by_id) as from_user_name,
      (select d.name from dbs d where d.account_id = c.account_id and d.id = c.db_id) as db_name, n.created_at, n.read_at
    from inbox_notices n join record_comments c on c.account_id = n.account_id and c.id = n.comment_id
    where n.account_id = ${accountId} and n.user_id = ${userId} ${id === undefined ? sql`` : sql`and n.id = ${id}`}
    order by n.id desc limit ${kept}`;
}

/** One notice, or all of them. */
export async function markRead(on: Queryable, accountId: number, userId: number, read: boolean, id?: string) {
  await on`
    update inbox_notices set read_at = ${read ? on`coalesce(read_at, now())` : on`null`}
    where account_id = ${accountId} and user_id = ${userId} ${id === undefined ? on`and read_at is null` : on`and id = ${id}`}`;
}

export async function prune(sql: Sql, olderThanDays: number): Promise<void> {
  await sql`delete from inbox_notices where created_at < now() - make_interval(days => ${olderThanDays})`;
}
