/** The eight kinds of records, as routes, imports and commands see them: they treat all alike. */
import { Article, Category } from "./articles/article.ts";
import { Layout, Paragraph } from "./pages/parts.ts";
import { Page } from "./pages/page.ts";
import { Redirect } from "./redirects/redirect.ts";
import { Domain } from "./sites/domain.ts";
import { Site } from "./sites/site.ts";

export const kinds = {
  site: Site,
  domain: Domain,
  layout: Layout,
  page: Page,
  paragraph: Paragraph,
  category: Category,
  redirect: Redirect,
  article: Article,
};
