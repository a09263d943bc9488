/** Articles that a template lists although no page shows them: their `article.url` is empty. */
import type { Locale } from "../locales.ts";
import { categoryIds } from "../render/addresses/find.ts";
import type { CategoryData, SiteData } from "../render/data.ts";
import type { SiteState } from "../render/door/cache.ts";
import { showingOf } from "../render/templates/article-lists.ts";
import { finding, type Finding } from "./finding.ts";
import type { Checked } from "./templates.ts";
import * as careStore from "./store.ts";
import type { CmsContext } from "../context.ts";

/** A record and the locale of its page; null = it is shown in every language. */
export type Listing = Checked & { readonly locale?: Locale | null };

/** Returns a check of templates that can be parsed. Asks the same question of the database once. */
export async function articlesCheck(
  ctx: CmsContext,
  site: SiteData,
  state: SiteState | undefined,
): Promise<(record: Listing) => Promise<Finding[]>> {
  if (!state) return async () => [];
  const categories = await state.categories();
  const locales = new Set(state.domains.map(({ locale }) => locale));
  if (locales.size === 0) locales.add(null);
  const asked = new Map<string, Promise<string[]>>();
  const unshown = (codes: readonly string[], locale: Locale | null) => {
    const key = JSON.stringify([codes, locale]);
    const answer = asked.get(key) ?? unshownArticles(ctx, { site, state, categories }, codes, locale);
    asked.set(key, answer);
    return answer;
  };
  return async ({ page, place, content, locale: own = null }) => {
    const lists = ctx.engine.parse(content).blocks.filter(({ shows }) => !shows);
    const found: Finding[] = [];
    for (const { categories: codes } of lists)
      for (const locale of locales) {
        if (own !== null && locale !== null && own !== locale) continue;
        const articles = await unshown(codes, locale);
        if (articles.length === 0) continue;
        const message = `lists articles that no page shows, so their article.url is empty: ${articles.join(", ")}`;
        found.push(
          finding("article_without_page", page, message, { locale: locale ?? undefined, field: `${place}content` }),
        );
      }
    return found;
  };
}

/** Articles that nobody sees, because a category or a page has their address. */
export async function hiddenArticles(
  ctx: CmsContext,
  site: SiteData,
  state: SiteState | undefined,
): Promise<Finding[]> {
  if (!state) return [];
  const locales = new Set(state.domains.map(({ locale }) => locale));
  if (locales.size === 0) locales.add(null);
  const found = new Map<string, Finding>();
  for (const locale of locales)
    for (const { page, categories } of (await showingOf(ctx, state, locale)).slice(0, maxShowing))
      for (const { article, path, category } of await careStore.hiddenArticles(ctx.sql, site, page.path, categories)) {
        const by = category === null ? "a page" : `the category ${category}`;
        const message = `the article ${article} is hidden: ${by} has its address /${path}`;
        found.set(message, finding("article_hidden", page.code, message, { field: `article ${article}` }));
      }
  return [...found.values()];
}

/** The most pages that are looked at in one language. */
const maxShowing = 50;

interface Of {
  readonly site: SiteData;
  readonly state: SiteState;
  readonly categories: readonly CategoryData[];
}

async function unshownArticles(
  ctx: CmsContext,
  { site, state, categories }: Of,
  codes: readonly string[],
  locale: Locale | null,
): Promise<string[]> {
  const showing = await showingOf(ctx, state, locale);
  if (showing.some((one) => one.categories === null)) return [];
  const shown = showing.flatMap((one) => one.categories ?? []);
  return careStore.unshownArticles(
    ctx.sql,
    site,
    site.multilang ? locale : null,
    categoryIds(codes, categories),
    shown,
  );
}
