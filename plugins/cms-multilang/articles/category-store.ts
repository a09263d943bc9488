/** All SQL about categories of articles. */
import type { Page, Queryable, Sql, Static, Tx } from "platform";
import type { Category as CategoryAnswer } from "../answers.ts";
import type { Ref } from "../code.ts";
import { inOnePart } from "../lists.ts";
import { insertedId, isAddressed, only, takenCodes } from "../ref-store.ts";
import type { CategoryRow } from "../rows.ts";

export interface CategoryView extends CategoryRow {
  readonly siteCode: string;
}

export type CategoryInput = Pick<CategoryRow, "code" | "name" | "path">;

export interface CategoryFilter {
  /** A LIKE pattern. */
  readonly q?: string | undefined;
  readonly code?: string | undefined;
  readonly siteCode?: string | undefined;
  readonly path?: string | undefined;
}

const columns = (sql: Queryable) => sql`
  c.id, c.account_id, c.site_id, c.code, c.name, c.path, c.version, c.created_by_id, c.updated_by_id, c.created_at,
  c.updated_at, s.code as site_code`;

const from = (sql: Queryable) =>
  sql`from cms_categories c join cms_sites s on s.account_id = c.account_id and s.id = c.site_id`;

export async function list(
  sql: Sql,
  accountId: number,
  { q, code, siteCode, path }: CategoryFilter,
  { limit, offset }: Page,
) {
  const where = sql`c.account_id = ${accountId}
    ${q === undefined ? sql`` : sql`and (c.name ilike ${q} or c.code ilike ${q})`}
    ${code === undefined ? sql`` : sql`and c.code = ${code}`}
    ${siteCode === undefined ? sql`` : sql`and s.code = ${siteCode}`}
    ${path === undefined ? sql`` : sql`and c.path = ${path}`}`;
  const rows = await sql<CategoryView[]>`
    select ${columns(sql)} ${from(sql)} where ${where} order by c.id limit ${limit} offset ${offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total ${from(sql)} where ${where}`;
  return inOnePart(rows, count?.total ?? 0);
}

export async function find(db: Queryable, accountId: number, ref: Ref): Promise<CategoryView | undefined> {
  const rows = await db<CategoryView[]>`
    select ${columns(db)} ${from(db)}
    where ${isAddressed(db, db`c`, accountId, ref)} order by c.site_id limit 2`;
  return only(rows, "category");
}

export async function byCodes(
  tx: Tx,
  accountId: number,
  siteId: number,
  codes: readonly string[],
): Promise<CategoryRow[]> {
  return tx<CategoryRow[]>`
    select id, account_id, site_id, code, name, path, version, created_by_id, updated_by_id, created_at, updated_at
    from cms_categories
    where account_id = ${accountId} and site_id = ${siteId} and code = any(${codes}::text[])`;
}

export function taken(tx: Tx, accountId: number, siteId: number, base: string) {
  return takenCodes(tx, "cms_categories", accountId, siteId, base);
}

export async function insert(
  tx: Tx,
  accountId: number,
  siteId: number,
  userId: number | null,
  { code, name, path }: CategoryInput,
): Promise<number> {
  return insertedId(
    await tx<{ id: number }[]>`
    insert into cms_categories (account_id, site_id, code, name, path, created_by_id)
    values (${accountId}, ${siteId}, ${code}, ${name}, ${path}, ${userId}) returning id`,
  );
}

export async function update(
  tx: Tx,
  accountId: number,
  id: number,
  userId: number | null,
  { code, name, path }: CategoryInput,
): Promise<void> {
  await tx`
    update cms_categories set code = ${code}, name = ${name}, path = ${path}, updated_by_id = ${userId},
      version = version + 1, updated_at = now()
    where account_id = ${accountId} and id = ${id}`;
}

/** Its articles stay, without a category. */
export async function remove(tx: Tx, accountId: number, id: number): Promise<void> {
  await tx`
    update cms_articles set category_id = null, updated_at = now()
    where account_id = ${accountId} and category_id = ${id}`;
  await tx`delete from cms_categories where account_id = ${accountId} and id = ${id}`;
}

/** Articles show the category's code, so they get a new version if the code changes or the category goes. */
export async function codeChanged(tx: Tx, accountId: number, id: number): Promise<void> {
  await tx`
    update cms_articles a set version = version + 1
    where account_id = ${accountId} and (category_id = ${id} or exists (
      select 1 from cms_article_categories ac
      where ac.account_id = ${accountId} and ac.article_id = a.id and ac.category_id = ${id}))`;
}

/** A category as the API shows it. */
export function toApi(row: CategoryView): Static<typeof CategoryAnswer> {
  return {
    id: row.id,
    code: row.code,
    name: row.name,
    path: row.path,
    site_id: row.siteId,
    site_code: row.siteCode,
    created_by_id: row.createdById,
    updated_by_id: row.updatedById,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
