/** The matrix of translations as the API answers it, and what of it is still to be done. Pure. */
import type { Cell, MatrixRow as Row } from "../../care/matrix.ts";
import { isLocale, locales, type Locale } from "../../locales.ts";

export type { Cell, Row };

export const kinds = ["page", "paragraph", "layout", "article"] as const;
export type Kind = (typeof kinds)[number];

/** Where the API has the rows of a kind. */
export function rowsPath(site: string, kind: Kind): { readonly path: string; readonly query: { kind?: Kind } } {
  const path = `/cms/sites/${encodeURIComponent(site)}`;
  return kind === "page"
    ? { path: `${path}/translations.json`, query: {} }
    : { path: `${path}/texts.json`, query: { kind } };
}

/** The rows of other kinds name by `code` what those of pages name by `page`. */
export function rowsIn(found: readonly Readonly<Record<string, unknown>>[], kind: Kind): readonly Row[] {
  if (kind === "page") return found as unknown as readonly Row[]; // as the API's description declares them
  const texts = found as unknown as readonly TextRow[]; // likewise
  return texts.map(({ code, name, locales: cells }) => {
    const entries = Object.entries(cells).map(([locale, cell]) => [locale, { ...cell, page: cell.code }] as const);
    return { page: code, name, path: "", locales: Object.fromEntries(entries) };
  });
}

interface TextRow {
  readonly code: string;
  readonly name: string;
  readonly locales: Readonly<Record<string, Omit<Cell, "page"> & { readonly code: string | null }>>;
}

export type Work = "missing" | "stale";

/** Of which language what is looked for: `?missing=fr` of the address. */
export interface Filter {
  readonly work: Work;
  readonly locale: Locale;
}

export function filterOf(query: URLSearchParams): Filter | undefined {
  for (const work of ["missing", "stale"] as const) {
    const locale = query.get(work);
    if (isLocale(locale)) return { work, locale };
  }
  return undefined;
}

/** The row of a page, or of the one that is based on it. */
export function rowOf(rows: readonly Row[], page: string | null): Row | undefined {
  const shows = (row: Row) => Object.values(row.locales).some((cell) => cell.page === page);
  return rows.find((row) => row.page === page) ?? (page === null ? undefined : rows.find(shows));
}

/** What a cell still needs. A page of this language that says nothing of its own shows its master's words. */
export function workOf(row: Row, cell: Cell | undefined): Work | undefined {
  if (!cell) return undefined;
  const echoes = cell.state === "inherited" && cell.page !== row.page;
  if (cell.state === "missing" || cell.missing.length > 0 || echoes) return "missing";
  return cell.stale.length > 0 ? "stale" : undefined;
}

/** `fields.en.title` -> `title` */
export function namesOf(fields: readonly string[]): string {
  return fields
    .map((field) => field.split("."))
    .map(([first = "", second = "", ...rest]) =>
      first !== "fields" ? first : isLocale(second) && rest.length > 0 ? rest.join(".") : [second, ...rest].join("."),
    )
    .join(", ");
}

/** A cell may lack some texts and have others that are stale. */
function hasWork(row: Row, { work, locale }: Filter): boolean {
  const cell = row.locales[locale];
  return work === "stale" ? (cell?.stale.length ?? 0) > 0 : workOf(row, cell) === "missing";
}

export function rowsFor(rows: readonly Row[], filter: Filter | undefined): readonly Row[] {
  return filter ? rows.filter((row) => hasWork(row, filter)) : rows;
}

/** The next row after this one that needs work in the language, from the beginning again after the last. */
export function nextFor(rows: readonly Row[], page: string, locale: Locale): Row | undefined {
  const at = rows.findIndex((row) => row.page === page);
  const following = [...rows.slice(at + 1), ...rows.slice(0, Math.max(0, at))];
  return following.find((row) => workOf(row, row.locales[locale]) !== undefined);
}

export interface Progress {
  readonly done: number;
  readonly all: number;
}

/** How many rows need nothing more in the language. */
export function progressOf(rows: readonly Row[], locale: Locale): Progress {
  const counted = rows.filter((row) => row.locales[locale]);
  return { done: counted.filter((row) => !workOf(row, row.locales[locale])).length, all: counted.length };
}

/** The columns: the languages of the rows, the site's own first. */
export function columnsOf(rows: readonly Row[], site: Locale): Locale[] {
  const found = new Set<Locale>([site, ...rows.flatMap((row) => Object.keys(row.locales).filter(isLocale))]);
  return locales.filter((locale) => found.has(locale)).toSorted((a, b) => Number(b === site) - Number(a === site));
}

/** Whether the cell holds the words that the others are translated from. */
export function isSource(row: Row, locale: Locale, site: Locale): boolean {
  const holds = (one: Locale) => row.locales[one]?.state === "own" && row.locales[one].page === row.page;
  return holds(locale) && (locale === site || !holds(site));
}

/** The columns of the lists of one site: without the site, which is known there. Pure. */
const columns: Readonly<Record<string, readonly string[]>> = {
  "/cms/layouts": ["name", "code", "updated_at"],
  "/cms/paragraphs": ["name", "code", "page_code", "position", "updated_at"],
  "/cms/articles": ["title", "category_code", "locale", "published_at", "active"],
  "/cms/categories": ["name", "code", "path", "updated_at"],
  "/cms/domains": ["name", "locale", "primary", "status"],
  "/cms/redirects": ["path", "to", "status", "domain"],
};

export function columnsOfList(path: string): readonly string[] {
  return columns[path] ?? [];
}
