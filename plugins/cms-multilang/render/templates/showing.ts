/** The pages of a site that show articles below themselves, and the address at which an article is shown. behaviour B.11. */
import type { Locale } from "../../locales.ts";
import { categoryIds, isIn } from "../addresses/find.ts";
import type { ArticleData, Categories, PageData } from "../data.ts";
import type { SiteState } from "../door/cache.ts";
import { inherit } from "../values/inherit.ts";
import { contentBlocks, showingOutside, blocksOf } from "./blocks.ts";
import * as sitemapStore from "../sitemap/sitemap-store.ts";
import type { RenderContext } from "../../context.ts";

/** A page that shows articles, and their categories. */
export interface Showing {
  readonly page: PageData;
  readonly categories: Categories;
}

/** Read once per state of a site and locale. */
const known = new WeakMap<SiteState, Map<Locale | null, Promise<readonly Showing[]>>>();

/** Reads them once per state of a site and locale. */
export function showingOf(ctx: RenderContext, state: SiteState, locale: Locale | null): Promise<readonly Showing[]> {
  const ofState = known.get(state) ?? new Map<Locale | null, Promise<readonly Showing[]>>();
  known.set(state, ofState);
  const reading = ofState.get(locale) ?? read(ctx, state, locale);
  ofState.set(locale, reading);
  reading.catch(() => ofState.delete(locale));
  return reading;
}

async function read(ctx: RenderContext, state: SiteState, locale: Locale | null) {
  const [sources, categories] = await Promise.all([sitemapStore.articleSources(ctx, state.site), state.categories()]);
  const outside = showingOutside(ctx.engine, sources);
  const pages = await sitemapStore.showingPages(ctx, state.site, locale, outside);
  // If blocks occur only in the content of pages, nothing else of the pages has to be read.
  const isInContent = outside.layoutIds.length + outside.codes.length === 0;
  const found = await Promise.all(
    pages.map(async (page): Promise<Showing | undefined> => {
      const whole = inherit(page, page.master ?? undefined);
      const all = isInContent ? contentBlocks(ctx.engine, whole.content) : await blocksOf(ctx, state, whole);
      const blocks = all.filter(({ shows }) => shows);
      if (blocks.length === 0) return undefined;
      const ids = blocks.map((block) => categoryIds(block.categories, categories));
      const shown = ids.some((some) => some === null) ? null : [...new Set(ids.flatMap((some) => some ?? []))];
      return { page, categories: shown };
    }),
  );
  return found.filter((one) => one !== undefined);
}

/**
 * The page that shows an article, for a reader of `locale`: one in the article's language or the reader's, then one
 * without a language. Among those, one that names the article's main category comes before one that names a further
 * category, and before one that shows every article.
 */
export function pageShowing(
  article: Pick<ArticleData, "categoryId" | "categoryIds" | "locale">,
  showing: readonly Showing[],
  locale: Locale,
  site: Locale,
): PageData | undefined {
  const languages: (Locale | null)[] = [article.locale ?? locale, null, site];
  const rank = ({ page, categories }: Showing) => {
    const language = languages.indexOf(page.locale);
    const isMain = article.categoryId !== null && categories?.includes(article.categoryId);
    return (language < 0 ? languages.length : language) * 3 + (isMain ? 0 : categories === null ? 2 : 1);
  };
  const fitting = showing.filter(({ categories }) => isIn(article, categories));
  return fitting.toSorted((a, b) => rank(a) - rank(b))[0]?.page;
}
