/** Addresses of a site's pages. behaviour B.11. */
import { trimmedEnd } from "platform";
import type { Locale } from "../../locales.ts";

export interface Domain {
  readonly id: number;
  /** A host, with a port only where one was given. */
  readonly name: string;
  readonly locale: Locale | null;
  readonly isPrimary: boolean;
}

export interface Place {
  /** `http:` or `https:`: that of `BASE_URL`. */
  readonly scheme: string;
  readonly domains: readonly Domain[];
}

/** `https://example.com/o-nas` */
export function addressOf(scheme: string, { name }: Pick<Domain, "name">, path: string): string {
  return `${scheme}//${name}${pathAddress(path)}`;
}

/** `/o-nas`, with what an address does not hold as it is encoded. */
export function pathAddress(path: string): string {
  if (/^[\w.~/-]*$/.test(path)) return `/${path}`;
  // encodeURI leaves what parts an address, and an apostrophe that could end an attribute.
  return `/${encodeURI(path).replaceAll(/[?#']/g, (sign) => (sign === "'" ? "%27" : encodeURIComponent(sign)))}`;
}

/**
 * The domain whose locale equals the page's, falling back to the site's domain or its first one (behaviour A.5). Undefined
 * where the site has none.
 */
export function domainFor(domains: readonly Domain[], locale: Locale | null): Domain | undefined {
  const own = locale === null ? [] : domains.filter((domain) => domain.locale === locale);
  return primaryOf(own) ?? primaryOf(domains);
}

export function primaryOf(domains: readonly Domain[]): Domain | undefined {
  return domains.find(({ isPrimary }) => isPrimary) ?? domains[0];
}

/** The path that a request asks for, without its slashes at both ends; null where no page can have it. */
export interface AskedPath {
  readonly path: string;
  /** It ends in a slash that is to be left out (301). */
  readonly hasSlash: boolean;
}

const maxAskedChars = 6100; // a path of 2,000 bytes, each encoded as %XX

/** Decoded once, and only where that is harmless: what is odd is no page's path. */
export function askedPath(pathname: string): AskedPath | null {
  if (pathname.length > maxAskedChars || !pathname.startsWith("/")) return null;
  const raw = pathname.slice(1);
  // An encoded slash is no slash, and what it stands in is no path of ours.
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
    return null; // a lone percent sign, or bytes that are no UTF-8
  }
}

/** Control characters, an empty segment before the end, `.` and `..`. */
function isOdd(path: string): boolean {
  // oxlint-disable-next-line no-control-regex -- they are what is refused
  return /[\u0000-\u001f\u007f-\u009f]|^\/|\/\/+[^/]|(?:^|\/)\.{1,2}(?:\/|$)/.test(path) || !path.isWellFormed();
}
