/** The eight kinds of records with their stores and writers. */
import type { Page, Queryable, Sql, TObject } from "platform";
import * as articleStore from "./articles/article-store.ts";
import * as articleWriter from "./articles/article.ts";
import { ArticleBody } from "./articles/article.ts";
import * as categoryStore from "./articles/category-store.ts";
import * as categoryWriter from "./articles/category.ts";
import { CategoryBody } from "./articles/category.ts";
import { refOf, type Ref } from "./code.ts";
import { filtersOf } from "./filters.ts";
import type { Listed } from "./lists.ts";
import * as layoutStore from "./pages/layout-store.ts";
import * as layoutWriter from "./pages/layout.ts";
import { LayoutBody } from "./pages/layout.ts";
import * as pageStore from "./pages/page-store.ts";
import * as pageWriter from "./pages/page.ts";
import { PageBody } from "./pages/page.ts";
import * as paragraphStore from "./pages/paragraph-store.ts";
import * as paragraphWriter from "./pages/paragraph.ts";
import { ParagraphBody } from "./pages/paragraph.ts";
import * as redirectWriter from "./redirects/redirect.ts";
import { RedirectBody } from "./redirects/redirect.ts";
import * as ruleStore from "./redirects/rule-store.ts";
import type { Kept, Resource } from "./resource.ts";
import * as domainStore from "./sites/domain-store.ts";
import * as domainWriter from "./sites/domain.ts";
import { DomainBody } from "./sites/domain.ts";
import { cleanHost } from "./sites/host-name.ts";
import * as siteStore from "./sites/site-store.ts";
import * as siteWriter from "./sites/site.ts";
import { SiteBody } from "./sites/site.ts";

/** Of every kind: its schema, its store and its writer. */
export const resources = {
  site: {
    ...resource("site", "sites", SiteBody, siteWriter, { find: siteStore.find, list: siteStore.list }, siteStore.toApi),
    inSites: false,
  },
  domain: {
    ...resource(
      "domain",
      "domains",
      DomainBody,
      domainWriter,
      { find: domainStore.find, list: domainStore.list },
      domainStore.toApi,
    ),
    inSites: false,
    refOf: domainRefOf,
  },
  layout: resource(
    "layout",
    "layouts",
    LayoutBody,
    layoutWriter,
    { find: layoutStore.find, list: layoutStore.list },
    layoutStore.toApi,
  ),
  page: resource(
    "page",
    "pages",
    PageBody,
    pageWriter,
    { find: pageStore.find, list: pageStore.list },
    pageStore.toApi,
  ),
  paragraph: resource(
    "paragraph",
    "paragraphs",
    ParagraphBody,
    paragraphWriter,
    { find: paragraphStore.find, list: paragraphStore.list },
    paragraphStore.toApi,
  ),
  category: resource(
    "category",
    "categories",
    CategoryBody,
    categoryWriter,
    { find: categoryStore.find, list: categoryStore.list },
    categoryStore.toApi,
  ),
  article: resource(
    "article",
    "articles",
    ArticleBody,
    articleWriter,
    { find: articleStore.find, list: articleStore.list },
    articleStore.toApi,
  ),
  redirect: {
    ...resource(
      "redirect",
      "redirects",
      RedirectBody,
      redirectWriter,
      { find: ruleStore.find, list: ruleStore.list },
      ruleStore.toApi,
    ),
    inSites: false,
    refOf: (text: string) => (/^\d/.test(text) ? refOf(text) : undefined),
  },
};

export type Resources = typeof resources;

interface Store<Row> {
  find(db: Queryable, accountId: number, ref: Ref): Promise<Row | undefined>;
  list(sql: Sql, accountId: number, filter: ReturnType<typeof filtersOf>, page: Page): Promise<Listed<Row>>;
}

function resource<Body extends TObject, Row extends Kept>(
  name: string,
  plural: string,
  body: Body,
  writer: Resource<Body, Row>["writer"],
  store: Store<Row>,
  toApi: Resource<Body, Row>["toApi"],
): Resource<Body, Row> {
  const list: Resource<Body, Row>["list"] = (sql, accountId, query, page) =>
    store.list(sql, accountId, filtersOf(query), page);
  return { name, plural, body, writer, inSites: true, refOf, find: store.find, list, toApi };
}

/** A domain is addressed by its id or its name. */
function domainRefOf(text: string): Ref | undefined {
  const clean = cleanHost(text);
  return /^\d+$/.test(text) ? refOf(text) : "host" in clean ? { code: clean.host } : undefined;
}
