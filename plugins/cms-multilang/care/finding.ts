/** One mistake of a site, by Google's rules or ours. */
import type { Locale } from "../locales.ts";

export interface Finding {
  /** A stable word for programs. */
  readonly code: FindingCode;
  readonly severity: "error" | "warning";
  /** Code of the page; null = the whole site. */
  readonly page: string | null;
  readonly locale?: Locale;
  /** A field or a place in another record: `fields.title`, `content`, `layout main`. */
  readonly field?: string;
  readonly message: string;
}

/** Every kind of finding with its severity. An error harms visitors or search engines; a warning may be intended. */
export const findingCodes = {
  no_domain: "warning",
  domains_without_locale: "error",
  domain_duplicate: "warning",
  language_unreachable: "error",
  duplicate_language: "error",
  alternates_not_mutual: "error",
  duplicate_canonical: "error",
  canonical_redirects: "warning",
  path_needs_multilang: "error",
  slave_on_masters_path: "error",
  missing_translation: "warning",
  missing_keys: "warning",
  stale_translation: "warning",
  suffixed_variable: "warning",
  locale_as_html_lang: "error",
  layout_without_html_lang: "error",
  layout_without_seo_head: "error",
  html_lang_of_shared_pages: "warning",
  page_without_layout: "warning",
  template_error: "error",
  unknown_paragraph: "warning",
  unknown_category: "warning",
  unknown_page: "error",
  article_without_category: "warning",
  article_without_page: "error",
  article_hidden: "error",
  form_leads_nowhere: "error",
} as const satisfies Readonly<Record<string, Finding["severity"]>>;
export type FindingCode = keyof typeof findingCodes;

export function finding(
  code: FindingCode,
  page: string | null,
  message: string,
  place: { readonly locale?: Locale | undefined; readonly field?: string | undefined } = {},
): Finding {
  const { locale, field } = place;
  return {
    code,
    severity: findingCodes[code],
    page,
    ...(locale !== undefined && { locale }),
    ...(field !== undefined && { field }),
    message,
  };
}
