/** A whole site as the records of its files: `pull` writes them, `push` compares with them. */
import type { Queryable, Tx } from "platform";
import type { KindName, SiteRecord } from "./kinds.ts";
import type { Values } from "./yaml.ts";

interface FileRow {
  readonly code: string;
  /** PostgreSQL builds it as JSON; its keys are the fields of the file. */
  readonly record: Values;
}

/** Gives the transaction one snapshot, so that commits of others do not show while the site is read. */
export async function readConsistently(tx: Tx): Promise<void> {
  await tx`set transaction isolation level repeatable read, read only`;
}

export async function siteRecords(db: Queryable, accountId: number, siteId: number): Promise<SiteRecord[]> {
  const records: SiteRecord[] = [];
  const add = (kind: KindName, rows: readonly FileRow[]): void => {
    for (const { code, record } of rows) records.push({ kind, code, values: withInstants(record) });
  };
  add(
    "site",
    await db<FileRow[]>`
      select '' as code, jsonb_build_object('name', name, 'locale', locale, 'multilang', multilang, 'active', active,
        'fields', fields) as record
      from cms_sites where account_id = ${accountId} and id = ${siteId}`,
  );
  add(
    "domain",
    await db<FileRow[]>`
      select name as code, jsonb_build_object('locale', locale, 'primary', is_primary) as record
      from cms_domains where account_id = ${accountId} and site_id = ${siteId} order by id`,
  );
  add(
    "layout",
    await db<FileRow[]>`
      select code, jsonb_build_object('name', name, 'content', content, 'fields', fields) as record
      from cms_layouts where account_id = ${accountId} and site_id = ${siteId} order by id`,
  );
  add(
    "category",
    await db<FileRow[]>`
      select code, jsonb_build_object('name', name, 'path', path) as record
      from cms_categories where account_id = ${accountId} and site_id = ${siteId} order by id`,
  );
  add(
    "page",
    await db<FileRow[]>`
      select p.code, jsonb_build_object('name', p.name, 'path', p.path, 'locale', p.locale, 'kind', p.kind,
        'layout_code', l.code, 'based_on_page_code', m.code, 'content', p.content, 'fields', p.fields,
        'html_title', p.html_title, 'html_description', p.html_description, 'html_keywords', p.html_keywords,
        'active', p.active, 'position', p.position, 'cache_seconds', p.cache_seconds) as record
      from cms_pages p
      left join cms_layouts l on l.account_id = p.account_id and l.id = p.layout_id
      left join cms_pages m on m.account_id = p.account_id and m.id = p.based_on_page_id
      where p.account_id = ${accountId} and p.site_id = ${siteId} order by p.id`,
  );
  add(
    "paragraph",
    await db<FileRow[]>`
      select g.code, jsonb_build_object('name', g.name, 'page_code', p.code, 'position', g.position,
        'content', g.content, 'fields', g.fields) as record
      from cms_paragraphs g left join cms_pages p on p.account_id = g.account_id and p.id = g.page_id
      where g.account_id = ${accountId} and g.site_id = ${siteId} order by g.id`,
  );
  add("article", await articleRows(db, accountId, siteId));
  add(
    "redirect",
    await db<FileRow[]>`
      select coalesce(d.name, '') || '/' || r.path as code, jsonb_build_object('path', r.path, 'domain', d.name,
        'to', r.target, 'status', r.status) as record
      from cms_redirect_rules r left join cms_domains d on d.account_id = r.account_id and d.id = r.domain_id
      where r.account_id = ${accountId} and r.site_id = ${siteId} order by r.id`,
  );
  return records;
}

async function articleRows(db: Queryable, accountId: number, siteId: number): Promise<FileRow[]> {
  return db<FileRow[]>`
    select a.code, jsonb_build_object('title', a.title, 'path', a.path, 'locale', a.locale, 'category_code', c.code,
      'categories', array(select ec.code from cms_article_categories ac
        join cms_categories ec on ec.account_id = ac.account_id and ec.id = ac.category_id
        where ac.account_id = a.account_id and ac.article_id = a.id order by ac.position),
      'lead', a.lead, 'content', a.content, 'fields', a.fields, 'html_title', a.html_title,
      'html_description', a.html_description, 'published_at', a.published_at, 'active', a.active) as record
    from cms_articles a left join cms_categories c on c.account_id = a.account_id and c.id = a.category_id
    where a.account_id = ${accountId} and a.site_id = ${siteId} order by a.id`;
}

/** A page that was moved aside for a moment left a redirect that nobody needs. */
export async function dropRedirects(
  tx: Tx,
  accountId: number,
  siteId: number,
  paths: readonly string[],
): Promise<void> {
  await tx`
    delete from cms_redirects
    where account_id = ${accountId} and site_id = ${siteId} and path = any(${paths}::text[])`;
}

/** PostgreSQL prints instants in its own way. The API keeps milliseconds, so print those if there are any. */
function withInstants(record: Values): Values {
  const { published_at: given } = record;
  return typeof given === "string"
    ? { ...record, published_at: new Date(given).toISOString().replace(".000Z", "Z") }
    : record;
}
