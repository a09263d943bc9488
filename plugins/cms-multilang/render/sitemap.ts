/** `/sitemap.xml` and `/robots.txt`. SPEC A.6, CONTRACT 11. */
import { escapeHtml, HttpError, type Reply } from "platform";
import type { Batch, ListedPage, RenderStore } from "../render-store.ts";
import { addressOf, type Domain } from "./addresses.ts";
import { joined, seoOf } from "./alternates.ts";
import type { SiteState } from "./cache.ts";
import type { SiteEngine } from "./engine.ts";
import { categoryIds } from "./find.ts";
import { groupsOf, type ReadRelated } from "./groups.ts";
import { inherit } from "./inherit.ts";
import { cacheControlOf, pageReply, siteHeaders } from "./replies.ts";
import type { Variant } from "./variant.ts";

export interface SitemapRequest {
  readonly state: SiteState;
  readonly domain: Domain;
  readonly scheme: string;
  /** HEAD: without a body. */
  readonly headOnly: boolean;
}

export interface Sitemap {
  /** Null where the path is none of these. */
  answer(path: string, request: SitemapRequest): Promise<Reply | Response | null>;
}

export interface SitemapOptions {
  readonly store: RenderStore;
  readonly engine: SiteEngine;
  /** Of one file: 50,000 by the protocol. */
  readonly maxAddresses?: number;
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

/** A page that shows articles, and of which categories. */
interface Showing {
  readonly page: ListedPage;
  readonly categories: number[] | null;
  readonly count: number;
}

interface Counts {
  readonly pages: number;
  readonly showing: readonly Showing[];
  readonly total: number;
  /** When the next article appears. */
  readonly until: number;
}

const xmlType = "application/xml; charset=utf-8";
/** Each reads a whole site: further ones are asked to come back. */
const maxAtOnce = 4;

export function createSitemap({ store, engine, maxAddresses = 50_000, batch = 1000 }: SitemapOptions): Sitemap {
  let running = 0;

  /** Pages first, then the articles below each page that shows some. Counted once until the site changes. */
  const known = new WeakMap<SiteState, Map<string, Counts>>();
  const countsOf = async ({ state, domain }: SitemapRequest): Promise<Counts> => {
    const ofState = known.get(state) ?? new Map<string, Counts>();
    known.set(state, ofState);
    const kept = ofState.get(domain.locale ?? "");
    if (kept && kept.until > Date.now()) return kept;
    const next = await state.nextPublication();
    const [pages, showing] = await Promise.all([
      store.countListed(state.site, domain.locale),
      showingOf(store, engine, state, domain),
    ]);
    const total = showing.reduce((sum, { count }) => sum + count, pages);
    const counts = { pages, showing, total, until: next?.getTime() ?? Infinity };
    ofState.set(domain.locale ?? "", counts);
    return counts;
  };

  async function* addresses(request: SitemapRequest, counts: Counts, skip: number) {
    const { state, domain } = request;
    if (skip < counts.pages)
      yield* inBatches(batch, skip, (part) => store.listedPages(state.site, domain.locale, part), pagesOf(state));
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
    (state: SiteState) =>
    async (rows: readonly ListedPage[]): Promise<Address[]> => {
      const read: ReadRelated = (roots, paths) => store.related(state.site, roots, paths);
      const groups = state.site.multilang ? await groupsOf(rows, read) : undefined;
      return rows.map((page) => {
        const group = groups?.get(page.id);
        return { path: page.path, changedAt: page.updatedAt, ...(group && { page, group }) };
      });
    };

  async function* file(request: SitemapRequest, skip: number): AsyncGenerator<string> {
    const counts = await countsOf(request);
    yield `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">\n`;
    let left = maxAddresses;
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
      const { total } = await countsOf(request);
      const parts = Math.ceil(total / maxAddresses);
      const asked = number[1] === undefined ? undefined : Number(number[1]);
      if (asked !== undefined && (parts < 2 || asked > parts)) return null;
      if (request.headOnly) return { status: 200, body: null, headers: xmlHeaders };
      if (asked === undefined && parts > 1) return index(request, parts);
      return streamed(file(request, ((asked ?? 1) - 1) * maxAddresses));
    },
  };
}

const xmlHeaders = { ...siteHeaders, "content-type": xmlType, "cache-control": cacheControlOf(null) };

/** Reads a list part by part: what is in memory is one part. */
async function* inBatches<R extends { readonly position: number; readonly id: number }>(
  limit: number,
  first: number,
  read: (batch: Batch) => Promise<readonly R[]>,
  make: (rows: readonly R[]) => Promise<Address[]>,
): AsyncGenerator<Address[]> {
  const begin = (batch: Batch) => {
    const reading = read(batch);
    // Whoever listens no longer does not wait for it either.
    reading.catch(() => {});
    return reading;
  };
  let reading = begin({ after: null, skip: first, limit });
  for (;;) {
    const rows = await reading;
    const last = rows.at(-1);
    if (!last) return;
    // The database reads the next part while this one is printed and sent.
    const isLast = rows.length < limit;
    if (!isLast) reading = begin({ after: last, skip: 0, limit });
    yield await make(rows);
    if (isLast) return;
  }
}

async function showingOf(store: RenderStore, engine: SiteEngine, state: SiteState, domain: Domain): Promise<Showing[]> {
  const [pages, categories] = await Promise.all([store.showingPages(state.site, domain.locale), state.categories()]);
  const shown = pages.flatMap((page) => {
    const { content } = inherit(page, page.master ?? undefined);
    const blocks = engine.syntaxError(content) ? [] : engine.parse(content).blocks.filter(({ shows }) => shows);
    if (blocks.length === 0) return [];
    const ids = blocks.map((block) => categoryIds(block.categories, categories));
    const all = ids.some((some) => some === null);
    return [{ page, categories: all ? null : [...new Set(ids.flatMap((some) => some ?? []))] }];
  });
  const counts = shown.map((one) => store.countArticles(articlesOf(state, domain, one.page), one.categories));
  const counted = await Promise.all(counts);
  return shown.map((one, at) => ({ ...one, count: counted[at] ?? 0 }));
}

/** Below a page of one language not what is written in another, though a domain without a locale would show it there. */
function articlesOf({ site }: SiteState, domain: Domain, page: Pick<ListedPage, "locale">) {
  return { site, locale: site.multilang ? (domain.locale ?? page.locale) : null, drafts: false };
}

function entry({ state, domain, scheme }: SitemapRequest, { path, changedAt, page, group, below }: Address): string {
  const place = { scheme, domains: state.domains, site: state.site.locale };
  const location = addressOf(scheme, domain, path);
  const seo = page && group ? seoOf(page, domain.locale ?? state.site.locale, group, place, below) : undefined;
  // One language and the default, which is the same, say nothing. And an address that is not the page's canonical one
  // (on a domain without a locale, SPEC A.6) is not among the alternates: they would not name it in turn.
  const isNamed = seo !== undefined && seo.alternates.length >= 3 && seo.canonicalUrl === location;
  const links = isNamed ? seo.alternates : [];
  const lines = links.map(
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
