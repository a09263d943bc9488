/** `/sitemap.xml` and `/robots.txt`. behaviour A.6, B.11. */
import { type Batch, type ListedPage } from "./data.ts";
import { escapeHtml, HttpError, type Reply } from "platform";
import type { RenderStore } from "./render-store.ts";
import { addressOf, domainFor } from "./addresses.ts";
import { joined, oncePerLanguage, seoOf } from "./alternates.ts";
import type { ReadBlocks } from "./blocks.ts";
import type { SiteEngine } from "./engine.ts";
import { groupsOf } from "./groups.ts";
import { cacheControlOf, pageReply, siteHeaders } from "./replies.ts";
import { articlesOf, createCounts, type Counting, type Counts } from "./sitemap-counts.ts";
import type { Variant } from "./variant.ts";

export interface SitemapRequest extends Counting {
  /** HEAD: without a body. */
  readonly headOnly: boolean;
}

export interface Sitemap {
  /** Null where the path is none of these. */
  answer(path: string, request: SitemapRequest): Promise<Reply | Response | null>;
}

interface Needed {
  readonly store: RenderStore;
  readonly engine: SiteEngine;
  readonly blocksOf: ReadBlocks;
  /** Of one file: 50,000 addresses and 50 MB by the protocol. */
  readonly maxAddresses?: number;
  readonly maxBytes?: number;
  readonly batch?: number;
}

interface Address {
  readonly path: string;
  readonly changedAt: Date;
  /** With `multilang`: the page and its other languages, and what stands below it. */
  readonly page?: Variant;
  readonly group?: readonly Variant[];
  readonly below?: string;
}

const xmlType = "application/xml; charset=utf-8";
/** Each reads a whole site: further ones are asked to come back. */
const maxAtOnce = 4;

export function createSitemap(needed: Needed): Sitemap {
  const { store, maxAddresses = 50_000, maxBytes = 50_000_000, batch = 2000 } = needed;
  const countsOf = createCounts(needed, { addresses: maxAddresses, bytes: maxBytes });
  let running = 0;

  /** Pages first, then the articles below each page that shows some. */
  async function* addresses(request: SitemapRequest, counts: Counts, skip: number) {
    const { state, domain } = request;
    if (skip < counts.pages)
      yield* inBatches(batch, skip, (part) => store.listedPages(state.site, domain.locale, part), pagesOf(request));
    let rest = Math.max(0, skip - counts.pages);
    for (const { page, categories, count } of counts.showing) {
      if (rest >= count) {
        rest -= count;
        continue;
      }
      const group = state.site.multilang ? (await store.groups(state.site, [page.id], false)).get(page.id) : undefined;
      const of = articlesOf(state, domain, page);
      const read = async (part: Batch) => {
        const rows = await store.listedArticles(of, categories, part);
        return rows.map((row) => ({ ...row, position: 0 }));
      };
      yield* inBatches(batch, rest, read, async (rows) =>
        rows.map(({ path, locale, updatedAt }) => {
          const at = { path: joined(page.path, path), changedAt: updatedAt };
          // An article of one language has no other.
          return group && locale === null ? { ...at, page, group, below: path } : at;
        }),
      );
      rest = 0;
    }
  }

  const pagesOf =
    ({ state, domain }: SitemapRequest) =>
    async (rows: readonly ListedPage[]): Promise<Address[]> => {
      const { site, domains } = state;
      // Only where the address is the page's canonical one its other languages are told: see `entry`.
      const isCanonicalHere = (page: ListedPage) => domainFor(domains, page.locale)?.id === domain.id;
      const told = site.multilang ? rows.filter(isCanonicalHere) : [];
      const groups = told.length > 0 ? await groupsOf(told, (pages) => store.related(site, pages)) : undefined;
      return rows.map((page) => {
        const group = groups?.get(page.id);
        return { path: page.path, changedAt: page.updatedAt, ...(group && { page, group }) };
      });
    };

  async function* file(request: SitemapRequest, counts: Counts, skip: number): AsyncGenerator<string> {
    yield `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">\n`;
    let left = counts.perFile;
    for await (const part of addresses(request, counts, skip)) {
      const taken = part.slice(0, left);
      left -= taken.length;
      yield taken.map((address) => entry(request, address)).join("");
      if (left === 0) break;
    }
    yield "</urlset>\n";
  }

  const streamed = (texts: AsyncGenerator<string>): Response => {
    if (running >= maxAtOnce) throw new HttpError(503, { error: "try again" }, { "retry-after": "5" });
    running++;
    const encoder = new TextEncoder();
    let isOver = false;
    const end = () => {
      if (!isOver) running--;
      isOver = true;
    };
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await texts.next();
          if (!done) return controller.enqueue(encoder.encode(value));
          end();
          controller.close();
        } catch (error) {
          end();
          controller.error(error);
        }
      },
      async cancel() {
        end();
        await texts.return(undefined);
      },
    });
    return new Response(body, { headers: xmlHeaders });
  };

  return {
    async answer(path, request) {
      if (path === "robots.txt") return robots(request);
      const number = /^sitemap(?:-([1-9]\d{0,4}))?\.xml$/.exec(path);
      if (!number) return null;
      const counts = await countsOf(request);
      const asked = number[1] === undefined ? undefined : Number(number[1]);
      if (asked !== undefined && (counts.files < 2 || asked > counts.files)) return null;
      if (request.headOnly) return { status: 200, body: null, headers: xmlHeaders };
      if (asked === undefined && counts.files > 1) return index(request, counts.files);
      return streamed(file(request, counts, ((asked ?? 1) - 1) * counts.perFile));
    },
  };
}

const xmlHeaders = { ...siteHeaders, "content-type": xmlType, "cache-control": cacheControlOf(null) };

/** Reads a list part by part: what is in memory is two parts. */
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
    // Whoever listens no longer does not wait for it either.
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

function entry({ state, domain, scheme }: SitemapRequest, { path, changedAt, page, group, below }: Address): string {
  const place = { scheme, domains: state.domains, site: state.site.locale };
  const location = addressOf(scheme, domain, path);
  const seo = page && group && seoOf(page, group, place, below);
  const links = seo?.canonicalUrl === location ? oncePerLanguage(seo.alternates) : [];
  // One language and the default, which is the same, say nothing. And an address that is not among the alternates, or
  // not the page's canonical one, would not be named by the others in turn.
  const isNamed = links.length >= 3 && links.some(({ url }) => url === location);
  const lines = (isNamed ? links : []).map(
    ({ locale, url }) => `<xhtml:link rel="alternate" hreflang="${locale}" href="${escapeHtml(url)}"/>`,
  );
  return `<url><loc>${escapeHtml(location)}</loc><lastmod>${changedAt.toISOString()}</lastmod>${lines.join("")}</url>\n`;
}

function index({ domain, scheme }: SitemapRequest, parts: number): Reply {
  const files = Array.from({ length: parts }, (_, at) => addressOf(scheme, domain, `sitemap-${at + 1}.xml`));
  const entries = files.map((url) => `<sitemap><loc>${escapeHtml(url)}</loc></sitemap>\n`).join("");
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${entries}</sitemapindex>\n`;
  return pageReply({ status: 200, text, type: xmlType, cacheControl: cacheControlOf(null) });
}

function robots({ domain, scheme }: SitemapRequest): Reply {
  const text = `User-agent: *\nAllow: /\n\nSitemap: ${addressOf(scheme, domain, "sitemap.xml")}\n`;
  return pageReply({ status: 200, text, type: "text/plain; charset=utf-8", cacheControl: cacheControlOf(null) });
}
