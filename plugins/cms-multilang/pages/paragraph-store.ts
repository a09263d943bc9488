/** All SQL about paragraphs. */
import type { Page, Queryable, Sql, Static, Tx } from "platform";
import type { Paragraph as ParagraphAnswer } from "../answers.ts";
import type { Ref } from "../code.ts";
import { inParts, type Sized } from "../lists.ts";
import { insertedId, isAddressed, only, takenCodes } from "../ref-store.ts";
import type { ParagraphRow } from "../rows.ts";

export interface ParagraphView extends ParagraphRow {
  readonly siteCode: string | null;
  readonly pageCode: string | null;
}

export type ParagraphInput = Pick<
  ParagraphRow,
  "siteId" | "pageId" | "code" | "name" | "content" | "fields" | "position" | "fieldTimes"
>;

export interface ParagraphFilter {
  /** A LIKE pattern. */
  readonly q?: string | undefined;
  readonly code?: string | undefined;
  /** "none" = belongs to no site. */
  readonly siteCode?: string | undefined;
  readonly pageCode?: string | undefined;
}

const columns = (sql: Queryable) => sql`
  g.id, g.account_id, g.site_id, g.page_id, g.code, g.name, g.content, g.fields, g.position, g.field_times, g.version,
  g.created_by_id, g.updated_by_id, g.created_at, g.updated_at, s.code as site_code, p.code as page_code`;

const from = (sql: Queryable) => sql`
  from cms_paragraphs g
  left join cms_sites s on s.account_id = g.account_id and s.id = g.site_id
  left join cms_pages p on p.account_id = g.account_id and p.id = g.page_id`;

export async function list(
  sql: Sql,
  accountId: number,
  { q, code, siteCode, pageCode }: ParagraphFilter,
  { limit, offset }: Page,
) {
  const where = sql`g.account_id = ${accountId}
    ${q === undefined ? sql`` : sql`and (g.name ilike ${q} or g.code ilike ${q})`}
    ${code === undefined ? sql`` : sql`and g.code = ${code}`}
    ${siteCode === undefined ? sql`` : sql`and coalesce(s.code, 'none') = ${siteCode}`}
    ${pageCode === undefined ? sql`` : sql`and coalesce(p.code, 'none') = ${pageCode}`}`;
  const sized = await sql<Sized[]>`
    select id, octet_length(content) + octet_length(fields::text) as bytes
    from (
      select g.id, g.position, g.content, g.fields ${from(sql)} where ${where}
      order by g.position, g.id limit ${limit} offset ${offset}) listed
    order by position, id`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total ${from(sql)} where ${where}`;
  return inParts(
    sized,
    count?.total ?? 0,
    (ids) => sql<ParagraphView[]>`
      select ${columns(sql)} ${from(sql)} where g.account_id = ${accountId} and g.id = any(${ids}::bigint[])`,
  );
}

export async function find(db: Queryable, accountId: number, ref: Ref): Promise<ParagraphView | undefined> {
  const rows = await db<ParagraphView[]>`
    select ${columns(db)} ${from(db)}
    where ${isAddressed(db, db`g`, accountId, ref)} order by g.site_id limit 2`;
  return only(rows, "paragraph");
}

export function taken(tx: Tx, accountId: number, siteId: number | null, base: string) {
  return takenCodes(tx, "cms_paragraphs", accountId, siteId, base);
}

export async function insert(tx: Tx, accountId: number, userId: number | null, input: ParagraphInput): Promise<number> {
  const { siteId, pageId, code, name, content, fields, position, fieldTimes } = input;
  return insertedId(
    await tx<{ id: number }[]>`
    insert into cms_paragraphs (account_id, site_id, page_id, code, name, content, fields, position,
      field_times, created_by_id)
    values (${accountId}, ${siteId}, ${pageId}, ${code}, ${name}, ${content},
      ${JSON.stringify(fields)}::text::jsonb, ${position}, ${JSON.stringify(fieldTimes)}::text::jsonb, ${userId})
    returning id`,
  );
}

export async function update(
  tx: Tx,
  accountId: number,
  id: number,
  userId: number | null,
  input: ParagraphInput,
): Promise<void> {
  const { siteId, pageId, code, name, content, fields, position, fieldTimes } = input;
  await tx`
    update cms_paragraphs set site_id = ${siteId}, page_id = ${pageId}, code = ${code}, name = ${name},
      content = ${content}, fields = ${JSON.stringify(fields)}::text::jsonb, position = ${position},
      field_times = ${JSON.stringify(fieldTimes)}::text::jsonb, updated_by_id = ${userId}, version = version + 1, updated_at = now()
    where account_id = ${accountId} and id = ${id}`;
}

export async function remove(tx: Tx, accountId: number, id: number): Promise<void> {
  await tx`delete from cms_paragraphs where account_id = ${accountId} and id = ${id}`;
}

/** A paragraph as the API shows it. */
export function toApi(row: ParagraphView): Static<typeof ParagraphAnswer> {
  return {
    id: row.id,
    code: row.code,
    name: row.name,
    site_id: row.siteId,
    site_code: row.siteCode,
    page_id: row.pageId,
    page_code: row.pageCode,
    content: row.content,
    fields: row.fields,
    position: row.position,
    created_by_id: row.createdById,
    updated_by_id: row.updatedById,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
