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
import type { Link } from "../addresses/addresses.ts";
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
  readonly link: Link;
  /** The page that is rendered: addresses of categories are below it where no page shows the article. */
  readonly page: Location;
  /** The page below which an article is shown; undefined if there is none. */
  readonly placeOf: (article: ArticleData) => Location | undefined;
}

export type Location = Pick<PageData, "path" | "locale">;

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

export function categoryValues({ code, name, path }: CategoryData, link: Link, page: Location): Values {
  return values({ code, name, path, ...(path !== null && { url: link(joined(page.path, path), page.locale) }) });
}

function values(of: Readonly<Record<string, unknown>>): Values {
  const empty: Values = Object.create(null);
  return Object.assign(empty, of);
}

function withoutTags(text: unknown): unknown {
  return typeof text === "string" ? text.replaceAll(/<[^<>]*>/g, "").trim() : undefined;
}
