/**
 * What the `{% articles %}` blocks of a page print, fetched before it is rendered, and the pages of a site that show
 * articles below themselves. behaviour A.7, B.11.
 */
import type { Pagination } from "../values/params.ts";
import type { Locale } from "../../locales.ts";
import { joined } from "../addresses/alternates.ts";
import type { ArticlesQuery } from "./blocks.ts";
import { articleLocale, categoryIds, isIn, type FoundPage } from "../addresses/find.ts";
import { errorKinds } from "../../rows.ts";
import type { ArticleData, Categories, PageData } from "../data.ts";
import { linkOf, type ComposeInput, articleValues } from "../values/variables.ts";
import type { BlockResult } from "./tags.ts";
import { printedBlocks, type Templates, contentBlocks, showingOutside, blocksOf } from "./templates.ts";
import type { RenderContext } from "../../context.ts";
import type { SiteState } from "../door/cache.ts";
import { inherit } from "../values/fields.ts";
import * as articleListStore from "./article-list-store.ts";
import * as sitemapStore from "../sitemap/store.ts";

interface ArticleLists {
  readonly results: ReadonlyMap<ArticlesQuery, BlockResult>;
  /** Of the page's one block with `paginate`. */
  readonly pagination: Pagination | undefined;
  /** Milliseconds since 1970; Infinity if only a change ends it. */
  readonly until: number;
}

export async function articleLists(
  ctx: RenderContext,
  input: ComposeInput,
  found: FoundPage,
  templates: Templates,
  locale: Locale,
): Promise<ArticleLists> {
  const blocks = printedBlocks(templates);
  const results = new Map<ArticlesQuery, BlockResult>();
  if (blocks.length === 0) return { results, pagination: undefined, until: Infinity };
  const { state, drafts } = input;
  const { article, page, category } = found;
  // Read before the lists. Otherwise an article that appears between the two reads would be missing until the next
  // change.
  const next = await state.nextPublication();
  const categories = await state.categories();
  const of = { site: state.site, locale: articleLocale(input), drafts };
  const options = { locale, categories, link: linkOf(input), page };
  const idsOf = (query: ArticlesQuery) => categoryIds(query.categories, categories);

  const lists = article ? blocks.filter(({ shows }) => !shows) : blocks;
  const narrowed = narrowedBlocks(blocks, templates);
  const within = (query: ArticlesQuery) => (narrowed.includes(query) ? (category?.id ?? null) : null);
  const paged = lists.find(({ paginate }) => paginate);
  const counted = paged && (await articleListStore.countArticles(ctx, of, idsOf(paged), within(paged)));
  const path = joined(page.path, article?.path ?? category?.path ?? "");
  const pagination = paged && counted && paginationOf(input.page, paged.limit, counted.count, path);
  if (article) {
    const shown = articleValues(article, { ...options, placeOf: () => page });
    for (const query of blocks)
      if (query.shows && isIn(article, idsOf(query))) results.set(query, { part: "show", article: shown });
  }
  // An error page has no path of its own, so nothing is below it.
  const showing = errorKinds.some((kind) => kind === page.kind) ? [] : blocks.filter(({ shows }) => shows).map(idsOf);
  const isHere = (one: ArticleData) => showing.some((ids) => isIn(one, ids));
  await Promise.all(
    lists.map(async (query) => {
      const skip = query === paged && pagination ? (pagination.page - 1) * query.limit : query.offset;
      const rows = await articleListStore.articles(ctx, of, { ...query, offset: skip }, idsOf(query), within(query));
      const others = rows.every(isHere) ? [] : await showingOf(ctx, state, input.domainLocale);
      const placeOf = (one: ArticleData) => (isHere(one) ? page : placeAmong(others, one, locale, state.site.locale));
      results.set(query, { part: "list", articles: rows.map((row) => articleValues(row, { ...options, placeOf })) });
    }),
  );
  return { results, pagination, until: next?.getTime() ?? Infinity };
}

function placeAmong(showing: readonly Showing[], article: ArticleData, locale: Locale, site: Locale) {
  const page = pageShowing(article, showing, locale, site);
  // An article of another language than its page's is shown only on the domain that lists it.
  return page && (article.locale === null || article.locale === page.locale ? page : { path: page.path, locale: null });
}

/**
 * The blocks that a category in the address narrows. A list in a layout or paragraph is an aside, the same on every
 * page, unless it is the only block that the page has.
 */
function narrowedBlocks(blocks: readonly ArticlesQuery[], { page }: Templates): readonly ArticlesQuery[] {
  const main = blocks.filter((query) => query.shows || page.blocks.includes(query));
  return main.length > 0 ? main : blocks;
}

/** A number beyond the last page means the last one. */
function paginationOf(asked: number, size: number, total: number, path: string): Pagination {
  const pages = Math.max(1, Math.ceil(total / size));
  return { page: Math.min(asked, pages), pages, total, path };
}

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
function pageShowing(
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
