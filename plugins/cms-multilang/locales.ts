/** The supported locales (behaviour 2.7). A path is looked up in other locales in this order (behaviour B.11). */
export const locales = ["pl", "en", "fr", "cs", "sk", "de", "es", "uk"] as const;
export type Locale = (typeof locales)[number];

export function isLocale(value: unknown): value is Locale {
  return locales.some((locale) => locale === value);
}
