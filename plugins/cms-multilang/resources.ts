/** The seven kinds of records, with their stores and writers. */
import type { BaseContext } from "platform";
import type { Accounts } from "../accounts/api.ts";
import { createArticleStore, toApi as articleToApi } from "./articles/article-store.ts";
import { ArticleBody, createArticles } from "./articles/article.ts";
import { createCategoryStore, toApi as categoryToApi } from "./articles/category-store.ts";
import { CategoryBody, createCategories } from "./articles/category.ts";
import { refOf, type Ref } from "./code.ts";
import { createDomainStore, toApi as domainToApi } from "./sites/domain-store.ts";
import { createDomains, DomainBody } from "./sites/domain.ts";
import { filtersOf } from "./filters.ts";
import { cleanHost } from "./sites/host-name.ts";
import { createLayoutStore, toApi as layoutToApi } from "./pages/layout-store.ts";
import { createLayouts, LayoutBody } from "./pages/layout.ts";
import type { Listed } from "./listed.ts";
import { createPageStore, toApi as pageToApi } from "./pages/page-store.ts";
import { createPages, PageBody } from "./pages/page.ts";
import { createParagraphStore, toApi as paragraphToApi } from "./pages/paragraph-store.ts";
import { createParagraphs, ParagraphBody } from "./pages/paragraph.ts";
import type { Kept, Resource } from "./resource.ts";
import { createSiteStore, toApi as siteToApi } from "./sites/site-store.ts";
import { createSites, SiteBody } from "./sites/site.ts";
import type { Page, Queryable, TObject } from "platform";

interface Needed {
  readonly ctx: Pick<BaseContext, "sql" | "changed">;
  readonly accounts: Pick<Accounts, "isReservedHost" | "holdHost" | "hasSeveral">;
}

export type Resources = ReturnType<typeof createResources>;

export function createResources({ ctx, accounts }: Needed) {
  const { sql } = ctx;
  const sites = createSiteStore(sql);
  const domains = createDomainStore(sql);
  const layouts = createLayoutStore(sql);
  const pages = createPageStore(sql);
  const paragraphs = createParagraphStore(sql);
  const categories = createCategoryStore(sql);
  const articles = createArticleStore(sql);
  const domainWriter = createDomains({ store: domains, sites, accounts });
  const siteWriter = createSites({ ctx, store: sites, pages, articles });
  return {
    site: { ...resource("site", "sites", SiteBody, siteWriter, sites, siteToApi), inSites: false },
    domain: {
      ...resource("domain", "domains", DomainBody, domainWriter, domains, domainToApi),
      approve: domainWriter.approve,
      inSites: false,
      refOf: domainRefOf,
    },
    layout: resource("layout", "layouts", LayoutBody, createLayouts({ store: layouts, sites }), layouts, layoutToApi),
    page: resource("page", "pages", PageBody, createPages({ ctx, store: pages, sites, layouts }), pages, pageToApi),
    paragraph: resource(
      "paragraph",
      "paragraphs",
      ParagraphBody,
      createParagraphs({ store: paragraphs, sites, pages }),
      paragraphs,
      paragraphToApi,
    ),
    category: resource(
      "category",
      "categories",
      CategoryBody,
      createCategories({ store: categories, sites }),
      categories,
      categoryToApi,
    ),
    article: resource(
      "article",
      "articles",
      ArticleBody,
      createArticles({ ctx, store: articles, sites, categories }),
      articles,
      articleToApi,
    ),
  };
}

interface Store<Row> {
  find(db: Queryable, accountId: number, ref: Ref): Promise<Row | undefined>;
  list(accountId: number, filter: ReturnType<typeof filtersOf>, page: Page): Promise<Listed<Row>>;
}

function resource<Body extends TObject, Row extends Kept>(
  name: string,
  plural: string,
  body: Body,
  writer: Resource<Body, Row>["writer"],
  store: Store<Row>,
  toApi: Resource<Body, Row>["toApi"],
): Resource<Body, Row> {
  const list: Resource<Body, Row>["list"] = (accountId, query, page) => store.list(accountId, filtersOf(query), page);
  return { name, plural, body, writer, inSites: true, refOf, find: store.find, list, toApi };
}

/** A domain is addressed by its id or its name. */
function domainRefOf(text: string): Ref | undefined {
  const clean = cleanHost(text);
  return /^\d+$/.test(text) ? refOf(text) : "host" in clean ? { code: clean.host } : undefined;
}
