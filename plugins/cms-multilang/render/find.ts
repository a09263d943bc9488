/** Which page a path means: its own, or a page that shows an article or a category below itself. CONTRACT 11. */
import { LiquidFault } from "platform";
import type { Locale } from "../locales.ts";
import type { ArticleData, CategoryData, PageData, RenderStore } from "../render-store.ts";
import { joined } from "./alternates.ts";
import type { SiteState } from "./cache.ts";
import type { SiteEngine, SiteTemplate } from "./engine.ts";
import { inherit } from "./inherit.ts";
import { chooseVariant, redirectTarget, type Choice, type Variant } from "./variant.ts";

/** By what a page is looked up and rendered. */
export interface View {
  readonly state: SiteState;
  /** That of the domain; in a preview, which has no domain, that of `?lang=`. */
  readonly domainLocale: Locale | null;
  readonly lang: Locale | undefined;
  readonly preview: boolean;
  /** Also what is inactive or not yet published. */
  readonly drafts: boolean;
}

export interface FoundPage {
  /** With what it inherits. */
  readonly page: PageData;
  /** The page itself and its other languages; only with `multilang`. */
  readonly group: readonly Variant[];
  readonly article?: ArticleData;
  /** The category that lists are narrowed to. */
  readonly category?: CategoryData;
}

export type Found = FoundPage | { readonly redirect: string };

export interface Finder {
  /** The page of a path (without slashes at its ends), where it is to be found instead, or null. */
  find(view: View, path: string): Promise<Found | null>;
  /** The page with its master's values and its group, once it is known which one. */
  complete(view: View, page: PageData): Promise<FoundPage>;
}

const maxSegments = 20;

export function createFinder(store: RenderStore, engine: SiteEngine): Finder {
  const find = async (view: View, path: string, followsRedirects = true): Promise<Found | null> => {
    const here = await store.pagesAt(view.state.site, [path], view.drafts);
    const page = chooseVariant(here, choiceOf(view));
    if (page) return placed(view, page, "", {});
    const prefixes = prefixesOf(path);
    const [above, redirects] = await Promise.all([
      prefixes.length > 0 ? store.pagesAt(view.state.site, prefixes, view.drafts) : [],
      followsRedirects ? store.redirectsAt(view.state.site, [path, ...prefixes]) : [],
    ]);
    const below = await belowPage(view, path, prefixes, above);
    if (below) return below;
    for (const prefix of [path, ...prefixes]) {
      const at = redirects.filter(({ from }) => from === prefix);
      const target = chooseVariant(at, choiceOf(view));
      if (!target) continue;
      const redirect = joined(target.path, restOf(path, prefix));
      const found = await find(view, redirect, false);
      // To the domain's own language at once, not by way of the page that has moved.
      if (found && "redirect" in found) return found;
      // What stood below a page that has moved: only where it stands below it now.
      if (prefix === path || found) return { redirect };
    }
    return null;
  };

  const complete = async (view: View, page: PageData): Promise<FoundPage> => {
    const { site } = view.state;
    const groups = site.multilang ? await store.groups(site, [page.id], view.drafts) : undefined;
    return { page: inherit(page, page.master ?? undefined), group: groups?.get(page.id) ?? [page] };
  };

  const placed = async (view: View, page: PageData, rest: string, more: Partial<FoundPage>): Promise<Found> => {
    const found = await complete(view, page);
    // A preview has no domain that another page would be the right one of.
    const target = view.preview ? undefined : redirectTarget<Variant>(page, found.group, choiceOf(view));
    return target ? { redirect: joined(target.path, rest) } : { ...found, ...more };
  };

  const belowPage = async (view: View, path: string, prefixes: readonly string[], pages: readonly PageData[]) => {
    const { state, drafts } = view;
    const candidates = prefixes.flatMap((prefix) => {
      const at = pages.filter((page) => page.path === prefix);
      const page = chooseVariant(at, choiceOf(view));
      const blocks = page ? blocksOf(engine, page) : [];
      return page && blocks.length > 0 ? [{ page, blocks, rest: restOf(path, prefix) }] : [];
    });
    if (candidates.length === 0) return null;
    const categories = await state.categories();
    for (const { page, blocks, rest } of candidates) {
      const category = categories.find((one) => one.path === rest);
      if (category) return placed(view, page, rest, { category });
      const shown = blocks.filter(({ shows }) => shows);
      if (shown.length === 0) continue;
      const of = { site: state.site, locale: articleLocale(view), drafts };
      const articles = await store.articlesAt(of, rest);
      const fitting = articles.filter((article) =>
        shown.some((block) => isIn(article, categoryIds(block.categories, categories))),
      );
      const article = chooseVariant(fitting, choiceOf(view));
      if (article) return placed(view, page, rest, { article });
    }
    return null;
  };

  return { find: (view, path) => find(view, path), complete };
}

export function choiceOf({ state, domainLocale }: View): Choice {
  return { multilang: state.site.multilang, domain: domainLocale, site: state.site.locale };
}

/** With `multilang` only articles of the domain's locale, and those without one, are there. SPEC A.7. */
export function articleLocale({ state, domainLocale }: View): Locale | null {
  return state.site.multilang ? domainLocale : null;
}

/** Ids of the categories of a block; null = it lists all. An unknown code lists nothing. */
export function categoryIds(codes: readonly string[], categories: readonly CategoryData[]): number[] | null {
  if (codes.length === 0) return null;
  return categories.filter(({ code }) => codes.includes(code)).map(({ id }) => id);
}

export function isIn(article: Pick<ArticleData, "categoryIds">, ids: readonly number[] | null): boolean {
  return ids === null || article.categoryIds.some((id) => ids.includes(id));
}

/** The blocks of a page's own content: those that show what stands below it. */
function blocksOf(engine: SiteEngine, page: PageData): SiteTemplate["blocks"] {
  try {
    return engine.parse(inherit(page, page.master ?? undefined).content).blocks;
  } catch (error) {
    // The page itself says what is wrong with it; below it there is nothing.
    if (error instanceof LiquidFault) return [];
    throw error;
  }
}

/** "a/b/c" -> "a/b", "a", "": the longest first. */
function prefixesOf(path: string): string[] {
  const segments = path.split("/");
  if (path === "" || segments.length > maxSegments) return [];
  return segments.map((_, index) => segments.slice(0, segments.length - 1 - index).join("/"));
}

function restOf(path: string, prefix: string): string {
  return prefix === "" ? path : path.slice(prefix.length + 1);
}
