/** The versions of apps: each save adds one, and none ever changes. */
import { readPage, type Page, type Sql, type Queryable } from "platform";
import { saved, type VersionRow } from "../store.ts";

const columns = (sql: Queryable) => sql`version, ${saved(sql)}, created_by_id, created_at`;

export async function list(sql: Sql, accountId: number, id: string, page: Page) {
  const where = sql`account_id = ${accountId} and app_id = ${id}`;
  return readPage<VersionRow>(sql, page, {
    columns: columns(sql),
    from: sql`app_versions where ${where}`,
    order: sql`version desc`,
  });
}

export async function find(sql: Sql, accountId: number, id: string, version: number): Promise<VersionRow | undefined> {
  const [row] = await sql<VersionRow[]>`
    select ${columns(sql)} from app_versions
    where account_id = ${accountId} and app_id = ${id} and version = ${version}`;
  return row;
}
