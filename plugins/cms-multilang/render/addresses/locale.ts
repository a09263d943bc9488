/** The language in which a page is shown. behaviour A.1 and 2.7. */
import { isLocale, type Locale } from "../../locales.ts";

/** What the choice of a language depends on. */
export interface LocaleSources {
  readonly page: Locale | null;
  /** `?lang=`, if it is a supported code. */
  readonly lang?: Locale | undefined;
  readonly domain: Locale | null;
  readonly site: Locale;
}

/** The locale that resolves values (A.1). `page.locale` wins over everything, even over `?lang=de`. */
export function effectiveLocale({ page, lang, domain, site }: LocaleSources): Locale {
  return page ?? lang ?? domain ?? site;
}

/** `html_lang` (2.7). Unlike A.1, the site's locale comes before the domain's, and `lang` does not count. */
export function htmlLang({ page, site }: LocaleSources): Locale {
  // A site always has a locale, so the domain's (third in 2.7) is never reached.
  return page ?? site;
}

/** `?lang=`; an unsupported code is ignored. */
export function langOf(query: URLSearchParams): Locale | undefined {
  const given = query.get("lang");
  return isLocale(given) ? given : undefined;
}
