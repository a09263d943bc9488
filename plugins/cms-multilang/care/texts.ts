/** The state of paragraphs, layouts and articles in each language of their site. Pure. */
import type { Locale } from "../locales.ts";
import { matrixRow, type Cell } from "./matrix.ts";
import type { ArticleText, KeyedRow } from "./texts-store.ts";

/** `code`: the record that has the language's text. */
type TextCell = Omit<Cell, "page"> & { readonly code: string | null };

export interface TextRow {
  readonly code: string;
  readonly name: string;
  readonly locales: Readonly<Partial<Record<Locale, TextCell>>>;
}

const blank = {
  path: "",
  locale: null,
  content: "",
  htmlTitle: null,
  htmlDescription: null,
  htmlKeywords: null,
  basedOnPageId: null,
} as const;

/** A paragraph or layout, whose languages are keys of its fields. */
export function keyedRow(record: KeyedRow, locales: readonly Locale[], site: Locale): TextRow {
  const page = { ...blank, ...record };
  const { page: code, name, locales: cells } = matrixRow(page, [page], locales, site);
  const entries = Object.entries(cells).map(
    ([locale, { page: of, ...cell }]) => [locale, { ...cell, code: of }] as const,
  );
  return { code, name, locales: Object.fromEntries(entries) };
}

/** The articles of the list, a row for each group. */
export function articleRows(articles: readonly ArticleText[], locales: readonly Locale[]): TextRow[] {
  const groups = new Map<number, ArticleText[]>();
  for (const article of articles) groups.set(article.rootId, [...(groups.get(article.rootId) ?? []), article]);
  return [...groups.values()].flatMap((group) => {
    const [root] = group;
    if (!root) return [];
    const cells = locales.map((locale) => [locale, articleCell(root, group, locale)] as const);
    return [{ code: root.code, name: root.name, locales: Object.fromEntries(cells) }];
  });
}

function articleCell(root: ArticleText, group: readonly ArticleText[], locale: Locale): TextCell {
  const own = group.find((article) => article.locale === locale);
  const shared = group.find((article) => article.locale === null);
  if (!own) return { state: shared ? "inherited" : "missing", code: shared?.code ?? null, missing: [], stale: [] };
  if (own === root) return { state: "own", code: own.code, missing: [], stale: [] };
  const missing = root.says.filter((name) => !own.says.includes(name));
  // The source may only have been made later: its creation is no change.
  const stale = root.says.filter(
    (name) => own.says.includes(name) && changedAt(own, name, own.createdAt.toISOString()) < changedAt(root, name, ""),
  );
  return { state: stale.length > 0 ? "stale" : "own", code: own.code, missing, stale };
}

/** When the text was changed last, by whichever name it is kept; all times have one form, so they compare as texts. */
function changedAt({ fieldTimes, locale }: ArticleText, name: string, otherwise: string): string {
  const names = name.startsWith("fields.") ? [name, name.replace("fields.", `fields.${locale}.`), "fields"] : [name];
  return names
    .map((one) => (Object.hasOwn(fieldTimes, one) ? (fieldTimes[one] ?? "") : ""))
    .reduce((a, b) => (a > b ? a : b), otherwise);
}
