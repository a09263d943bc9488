/** All SQL about domains. */
import type { Page, Queryable, Sql, Static, Tx } from "platform";
import type { Domain as DomainAnswer } from "../answers.ts";
import type { Ref } from "../code.ts";
import { insertedId } from "../ref-store.ts";
import { verificationOf } from "./domain-proof.ts";
import { inOnePart } from "../lists.ts";
import type { DomainRow } from "../rows.ts";

export interface DomainView extends DomainRow {
  readonly siteCode: string;
}

export type DomainInput = Pick<DomainRow, "name" | "locale" | "isPrimary" | "status" | "proof">;

export interface DomainFilter {
  /** A LIKE pattern. */
  readonly q?: string | undefined;
  readonly name?: string | undefined;
  readonly siteCode?: string | undefined;
  /** "none" = without a locale. */
  readonly locale?: string | undefined;
}

const columns = (sql: Queryable) => sql`
  d.id, d.account_id, d.site_id, d.name, d.locale, d.is_primary, d.status, d.proof, d.version, d.created_by_id, d.updated_by_id,
  d.created_at, d.updated_at, s.code as site_code`;

const from = (sql: Queryable) =>
  sql`from cms_domains d join cms_sites s on s.account_id = d.account_id and s.id = d.site_id`;

export async function list(
  sql: Sql,
  accountId: number,
  { q, name, siteCode, locale }: DomainFilter,
  { limit, offset }: Page,
) {
  const where = sql`d.account_id = ${accountId}
    ${q === undefined ? sql`` : sql`and d.name ilike ${q}`}
    ${name === undefined ? sql`` : sql`and d.name = ${name}`}
    ${siteCode === undefined ? sql`` : sql`and s.code = ${siteCode}`}
    ${locale === undefined ? sql`` : sql`and coalesce(d.locale, 'none') = ${locale}`}`;
  const rows = await sql<DomainView[]>`
    select ${columns(sql)} ${from(sql)} where ${where} order by d.id limit ${limit} offset ${offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total ${from(sql)} where ${where}`;
  return inOnePart(rows, count?.total ?? 0);
}

/** A domain's code is its name. */
export async function find(db: Queryable, accountId: number, ref: Ref): Promise<DomainView | undefined> {
  const [row] = await db<DomainView[]>`
    select ${columns(db)} ${from(db)}
    where d.account_id = ${accountId} and ${"id" in ref ? db`d.id = ${ref.id}` : db`d.name = ${ref.code}`}`;
  return row;
}

/** An approved domain, of any account, that would answer on this host. A name without a port covers all ports. */
export async function meeting(tx: Tx, host: string): Promise<string | undefined> {
  const name = nameOf(host);
  const [row] = await tx<{ name: string }[]>`
    select name from cms_domains
    where status = 'approved'
      and (name = ${host} or name = ${name} or (${host === name} and name like ${`${name}:%`}))
    order by id limit 1`;
  return row?.name;
}

/** Whether another account has an approved domain of this name. */
export async function isTaken(tx: Tx, accountId: number, name: string): Promise<boolean> {
  const rows = await tx`
    select 1 from cms_domains where name = ${name} and status = 'approved' and account_id <> ${accountId}`;
  return rows.length > 0;
}

/** The accounts that wait for approval of a domain of this name, for the operator's command. */
export async function waiting(sql: Sql, name: string): Promise<{ readonly accountId: number; readonly id: number }[]> {
  return sql<{ accountId: number; id: number }[]>`
    select account_id, id from cms_domains where name = ${name} and status = 'pending' order by id`;
}

export async function insert(
  tx: Tx,
  accountId: number,
  siteId: number,
  userId: number | null,
  { name, locale, isPrimary, status, proof }: DomainInput,
): Promise<number> {
  return insertedId(
    await tx<{ id: number }[]>`
    insert into cms_domains (account_id, site_id, name, locale, is_primary, status, proof, created_by_id)
    values (${accountId}, ${siteId}, ${name}, ${locale}, ${isPrimary}, ${status}, ${proof}, ${userId})
    returning id`,
  );
}

export async function update(
  tx: Tx,
  accountId: number,
  id: number,
  userId: number | null,
  { name, locale, isPrimary, status, proof }: DomainInput,
): Promise<void> {
  await tx`
    update cms_domains set name = ${name}, locale = ${locale}, is_primary = ${isPrimary},
      status = ${status}, proof = ${proof}, updated_by_id = ${userId}, version = version + 1, updated_at = now()
    where account_id = ${accountId} and id = ${id}`;
}

export async function primaryOf(tx: Tx, accountId: number, siteId: number): Promise<number | undefined> {
  const [row] = await tx<{ id: number }[]>`
    select id from cms_domains where account_id = ${accountId} and site_id = ${siteId} and is_primary`;
  return row?.id;
}

/** Call it before another domain becomes the primary, because the index allows only one at any time. */
export async function clearPrimary(tx: Tx, accountId: number, siteId: number): Promise<void> {
  await tx`
    update cms_domains set is_primary = false, version = version + 1, updated_at = now()
    where account_id = ${accountId} and site_id = ${siteId} and is_primary`;
}

export async function promoteOldest(tx: Tx, accountId: number, siteId: number): Promise<void> {
  await tx`
    update cms_domains set is_primary = true, version = version + 1, updated_at = now()
    where account_id = ${accountId} and id = (
      select id from cms_domains where account_id = ${accountId} and site_id = ${siteId} order by id limit 1)`;
}

export async function remove(tx: Tx, accountId: number, id: number): Promise<void> {
  await tx`delete from cms_domains where account_id = ${accountId} and id = ${id}`;
}

/** "example.com:8080" -> "example.com" */
function nameOf(host: string): string {
  return host.replace(/:\d+$/, "");
}

/** A domain as the API shows it. */
export function toApi(row: DomainView): Static<typeof DomainAnswer> {
  return {
    id: row.id,
    name: row.name,
    site_id: row.siteId,
    site_code: row.siteCode,
    locale: row.locale,
    primary: row.isPrimary,
    status: row.status,
    verification: row.status === "pending" ? verificationOf(row) : null,
    created_by_id: row.createdById,
    updated_by_id: row.updatedById,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
