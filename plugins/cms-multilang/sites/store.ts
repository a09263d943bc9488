/** Sites and their domains as kinds of records, and the SQL that only they need. */
import { filter, Type, type Sql, type Tx } from "platform";
import * as answers from "../answers.ts";
import { byLocale, bySite, narrowing, searching, shownBy, type Kind, type Writing } from "../kind-store.ts";
import { locales } from "../locales.ts";
import type { DomainRow, SiteRow } from "../rows.ts";
import { verificationOf } from "./host.ts";

/** A site is its own. */
export interface SiteView extends SiteRow {
  readonly siteId: number;
  readonly siteCode: string;
}

export type SiteInput = Pick<SiteRow, "code" | "name" | "locale" | "multilang" | "fields" | "active">;

export const sites: Kind<SiteView, keyof SiteInput> = {
  name: "site",
  plural: "sites",
  table: "cms_sites",
  writes: ["code", "name", "locale", "multilang", "fields", "active"],
  shows: "r.revision, r.id as site_id, r.code as site_code",
  joins: "",
  large: ["fields"],
  order: ["id"],
  filters: {
    q: searching(["name", "code"]),
    code: filter.exact(),
    locale: filter.exact(Type.String({ enum: [...locales], description: "exact value" })),
  },
  shownIn: ["cms_domains", "cms_layouts", "cms_pages", "cms_paragraphs", "cms_categories", "cms_articles"].map(
    (table) => [table, "site_id"] as const,
  ),
  toApi: shownBy(answers.Site),
};

export interface DomainView extends DomainRow {
  readonly siteCode: string;
}

const shown = shownBy(answers.Domain);

export const domains: Kind<DomainView, "name" | "locale" | "isPrimary" | "status" | "proof"> = {
  name: "domain",
  plural: "domains",
  table: "cms_domains",
  writes: ["name", "locale", "isPrimary", "status", "proof"],
  shows: "r.site_id, s.code as site_code",
  joins: "join cms_sites s on s.account_id = r.account_id and s.id = r.site_id",
  large: [],
  order: ["id"],
  filters: {
    q: searching(["name"]),
    name: narrowing("exact value", (sql, given) => sql`name = ${given.toLowerCase()}`),
    site_code: bySite,
    locale: byLocale,
  },
  byCode: (sql, { code }) => sql`r.name = ${code}`,
  toApi: (row) =>
    shown({
      ...row,
      primary: row.isPrimary,
      verification: row.status === "pending" ? verificationOf(row) : null,
    }),
};

/** False if there is no such site. */
export async function touch(tx: Tx, accountId: number, id: number): Promise<boolean> {
  const result = await tx`
    update cms_sites set revision = revision + 1 where account_id = ${accountId} and id = ${id}`;
  return result.count === 1;
}

/** Locks in the order of ids, so that two such changes cannot deadlock. */
export async function touchAll(tx: Tx, accountId: number, but: readonly number[]): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    update cms_sites set revision = revision + 1
    where account_id = ${accountId} and id in (
      select id from cms_sites where account_id = ${accountId} and id <> all(${but}::bigint[])
      order by id for no key update)
    returning id`;
  return rows.map(({ id }) => id);
}

/** An approved domain, of any account, that would answer on this host. A name without a port covers all ports. */
export async function meeting(tx: Tx, host: string): Promise<string | undefined> {
  const name = host.replace(/:\d+$/, "");
  const [row] = await tx<{ name: string }[]>`
    select name from cms_domains
    where status = 'approved'
      and (name = ${host} or name = ${name} or (${host === name} and name like ${`${name}:%`}))
    order by id limit 1`;
  return row?.name;
}

/** Whether another account has an approved domain of this name. */
export async function isTaken({ tx, account }: Writing, name: string): Promise<boolean> {
  const rows = await tx`
    select 1 from cms_domains where name = ${name} and status = 'approved' and account_id <> ${account.id}`;
  return rows.length > 0;
}

/** The accounts that wait for approval of a domain of this name, for the operator's command. */
export async function waiting(sql: Sql, name: string): Promise<{ readonly accountId: number; readonly id: number }[]> {
  return sql<{ accountId: number; id: number }[]>`
    select account_id, id from cms_domains where name = ${name} and status = 'pending' order by id`;
}

export async function primaryOf({ tx, account }: Writing, siteId: number): Promise<number | undefined> {
  const [row] = await tx<{ id: number }[]>`
    select id from cms_domains where account_id = ${account.id} and site_id = ${siteId} and is_primary`;
  return row?.id;
}

/** Call it before another domain becomes the primary, because the index allows only one at any time. */
export async function clearPrimary({ tx, account }: Writing, siteId: number): Promise<void> {
  await tx`
    update cms_domains set is_primary = false, version = version + 1, updated_at = now()
    where account_id = ${account.id} and site_id = ${siteId} and is_primary`;
}

export async function promoteOldest({ tx, account }: Writing, siteId: number): Promise<void> {
  await tx`
    update cms_domains set is_primary = true, version = version + 1, updated_at = now()
    where account_id = ${account.id} and id = (
      select id from cms_domains where account_id = ${account.id} and site_id = ${siteId} order by id limit 1)`;
}
