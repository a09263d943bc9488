/**
 * A page of a site as the API answers it, the languages of a site, and what the editor of a page's content offers
 * besides Liquid's own words. Pure.
 */
import { isMap } from "studio/exact";
import { isLocale, locales } from "../../locales.ts";
import type { CodeWord } from "studio";

export type Fields = Readonly<Record<string, unknown>>;

export interface SitePage {
  readonly id: number;
  readonly code: string;
  readonly name: string;
  readonly path: string;
  /** Null: it is shown in every language. */
  readonly locale: string | null;
  readonly active: boolean;
  readonly position: number;
  readonly masterId: number | null;
  readonly masterCode: string | null;
  readonly layoutCode: string | null;
  readonly content: string;
  readonly fields: Fields;
  readonly htmlTitle: string;
  readonly htmlDescription: string;
  readonly htmlKeywords: string;
}

export interface SiteDomain {
  readonly name: string;
  readonly locale: string | null;
}

export interface Site {
  readonly code: string;
  readonly name: string;
  readonly locale: string;
  readonly multilang: boolean;
}

export function pagesIn(json: unknown): SitePage[] {
  return Array.isArray(json) ? json.flatMap((row) => pageOf(row) ?? []) : [];
}

export function pageOf(row: unknown): SitePage | undefined {
  if (!isMap(row)) return undefined;
  const line = (name: string) => (typeof row[name] === "string" ? row[name] : "");
  const orNull = (name: string) => line(name) || null;
  const number = (name: string) => (typeof row[name] === "number" ? row[name] : null);
  return {
    id: number("id") ?? 0,
    code: line("code"),
    name: line("name"),
    path: line("path"),
    locale: orNull("locale"),
    active: row["active"] !== false,
    position: number("position") ?? 0,
    masterId: number("based_on_page_id"),
    masterCode: orNull("based_on_page_code"),
    layoutCode: orNull("layout_code"),
    content: line("content"),
    fields: isMap(row["fields"]) ? row["fields"] : {},
    htmlTitle: line("html_title"),
    htmlDescription: line("html_description"),
    htmlKeywords: line("html_keywords"),
  };
}

export function siteOf(row: unknown): Site | undefined {
  if (!isMap(row) || typeof row["code"] !== "string") return undefined;
  const { code, name, locale, multilang } = row;
  return { code, name: String(name), locale: String(locale), multilang: multilang === true };
}

export function domainsIn(json: unknown): SiteDomain[] {
  const rows = Array.isArray(json) ? json.filter(isMap) : [];
  return rows
    .filter(({ status }) => status !== "pending")
    .map(({ name, locale }) => ({ name: String(name), locale: typeof locale === "string" ? locale : null }));
}

/** The site's own language first, then those of its domains and of these pages, in the order that the API has. */
export function languagesOf(
  site: Pick<Site, "locale"> | undefined,
  domains: readonly SiteDomain[],
  pages: readonly Pick<SitePage, "locale" | "fields">[],
): string[] {
  const used = new Set<string | null>([
    ...domains.map(({ locale }) => locale),
    ...pages.flatMap(({ locale, fields }) => [locale, ...localesIn(fields)]),
  ]);
  const own = site && isLocale(site.locale) ? [site.locale] : [];
  return [...own, ...locales.filter((locale) => used.has(locale) && locale !== site?.locale)];
}

/** The languages that these fields have values for. */
export function localesIn(fields: Fields): string[] {
  return Object.keys(fields).filter((key) => isLocale(key) && isMap(fields[key]));
}

const variables = [
  "site.name site.code site.locale domain.name params content_lang html_lang",
  "page.name page.path page.url page.code page.locale page.html_title page.html_description",
  "html_title html_description html_keywords canonical_url seo_alternates seo_head lang_switch",
  "content layout.name layout.code paragraph.name paragraph.code",
  "article.title article.lead article.content article.url article.published_at",
].flatMap((some) => some.split(" "));
const tags = ["paragraph", "paragraphs", "articles", "list", "show", "empty", "endarticles"];

/** `keys`: the fields of the record, and of a page's master. Those of a page are variables by their bare names too. */
export function wordsFor(
  keys: readonly string[],
  of: "page" | "layout" | "paragraph" | "article" = "page",
): CodeWord[] {
  const own = keys.filter((key) => /^[A-Za-z_][\w-]{0,99}$/.test(key) && !isLocale(key));
  const names = [...new Set([...(of === "page" ? own : []), ...own.map((key) => `${of}.${key}`), ...variables])];
  return [
    ...names.map((label): CodeWord => ({ label, type: "variable" })),
    ...tags.map((label): CodeWord => ({ label, type: "tag" })),
    { label: "image", type: "filter", detail: "width: 640" },
  ];
}
