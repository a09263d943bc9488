/** The SQL that only sites and their domains need. */
import type { Queryable, Sql, Tx } from "platform";
import type { Ref } from "../code.ts";
import { isAddressed, narrowing, type Writing } from "../kind-store.ts";

export const byName = narrowing("exact value", (sql, given) => sql`name = ${given.toLowerCase()}`);

/** A domain is addressed by its name. */
export const named = (sql: Queryable, { code }: { readonly code: string }) => sql`name = ${code}`;

export async function byRef(db: Queryable, accountId: number, ref: Ref): Promise<{ readonly id: number } | undefined> {
  const [row] = await db<{ id: number }[]>`
    select id from cms_sites where account_id = ${accountId} and ${isAddressed(db, accountId, ref)}`;
  return row;
}

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

export async function approve({ tx, account }: Writing, id: number, userId: number | null): Promise<void> {
  await tx`
    update cms_domains set status = 'approved', updated_by_id = ${userId}, version = version + 1, updated_at = now()
    where account_id = ${account.id} and id = ${id}`;
}

export async function promoteOldest({ tx, account }: Writing, siteId: number): Promise<void> {
  await tx`
    update cms_domains set is_primary = true, version = version + 1, updated_at = now()
    where account_id = ${account.id} and id = (
      select id from cms_domains where account_id = ${account.id} and site_id = ${siteId} order by id limit 1)`;
}
