/** All SQL of the reading side: what a page needs, in as few queries as possible; and previews of drafts. */
import type {
  CategoryData,
  HostData,
  LayoutData,
  Reading,
  RedirectData,
  ParagraphData,
  SiteData,
  SiteFound,
} from "./data.ts";
import { nextPublicationOf } from "./templates/article-list-store.ts";
import { readRows, type Sql, type Tx } from "platform";
import { tooLarge } from "./templates/blocks.ts";
import { redirectKey } from "../redirects/rule.ts";

export async function hosts({ sql }: Pick<Reading, "sql">): Promise<HostData[]> {
  return sql<HostData[]>`select id as domain_id, name, account_id, site_id from cms_domains
    where status = 'approved' order by id`;
}

export async function siteById(ctx: Reading, id: number): Promise<SiteFound | undefined> {
  const [row] = await ctx.sql<(SiteData & Omit<SiteFound, "site">)[]>`
    select s.id, s.account_id, s.code, s.name, s.locale, s.multilang, s.fields, s.active,
      (select coalesce(json_agg(json_build_object(
          'id', d.id, 'name', d.name, 'locale', d.locale, 'isPrimary', d.is_primary) order by d.id), '[]')
       from cms_domains d
       where d.account_id = s.account_id and d.site_id = s.id and d.status = 'approved') as domains,
      (${nextPublicationOf(ctx.sql, ctx.sql`s.account_id`, ctx.sql`s.id`)}) as next_publication
    from cms_sites s where s.id = ${id}`;
  if (!row) return undefined;
  const { domains, nextPublication: next, ...site } = row;
  return { site, domains, nextPublication: next };
}

export async function siteIds(ctx: Reading, accountId: number): Promise<number[]> {
  const rows = await ctx.sql<{ id: number }[]>`select id from cms_sites where account_id = ${accountId}`;
  return rows.map(({ id }) => id);
}

export async function siteId(ctx: Reading, accountId: number, code: string): Promise<number | undefined> {
  const [row] = await ctx.sql<{ id: number }[]>`
    select id from cms_sites where account_id = ${accountId} and code = ${code}`;
  return row?.id;
}

export async function layout(
  ctx: Reading,
  { accountId, id }: SiteData,
  layoutId: number,
): Promise<LayoutData | undefined> {
  const [row] = await ctx.read(
    (on) => on<LayoutData[]>`
    select id, code, name, content, fields from cms_layouts
    where account_id = ${accountId} and site_id = ${id} and id = ${layoutId}`,
  );
  return row;
}

/**
 * The paragraphs of these pages and those with these codes (the site's own first), in the order in which they are
 * printed.
 */
export async function paragraphs(
  ctx: Reading,
  site: SiteData,
  pageIds: readonly number[],
  codes: readonly string[],
): Promise<readonly ParagraphData[]> {
  const from = ctx.sql`cms_paragraphs
    where account_id = ${site.accountId} and (page_id = any(${pageIds}::bigint[]) or code = any(${codes}::text[]))
      and (site_id = ${site.id} or site_id is null and not exists (
        select 1 from cms_paragraphs o
        where o.account_id = ${site.accountId} and o.site_id = ${site.id} and o.code = cms_paragraphs.code))`;
  const columns = ctx.sql`id, page_id, code, name, content, fields, position`;
  const select = { columns, from, order: ctx.sql`position, id` };
  const { rows, next } = await ctx.read((on) => readRows<ParagraphData>(on, { limit: 500, offset: 0 }, select));
  if (next === undefined) return rows;
  throw tooLarge("paragraphs of a page", "print fewer of them");
}

/** The redirects that editors have written, by domain and path (see `redirectKey`). */
export async function redirects(ctx: Reading, { accountId, id }: SiteData): Promise<Map<string, RedirectData>> {
  const rows = await ctx.read(
    (on) => on<(RedirectData & { domainId: number | null; path: string })[]>`
    select domain_id, path, target, status from cms_redirect_rules
    where account_id = ${accountId} and site_id = ${id} order by id limit 10000`,
  );
  return new Map(rows.map(({ domainId, path, ...row }) => [redirectKey(domainId, path), row]));
}

export async function categories(ctx: Reading, { accountId, id }: SiteData): Promise<CategoryData[]> {
  return ctx.read(
    (on) => on<CategoryData[]>`
    select id, code, name, path from cms_categories
    where account_id = ${accountId} and site_id = ${id} order by id limit 10000`,
  );
}

export interface KeptPreview {
  readonly accountId: number;
  readonly userId: number;
  readonly tokenHash: string;
  readonly html: string;
  readonly expiresAt: Date;
}

/** Also deletes the person's older previews, except the `most - 1` newest. */
export async function insertPreview(
  tx: Tx,
  { accountId, userId, tokenHash, html, expiresAt }: KeptPreview,
  most: number,
): Promise<void> {
  await tx`
    insert into cms_previews (account_id, token_hash, user_id, html, expires_at)
    values (${accountId}, ${tokenHash}, ${userId}, ${html}, ${expiresAt})`;
  await tx`
    delete from cms_previews where account_id = ${accountId} and token_hash in (
      select token_hash from cms_previews where account_id = ${accountId} and user_id = ${userId}
      order by created_at desc, (token_hash = ${tokenHash}) desc offset ${most})`;
}

export async function previewHtml(
  sql: Sql,
  accountId: number,
  userId: number,
  tokenHash: string,
): Promise<string | undefined> {
  const [row] = await sql<{ html: string }[]>`
    select html from cms_previews
    where account_id = ${accountId} and user_id = ${userId} and token_hash = ${tokenHash} and expires_at > now()`;
  return row?.html;
}

export async function prunePreviews(sql: Sql): Promise<void> {
  await sql`delete from cms_previews where expires_at < now()`;
}
