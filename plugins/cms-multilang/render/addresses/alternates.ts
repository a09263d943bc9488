/** A page's other languages, for search engines and language menus. behaviour 2.7 and A.5. */
import { escapeHtml } from "platform";
import { locales, type Locale } from "../../locales.ts";
import { addressOf, domainFor, primaryOf, type Domain, type Place } from "./addresses.ts";
import { rootOf, type Variant } from "./variant.ts";

export interface Alternate {
  readonly locale: Locale | "x-default";
  readonly url: string;
}

export interface Switch {
  readonly locale: Locale;
  readonly url: string;
  /** The language's name in itself. */
  readonly name: string;
  readonly current: boolean;
}

export interface PageSeo {
  readonly canonicalUrl: string | undefined;
  readonly alternates: readonly Alternate[];
}

const endonyms: Readonly<Record<Locale, string>> = {
  pl: "Polski",
  en: "English",
  fr: "Français",
  cs: "Čeština",
  sk: "Slovenčina",
  de: "Deutsch",
  es: "Español",
  uk: "Українська",
};

/** A page and a language in which it is shown. */
export interface Placed<V extends Variant = Variant> {
  readonly variant: V;
  readonly locale: Locale;
}

/**
 * The languages of a page. Its own family (a master and its slaves) comes first and is always complete. Pages that
 * merely share a path with one of them fill the languages that the family lacks. A page with a locale stands for that
 * locale. A page without one stands for the language of its own address, the site's, and those of the other domains,
 * unless another page is shown there.
 */
export function coverage<V extends Variant>(
  page: Variant,
  group: readonly V[],
  domains: readonly Domain[],
  site: Locale,
): Placed<V>[] {
  const [family, others] = partsOf(page, group);
  const taken = new Set<Locale>();
  const placed: Placed<V>[] = [];
  const place = (variant: V, locale: Locale) => {
    taken.add(locale);
    placed.push({ variant, locale });
  };
  const reserved = new Set(family.map(({ locale }) => locale));
  for (const variant of family) {
    if (variant.locale !== null) place(variant, variant.locale);
    else
      for (const locale of shownIn(domains, site))
        if (!taken.has(locale) && !reserved.has(locale) && !isAnothers(variant, locale, group)) place(variant, locale);
  }
  for (const { locale } of others) reserved.add(locale);
  for (const variant of others)
    for (const locale of variant.locale === null ? shownIn(domains, site) : [variant.locale])
      if (!taken.has(locale) && (variant.locale !== null || !reserved.has(locale))) place(variant, locale);
  return placed;
}

/** A page's master and slaves, itself included, and the rest of its group. */
function partsOf<V extends Variant>(page: Variant, group: readonly V[]): [family: V[], others: V[]] {
  const isOwn = (other: V) => rootOf(other) === rootOf(page);
  return [masterFirst(group.filter(isOwn)), masterFirst(group.filter((other) => !isOwn(other)))];
}

/** The languages in which a page without a locale is shown, beginning with that of its own address. */
function shownIn(domains: readonly Domain[], site: Locale): Locale[] {
  return [primaryOf(domains)?.locale ?? site, site, ...domains.flatMap(({ locale }) => locale ?? [])];
}

/** Whether a page of this language has the same path, so that it is shown instead. */
function isAnothers(page: Variant, locale: Locale, group: readonly Variant[]): boolean {
  return group.some((other) => other.path === page.path && other.locale === locale);
}

/** Pages that others are based on, then pages without a master, then slaves; each in the order of the locales. */
export function masterFirst<V extends Variant>(group: readonly V[]): V[] {
  const masters = new Set(group.flatMap(({ basedOnPageId }) => basedOnPageId ?? []));
  const rank = ({ id, basedOnPageId }: V) => (masters.has(id) ? 0 : basedOnPageId === null ? 1 : 2);
  const order = ({ locale }: V) => (locale === null ? -1 : locales.indexOf(locale));
  return group.toSorted((a, b) => rank(a) - rank(b) || order(a) - order(b) || a.id - b.id);
}

