/** The eight kinds of records with their stores and writers. */
import type { BaseContext } from "platform";
import type { Accounts } from "../accounts/api.ts";
import { createArticleStore, toApi as articleToApi } from "./articles/article-store.ts";
import { ArticleBody, createArticleWriter } from "./articles/article.ts";
import { createCategoryStore, toApi as categoryToApi } from "./articles/category-store.ts";
import { CategoryBody, createCategoryWriter } from "./articles/category.ts";
import { refOf, type Ref } from "./code.ts";
import { createDomainStore, toApi as domainToApi } from "./sites/domain-store.ts";
import { createDomainWriter, DomainBody } from "./sites/domain.ts";
import { filtersOf } from "./filters.ts";
import { cleanHost } from "./sites/host-name.ts";
import { createLayoutStore, toApi as layoutToApi } from "./pages/layout-store.ts";
import { createLayoutWriter, LayoutBody } from "./pages/layout.ts";
import type { Listed } from "./listed.ts";
import { createPageStore, toApi as pageToApi } from "./pages/page-store.ts";
import { createPageWriter, PageBody } from "./pages/page.ts";
import { createParagraphStore, toApi as paragraphToApi } from "./pages/paragraph-store.ts";
import { createParagraphWriter, ParagraphBody } from "./pages/paragraph.ts";
import { createRedirects } from "./redirects/redirect.ts";
import type { Kept, Resource } from "./resource.ts";
import { createSiteStore, toApi as siteToApi } from "./sites/site-store.ts";
import { createSiteWriter, SiteBody } from "./sites/site.ts";
import type { TemplateCheck } from "./texts.ts";
import type { Page, Queryable, TObject } from "platform";

interface Needed {
  readonly ctx: Pick<BaseContext, "sql" | "changed">;
  readonly accounts: Pick<Accounts, "isReservedHost" | "holdHost" | "hasSeveral">;
  readonly engine: TemplateCheck;
}

export type Resources = ReturnType<typeof createResources>;

export function createResources({ ctx, accounts, engine }: Needed) {
  const { sql } = ctx;
  const siteStore = createSiteStore(sql);
  const domainStore = createDomainStore(sql);
  const layoutStore = createLayoutStore(sql);
  const pageStore = createPageStore(sql);
  const paragraphStore = createParagraphStore(sql);
  const categoryStore = createCategoryStore(sql);
  const articleStore = createArticleStore(sql);
  const site = createSiteWriter({ ctx, siteStore, pageStore, articleStore });
  const domain = createDomainWriter({ domainStore, siteStore, accounts });
  const layout = createLayoutWriter({ engine, layoutStore, siteStore });
  const page = createPageWriter({ engine, ctx, pageStore, siteStore, layoutStore });
  const paragraph = createParagraphWriter({ engine, paragraphStore, siteStore, pageStore });
  const category = createCategoryWriter({ categoryStore, siteStore });
  const article = createArticleWriter({ ctx, articleStore, siteStore, categoryStore });
  return {
    site: { ...resource("site", "sites", SiteBody, site, siteStore, siteToApi), inSites: false },
    domain: {
      ...resource("domain", "domains", DomainBody, domain, domainStore, domainToApi),
      approve: domain.approve,
      inSites: false,
      refOf: domainRefOf,
    },
    layout: resource("layout", "layouts", LayoutBody, layout, layoutStore, layoutToApi),
    page: resource("page", "pages", PageBody, page, pageStore, pageToApi),
    paragraph: resource("paragraph", "paragraphs", ParagraphBody, paragraph, paragraphStore, paragraphToApi),
    category: resource("category", "categories", CategoryBody, category, categoryStore, categoryToApi),
    article: resource("article", "articles", ArticleBody, article, articleStore, articleToApi),
    redirect: createRedirects(ctx),
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
