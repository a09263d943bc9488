/** The SQL that only redirects need. */
import { words, type Fragment, type Queryable } from "platform";
import type { Ref } from "../code.ts";
import type { Writing } from "../kind-store.ts";
import { redirectPlace, type Rule } from "./rule.ts";

/** The name of a redirect's domain. */
export const domainName =
  "(select d.name from cms_domains d where d.account_id = cms_redirect_rules.account_id and d.id = cms_redirect_rules.domain_id)";

/** A redirect has no code of its own: this is what a site's files call it. */
export function inFile(sql: Queryable, { code, site }: Extract<Ref, { readonly code: string }>): Fragment {
  const place = redirectPlace(code);
  if (!place || !site || "id" in site) return sql`false`;
  return sql`
    site_id = (select s.id from cms_sites s where s.account_id = cms_redirect_rules.account_id and s.code = ${site.code})
    and path = ${place.path} and ${words(sql, domainName)} is not distinct from ${place.host}`;
}

/** All of a site: a site has at most a few thousand. */
export async function rulesOf({ tx, account }: Writing, siteId: number): Promise<(Rule & { readonly id: number })[]> {
  return tx<(Rule & { readonly id: number })[]>`
    select id, domain_id, path, target from cms_redirect_rules
    where account_id = ${account.id} and site_id = ${siteId} order by id limit 10000`;
}

export async function domainsOf(
  { tx, account }: Writing,
  siteId: number,
): Promise<{ readonly id: number; readonly name: string }[]> {
  return tx<{ id: number; name: string }[]>`
    select id, name from cms_domains where account_id = ${account.id} and site_id = ${siteId} order by id limit 1000`;
}

/** A page that has left this path no longer leads on from it: the editor says where to. */
export async function replaceMoved({ tx, account }: Writing, siteId: number, path: string): Promise<void> {
  await tx`
    delete from cms_redirects where account_id = ${account.id} and site_id = ${siteId} and path = ${path}`;
}
