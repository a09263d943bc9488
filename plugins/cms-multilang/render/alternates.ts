/** What search engines and language menus are told of a page's other languages. SPEC 2.7 and A.5. */
import { escapeHtml } from "platform";
import { locales, type Locale } from "../locales.ts";
import { addressOf, domainFor, primaryOf, type Domain, type Place } from "./addresses.ts";
import type { Variant } from "./variant.ts";

export interface Alternate {
  readonly locale: Locale | "x-default";
  readonly url: string;
}

export interface Switch {
  readonly locale: Locale;
  readonly url: string;
  /** The language's own name. */
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

/** A page in one language: which page, and that language. */
export interface Placed<V extends Variant = Variant> {
  readonly variant: V;
  readonly locale: Locale;
}

/**
 * A group's languages, the master first. A page with a locale stands for that one; a page without one stands for the
 * site's language and for that of each domain that no other page of the group has.
 */
export function coverage<V extends Variant>(
  group: readonly V[],
  domains: readonly Pick<Domain, "locale">[],
  site: Locale,
): Placed<V>[] {
  const ordered = masterFirst(group);
  const taken = new Set<Locale | null>();
  const open = new Set(ordered.map(({ locale }) => locale));
  const placed: Placed<V>[] = [];
  const place = (variant: V, locale: Locale) => {
    if (taken.has(locale)) return;
    taken.add(locale);
    placed.push({ variant, locale });
  };
  for (const variant of ordered) {
    if (variant.locale !== null) place(variant, variant.locale);
    else
      for (const locale of [site, ...domains.map((domain) => domain.locale)]) {
        if (locale !== null && !open.has(locale)) place(variant, locale);
      }
  }
  return placed;
}

/** The page that others are based on, then what has no master, then slaves; each by the order of the locales. */
export function masterFirst<V extends Variant>(group: readonly V[]): V[] {
  const masters = new Set(group.flatMap(({ basedOnPageId }) => basedOnPageId ?? []));
  const rank = ({ id, basedOnPageId }: V) => (masters.has(id) ? 0 : basedOnPageId === null ? 1 : 2);
  const order = ({ locale }: V) => (locale === null ? -1 : locales.indexOf(locale));
  return group.toSorted((a, b) => rank(a) - rank(b) || order(a) - order(b) || a.id - b.id);
}

/**
 * `canonical_url` and `seo_alternates` of `page`, shown in `locale`. `suffix` is an article's path behind the page's.
 * Nothing where the site has no domain.
 */
export function seoOf<V extends Variant>(
  page: V,
  locale: Locale,
  group: readonly V[],
  place: Place & { readonly site: Locale },
  suffix = "",
): PageSeo {
  const url = (variant: V, of: Locale | null) => {
    const domain = domainFor(place.domains, of);
    return domain && addressOf(place.scheme, domain, joined(variant.path, suffix));
  };
  const placed = coverage(group, place.domains, place.site);
  // A page without a locale is a page of its own under each domain, unless another page has that language.
  const self = page.locale === null ? placed.find((entry) => entry.locale === locale) : undefined;
  const canonicalUrl = self ? url(self.variant, locale) : url(page, page.locale ?? locale);
  const alternates: Alternate[] = placed.flatMap((entry) => {
    const at = url(entry.variant, entry.locale);
    return at === undefined ? [] : [{ locale: entry.locale, url: at }];
  });
  const standard = defaultOf(group, place.site);
  const standardUrl = standard && url(standard, defaultLocale(standard, placed, place.domains));
  if (standardUrl !== undefined) alternates.push({ locale: "x-default", url: standardUrl });
  return { canonicalUrl, alternates };
}

/** The master; where there is none, what has no locale or the site's, else the first. */
function defaultOf<V extends Variant>(group: readonly V[], site: Locale): V | undefined {
  const ordered = masterFirst(group);
  if (group.some(({ basedOnPageId }) => basedOnPageId !== null)) return ordered[0];
  return ordered.find(({ locale }) => locale === null) ?? ordered.find(({ locale }) => locale === site) ?? ordered[0];
}

/**
 * In which language the default is shown. Without a locale it stands on the primary domain, unless that one's language
 * is another page's: it would lead there.
 */
function defaultLocale(standard: Variant, placed: readonly Placed[], domains: readonly Domain[]): Locale | null {
  if (standard.locale !== null) return standard.locale;
  const own = placed.filter(({ variant }) => variant.id === standard.id).map(({ locale }) => locale);
  const primary = primaryOf(domains)?.locale ?? null;
  return primary === null || own.includes(primary) ? primary : (own[0] ?? null);
}

/** `seo_head`: ready for the head element. */
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
  /** Further languages that a page without a locale has values in. */
  readonly fieldLocales: readonly Locale[];
  /** The address of a page in a language; `lang` says that it must be asked for by `?lang=`. */
  readonly address: (variant: V, locale: Locale, lang: boolean) => string | undefined;
}

/** `lang_switch`: this page in its languages, in the order of the supported locales. */
export function langSwitch<V extends Variant>(options: SwitchOptions<V>): Switch[] {
  const { page, group, current, domains, site, fieldLocales, address } = options;
  const placed = coverage(group, domains, site);
  const covered = new Set(placed.map(({ locale }) => locale));
  const further = page.locale === null ? fieldLocales.filter((locale) => !covered.has(locale)) : [];
  const entries = [...placed, ...further.map((locale) => ({ variant: page, locale }))];
  const sorted = entries.toSorted((a, b) => locales.indexOf(a.locale) - locales.indexOf(b.locale));
  return sorted.flatMap(({ variant, locale }) => {
    // Without a domain of its language, only `?lang=` shows a page without a locale in it.
    const served = domainFor(domains, locale)?.locale ?? site;
    const url = address(variant, locale, variant.locale === null && served !== locale);
    return url === undefined ? [] : [{ locale, url, name: endonyms[locale], current: locale === current }];
  });
}

export function joined(path: string, suffix: string): string {
  return path === "" || suffix === "" ? path + suffix : `${path}/${suffix}`;
}
