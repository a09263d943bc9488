/** Addresses of a site's pages, and the language in which one is shown. behaviour A.1, 2.7 and B.11. */
import { trimmedEnd } from "platform";
import { type Locale, isLocale } from "../../locales.ts";

export interface Domain {
  readonly id: number;
  /** A host, with a port only if one was given. */
  readonly name: string;
  readonly locale: Locale | null;
  readonly isPrimary: boolean;
}

export interface Place {
  /** `http:` or `https:`, as in `BASE_URL`. */
  readonly scheme: string;
  readonly domains: readonly Domain[];
}

/** `https://example.com/o-nas` */
export function addressOf(scheme: string, { name }: Pick<Domain, "name">, path: string): string {
  return `${scheme}//${name}${pathAddress(path)}`;
}

/** The encoded form of a path: `o-nas` -> `/o-nas`. */
export function pathAddress(path: string): string {
  if (/^[\w.~/-]*$/.test(path)) return `/${path}`;
  // encodeURI leaves the characters that separate parts of an address, and the apostrophe, which could end an
  // attribute.
  return `/${encodeURI(path).replaceAll(/[?#']/g, (sign) => (sign === "'" ? "%27" : encodeURIComponent(sign)))}`;
}

/**
 * The domain with the page's locale, else the site's primary domain, else its first one (behaviour A.5). Undefined if
 * the site has no domain.
 */
export function domainFor(domains: readonly Domain[], locale: Locale | null): Domain | undefined {
  const own = locale === null ? [] : domains.filter((domain) => domain.locale === locale);
  return primaryOf(own) ?? primaryOf(domains);
}

/** The address of a path, for readers of one page. `locale`: of the page that has the path. */
export type Link = (path: string, locale: Locale | null) => string;

interface Reader {
  readonly site: { readonly code: string; readonly multilang: boolean };
  readonly domains: readonly Domain[];
  readonly scheme: string;
  /** Null in a preview: its addresses are below its own. */
  readonly domain: Domain | null;
}

/** Addresses without a host where the reader's domain serves the path; else on the domain of its locale (behaviour A.5). */
export function linksOf({ site, domains, scheme, domain }: Reader): Link {
  if (!domain) return (path) => `/w/${encodeURIComponent(site.code)}${pathAddress(path)}`;
  return (path, locale) => {
    if (!site.multilang || locale === null || locale === domain.locale) return pathAddress(path);
    const own = domainFor(domains, locale);
    // A domain without a language serves all of them, so readers only leave it for the domain of this one.
    const stays = !own || own.id === domain.id || (domain.locale === null && own.locale !== locale);
    return stays ? pathAddress(path) : addressOf(scheme, own, path);
  };
}

export function primaryOf(domains: readonly Domain[]): Domain | undefined {
  return domains.find(({ isPrimary }) => isPrimary) ?? domains[0];
}

/** The path of a request, without slashes at its ends. */
interface AskedPath {
  readonly path: string;
  /** It ends in a slash that a redirect (301) removes. */
  readonly hasSlash: boolean;
}

const maxAskedChars = 6100; // a path of 2,000 bytes, each encoded as %XX

/** Decodes the path of a request, once. Null if no page can have such a path. */
export function askedPath(pathname: string): AskedPath | null {
  if (pathname.length > maxAskedChars || !pathname.startsWith("/")) return null;
  const raw = pathname.slice(1);
  // An encoded slash does not separate segments, and no path of ours can hold one within a segment.
  if (/%2f/i.test(raw)) return null;
  const decoded = decodedOnce(raw);
  if (decoded === null || isOdd(decoded)) return null;
  const path = trimmedEnd(decoded, "/").normalize("NFC");
  return { path, hasSlash: decoded !== "" && decoded.endsWith("/") };
}

function decodedOnce(raw: string): string | null {
  if (!raw.includes("%")) return raw;
  try {
    return decodeURIComponent(raw);
  } catch {
    return null; // a lone percent sign, or bytes that are not UTF-8
  }
}

/** Control characters, an empty segment before the end, `.` and `..`. */
function isOdd(path: string): boolean {
  // oxlint-disable-next-line no-control-regex -- they are what is refused
  return /[\u0000-\u001f\u007f-\u009f]|^\/|\/\/+[^/]|(?:^|\/)\.{1,2}(?:\/|$)/.test(path) || !path.isWellFormed();
}

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
