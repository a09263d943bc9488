/**
 * The addresses in a domain's sitemap, part by part: pages first, then the articles below each page that shows some.
 * How many there are decides how many files there are.
 */
import { joined } from "../addresses/alternates.ts";
import type { Locale } from "../../locales.ts";
import type { Batch, ListedPage, Counted } from "../data.ts";
import { groupsOf, type Variant } from "../addresses/variant.ts";
import { type Showing, showingOf } from "../templates/article-lists.ts";
import type { RenderContext } from "../../context.ts";
import { pathAddress, type Domain } from "../addresses/addresses.ts";
import type { SiteState } from "../door/cache.ts";
import * as sitemapStore from "./store.ts";
import * as variantStore from "../addresses/variant-store.ts";
import * as articleListStore from "../templates/article-list-store.ts";

export interface Address {
  readonly path: string;
  /** It decides the domain. */
  readonly locale: Locale | null;
  readonly changedAt: Date;
  /** With `multilang`: the page, its other languages, and the path below it. */
  readonly page?: Variant;
  readonly group?: readonly Variant[];
  readonly below?: string;
}

export async function* listAddresses(
  ctx: RenderContext,
  batch: number,
  request: Counting,
  counts: Counts,
  skip: number,
): AsyncGenerator<Address[]> {
  const { state, domain } = request;
  if (skip < counts.pages)
    yield* inBatches(
      batch,
      skip,
      (part) => sitemapStore.listedPages(ctx, state.site, domain.locale, part),
      (rows) => pagesOf(ctx, request, rows),
    );
  let rest = Math.max(0, skip - counts.pages);
  for (const showing of counts.showing) {
    if (rest >= showing.count) {
      rest -= showing.count;
      continue;
    }
    yield* articlesBelow(ctx, batch, request, showing, rest);
    rest = 0;
  }
}

async function pagesOf(
  ctx: RenderContext,
  { state: { site } }: Counting,
  rows: readonly ListedPage[],
): Promise<Address[]> {
  const groups = site.multilang ? await groupsOf(rows, (pages) => sitemapStore.related(ctx, site, pages)) : undefined;
  return rows.map((page) => {
    const group = groups?.get(page.id);
    return { path: page.path, locale: page.locale, changedAt: page.updatedAt, ...(group && { page, group }) };
  });
}

async function* articlesBelow(
  ctx: RenderContext,
  batch: number,
  { state, domain }: Counting,
  { page, categories }: Showing,
  skip: number,
): AsyncGenerator<Address[]> {
  const group = state.site.multilang
    ? (await variantStore.pageGroups(ctx, state.site, [page.id], false)).get(page.id)
    : undefined;
  const of = articlesOf(state, domain, page);
  const read = async (part: Batch) => {
    const rows = await articleListStore.listedArticles(ctx, of, categories, part);
    return rows.map((row) => ({ ...row, position: 0 }));
  };
  yield* inBatches(batch, skip, read, async (rows) =>
    rows.map(({ path, locale, updatedAt }) => {
      const at = { path: joined(page.path, path), locale: locale ?? page.locale, changedAt: updatedAt };
      // An article with a locale has no other languages.
      return group && locale === null ? { ...at, page, group, below: path } : at;
    }),
  );
}

/** Reads a list part by part; at most two parts are in memory at once. */
async function* inBatches<R extends { readonly position: number; readonly id: number }>(
  limit: number,
  first: number,
  read: (batch: Batch) => Promise<readonly R[]>,
  make: (rows: readonly R[]) => Promise<Address[]>,
): AsyncGenerator<Address[]> {
  const part = async (batch: Batch) => {
    const rows = await read(batch);
    const last: R | undefined = rows.length < limit ? undefined : rows.at(-1);
    return { addresses: await make(rows), last };
  };
  const begin = (batch: Batch) => {
    const reading = part(batch);
    // If the reader stops listening, nobody awaits this part.
    reading.catch(() => {});
    return reading;
  };
  let reading: ReturnType<typeof part> | undefined = begin({ after: null, skip: first, limit });
  while (reading) {
    const { addresses, last }: Awaited<ReturnType<typeof part>> = await reading;
    // The database reads the next part while this one is printed and sent.
    reading = last && begin({ after: last, skip: 0, limit });
    yield addresses;
  }
}

export interface Counts {
  readonly pages: number;
  readonly showing: readonly (Counted & Showing)[];
  readonly files: number;
  /** The number of addresses in one file. */
  readonly perFile: number;
}

/** The limits of a file. The protocol allows 50,000 addresses and 50 MB. */
interface FileLimits {
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
function articlesOf({ site }: SiteState, domain: Domain, page: Pick<ListedPage, "locale">) {
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
