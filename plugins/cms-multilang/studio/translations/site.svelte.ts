/**
 * The site of the address, by its code or its id, and what mends need to know of it: asked only where a finding could
 * be mended by it.
 */
import { get, isMap, mapsIn, router, textOf } from "studio";
import { isLocale, type Locale } from "../../locales.ts";
import type { Finding } from "../../care/finding.ts";
import type { World } from "./mends.ts";
import type { Row } from "./rows.ts";

export interface Site {
  readonly id: number;
  readonly code: string;
  readonly name: string;
  readonly locale: Locale;
  readonly multilang: boolean;
}

export async function readSite(given: string, signal?: AbortSignal): Promise<Site> {
  const { json } = await get(`/cms/sites/${encodeURIComponent(given)}.json`, signal);
  const site = isMap(json) ? json : {};
  const { id, locale } = site;
  const code = textOf(site["code"]);
  // One address for a page: that of the code.
  if (code !== given)
    router.go(router.path.replace(`/${encodeURIComponent(given)}/`, `/${code}/`) + router.search, { replace: true });
  return {
    id: Number(id),
    code,
    name: textOf(site["name"]),
    locale: isLocale(locale) ? locale : "en",
    multilang: site["multilang"] === true,
  };
}

/** Every row of a list, a thousand at a time, up to `most`. */
export async function readAll(
  path: string,
  query: Readonly<Record<string, string>>,
  signal?: AbortSignal,
  most = 20_000,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const rows: Readonly<Record<string, unknown>>[] = [];
  while (rows.length < most) {
    const asked = new URLSearchParams({ ...query, limit: "1000", offset: String(rows.length) });
    const { json } = await get(`${path}?${asked}`, signal);
    const found = mapsIn(json);
    rows.push(...found);
    if (found.length < 1000) break;
  }
  return rows;
}

type Rows = readonly Readonly<Record<string, unknown>>[];

const ofLayouts = /^(locale_as_html_lang|layout_|html_lang_of|page_without_layout)/;

export async function readWorld(site: Site, findings: readonly Finding[], signal: AbortSignal): Promise<World> {
  const asks = (pattern: RegExp) => findings.some(({ code }) => pattern.test(code));
  const here = { site_code: site.code };
  const rowsOf = async (pattern: RegExp, path: string, query: Readonly<Record<string, string>> = here): Promise<Rows> =>
    asks(pattern) ? readAll(path, query, signal) : [];
  const [layouts, categories, own, ofAll, domains, rows] = await Promise.all([
    rowsOf(ofLayouts, "/cms/layouts.json"),
    rowsOf(/^(unknown_category|article_without_category)$/, "/cms/categories.json"),
    rowsOf(/^unknown_paragraph$/, "/cms/paragraphs.json"),
    rowsOf(/^unknown_paragraph$/, "/cms/paragraphs.json", { site_code: "none" }),
    rowsOf(/^(domains_without_locale|locale_as_html_lang|layout_without_html_lang)$/, "/cms/domains.json"),
    rowsOf(/^missing_translation$/, `/cms/sites/${site.id}/translations.json`, {}),
  ]);
  const codes = (of: Rows) => of.map(({ code }) => textOf(code));
  return {
    site,
    layouts,
    categories: codes(categories),
    paragraphs: codes([...own, ...ofAll]),
    domains,
    rows: rows as unknown as readonly Row[], // as the API's description declares them
  };
}
