/**
 * What a page says in each language, and where that comes from: a value of its own, one of its master, or one without a
 * language (behaviour A.2, A.4). A field is inherited where the page has none: to link it again its own value goes. Pure.
 */
import { isMap } from "studio/exact";
import { isLocale } from "../../locales.ts";
import { localesIn, type Fields, type SitePage } from "./site-page.ts";

/** `general`: the page's own value without a language; `master` and `masterGeneral`: the same of its master. */
export type Origin = "own" | "master" | "general" | "masterGeneral" | "none";

export interface Cell {
  /** "" = without a language. */
  readonly locale: string;
  readonly value: unknown;
  readonly origin: Origin;
}

export interface FieldRow {
  readonly key: string;
  readonly cells: readonly Cell[];
}

/** Every key that the page or its master has, with a cell for no language and one for each of these. */
export function fieldRows(own: Fields, master: Fields | undefined, languages: readonly string[]): FieldRow[] {
  const from = master ?? {};
  const keys = new Set([...keysOf(from), ...keysOf(own)]);
  return [...keys].map((key) => ({
    key,
    cells: ["", ...languages].map((locale) => cellOf(own, from, key, locale)),
  }));
}

/** The first that has one, as the server looks it up. */
function cellOf(own: Fields, master: Fields, key: string, locale: string): Cell {
  const places: [Origin, unknown][] = [
    ["own", valueOf(own, locale, key)],
    ["master", valueOf(master, locale, key)],
    ["general", locale === "" ? undefined : valueOf(own, "", key)],
    ["masterGeneral", locale === "" ? undefined : valueOf(master, "", key)],
  ];
  const [origin, value] = places.find(([, found]) => !isAbsent(found)) ?? ["none", undefined];
  return { locale, value, origin };
}

function valueOf(fields: Fields, locale: string, key: string): unknown {
  const within = locale === "" ? fields : fields[locale];
  return isMap(within) && Object.hasOwn(within, key) ? within[key] : undefined;
}

function keysOf(fields: Fields): string[] {
  const general = Object.keys(fields).filter((key) => !isKeyed(fields, key));
  return [...general, ...localesIn(fields).flatMap((locale) => Object.keys(Object(fields[locale])))];
}

function isKeyed(fields: Fields, key: string): boolean {
  return isLocale(key) && isMap(fields[key]);
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined;
}

/** The page has its own value from now on: it no longer follows what it inherited. */
export function unlinked(fields: Fields, locale: string, key: string, value: unknown): Fields {
  if (locale === "") return put(fields, key, value);
  const within = fields[locale];
  return put(fields, locale, put(isMap(within) ? within : {}, key, value));
}

/** The page's own value goes, so that the inherited one is shown again. */
export function relinked(fields: Fields, locale: string, key: string): Fields {
  if (locale === "") return without(fields, key);
  const within = fields[locale];
  if (!isMap(within)) return fields;
  const rest = without(within, key);
  return Object.keys(rest).length === 0 ? without(fields, locale) : put(fields, locale, rest);
}

/** Entries, because a key may be `__proto__`. */
function put(fields: Fields, key: string, value: unknown): Fields {
  return Object.fromEntries(new Map(Object.entries(fields)).set(key, value));
}

function without(fields: Fields, key: string): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key));
}

/** A text of the page itself: its own unless it is blank. */
export function textState(
  own: string,
  master: string | undefined,
): { readonly value: string; readonly origin: Origin } {
  if (own.trim() !== "") return { value: own, origin: "own" };
  if (master !== undefined && master.trim() !== "") return { value: master, origin: "master" };
  return { value: own, origin: "none" };
}

/** The languages in which a page's fields are edited: a page of one language is shown in no other. */
export function columnsOf(page: Pick<SitePage, "locale">, languages: readonly string[], fields: Fields): string[] {
  if (page.locale === null) return [...languages];
  return [page.locale, ...localesIn(fields).filter((locale) => locale !== page.locale)];
}

/** Undefined: a field may be called so. */
export function keyMistake(key: string, rows: readonly FieldRow[]): "blank" | "locale" | "taken" | undefined {
  if (key.trim() === "") return "blank";
  if (isLocale(key)) return "locale";
  return rows.some((row) => row.key === key) ? "taken" : undefined;
}

/** The text of a value that is edited as JSON. */
export function shownText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
