/** Findings about a page and its translations, about its language group, and about a site's domains. */
import { locales, type Locale } from "../locales.ts";
import { type Domain, domainFor, primaryOf } from "../render/addresses/addresses.ts";
import type { SiteData } from "../render/data.ts";
import { inherit } from "../render/values/fields.ts";
import type { CarePage } from "./store.ts";
import * as careStore from "./store.ts";
import { finding, type Finding, type FindingCode } from "./finding.ts";
import type { MatrixRow } from "./matrix.ts";
import { coverage, seoOf, type Alternate } from "../render/addresses/alternates.ts";
import { chooseVariant, redirectTarget, type Variant } from "../render/addresses/variant.ts";
import type { CmsContext } from "../context.ts";
import * as variantStore from "../render/addresses/variant-store.ts";

interface Place {
  readonly site: SiteData;
  readonly domains: readonly Domain[];
  readonly scheme: string;
}

export function pageFindings(page: CarePage, { known, groupOf }: PageGroups, place: Place): Finding[] {
  const found: Finding[] = [];
  const master = page.basedOnPageId === null ? undefined : known.get(page.basedOnPageId);
  // The database refuses this, but a copy that came in another way is reported all the same.
  if (master && master.path === page.path)
    found.push(finding("slave_on_masters_path", page.code, `has the path of ${master.code}, which it is based on`));
  const whole = inherit(page, master);
  if (whole.layoutId === null && !/<html\b/i.test(whole.content) && !/\.[a-z]+$/.test(page.path))
    found.push(
      finding("page_without_layout", page.code, "has no layout, and no <html> of its own", { field: "layout_id" }),
    );
  const isShown = page.active && page.kind !== "404" && page.kind !== "500";
  if (!isShown) return found;
  const codeOf = (id: number) => known.get(id)?.code ?? `${id}`;
  return [...found, ...alternatesFindings({ page, group: groupOf(page.id), groupOf, codeOf, ...place })];
}

export function rowFindings({ page, locales: cells }: MatrixRow): Finding[] {
  return Object.entries(cells).flatMap(([language, cell]): Finding[] => {
    const locale = locales.find((each) => each === language);
    if (!cell || locale === undefined) return [];
    if (cell.state === "missing")
      return [finding("missing_translation", page, `has no version in ${locale}`, { locale })];
    const shown = cell.page ?? page;
    const missing = cell.missing.map((key) =>
      finding("missing_keys", shown, `${key} has no value in ${locale}`, { locale, field: `fields.${key}` }),
    );
    const stale = cell.stale.map((field) =>
      finding("stale_translation", shown, `${field} was changed in its source after it was translated to ${locale}`, {
        locale,
        field,
      }),
    );
    return [...missing, ...stale];
  });
}

interface AlternatesInput {
  readonly page: Variant;
  readonly group: readonly Variant[];
  /** The group of a member, as that page sees it. */
  readonly groupOf: (id: number) => readonly Variant[];
  readonly codeOf: (id: number) => string;
  readonly site: { readonly locale: Locale; readonly multilang: boolean };
  readonly domains: readonly Domain[];
  /** `http:` or `https:` */
  readonly scheme: string;
}

export function alternatesFindings(input: AlternatesInput): Finding[] {
  const { page, group, groupOf, site, domains, codeOf } = input;
  if (!site.multilang) return unrouted(input);
  if (domains.length === 0) return [];
  const found: Finding[] = [];
  const code = codeOf(page.id);
  const locale = page.locale ?? undefined;
  const tell = (what: FindingCode, message: string) => found.push(finding(what, code, message, { locale }));
  const place = { scheme: input.scheme, domains, site: site.locale };
  const { canonicalUrl, alternates } = seoOf(page, group, place);
  const names = (list: readonly Alternate[], url: string | undefined) => list.some((one) => one.url === url);
  const twin = coverage(page, group, domains, site.locale).find((one) => one.locale === page.locale)?.variant;
  const isDouble = twin !== undefined && twin.id !== page.id;
  if (isDouble) tell("duplicate_language", `has the same language (${page.locale}) and master as ${codeOf(twin.id)}`);
  for (const other of group) {
    if (other.id === page.id) continue;
    const theirs = seoOf(other, groupOf(other.id), place);
    if (theirs.canonicalUrl === canonicalUrl) {
      if (page.id > other.id)
        tell("duplicate_canonical", `has the canonical address of ${codeOf(other.id)}: ${canonicalUrl}`);
    } else if (!isDouble && names(alternates, theirs.canonicalUrl) && !names(theirs.alternates, canonicalUrl))
      tell("alternates_not_mutual", `names ${codeOf(other.id)} as a translation, which does not name it back`);
  }
  return [...found, ...leadingAway(input), ...unreachable(input)];
}

/**
 * The canonical address of a page without a locale is on the primary domain, even if that domain redirects to another
 * page.
 */