/**
 * `canonical_url` and `seo_alternates` of `page`, whichever domain shows it. `suffix` is the path of an article below
 * the page. Both are empty if the site has no domain.
 */
export function seoOf<V extends Variant>(
  page: V,
  group: readonly V[],
  place: Place & { readonly site: Locale },
  suffix = "",
): PageSeo {
  const url = (variant: V, of: Locale | null) => {
    const domain = domainFor(place.domains, of);
    return domain && addressOf(place.scheme, domain, joined(variant.path, suffix));
  };
  const placed = oncePerLanguage(coverage(page, group, place.domains, place.site));
  const alternates: Alternate[] = placed.flatMap(({ variant, locale }) => {
    const at = url(variant, locale);
    return at === undefined ? [] : [{ locale, url: at }];
  });
  const standard = defaultOf(page, group, place.site);
  const standardUrl = standard && url(standard, standard.locale);
  if (standardUrl !== undefined) alternates.push({ locale: "x-default", url: standardUrl });
  return { canonicalUrl: url(page, page.locale), alternates };
}

/**
 * The page of `x-default`: the master of the page's family, else the group's master, else a page without a locale, else
 * one in the site's language, else the first.
 */
function defaultOf<V extends Variant>(page: V, group: readonly V[], site: Locale): V | undefined {
  const [family] = partsOf(page, group);
  if (family.length > 1) return family[0];
  const ordered = masterFirst(group);
  if (group.some(({ basedOnPageId }) => basedOnPageId !== null)) return ordered[0];
  return ordered.find(({ locale }) => locale === null) ?? ordered.find(({ locale }) => locale === site) ?? ordered[0];
}

/** Each language once: search engines and people can use only one page of each. */
function oncePerLanguage<T extends { readonly locale: string }>(entries: readonly T[]): T[] {
  const seen = new Set<string>();
  return entries.filter(({ locale }) => !seen.has(locale) && seen.add(locale));
}

/** `seo_head`, ready for the head element. */
export function seoHead({ canonicalUrl, alternates }: PageSeo): string {
  const lines = canonicalUrl === undefined ? [] : [`<link rel="canonical" href="${escapeHtml(canonicalUrl)}">`];
  for (const { locale, url } of alternates)
    lines.push(`<link rel="alternate" hreflang="${locale}" href="${escapeHtml(url)}">`);
  return lines.join("\n");
}

export interface SwitchOptions<V extends Variant> {
  readonly page: V;
  readonly group: readonly V[];
  readonly current: Locale;
  readonly domains: readonly Domain[];
  readonly site: Locale;
  /** Further languages that a page without a locale has values for. */
  readonly fieldLocales: readonly Locale[];
  /** The address of a page in a language; `lang` = only `?lang=` shows it there. */
  readonly address: (variant: V, locale: Locale, lang: boolean) => string | undefined;
}

/** `lang_switch`: this page in its languages, in the order of the supported locales. */
export function langSwitch<V extends Variant>(options: SwitchOptions<V>): Switch[] {
  const { page, group, current, domains, site, fieldLocales, address } = options;
  const placed = oncePerLanguage(coverage(page, group, domains, site));
  const covered = new Set(placed.map(({ locale }) => locale));
  const further = page.locale === null ? fieldLocales.filter((locale) => !covered.has(locale)) : [];
  const entries = [...placed, ...further.map((locale) => ({ variant: page, locale }))];
  const sorted = entries.toSorted((a, b) => locales.indexOf(a.locale) - locales.indexOf(b.locale));
  return sorted.flatMap(({ variant, locale }) => {
    // If no domain has its language, only `?lang=` shows a page without a locale in it.
    const served = domainFor(domains, locale)?.locale ?? site;
    const url = address(variant, locale, variant.locale === null && served !== locale);
    return url === undefined ? [] : [{ locale, url, name: endonyms[locale], current: locale === current }];
  });
}

export function joined(path: string, suffix: string): string {
  return path === "" || suffix === "" ? path + suffix : `${path}/${suffix}`;
}
