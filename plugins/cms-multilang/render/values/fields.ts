/** Values of `fields` in one language, and what a slave inherits from its master. behaviour 2.7, A.2 and A.4. */
import { isObject } from "platform";
import { isLocale, type Locale } from "../../locales.ts";
import type { Fields, PageRow } from "../../rows.ts";

export type Values = Record<string, unknown>;

/**
 * Every key with its value for the locale: `fields[locale][key]`, else `fields[key]`. Null counts as missing; an empty
 * string is a value (behaviour B.11). Objects keyed by a locale are not values themselves.
 */
export function resolveFields(fields: Fields, locale: Locale): Values {
  const values = emptyValues();
  for (const [key, value] of Object.entries(fields)) {
    if (!isAbsent(value) && !isLocaleKeyed(key, value)) values[key] = value;
  }
  const own = Object.hasOwn(fields, locale) ? fields[locale] : undefined;
  if (!isObject(own)) return values;
  for (const [key, value] of Object.entries(own)) if (!isAbsent(value)) values[key] = value;
  return values;
}

/** The supported locales for which `fields` has an object of values. */
export function localesOf(fields: Fields): Locale[] {
  return Object.keys(fields)
    .filter(isLocale)
    .filter((key) => isObject(fields[key]));
}

/** Without a prototype, because authors choose the keys. */
export function emptyValues(): Values {
  const values: Values = Object.create(null);
  return values;
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** `{ "it": { … } }` is keyed by a language too. It is not supported, so it is ignored. */
function isLocaleKeyed(key: string, value: unknown): boolean {
  return isObject(value) && (isLocale(key) || isLanguage(key));
}

/** Made when it is first needed, because it loads tables of 3 MB. */
let languageNames: Intl.DisplayNames | undefined;
const known = new Map<string, boolean>();

/** Whether a key is the two-letter code of a language. */
function isLanguage(key: string): boolean {
  if (!/^[a-z]{2}$/.test(key)) return false;
  languageNames ??= new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });
  const found = known.get(key) ?? languageNames.of(key) !== undefined;
  known.set(key, found);
  return found;
}

export type Inherited = Pick<
  PageRow,
  "content" | "layoutId" | "htmlTitle" | "htmlDescription" | "htmlKeywords" | "fields"
>;

/** The slave with its empty values filled in from the master. A page without a master stays as it is. */
export function inherit<P extends Inherited>(page: P, master: Inherited | undefined): P {
  if (!master) return page;
  return {
    ...page,
    content: filled(page.content) ?? master.content,
    layoutId: page.layoutId ?? master.layoutId,
    htmlTitle: filled(page.htmlTitle) ?? master.htmlTitle,
    htmlDescription: filled(page.htmlDescription) ?? master.htmlDescription,
    htmlKeywords: filled(page.htmlKeywords) ?? master.htmlKeywords,
    fields: mergeFields(page.fields, master.fields),
  };
}

/**
 * Per key: the slave's value if it has one, else the master's. Objects keyed by a locale are merged in the same way.
 */
export function mergeFields(slave: Fields, master: Fields): Fields {
  return mergeKeys(slave, master, (key, own, inherited) =>
    isLocale(key) && isObject(own) && isObject(inherited) ? mergeKeys(own, inherited) : own,
  );
}

function mergeKeys(
  slave: Fields,
  master: Fields,
  both: (key: string, own: unknown, inherited: unknown) => unknown = (_, own) => own,
): Fields {
  // Entries instead of assignments, because a key may be `__proto__`.
  const merged = new Map(Object.entries(master));
  for (const [key, own] of Object.entries(slave)) {
    if (!isAbsent(own)) merged.set(key, both(key, own, merged.get(key)));
    else if (!merged.has(key)) merged.set(key, own);
  }
  return Object.fromEntries(merged);
}

/** Undefined if a text is empty or blank. */
function filled(text: string | null): string | undefined {
  return text === null || text.trim() === "" ? undefined : text;
}
