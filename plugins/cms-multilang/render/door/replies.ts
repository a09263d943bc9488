/**
 * A request to a site's host, taken apart, and the headers and bodies of answers, which are for browsers, not for
 * clients of the API.
 */
import { type Log, contentHash, escapeHtml, type Reply } from "platform";
import type { Locale } from "../../locales.ts";
import { type Domain, langOf } from "../addresses/addresses.ts";
import type { SiteState } from "./cache.ts";
import type { View } from "../addresses/find.ts";
import { pageNumberOf } from "../values/params.ts";
import type { ComposeInput } from "../values/variables.ts";
import type { ErrorKind } from "../../rows.ts";

export interface Asked extends Address {
  readonly state: SiteState;
  readonly domain: Domain;
  readonly log: Log;
  readonly headOnly: boolean;
}

/** The parts of an address after its host. */
interface Address {
  readonly pathname: string;
  readonly search: string;
  readonly query: URLSearchParams;
  readonly lang: Locale | undefined;
  /** `?page=`, from 1. */
  readonly page: number;
}

const noQuery = new URLSearchParams();

export function addressIn(url: string): Address {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const whole = start < 0 ? "/" : url.slice(start);
  const mark = whole.indexOf("?");
  if (mark < 0) return { pathname: whole, search: "", query: noQuery, lang: undefined, page: 1 };
  const query = new URLSearchParams(whole.slice(mark + 1));
  const [lang, page] = [langOf(query), pageNumberOf(query)];
  return { pathname: whole.slice(0, mark), search: whole.slice(mark), query, lang, page };
}

export function viewOf({ state, domain, lang }: Asked): View {
  return { state, lang, domainLocale: domain.locale, preview: false, drafts: false };
}

export function composeInputOf(asked: Asked, scheme: string): ComposeInput {
  const { domain, query, page } = asked;
  return { ...viewOf(asked), domain, scheme, query, page };
}

/** The author of a site chooses its scripts, styles and pictures. Only framing by other sites is forbidden. */
export const siteHeaders = {
  "content-security-policy": "frame-ancestors 'self'",
  "x-frame-options": "SAMEORIGIN",
  "referrer-policy": "strict-origin-when-cross-origin",
  // Not closed: geolocation, which a map may ask for, and the windows that a payment opens.
  "permissions-policy": "browsing-topics=(), midi=(), serial=(), usb=()",
  "cross-origin-opener-policy": "same-origin-allow-popups",
};

export const noStore = "no-store";

interface PageReply {
  readonly status: number;
  readonly text: string;
  readonly type: string;
  readonly locale?: Locale;
  readonly cacheControl: string;
}

/** The ETag is computed from the final bytes, so every process gives the same text the same ETag. */
export function pageReply({ status, text, type, locale, cacheControl }: PageReply): Reply {
  const headers = {
    ...siteHeaders,
    "content-type": type,
    "cache-control": cacheControl,
    ...(locale && { "content-language": locale }),
    ...(status === 200 && { etag: `"${contentHash(text)}"` }),
  };
  return { status, body: text, headers };
}

/** `null` = the server's choice: caches may keep it but must revalidate each time. */
export function cacheControlOf(seconds: number | null): string {
  return seconds === null ? "public, max-age=0, must-revalidate" : `public, max-age=${seconds}`;
}

export function movedTo(location: string): Reply {
  return redirectTo(301, location);
}

export function redirectTo(status: 301 | 302 | 308, location: string): Reply {
  return {
    status,
    body: null,
    headers: { ...siteHeaders, location, "cache-control": "public, max-age=0, must-revalidate" },
  };
}

const titles: Readonly<Record<Locale, Readonly<Record<ErrorKind, string>>>> = {
  pl: { 404: "Nie znaleziono strony", 500: "Nie można wyświetlić tej strony" },
  en: { 404: "Page not found", 500: "This page cannot be shown" },
  fr: { 404: "Page introuvable", 500: "Cette page ne peut pas être affichée" },
  cs: { 404: "Stránka nenalezena", 500: "Tuto stránku nelze zobrazit" },
  sk: { 404: "Stránka sa nenašla", 500: "Túto stránku nemožno zobraziť" },
  de: { 404: "Seite nicht gefunden", 500: "Diese Seite kann nicht angezeigt werden" },
  es: { 404: "Página no encontrada", 500: "No se puede mostrar esta página" },
  uk: { 404: "Сторінку не знайдено", 500: "Цю сторінку не можна показати" },
};

/** A plain page that reveals nothing about the request. */
export function plainPage(kind: ErrorKind, locale: Locale): Reply {
  const title = titles[locale][kind];
  const text = `<!doctype html>
<html lang="${locale}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title></head>
<body><h1>${escapeHtml(title)}</h1></body>
</html>
`;
  return pageReply({ status: Number(kind), text, type: htmlType, locale, cacheControl: noStore });
}

export const htmlType = "text/html; charset=utf-8";

const types: Readonly<Record<string, string>> = {
  txt: "text/plain; charset=utf-8",
  xml: "application/xml; charset=utf-8",
  json: "application/json; charset=utf-8",
  webmanifest: "application/manifest+json; charset=utf-8",
};

/** Decided by the end of the path, because `feed.xml` and `.well-known/security.txt` are pages too. */
export function typeOf(path: string): string {
  const ending = /\.([a-z]+)$/.exec(path)?.[1] ?? "";
  return (Object.hasOwn(types, ending) ? types[ending] : undefined) ?? htmlType;
}
