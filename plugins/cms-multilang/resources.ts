/** The eight kinds of records, as routes, imports and commands see them: they treat all alike. */
import type { Static, TObject } from "platform";
import * as articleWriter from "./articles/article.ts";
import { ArticleBody } from "./articles/article.ts";
import * as categoryWriter from "./articles/category.ts";
import { CategoryBody } from "./articles/category.ts";
import { articles, categories } from "./articles/store.ts";
import { refOf, type Ref, type SiteRef } from "./code.ts";
import type { Writer } from "./edit.ts";
import type { Kind, KindRow } from "./kind-store.ts";
import * as layoutWriter from "./pages/layout.ts";
import { LayoutBody } from "./pages/layout.ts";
import * as pageWriter from "./pages/page.ts";
import { PageBody } from "./pages/page.ts";
import * as paragraphWriter from "./pages/paragraph.ts";
import { ParagraphBody } from "./pages/paragraph.ts";
import { layouts, pages, paragraphs } from "./pages/store.ts";
import * as redirectWriter from "./redirects/redirect.ts";
import { RedirectBody } from "./redirects/redirect.ts";
import { redirects } from "./redirects/store.ts";
import * as domainWriter from "./sites/domain.ts";
import { DomainBody } from "./sites/domain.ts";
import { cleanHost } from "./sites/host.ts";
import * as siteWriter from "./sites/site.ts";
import { SiteBody } from "./sites/site.ts";
import { domains, sites } from "./sites/store.ts";

export interface Resource<Body extends TObject, Row extends KindRow> {
  readonly kind: Kind<Row>;
  readonly body: Body;
  readonly writer: Writer<Static<Body>, Row>;
  /** Whether codes are unique only within a site, so that an address may have to name the site. */
  readonly inSites: boolean;
  /** The id or code in an address; undefined if the text can be neither. */
  readonly refOf: (text: string, site?: SiteRef) => Ref | undefined;
}

export const resources = {
  site: { ...resource(sites, SiteBody, siteWriter), inSites: false },
  domain: { ...resource(domains, DomainBody, domainWriter), inSites: false, refOf: domainRefOf },
  layout: resource(layouts, LayoutBody, layoutWriter),
  page: resource(pages, PageBody, pageWriter),
  paragraph: resource(paragraphs, ParagraphBody, paragraphWriter),
  category: resource(categories, CategoryBody, categoryWriter),
  article: resource(articles, ArticleBody, articleWriter),
  redirect: {
    ...resource(redirects, RedirectBody, redirectWriter),
    inSites: false,
    refOf: (text: string) => (/^\d/.test(text) ? refOf(text) : undefined),
  },
};

function resource<Body extends TObject, Row extends KindRow>(
  kind: Kind<Row>,
  body: Body,
  writer: Writer<Static<Body>, Row>,
): Resource<Body, Row> {
  return { kind, body, writer, inSites: true, refOf };
}

/** A domain is addressed by its id or its name. */
function domainRefOf(text: string): Ref | undefined {
  const clean = cleanHost(text);
  return /^\d+$/.test(text) ? refOf(text) : "host" in clean ? { code: clean.host } : undefined;
}
