/** What search engines would find wrong with a page's languages. Pure. */
import type { Locale } from "../locales.ts";
import { domainFor, type Domain } from "../render/addresses.ts";
import { coverage, seoOf } from "../render/alternates.ts";
import { chooseVariant, redirectTarget, type Variant } from "../render/variant.ts";
import { finding, type Finding } from "./finding.ts";

export interface AlternatesInput {
  readonly page: Variant;
  readonly group: readonly Variant[];
  /** The group of each page of the group, as that page sees it. */
  readonly groupOf: (id: number) => readonly Variant[];
  readonly codeOf: (id: number) => string;
  readonly site: { readonly locale: Locale; readonly multilang: boolean };
  readonly domains: readonly Domain[];
  /** `http:` or `https:` */
  readonly scheme: string;
}

export function alternatesFindings(input: AlternatesInput): Finding[] {
  const { page, group, site, domains, codeOf } = input;
  if (!site.multilang) return unrouted(input);
  if (domains.length === 0) return [];
  const found: Finding[] = [];
  const code = codeOf(page.id);
  const place = { scheme: input.scheme, domains, site: site.locale };
  const placed = coverage(group, domains, site.locale).filter(({ variant }) => variant.id === page.id);
  const shownIn = page.locale === null ? placed.map(({ locale }) => locale) : [page.locale];
  for (const locale of shownIn) {
    const { canonicalUrl, alternates } = seoOf(page, locale, group, place);
    if (canonicalUrl === undefined) continue;
    const urls = alternates.map(({ url }) => url);
    if (!urls.includes(canonicalUrl))
      found.push(
        finding("alternates_missing", code, `is not among its own alternates: another page stands for ${locale}`, {
          locale,
        }),
      );
    for (const other of group) {
      if (other.id === page.id) continue;
      const theirs = seoOf(other, other.locale ?? site.locale, input.groupOf(other.id), place);
      if (theirs.canonicalUrl === canonicalUrl && page.id > other.id)
        found.push(
          finding("duplicate_canonical", code, `has the canonical address of ${codeOf(other.id)}: ${canonicalUrl}`, {
            locale,
          }),
        );
      else if (
        theirs.canonicalUrl !== undefined &&
        urls.includes(theirs.canonicalUrl) &&
        !theirs.alternates.some(({ url }) => url === canonicalUrl)
      )
        found.push(
          finding(
            "alternates_not_mutual",
            code,
            `names ${codeOf(other.id)} as a translation, which does not name it in turn`,
            { locale },
          ),
        );
    }
  }
  return [...found, ...unreachable(input)];
}

/** The page's own address is answered with another page, or leads away to one: then its language is nowhere. */
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

/** Without `multilang` languages do not route: of several pages at one path one is shown. */
function unrouted({ page, group, site, codeOf }: AlternatesInput): Finding[] {
  const same = group.filter(({ path }) => path === page.path);
  const served = chooseVariant(same, { multilang: false, domain: null, site: site.locale });
  if (same.length < 2 || !served || served.id === page.id) return [];
  const message = `is never shown: ${codeOf(served.id)} has its path, and the site is not multilang`;
  return [finding("path_needs_multilang", codeOf(page.id), message, { locale: page.locale ?? undefined })];
}
