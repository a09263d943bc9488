/** All SQL about layouts. */
import type { Page, Queryable, Sql, Static, Tx } from "platform";
import type { Layout as LayoutAnswer } from "../answers.ts";
import type { Ref } from "../code.ts";
import { inParts, type Sized } from "../lists.ts";
import { insertedId, isAddressed, only, takenCodes } from "../ref-store.ts";
import type { LayoutRow } from "../rows.ts";

export interface LayoutView extends LayoutRow {
  readonly siteCode: string;
}

export type LayoutInput = Pick<LayoutRow, "code" | "name" | "content" | "fields" | "fieldTimes">;

export interface LayoutFilter {
  /** A LIKE pattern. */
  readonly q?: string | undefined;
  readonly code?: string | undefined;
  readonly siteCode?: string | undefined;
}

const columns = (sql: Queryable) => sql`
  l.id, l.account_id, l.site_id, l.code, l.name, l.content, l.fields, l.field_times, l.version, l.created_by_id, l.updated_by_id,
  l.created_at, l.updated_at, s.code as site_code`;

const from = (sql: Queryable) =>
  sql`from cms_layouts l join cms_sites s on s.account_id = l.account_id and s.id = l.site_id`;

export async function list(sql: Sql, accountId: number, { q, code, siteCode }: LayoutFilter, { limit, offset }: Page) {
  const where = sql`l.account_id = ${accountId}
    ${q === undefined ? sql`` : sql`and (l.name ilike ${q} or l.code ilike ${q})`}
    ${code === undefined ? sql`` : sql`and l.code = ${code}`}
    ${siteCode === undefined ? sql`` : sql`and s.code = ${siteCode}`}`;
  const sized = await sql<Sized[]>`
    select id, octet_length(content) + octet_length(fields::text) as bytes
    from (
      select l.id, l.content, l.fields ${from(sql)} where ${where}
      order by l.id limit ${limit} offset ${offset}) listed
    order by id`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total ${from(sql)} where ${where}`;
  return inParts(
    sized,
    count?.total ?? 0,
    (ids) => sql<LayoutView[]>`
      select ${columns(sql)} ${from(sql)} where l.account_id = ${accountId} and l.id = any(${ids}::bigint[])`,
  );
}

export async function find(db: Queryable, accountId: number, ref: Ref): Promise<LayoutView | undefined> {
  const rows = await db<LayoutView[]>`
    select ${columns(db)} ${from(db)}
    where ${isAddressed(db, db`l`, accountId, ref)} order by l.site_id limit 2`;
  return only(rows, "layout");
}

export function taken(tx: Tx, accountId: number, siteId: number, base: string) {
  return takenCodes(tx, "cms_layouts", accountId, siteId, base);
}

export async function insert(
  tx: Tx,
  accountId: number,
  siteId: number,
  userId: number | null,
  { code, name, content, fields, fieldTimes }: LayoutInput,
): Promise<number> {
  return insertedId(
    await tx<{ id: number }[]>`
    insert into cms_layouts (account_id, site_id, code, name, content, fields, field_times, created_by_id)
    values (${accountId}, ${siteId}, ${code}, ${name}, ${content}, ${JSON.stringify(fields)}::text::jsonb,
      ${JSON.stringify(fieldTimes)}::text::jsonb, ${userId})
    returning id`,
  );
}

export async function update(
  tx: Tx,
  accountId: number,
  id: number,
  userId: number | null,
  { code, name, content, fields, fieldTimes }: LayoutInput,
): Promise<void> {
  await tx`
    update cms_layouts set code = ${code}, name = ${name}, content = ${content},
      fields = ${JSON.stringify(fields)}::text::jsonb,
      field_times = ${JSON.stringify(fieldTimes)}::text::jsonb, updated_by_id = ${userId}, version = version + 1,
      updated_at = now()
    where account_id = ${accountId} and id = ${id}`;
}

/** Its pages stay, without a layout. */
export async function remove(tx: Tx, accountId: number, id: number): Promise<void> {
  await tx`
    update cms_pages set layout_id = null, version = version + 1, updated_at = now()
    where account_id = ${accountId} and layout_id = ${id}`;
  await tx`delete from cms_layouts where account_id = ${accountId} and id = ${id}`;
}

/** Pages show the layout's code, so they get a new version when it changes. */
export async function codeChanged(tx: Tx, accountId: number, id: number): Promise<void> {
  await tx`update cms_pages set version = version + 1 where account_id = ${accountId} and layout_id = ${id}`;
}

/** A layout as the API shows it. */
export function toApi(row: LayoutView): Static<typeof LayoutAnswer> {
  return {
    id: row.id,
    code: row.code,
    name: row.name,
    site_id: row.siteId,
    site_code: row.siteCode,
    content: row.content,
    fields: row.fields,
    created_by_id: row.createdById,
    updated_by_id: row.updatedById,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
