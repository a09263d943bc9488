/** The variables of templates. behaviour 2.7, B.11. */

import {
  type ArticleData,
  type CategoryData,
  type LayoutData,
  type PageData,
  type ParagraphData,
  type SiteData,
} from "../data.ts";
import type { Locale } from "../../locales.ts";
import { joined } from "../addresses/alternates.ts";
import { pathAddress } from "../addresses/addresses.ts";
import { resolveFields, type Values } from "./fields.ts";

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
export function articleTitles(article: Values): Values {
  const { html_title, html_description, title, lead } = article;
  return values({ html_title: html_title || title, html_description: html_description || withoutTags(lead) });
}

export function layoutValues(layout: LayoutData, locale: Locale): Values {
  return Object.assign(values({ code: layout.code, name: layout.name }), resolveFields(layout.fields, locale));
}

export function paragraphValues({ code, name, position, fields }: ParagraphData, locale: Locale): Values {
  return Object.assign(values({ code, name, position }), resolveFields(fields, locale));
}

export function siteValues({ code, name, locale, multilang, fields }: SiteData, shownIn: Locale): Values {
  return Object.assign(values({ code, name, locale, multilang }), resolveFields(fields, shownIn));
}

export interface ArticleOptions {
  /** The locale of the page that shows it. */
  readonly locale: Locale;
  readonly categories: readonly CategoryData[];
  /** Turns a path into an address: `/blog`, or the same below the preview. */
  readonly addressOf: (path: string) => string;
  readonly pagePath: string;
}

/** Fields take precedence for an article's texts, columns for its facts. */
export function articleValues(article: ArticleData, options: ArticleOptions): Values {
  const { title, lead, content, htmlTitle, htmlDescription } = article;
  const titlesOf = { html_title: htmlTitle || null, html_description: htmlDescription || null };
  const written = values({ title, lead: lead || null, content, ...titlesOf });
  const own = article.categoryIds.flatMap((id) => options.categories.find((category) => category.id === id) ?? []);
  const main = own.find(({ id }) => id === article.categoryId);
  const shown = (category: CategoryData) => categoryValues(category, options);
  return Object.assign(written, resolveFields(article.fields, article.locale ?? options.locale), {
    id: article.id,
    code: article.code,
    path: article.path,
    url: options.addressOf(joined(options.pagePath, article.path)),
    locale: article.locale,
    published_at: article.publishedAt,
    created_at: article.createdAt,
    updated_at: article.updatedAt,
    category: main && shown(main),
    category_code: main?.code,
    categories: own.map(shown),
  });
}

export function categoryValues(
  { code, name, path }: CategoryData,
  { addressOf, pagePath }: Pick<ArticleOptions, "addressOf" | "pagePath">,
): Values {
  return values({ code, name, path, ...(path !== null && { url: addressOf(joined(pagePath, path)) }) });
}

/** In a preview, addresses are below the preview's own. */
export function addressesOf(site: SiteData, preview: boolean): (path: string) => string {
  return preview ? (path) => `/w/${encodeURIComponent(site.code)}${pathAddress(path)}` : pathAddress;
}

function values(of: Readonly<Record<string, unknown>>): Values {
  const empty: Values = Object.create(null);
  return Object.assign(empty, of);
}

function withoutTags(text: unknown): unknown {
  return typeof text === "string" ? text.replaceAll(/<[^<>]*>/g, "").trim() : undefined;
}
