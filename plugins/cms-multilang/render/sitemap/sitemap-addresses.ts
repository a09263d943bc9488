/**
 * The addresses in a domain's sitemap, part by part: pages first, then the articles below each page that shows some.
 */
import { joined } from "../addresses/alternates.ts";
import type { Locale } from "../../locales.ts";
import type { Batch, ListedPage } from "../data.ts";
import { groupsOf } from "../addresses/groups.ts";
import type { Showing } from "../templates/showing.ts";
import { articlesOf, type Counting, type Counts } from "./sitemap-counts.ts";
import type { Variant } from "../addresses/variant.ts";
import * as sitemapStore from "./sitemap-store.ts";
import * as variantStore from "../addresses/variant-store.ts";
import * as articleListStore from "../templates/article-list-store.ts";
import type { RenderContext } from "../../context.ts";

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
