/**
 * Finds the page of a path: the page at the path, or one that shows an article or a category below itself. behaviour
 * B.11.
 */
import { type ArticleData, type CategoryData, type PageData } from "../data.ts";
import type { Locale } from "../../locales.ts";
import { joined } from "./alternates.ts";
import type { ArticlesQuery } from "../templates/blocks.ts";
import { blocksOf } from "../templates/templates.ts";
import type { SiteState } from "../door/cache.ts";
import { inherit } from "../values/fields.ts";
import { chooseVariant, redirectTarget, type Choice, type Variant } from "./variant.ts";
import * as variantStore from "./variant-store.ts";
import * as articleListStore from "../templates/article-list-store.ts";
import type { RenderContext } from "../../context.ts";

/** What decides which page is found and how it is rendered. */
export interface View {
  readonly state: SiteState;
  /** The domain's locale. A preview has no domain, so there it is that of `?lang=`. */
  readonly domainLocale: Locale | null;
  readonly lang: Locale | undefined;
  readonly preview: boolean;
  /** Includes what is inactive or not yet published. */
  readonly drafts: boolean;
}

export interface FoundPage {
  /** With inherited values. */
  readonly page: PageData;
  /** The page itself and its other languages; only with `multilang`. */
  readonly group: readonly Variant[];
  readonly article?: ArticleData;
  /** The category that lists are narrowed to. */
  readonly category?: CategoryData;
}

export type Found = FoundPage | { readonly redirect: string };

const maxSegments = 20;

/** The page at a path (without slashes at its ends), or where it is now, or null. */
export async function findPage(
  ctx: RenderContext,
  view: View,
  path: string,
  followsRedirects = true,
): Promise<Found | null> {
  const here = await variantStore.pagesAt(ctx, view.state.site, [path], view.drafts);
  const page = chooseVariant(here, choiceOf(view));
  if (page) return placed(ctx, view, whole(page), "", {});
  const prefixes = prefixesOf(path);
  const [above, redirects] = await Promise.all([
    prefixes.length > 0 ? variantStore.pagesAt(ctx, view.state.site, prefixes, view.drafts) : [],
    followsRedirects ? variantStore.redirectsAt(ctx, view.state.site, [path, ...prefixes]) : [],
  ]);
  const below = await belowPage(ctx, view, path, prefixes, above);
  if (below) return below;
  for (const prefix of [path, ...prefixes]) {
    const at = redirects.filter(({ from }) => from === prefix);
    const target = chooseVariant(at, choiceOf(view));
    if (!target) continue;
    const redirect = joined(target.path, restOf(path, prefix));
    const found = await findPage(ctx, view, redirect, false);
    // Redirects to the domain's own language directly, not by way of the page that has moved.
    if (found && "redirect" in found) return found;
    // An address below a page that has moved is redirected only if something is there now.
    if (prefix === path || found) return { redirect };
  }
  return null;
}

/** Adds the master's values and the group to a page that is already known. */
export function completePage(ctx: RenderContext, view: View, page: PageData): Promise<FoundPage> {
  return inGroup(ctx, view, whole(page));
}

/** `page` has its inherited values already. It stays one object, because its templates are cached by it. */
async function inGroup(ctx: RenderContext, view: View, page: PageData): Promise<FoundPage> {
  const { site } = view.state;
  const groups = site.multilang ? await variantStore.pageGroups(ctx, site, [page.id], view.drafts) : undefined;
  return { page, group: groups?.get(page.id) ?? [page] };
}

async function placed(
  ctx: RenderContext,
  view: View,
  page: PageData,
  rest: string,
  more: Partial<FoundPage>,
): Promise<Found> {
  const found = await inGroup(ctx, view, page);
  // A preview has no domain, so there is no domain that another page would suit better.
  const target = view.preview ? undefined : redirectTarget<Variant>(page, found.group, choiceOf(view));
  return target ? { redirect: joined(target.path, rest) } : { ...found, ...more };
}

async function belowPage(
  ctx: RenderContext,
  view: View,
  path: string,
  prefixes: readonly string[],
  pages: readonly PageData[],
) {
  for (const prefix of prefixes) {
    const at = chooseVariant(
      pages.filter((one) => one.path === prefix),
      choiceOf(view),
    );
    if (!at) continue;
    const page = whole(at);
    const rest = restOf(path, prefix);
    const shown = await shownBelow(ctx, view, await blocksOf(ctx, view.state, page), rest);
    if (shown) return placed(ctx, view, page, rest, shown);
  }
  return null;
}

/** The category or article that a page with these blocks shows at `rest`. */
async function shownBelow(ctx: RenderContext, view: View, blocks: readonly ArticlesQuery[], rest: string) {
  if (blocks.length === 0) return null;
  const { state, drafts } = view;
  const categories = await state.categories();
  const category = categories.find((one) => one.path === rest);
  if (category) return { category };
  const showing = blocks.filter(({ shows }) => shows);
  if (showing.length === 0) return null;
  const articles = await articleListStore.articlesAt(
    ctx,
    { site: state.site, locale: articleLocale(view), drafts },
    rest,
  );
  const fitting = articles.filter((article) =>
    showing.some((block) => isIn(article, categoryIds(block.categories, categories))),
  );
  const article = chooseVariant(fitting, choiceOf(view));
  return article ? { article } : null;
}

export function choiceOf({ state, domainLocale }: View): Choice {
  return { multilang: state.site.multilang, domain: domainLocale, site: state.site.locale };
}

/** With `multilang`, only articles of the domain's locale and those without one exist there. behaviour A.7. */
export function articleLocale({ state, domainLocale }: View): Locale | null {
  return state.site.multilang ? domainLocale : null;
}

/** The ids of a block's categories; null = it lists all articles. An unknown code lists nothing. */
export function categoryIds(codes: readonly string[], categories: readonly CategoryData[]): number[] | null {
  if (codes.length === 0) return null;
  return categories.filter(({ code }) => codes.includes(code)).map(({ id }) => id);
}

export function isIn(article: Pick<ArticleData, "categoryIds">, ids: readonly number[] | null): boolean {
  return ids === null || article.categoryIds.some((id) => ids.includes(id));
}

function whole(page: PageData): PageData {
  return inherit(page, page.master ?? undefined);
}

/** "a/b/c" -> "a/b", "a", "": longest first. */
function prefixesOf(path: string): string[] {
  const segments = path.split("/");
  if (path === "" || segments.length > maxSegments) return [];
  return segments.map((_, index) => segments.slice(0, segments.length - 1 - index).join("/"));
}

function restOf(path: string, prefix: string): string {
  return prefix === "" ? path : path.slice(prefix.length + 1);
}
