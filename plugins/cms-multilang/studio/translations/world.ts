/** What mends need to know of a site: asked only where a finding could be mended by it. */
import { textOf } from "studio";
import type { Finding } from "./findings.ts";
import type { World } from "./mends.ts";
import type { Row } from "./rows.ts";
import { readAll, type Site } from "./site.svelte.ts";

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
