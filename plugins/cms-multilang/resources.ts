/** The eight kinds of records, as routes, imports and commands see them: they treat all alike. */
import type { Static, TObject } from "platform";
import { ArticleBody, articleWriter, CategoryBody, categoryWriter } from "./articles/article.ts";
import { articles, categories } from "./articles/store.ts";
import { refOf, type Ref, type SiteRef } from "./code.ts";
import type { Writer } from "./edit.ts";
import type { Kind, KindRow } from "./kind-store.ts";
import { LayoutBody, layoutWriter, ParagraphBody, paragraphWriter } from "./pages/parts.ts";
import { PageBody, pageWriter } from "./pages/page.ts";
import { layouts, pages, paragraphs } from "./pages/store.ts";
import { RedirectBody, redirectWriter } from "./redirects/redirect.ts";
import { redirects } from "./redirects/store.ts";
import { DomainBody, domainWriter } from "./sites/domain.ts";
import { cleanHost } from "./sites/host.ts";
import { SiteBody, siteWriter } from "./sites/site.ts";
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
