/** SQL about views beside that of the resource. */
import { readPage, words, type Fragment, type Page, type Queryable, type Sql, type Tx } from "platform";
import type { Database } from "../databases/database.ts";

type Of = Pick<Database, "id" | "accountId">;

/** A database's shared views and a person's own. */
export function visibleIn(on: Queryable, { id }: Of, userId: number): Fragment {
  return on`db_id = ${id} and (shared or created_by_id = ${userId})`;
}

export async function page<Row>(sql: Sql, db: Of, userId: number, read: string, asked: Page) {
  return readPage<Row>(sql, asked, {
    columns: words(sql, read),
    from: sql`db_views where account_id = ${db.accountId} and ${visibleIn(sql, db, userId)}`,
    order: sql`position, id`,
  });
}

/** Until the transaction ends nobody else adds a view to the database. */
export async function hold(tx: Tx, { id }: Of): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`jsondb.views ${id}`}, 0))`;
}

/** How many shared ones there are, and how many of the person's own. */
export async function sizes(tx: Tx, { id, accountId }: Of, userId: number) {
  const [row] = await tx<{ all: number; own: number }[]>`
    select count(*) filter (where shared) as "all", count(*) filter (where not shared and created_by_id = ${userId}) as own
    from db_views where account_id = ${accountId} and db_id = ${id}`;
  return row ?? { all: 0, own: 0 };
}

/** Of a database that is gone. */
export async function drop(sql: Sql, accountId: number, dbId: string): Promise<void> {
  await sql`
    delete from db_views where account_id = ${accountId} and db_id = ${dbId}
      and not exists (select from dbs where id = ${dbId})`;
}
