/** The SQL of translations beyond pages: paragraphs and layouts with fields by language, and articles. */
import { readPage, type Page, type ReadPage, type Sql, type Queryable } from "platform";
import { locales, type Locale } from "../locales.ts";
import type { Fields, FieldTimes, SiteRow } from "../rows.ts";

export interface KeyedRow {
  readonly id: number;
  readonly code: string;
  readonly name: string;
  readonly fields: Fields;
  readonly fieldTimes: FieldTimes;
}

/** `rootId`: the article that its translations come from. */
export interface ArticleText {
  readonly rootId: number;
  readonly id: number;
  readonly code: string;
  readonly name: string;
  readonly locale: Locale | null;
  readonly createdAt: Date;
  readonly fieldTimes: FieldTimes;
  /** The texts that it has, e.g. `lead` and `fields.title`. */
  readonly says: readonly string[];
}

type Site = Pick<SiteRow, "id" | "accountId" | "locale">;

const all = [...locales];

const says = (sql: Queryable) => sql`
  array_remove(array[
    case when m.title <> '' then 'title' end, case when m.lead <> '' then 'lead' end,
    case when m.content <> '' then 'content' end, case when m.html_title <> '' then 'html_title' end,
    case when m.html_description <> '' then 'html_description' end], null)
  || array(
    select 'fields.' || key
    from jsonb_each(m.fields || case when jsonb_typeof(m.fields -> m.locale) = 'object' then m.fields -> m.locale else '{}' end)
    where value not in ('null', '""') and not (key = any(${all}::text[]) and jsonb_typeof(value) = 'object')
    order by key)`;

export async function paragraphs(sql: Sql, { accountId, id }: Site, page: Page): Promise<ReadPage<KeyedRow>> {
  return readPage<KeyedRow>(sql, page, {
    columns: sql`id, code, name, fields, field_times`,
    from: sql`cms_paragraphs where account_id = ${accountId} and site_id = ${id} and fields ?| ${all}::text[]`,
    order: sql`position, id`,
  });
}

export async function layouts(sql: Sql, { accountId, id }: Site, page: Page): Promise<ReadPage<KeyedRow>> {
  return readPage<KeyedRow>(sql, page, {
    columns: sql`id, code, name, fields, field_times`,
    from: sql`cms_layouts where account_id = ${accountId} and site_id = ${id} and fields ?| ${all}::text[]`,
    order: sql`id`,
  });
}

/** Every article of the groups of a part of the list, its first one first. */
export async function articles(
  sql: Sql,
  { accountId, id, locale }: Site,
  { limit, offset }: Page,
): Promise<ReadPage<ArticleText>> {
  const rows = await sql<ArticleText[]>`
    with roots as (
      select a.id, a.category_id, a.published_at from cms_articles a
      where a.account_id = ${accountId} and a.site_id = ${id} and ${isRoot(sql, locale)}
      order by a.published_at desc nulls last, a.id desc limit ${limit} offset ${offset})
    select r.id as root_id, m.id, m.code, m.title as name, m.locale, m.created_at, m.field_times, ${says(sql)} as says
    from roots r join cms_articles m
      on m.account_id = ${accountId} and m.site_id = ${id}
        and (m.category_id = r.category_id and m.published_at = r.published_at or m.id = r.id)
    order by r.published_at desc nulls last, r.id desc, (m.id <> r.id), m.id`;
  const [count] = await sql<{ total: number }[]>`
    select count(*) as total from cms_articles a
    where a.account_id = ${accountId} and a.site_id = ${id} and ${isRoot(sql, locale)}`;
  return { rows, total: count?.total ?? 0, next: undefined };
}

export async function articleLocales(sql: Sql, { accountId, id }: Site): Promise<Locale[]> {
  const rows = await sql<{ locale: Locale }[]>`
    select distinct locale from cms_articles
    where account_id = ${accountId} and site_id = ${id} and locale is not null`;
  return rows.map(({ locale }) => locale);
}

/** Articles of one main category that were published at the same time are the same in several languages. */
function isRoot(sql: Sql, site: Locale) {
  const rank = (alias: ReturnType<typeof sql>) =>
    sql`(coalesce(array_position(${[site, ...all]}::text[], ${alias}.locale), 100), ${alias}.id)`;
  return sql`
    not exists (
      select 1 from cms_articles o
      where o.account_id = a.account_id and o.site_id = a.site_id and o.category_id = a.category_id
        and o.published_at = a.published_at and ${rank(sql`o`)} < ${rank(sql`a`)})`;
}
