/** Which language a page is shown in. behaviour A.1 and 2.7. */
import { isLocale, type Locale } from "../../locales.ts";

/** What a language is chosen by. */
export interface LocaleSources {
  readonly page: Locale | null;
  /** The supported code of `?lang=`. */
  readonly lang?: Locale | undefined;
  readonly domain: Locale | null;
  readonly site: Locale;
}

/** The locale by which values are resolved (A.1): `page.locale` wins over everything, `?lang=de` included. */
export function effectiveLocale({ page, lang, domain, site }: LocaleSources): Locale {
  return page ?? lang ?? domain ?? site;
}

/** `html_lang` (2.7). Not A.1: the site's locale comes before the domain's, and `lang` does not count. */
export function htmlLang({ page, site }: LocaleSources): Locale {
  // A site always has a locale, so that the domain's, third by 2.7, is never reached.
  return page ?? site;
}

/** `?lang=`: what is no supported code is ignored. */
export function langOf(query: URLSearchParams): Locale | undefined {
  const given = query.get("lang");
  return isLocale(given) ? given : undefined;
}
