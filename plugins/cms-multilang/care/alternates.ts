/** What search engines would object to in a page's languages. Pure. */
import type { Locale } from "../locales.ts";
import { domainFor, primaryOf, type Domain } from "../render/addresses/addresses.ts";
import { coverage, seoOf, type Alternate } from "../render/addresses/alternates.ts";
import { chooseVariant, redirectTarget, type Variant } from "../render/addresses/variant.ts";
import { finding, type Finding, type FindingCode } from "./finding.ts";

export interface AlternatesInput {
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
