/** Counts the addresses of a domain's sitemap, and how many fit into one file. */
import { type Counted, type ListedPage } from "../data.ts";
import { pathAddress, type Domain } from "../addresses/addresses.ts";
import type { SiteState } from "../door/cache.ts";
import { type Showing, showingOf } from "../templates/showing.ts";
import * as sitemapStore from "./sitemap-store.ts";
import * as articleListStore from "../templates/article-list-store.ts";
import type { RenderContext } from "../../context.ts";

export interface Counts {
  readonly pages: number;
  readonly showing: readonly (Counted & Showing)[];
  readonly files: number;
  /** The number of addresses in one file. */
  readonly perFile: number;
}

/** The limits of a file. The protocol allows 50,000 addresses and 50 MB. */
export interface FileLimits {
  readonly addresses: number;
  readonly bytes: number;
}

export interface Counting {
  readonly state: SiteState;
  readonly domain: Domain;
  readonly scheme: string;
}

/** Keeps the counts until the site changes or its next article appears. */
export function createCounts(ctx: RenderContext, limits: FileLimits) {
  const known = new WeakMap<SiteState, Map<string, { readonly counts: Counts; readonly until: number }>>();

  return async (asked: Counting): Promise<Counts> => {
    const { state, domain } = asked;
    const ofState = known.get(state) ?? new Map<string, { counts: Counts; until: number }>();
    known.set(state, ofState);
    const kept = ofState.get(domain.locale ?? "");
    if (kept && kept.until > Date.now()) return kept.counts;
    const next = await state.nextPublication();
    const [pages, articles, locales] = await Promise.all([
      sitemapStore.countListed(ctx, state.site, domain.locale),
      countedOf(ctx, state, domain),
      state.site.multilang ? sitemapStore.pageLocales(ctx, state.site) : [],
    ]);
    const longest = Math.max(pages.longest, ...articles.map((one) => one.longest));
    const languages = new Set([...locales, ...state.domains.map(({ locale }) => locale), state.site.locale]);
    const perFile = addressesIn(limits, entryBytes(asked, longest, state.site.multilang ? languages.size + 1 : 0));
    const total = articles.reduce((sum, { count }) => sum + count, pages.count);
    const counts = { pages: pages.count, showing: articles, files: Math.ceil(total / perFile), perFile };
    ofState.set(domain.locale ?? "", { counts, until: next?.getTime() ?? Infinity });
    return counts;
  };
}

/**
 * Below a page of one language, articles in another one are left out, though a domain without a locale would show them
 * there.
 */
export function articlesOf({ site }: SiteState, domain: Domain, page: Pick<ListedPage, "locale">) {
  return { site, locale: site.multilang ? (domain.locale ?? page.locale) : null, drafts: false };
}

async function countedOf(ctx: RenderContext, state: SiteState, domain: Domain) {
  const showing = await showingOf(ctx, state, domain.locale);
  return Promise.all(
    showing.map(async ({ page, categories }): Promise<Counted & Showing> => {
      const { count, longest } = await articleListStore.countArticles(
        ctx,
        articlesOf(state, domain, page),
        categories,
        null,
      );
      return { page, categories, count, longest: pathAddress(page.path).length + 1 + longest };
    }),
  );
}

/** The largest possible entry: its own address and one more for each language. */
function entryBytes({ state, scheme }: Counting, longestPath: number, links: number): number {
  const longestHost = Math.max(0, ...state.domains.map(({ name }) => name.length));
  const address = `${scheme}//`.length + longestHost + 1 + longestPath;
  return 100 + address + links * (70 + address);
}

function addressesIn({ addresses, bytes }: FileLimits, entry: number): number {
  const frame = 300;
  return Math.max(1, Math.min(addresses, Math.floor((bytes - frame) / entry)));
}
