/**
 * The state of a page, paragraph, layout or article in each language of its site: who translates it, what is missing,
 * what is stale. Pure.
 */
import { isObject } from "platform";
import type { CarePage } from "./store.ts";
import { isLocale, type Locale } from "../locales.ts";
import { isAbsent, localesOf } from "../render/values/fields.ts";
import type { Fields, PageTexts } from "../rows.ts";
import type { ArticleText, KeyedRow } from "./texts-store.ts";

/**
 * `own`: the page or one of that language has the text. `fields`: values keyed by the locale have it. `inherited`: the
 * master's text is shown, or one text for all languages. `missing`: there is no text. `stale`: there is one, but its
 * source has changed since.
 */
type State = "own" | "fields" | "inherited" | "missing" | "stale";

export interface Cell {
  readonly state: State;
  /** Code of the page that is shown; null if there is none. */
  readonly page: string | null;
  /** Keys of `fields` that have a value in another language but not in this one. */
  readonly missing: readonly string[];
  /** Fields whose source changed after their translation. */
  readonly stale: readonly string[];
}

export interface MatrixRow {
  readonly page: string;
  readonly name: string;
  readonly path: string;
  readonly locales: Readonly<Partial<Record<Locale, Cell>>>;
}

export type MatrixPage = PageTexts & Pick<CarePage, "fieldTimes">;

/** `group`: the page in all its languages, itself included. */
export function matrixRow(
  root: MatrixPage,
  group: readonly MatrixPage[],
  locales: readonly Locale[],
  site: Locale,
): MatrixRow {
  const cells = locales.map((locale) => [locale, cellOf(root, group, locale, site)] as const);
  return { page: root.code, name: root.name, path: root.path, locales: Object.fromEntries(cells) };
}

function cellOf(root: MatrixPage, group: readonly MatrixPage[], locale: Locale, site: Locale): Cell {
  const own = group.filter((page) => page.locale === locale);
  const page = own.find(({ id }) => id === root.id) ?? own.find((each) => each.basedOnPageId === root.id) ?? own[0];
  if (page) return pageCell(page, group, locale, site);
  const shared = root.locale === null ? root : group.find((each) => each.locale === null);
  return shared ? sharedCell(shared, locale, site) : { state: "missing", page: null, missing: [], stale: [] };
}

/** A page whose locale is this one. */
function pageCell(page: MatrixPage, group: readonly MatrixPage[], locale: Locale, site: Locale): Cell {
  const master = group.find(({ id }) => id === page.basedOnPageId);
  const at = { page: page.code };
  if (!master) {
    // The source of its slaves cannot be stale itself.
    const missing = missingKeys(page.fields, locale, page.locale ?? site);
    return { ...at, state: "own", missing, stale: [] };
  }
  const source = master.locale ?? site;
  const missing = translatable(master.fields, source).filter(
    (key) => !hasValue(page.fields, locale, key) && !says(master.fields, locale, key, source),
  );
  const stale = staleFields(page, master, locale, source);
  const isOwn = hasTexts(page) || Object.keys(page.fields).length > 0;
  const keyed = localesOf(master.fields).includes(locale);
  const state = isOwn ? "own" : keyed ? "fields" : "inherited";
  return { ...at, state: stale.length > 0 ? "stale" : state, missing, stale };
}

/** A page without a locale. Its plain texts are in the site's language. */
function sharedCell(page: MatrixPage, locale: Locale, site: Locale): Cell {
  const at = { page: page.code };
  const languages = localesOf(page.fields);
  if (languages.length === 0) return { ...at, state: locale === site ? "own" : "inherited", missing: [], stale: [] };
  const missing = missingKeys(page.fields, locale, site);
  if (locale === site) return { ...at, state: "own", missing, stale: [] };
  if (!languages.includes(locale)) return { ...at, state: "missing", missing, stale: [] };
  const stale = translatable(page.fields, site)
    .filter((key) => isBefore(timeOf(page, `fields.${locale}.${key}`), sourceTime(page, key, site)))
    .map((key) => `fields.${locale}.${key}`);
  return { ...at, state: stale.length > 0 ? "stale" : "fields", missing, stale };
}

function hasTexts({ content, htmlTitle, htmlDescription, htmlKeywords }: MatrixPage): boolean {
  return [content, htmlTitle, htmlDescription, htmlKeywords].some((text) => text !== null && text.trim() !== "");
}

/** Keys that have a value in some language, so every language should have one. */
function translatable(fields: Fields, source: Locale): string[] {
  const keyed = localesOf(fields).flatMap((locale) => keysIn(fields[locale]));
  const plain =
    keyed.length > 0 ? [] : keysIn(fields).filter((key) => !isLocale(key) && typeof fields[key] === "string");
  return [...new Set([...keysIn(fields[source]), ...keyed, ...plain])];
}

function missingKeys(fields: Fields, locale: Locale, source: Locale): string[] {
  return translatable(fields, source).filter((key) => !says(fields, locale, key, source));
}

/** Whether `fields` has the key in this language. A value outside the locales is in the source language. */
function says(fields: Fields, locale: Locale, key: string, source: Locale): boolean {
  const within = fields[locale];
  if (isObject(within) && Object.hasOwn(within, key) && !isAbsent(within[key])) return true;
  return locale === source && Object.hasOwn(fields, key) && !isAbsent(fields[key]);
}

/** Whether a page of this language has the key, keyed by the locale or plain. */
function hasValue(fields: Fields, locale: Locale, key: string): boolean {
  return says(fields, locale, key, locale);
}

/** Compares the slave's own values, and those that the master has for its language, with the master's source. */
function staleFields(slave: MatrixPage, master: MatrixPage, locale: Locale, source: Locale): string[] {
  const columns = ["content", "html_title", "html_description", "html_keywords"].filter((name) =>
    isBefore(timeOf(slave, name), timeOf(master, name)),
  );
  const keys = translatable(master.fields, source).filter((key) => {
    const own = latest(timeOf(slave, `fields.${key}`), timeOf(slave, `fields.${locale}.${key}`));
    return isBefore(own ?? timeOf(master, `fields.${locale}.${key}`), sourceTime(master, key, source));
  });
  return [...columns, ...keys.map((key) => `fields.${key}`)];
}

function sourceTime(page: MatrixPage, key: string, source: Locale): string | undefined {
  return latest(timeOf(page, `fields.${key}`), timeOf(page, `fields.${source}.${key}`));
}

function timeOf({ fieldTimes }: MatrixPage, name: string): string | undefined {
  return Object.hasOwn(fieldTimes, name) ? fieldTimes[name] : undefined;
}

function latest(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}

/** All times have one form (ISO 8601 in UTC), so they compare as texts. A value without a time is not stale. */
function isBefore(translation: string | undefined, source: string | undefined): boolean {
  return translation !== undefined && source !== undefined && translation < source;
}

function keysIn(value: unknown): string[] {
  return isObject(value) ? Object.keys(value).filter((key) => !isAbsent(value[key])) : [];
}

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
