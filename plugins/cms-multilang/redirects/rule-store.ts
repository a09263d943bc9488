/** All SQL about the redirects that editors write. */
import type { Page, Queryable, Sql, Static, Tx } from "platform";
import type { Redirect as RedirectAnswer } from "../answers.ts";
import type { Ref } from "../code.ts";
import { inOnePart } from "../lists.ts";
import { insertedId } from "../ref-store.ts";
import type { RedirectRuleRow } from "../rows.ts";
import { redirectPlace } from "./rule.ts";

export interface RuleView extends RedirectRuleRow {
  readonly siteCode: string;
  readonly domainName: string | null;
}

export type RuleInput = Pick<RedirectRuleRow, "domainId" | "path" | "target" | "status">;

export interface RuleFilter {
  /** A LIKE pattern. */
  readonly q?: string | undefined;
  readonly siteCode?: string | undefined;
  readonly path?: string | undefined;
}

const columns = (sql: Queryable) => sql`
  r.id, r.account_id, r.site_id, r.domain_id, r.path, r.target, r.status, r.version, r.created_by_id, r.updated_by_id,
  r.created_at, r.updated_at, s.code as site_code, d.name as domain_name`;

const from = (sql: Queryable) => sql`
  from cms_redirect_rules r
  join cms_sites s on s.account_id = r.account_id and s.id = r.site_id
  left join cms_domains d on d.account_id = r.account_id and d.id = r.domain_id`;

export async function list(sql: Sql, accountId: number, { q, siteCode, path }: RuleFilter, { limit, offset }: Page) {
  const where = sql`r.account_id = ${accountId}
    ${q === undefined ? sql`` : sql`and (r.path ilike ${q} or r.target ilike ${q})`}
    ${siteCode === undefined ? sql`` : sql`and s.code = ${siteCode}`}
    ${path === undefined ? sql`` : sql`and r.path = ${path}`}`;
  const rows = await sql<RuleView[]>`
    select ${columns(sql)} ${from(sql)} where ${where} order by r.site_id, r.path, r.id limit ${limit} offset ${offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total ${from(sql)} where ${where}`;
  return inOnePart(rows, count?.total ?? 0);
}

/** It has no code of its own; `code` is what a site's files call it. */
export async function find(db: Queryable, accountId: number, ref: Ref): Promise<RuleView | undefined> {
  const [row] = await db<RuleView[]>`
    select ${columns(db)} ${from(db)} where r.account_id = ${accountId} and ${"id" in ref ? db`r.id = ${ref.id}` : named(db, ref)}`;
  return row;
}

/** All of a site: a site has at most a few thousand. */
export async function ofSite(
  db: Queryable,
  accountId: number,
  siteId: number,
): Promise<(RuleInput & { readonly id: number })[]> {
  return db<(RuleInput & { readonly id: number })[]>`
    select id, domain_id, path, target, status from cms_redirect_rules
    where account_id = ${accountId} and site_id = ${siteId} order by id limit 10000`;
}

export async function domainsOf(
  tx: Tx,
  accountId: number,
  siteId: number,
): Promise<{ readonly id: number; readonly name: string }[]> {
  return tx<{ id: number; name: string }[]>`
    select id, name from cms_domains where account_id = ${accountId} and site_id = ${siteId} order by id limit 1000`;
}

/** A page that has left this path no longer leads on from it: the editor says where to. */
export async function replaceMoved(tx: Tx, accountId: number, siteId: number, path: string): Promise<void> {
  await tx`
    delete from cms_redirects where account_id = ${accountId} and site_id = ${siteId} and path = ${path}`;
}

export async function insert(
  tx: Tx,
  accountId: number,
  siteId: number,
  userId: number | null,
  { domainId, path, target, status }: RuleInput,
): Promise<number> {
  return insertedId(
    await tx<{ id: number }[]>`
    insert into cms_redirect_rules (account_id, site_id, domain_id, path, target, status, created_by_id)
    values (${accountId}, ${siteId}, ${domainId}, ${path}, ${target}, ${status}, ${userId}) returning id`,
  );
}

export async function update(
  tx: Tx,
  accountId: number,
  id: number,
  userId: number | null,
  { domainId, path, target, status }: RuleInput,
): Promise<void> {
  await tx`
    update cms_redirect_rules set domain_id = ${domainId}, path = ${path}, target = ${target}, status = ${status},
      updated_by_id = ${userId}, version = version + 1, updated_at = now()
    where account_id = ${accountId} and id = ${id}`;
}

export async function remove(tx: Tx, accountId: number, id: number): Promise<void> {
  await tx`delete from cms_redirect_rules where account_id = ${accountId} and id = ${id}`;
}

function named(sql: Queryable, { code, site }: Extract<Ref, { readonly code: string }>) {
  const place = redirectPlace(code);
  if (!place || !site || "id" in site) return sql`false`;
  return sql`s.code = ${site.code} and r.path = ${place.path} and d.name is not distinct from ${place.host}`;
}

/** A redirect as the API shows it. */
export function toApi(row: RuleView): Static<typeof RedirectAnswer> {
  return {
    id: row.id,
    path: row.path,
    to: row.target,
    status: row.status,
    site_id: row.siteId,
    site_code: row.siteCode,
    domain_id: row.domainId,
    domain: row.domainName,
    created_by_id: row.createdById,
    updated_by_id: row.updatedById,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
