/** SQL shared by all kinds: finding a record by its address (an id, or a code and its site), and finding free codes. */
import { conflict, type Queryable, type Sql, type Tx } from "platform";
import type { Ref } from "./code.ts";

export type Fragment = ReturnType<Sql>;

/** Whether `alias` is the addressed row. Select two rows and pass them to `only`. */
export function isAddressed(sql: Queryable, alias: Fragment, accountId: number, ref: Ref): Fragment {
  const own = "id" in ref ? sql`${alias}.id = ${ref.id}` : sql`${alias}.code = ${ref.code}`;
  return sql`${alias}.account_id = ${accountId} and ${own} ${inSite(sql, alias, accountId, ref)}`;
}

function inSite(sql: Queryable, alias: Fragment, accountId: number, { site }: Ref): Fragment {
  if (site === undefined) return sql``;
  if (site === null) return sql`and ${alias}.site_id is null`;
  if ("id" in site) return sql`and ${alias}.site_id = ${site.id}`;
  return sql`
    and ${alias}.site_id = (select id from cms_sites where account_id = ${accountId} and code = ${site.code})`;
}

/** The addressed row. Throws 409 if several sites have this code and the address names no site. */
export function only<Row extends { readonly code: string; readonly siteCode: string | null }>(
  [row, other]: readonly Row[],
  what: string,
): Row | undefined {
  if (!row || !other) return row;
  const sites = [row, other].map(({ siteCode }) => `?site_code=${siteCode ?? "none"}`);
  throw conflict(`several sites have the ${what} ${row.code}: name the site, e.g. ${sites.join(" or ")}`);
}

/** The codes in a site (null: those of every site) that are `base`, or `base` followed by a dash and more. */
export async function takenCodes(
  tx: Tx,
  table: string,
  accountId: number,
  siteId: number | null,
  base: string,
): Promise<Set<string>> {
  const ofSite = siteId === null ? tx`site_id is null` : tx`site_id = ${siteId}`;
  const rows = await tx<{ code: string }[]>`
    select code from ${tx(table)}
    where account_id = ${accountId} and ${ofSite} and (code = ${base} or code like ${`${base}-%`})`;
  return new Set(rows.map(({ code }) => code));
}

/** The id of an inserted row. There is always one, because the insert has no conflict clause. */
export function insertedId([row]: readonly { readonly id: number }[]): number {
  if (!row) throw new Error("an insert without a conflict clause gives its row");
  return row.id;
}