function leadingAway({ page, group, site, domains, codeOf }: AlternatesInput): Finding[] {
  const domain = primaryOf(domains);
  if (page.locale !== null || !domain) return [];
  const target = redirectTarget(page, group, { multilang: true, domain: domain.locale, site: site.locale });
  if (!target) return [];
  const message = `has its canonical address on ${domain.name}, which redirects to ${codeOf(target.id)}`;
  return [finding("canonical_redirects", codeOf(page.id), message)];
}

/** The page's own address shows another page or redirects to one, so its language cannot be reached anywhere. */
function unreachable({ page, group, site, domains, codeOf }: AlternatesInput): Finding[] {
  const { locale } = page;
  const domain = domainFor(domains, locale);
  if (locale === null || !domain) return [];
  const choice = { multilang: true, domain: domain.locale, site: site.locale };
  const served = chooseVariant(
    group.filter(({ path }) => path === page.path),
    choice,
  );
  const target = served?.id === page.id ? redirectTarget(page, group, choice) : served;
  if (!target || target.id === page.id) return [];
  const how = served?.id === page.id ? "redirects to" : "shows";
  const message = `cannot be reached: no domain has the locale ${locale}, and ${domain.name} ${how} ${codeOf(target.id)} at its path`;
  return [finding("language_unreachable", codeOf(page.id), message, { locale })];
}

/** Without `multilang`, languages do not route: only one of several pages at a path is shown. */
function unrouted({ page, group, site, codeOf }: AlternatesInput): Finding[] {
  const same = group.filter(({ path }) => path === page.path);
  const served = chooseVariant(same, { multilang: false, domain: null, site: site.locale });
  if (same.length < 2 || !served || served.id === page.id) return [];
  const message = `is never shown: ${codeOf(served.id)} has its path, and the site is not multilang`;
  return [finding("path_needs_multilang", codeOf(page.id), message, { locale: page.locale ?? undefined })];
}

export function domainFindings(domains: readonly Domain[], multilang: boolean): Finding[] {
  if (domains.length === 0)
    return [finding("no_domain", null, "has no domain: nobody can reach it, and its pages have no canonical address")];
  const found: Finding[] = [];
  if (multilang && domains.every(({ locale }) => locale === null))
    found.push(finding("domains_without_locale", null, "is multilang, but none of its domains has a locale"));
  const seen = new Map<string, Domain>();
  for (const domain of domains) {
    const bare = domain.name.replace(/^www\./, "");
    const same = [...seen.values()].find(
      (other) => other.name.replace(/^www\./, "") === bare || (domain.locale === other.locale && multilang),
    );
    if (same) {
      const why =
        same.name.replace(/^www\./, "") === bare
          ? "the same name apart from www."
          : `the same locale (${String(same.locale)})`;
      found.push(
        finding("domain_duplicate", null, `${domain.name} and ${same.name} have ${why}: both show the same pages`, {
          locale: domain.locale ?? undefined,
        }),
      );
    }
    seen.set(domain.name, domain);
  }
  return found;
}

type CareVariant = Pick<CarePage, "id" | "path" | "locale" | "basedOnPageId">;

export interface PageGroups {
  /** These pages and every other member of their groups. */
  readonly known: ReadonlyMap<number, CarePage>;
  /** By page id: the group, drafts included. */
  readonly drafted: ReadonlyMap<number, readonly CareVariant[]>;
  /** The group that visitors see; empty if the page has none. */
  groupOf(id: number): readonly CareVariant[];
}

export async function readGroups(ctx: CmsContext, site: SiteData, pages: readonly CarePage[]): Promise<PageGroups> {
  const ids = pages.map(({ id }) => id);
  const drafted = await variantStore.pageGroups(ctx, site, ids, true);
  const known = new Map(pages.map((page) => [page.id, page]));
  const others = [...drafted.values()].flat().map(({ id }) => id);
  const missing = [...new Set(others)].filter((id) => !known.has(id));
  for (const page of await careStore.pagesById(ctx.sql, site, missing)) known.set(page.id, page);
  return { known, drafted, groupOf: shownGroups(known, drafted) };
}

/** Groups without inactive pages. */
function shownGroups(
  known: ReadonlyMap<number, CarePage>,
  drafted: ReadonlyMap<number, readonly CareVariant[]>,
): PageGroups["groupOf"] {
  const groups = new Map<number, readonly CareVariant[]>();
  const ofMember = new Map<number, readonly CareVariant[]>();
  for (const [page, group] of drafted) {
    const shown = group.filter(({ id }) => known.get(id)?.active);
    groups.set(page, shown);
    // Every page of a group has the same group, including pages that were not asked about.
    for (const { id } of shown) if (!ofMember.has(id)) ofMember.set(id, shown);
  }
  return (id) => groups.get(id) ?? ofMember.get(id) ?? [];
}
