/** behaviour 2.7. Their order is that in which a path is looked up in other locales (behaviour B.11). */
export const locales = ["pl", "en", "fr", "cs", "sk", "de", "es", "uk"] as const;
export type Locale = (typeof locales)[number];

export function isLocale(value: unknown): value is Locale {
  return locales.some((locale) => locale === value);
}
