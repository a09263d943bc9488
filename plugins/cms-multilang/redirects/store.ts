/** The redirects that editors write as a kind of records, and the SQL that only they need. */
import * as answers from "../answers.ts";
import { byPath, bySite, searching, shownBy, type Kind, type Writing } from "../kind-store.ts";
import type { RedirectRuleRow } from "../rows.ts";
import { redirectPlace } from "./rule.ts";

export interface RuleView extends RedirectRuleRow {
  readonly siteCode: string;
  readonly domain: string | null;
}

export type RuleInput = Pick<RedirectRuleRow, "domainId" | "path" | "target" | "status">;

const shown = shownBy(answers.Redirect);

export const redirects: Kind<RuleView, keyof RuleInput> = {
  name: "redirect",
  plural: "redirects",
  table: "cms_redirect_rules",
  writes: ["domainId", "path", "target", "status"],
  shows: "r.site_id, s.code as site_code, d.name as domain",
  joins: `
    join cms_sites s on s.account_id = r.account_id and s.id = r.site_id
    left join cms_domains d on d.account_id = r.account_id and d.id = r.domain_id`,
  large: [],
  order: ["site_id", "path", "id"],
  filters: { q: searching(["path", "target"], "paths and targets"), site_code: bySite, path: byPath() },
  /** It has no code of its own: this is what a site's files call it. */
  byCode: (sql, { code, site }) => {
    const place = redirectPlace(code);
    if (!place || !site || "id" in site) return sql`false`;
    return sql`s.code = ${site.code} and r.path = ${place.path} and d.name is not distinct from ${place.host}`;
  },
  toApi: (row) => shown({ ...row, to: row.target }),
};

/** All of a site: a site has at most a few thousand. */
export async function rulesOf(
  { tx, account }: Writing,
  siteId: number,
): Promise<(RuleInput & { readonly id: number })[]> {
  return tx<(RuleInput & { readonly id: number })[]>`
    select id, domain_id, path, target, status from cms_redirect_rules
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
