/** The variables that the system sets in every template, whatever the fields are called. behaviour 2.7. */
import { type CategoryData } from "../data.ts";
import { type Pagination } from "./pagination.ts";
import type { Locale } from "../../locales.ts";
import { errorKinds } from "../../pages/error-pages.ts";

import { addressOf, domainFor, linksOf, type Domain, type Link } from "../addresses/addresses.ts";
import { joined, langSwitch, seoHead, seoOf, type PageSeo } from "../addresses/alternates.ts";

import { localesOf, type Values } from "./fields.ts";
import type { FoundPage, View } from "../addresses/find.ts";
import { htmlLang } from "../addresses/locale.ts";
import { numbered, paginateValues } from "./pagination.ts";
import { articleTitles, articleValues, categoryValues, siteValues } from "./variables.ts";

export interface ComposeInput extends View {
  /** Null in a preview. */
  readonly domain: Domain | null;
  /** `http:` or `https:`, as in `BASE_URL`. */
  readonly scheme: string;
  readonly query: URLSearchParams;
  /** `?page=`: the requested part of a paginated list, from 1. */
  readonly page: number;
}

export function systemValues(
  input: ComposeInput,
  found: FoundPage,
  locale: Locale,
  categories: readonly CategoryData[],
  pagination?: Pagination,
): Values {
  const { state, domain } = input;
  const { page, article, category } = found;
  const { site } = state;
  const link = linkOf(input);
  const shown = article && articleValues(article, { locale, categories, link, page, placeOf: () => page });
  return {
    site: siteValues(site, locale),
    content_lang: locale,
    ...(domain && { domain: { name: domain.name, locale: domain.locale } }),
    ...(shown && { article: shown, overrides: articleTitles(shown) }),
    ...(category && { category: categoryValues(category, link, page) }),
    ...(pagination && { paginate: paginateValues(pagination, (path) => link(path, page.locale), input.lang) }),
    ...(site.multilang && multilangValues(input, found, locale, pagination?.page ?? 1)),
  };
}

export function linkOf({ state, scheme, domain }: ComposeInput): Link {
  return linksOf({ ...state, scheme, domain });
}

/** Only with `multilang` (behaviour 2.7). Previews and error pages have no addresses for search engines. */
function multilangValues(input: ComposeInput, found: FoundPage, locale: Locale, part: number): Values {
  const { state, domain, scheme, preview } = input;
  const { page, article, category } = found;
  const { site, domains } = state;
  const isError = errorKinds.some((kind) => kind === page.kind);
  const below = article?.path ?? category?.path ?? "";
  // An article with a locale exists only below the page in that language.
  const speaks = (of: Locale) => !article?.locale || article.locale === of;
  const group = article?.locale ? [{ ...page, locale: article.locale }] : found.group;
  const place = { scheme, domains, site: site.locale };
  const whole = seoOf(article?.locale ? { ...page, locale: article.locale } : page, group, place, below);
  const seo = part === 1 ? whole : ofPart(whole, part);
  const switches = langSwitch({
    page,
    group: found.group,
    current: locale,
    domains: preview ? [] : domains,
    site: site.locale,
    fieldLocales: localesOf(page.fields),
    address: (variant, of, lang) => {
      // An error page has no address, so its languages lead to the home page.
      const path = isError ? "" : joined(variant.path, speaks(of) ? below : "");
      if (preview) return `${linkOf(input)(path, of)}?lang=${of}`;
      // A page under `?lang=` on a domain of another language would show links that lead back into that language.
      const at = lang && domain?.locale === null ? domain : domainFor(domains, of);
      return at ? `${addressOf(scheme, at, path)}${lang ? `?lang=${of}` : ""}` : undefined;
    },
  });
  return {
    html_lang: htmlLang({ page: page.locale, domain: input.domainLocale, site: site.locale }),
    lang_switch: switches,
    ...(!preview &&
      !isError && {
        canonical_url: seo.canonicalUrl,
        seo_alternates: seo.alternates,
        seo_head: seoHead(seo),
      }),
  };
}

/** A later part of a list has its own address. Other languages may not have that part, so it has no alternates. */
function ofPart({ canonicalUrl }: PageSeo, part: number): PageSeo {
  return { canonicalUrl: canonicalUrl && numbered(canonicalUrl, part), alternates: [] };
}
