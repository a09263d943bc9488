/**
 * The variables of templates: the fields, and those that the system sets whatever the fields are called. behaviour 2.7,
 * B.11.
 */
import type { ArticleData, CategoryData, LayoutData, PageData, ParagraphData, SiteData } from "../data.ts";
import type { Locale } from "../../locales.ts";
import { joined, langSwitch, seoHead, seoOf, type PageSeo } from "../addresses/alternates.ts";
import { type Link, addressOf, domainFor, linksOf, type Domain, htmlLang } from "../addresses/addresses.ts";
import { resolveFields, type Values, localesOf } from "./fields.ts";
import { type Pagination, numbered, paginateValues } from "./params.ts";
import { errorKinds } from "../../rows.ts";
import type { FoundPage, View } from "../addresses/find.ts";

/** The columns of a page under their API names, and its address. A field of the same name takes precedence. */
export function pageValues(page: PageData, locale: Locale, url: string): Values {
  const columns = {
    ...titles(page),
    id: page.id,
    code: page.code,
    name: page.name,
    path: page.path,
    url,
    locale: page.locale,
    kind: page.kind,
    position: page.position,
    created_at: page.createdAt,
    updated_at: page.updatedAt,
  };
  return Object.assign(values(columns), resolveFields(page.fields, locale));
}

/**
 * Variables that are bare names beside the fields: `{{ html_title }}`. An empty one is null, so `{% if html_title %}`
 * skips it.
 */
export function titles(page: Pick<PageData, "htmlTitle" | "htmlDescription" | "htmlKeywords">): Values {
  return values({
    html_title: page.htmlTitle || null,
    html_description: page.htmlDescription || null,
    html_keywords: page.htmlKeywords || null,
  });
}

/** Where an article is shown, its titles replace the page's. */
function articleTitles(article: Values): Values {
  const { html_title, html_description, title, lead } = article;
  return values({ html_title: html_title || title, html_description: html_description || withoutTags(lead) });
}

export function layoutValues(layout: LayoutData, locale: Locale): Values {
  return Object.assign(values({ code: layout.code, name: layout.name }), resolveFields(layout.fields, locale));
}

export function paragraphValues({ code, name, position, fields }: ParagraphData, locale: Locale): Values {
  return Object.assign(values({ code, name, position }), resolveFields(fields, locale));
}

function siteValues({ code, name, locale, multilang, fields }: SiteData, shownIn: Locale): Values {
  return Object.assign(values({ code, name, locale, multilang }), resolveFields(fields, shownIn));
}

interface ArticleOptions {
  /** The locale of the page that shows it. */
  readonly locale: Locale;
  readonly categories: readonly CategoryData[];
  readonly link: Link;
  /** The page that is rendered: addresses of categories are below it where no page shows the article. */
  readonly page: Location;
  /** The page below which an article is shown; undefined if there is none. */
  readonly placeOf: (article: ArticleData) => Location | undefined;
}

type Location = Pick<PageData, "path" | "locale">;

/** Fields take precedence for an article's texts, columns for its facts. */
export function articleValues(article: ArticleData, options: ArticleOptions): Values {
  const { title, lead, content, htmlTitle, htmlDescription } = article;
  const titlesOf = { html_title: htmlTitle || null, html_description: htmlDescription || null };
  const written = values({ title, lead: lead || null, content, ...titlesOf });
  const own = article.categoryIds.flatMap((id) => options.categories.find((category) => category.id === id) ?? []);
  const main = own.find(({ id }) => id === article.categoryId);
  const place = options.placeOf(article);
  const shown = (category: CategoryData) => categoryValues(category, options.link, place ?? options.page);
  return Object.assign(written, resolveFields(article.fields, article.locale ?? options.locale), {
    id: article.id,
    code: article.code,
    path: article.path,
    url: place ? options.link(joined(place.path, article.path), place.locale) : null,
    locale: article.locale,
    published_at: article.publishedAt,
    created_at: article.createdAt,
    updated_at: article.updatedAt,
    category: main && shown(main),
    category_code: main?.code,
    categories: own.map(shown),
  });
}

function categoryValues({ code, name, path }: CategoryData, link: Link, page: Location): Values {
  return values({ code, name, path, ...(path !== null && { url: link(joined(page.path, path), page.locale) }) });
}

function values(of: Readonly<Record<string, unknown>>): Values {
  const empty: Values = Object.create(null);
  return Object.assign(empty, of);
}

function withoutTags(text: unknown): unknown {
  return typeof text === "string" ? text.replaceAll(/<[^<>]*>/g, "").trim() : undefined;
}

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
