/** The SQL that all kinds have in common: of an address (an id, or a code and the site that has it), and of codes. */
import { conflict, type Sql, type Tx } from "platform";
import type { Ref } from "./code.ts";

export type Fragment = ReturnType<Sql>;

/** Whether the row that `alias` stands for is the one addressed. Ask for two rows and hand them to `only`. */
export function isAddressed(sql: Sql, alias: Fragment, accountId: number, ref: Ref): Fragment {
  const own = "id" in ref ? sql`${alias}.id = ${ref.id}` : sql`${alias}.code = ${ref.code}`;
  return sql`${alias}.account_id = ${accountId} and ${own} ${inSite(sql, alias, accountId, ref)}`;
}

function inSite(sql: Sql, alias: Fragment, accountId: number, { site }: Ref): Fragment {
  if (site === undefined) return sql``;
  if (site === null) return sql`and ${alias}.site_id is null`;
  if ("id" in site) return sql`and ${alias}.site_id = ${site.id}`;
  return sql`
    and ${alias}.site_id = (select id from cms_sites where account_id = ${accountId} and code = ${site.code})`;
}

/** The row addressed. Throws 409 where several sites have one of this code and the address names none of them. */
export function only<Row extends { readonly code: string; readonly siteCode: string | null }>(
  [row, other]: readonly Row[],
  what: string,
): Row | undefined {
  if (!row || !other) return row;
  const sites = [row, other].map(({ siteCode }) => `?site_code=${siteCode ?? "none"}`);
  throw conflict(`several sites have the ${what} ${row.code}: name the site, e.g. ${sites.join(" or ")}`);
}

/** The codes of a site (null: of every site) that are `base`, or `base` with something behind a dash. */
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

/** The id of a row that was inserted without a conflict clause, so that there is one. */
export function insertedId([row]: readonly { readonly id: number }[]): number {
  if (!row) throw new Error("an insert without a conflict clause gives its row");
  return row.id;
}
