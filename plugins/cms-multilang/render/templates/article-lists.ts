/** Fetches what the `{% articles %}` blocks of a page print, before it is rendered. behaviour A.7, B.11. */
import { type Pagination } from "../values/pagination.ts";
import type { Locale } from "../../locales.ts";
import type { RenderStore } from "../render-store.ts";
import { joined } from "../addresses/alternates.ts";
import type { ArticlesQuery } from "./articles-block.ts";
import { articleLocale, categoryIds, isIn, type FoundPage } from "../addresses/find.ts";
import type { ComposeInput } from "../values/system-values.ts";
import type { BlockResult } from "./tags.ts";
import { printedBlocks, type Templates } from "./templates.ts";
import { addressesOf, articleValues } from "../values/variables.ts";

export interface ArticleLists {
  readonly results: ReadonlyMap<ArticlesQuery, BlockResult>;
  /** Of the page's one block with `paginate`. */
  readonly pagination: Pagination | undefined;
  /** Milliseconds since 1970; Infinity if only a change ends it. */
  readonly until: number;
}

export async function articleLists(
  renderStore: RenderStore,
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
  const options = { locale, categories, addressOf: addressesOf(state.site, input.preview), pagePath: page.path };
  const idsOf = (query: ArticlesQuery) => categoryIds(query.categories, categories);

  const lists = article ? blocks.filter(({ shows }) => !shows) : blocks;
  const narrowed = narrowedBlocks(blocks, templates);
  const within = (query: ArticlesQuery) => (narrowed.includes(query) ? (category?.id ?? null) : null);
  const paged = lists.find(({ paginate }) => paginate);
  const counted = paged && (await renderStore.countArticles(of, idsOf(paged), within(paged)));
  const path = joined(page.path, article?.path ?? category?.path ?? "");
  const pagination = paged && counted && paginationOf(input.page, paged.limit, counted.count, path);
  if (article) {
    const shown = { part: "show", article: articleValues(article, options) } as const;
    for (const query of blocks) if (query.shows && isIn(article, idsOf(query))) results.set(query, shown);
  }
  await Promise.all(
    lists.map(async (query) => {
      const skip = query === paged && pagination ? (pagination.page - 1) * query.limit : query.offset;
      const rows = await renderStore.articles(of, { ...query, offset: skip }, idsOf(query), within(query));
      results.set(query, { part: "list", articles: rows.map((row) => articleValues(row, options)) });
    }),
  );
  return { results, pagination, until: next?.getTime() ?? Infinity };
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
