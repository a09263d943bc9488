/** `/sitemap.xml` and `/robots.txt`. behaviour A.6, B.11. */
import { escapeHtml, type Reply, HttpError } from "platform";
import { addressOf, domainFor } from "../addresses/addresses.ts";
import { seoOf } from "../addresses/alternates.ts";
import { cacheControlOf, pageReply, siteHeaders } from "../door/replies.ts";
import { listAddresses, type Address, createCounts, type Counting, type Counts } from "./addresses.ts";
import type { RenderContext } from "../../context.ts";

interface SitemapRequest extends Counting {
  /** HEAD: answers without a body. */
  readonly headOnly: boolean;
}

interface Sitemap {
  /** Null if the path is neither of them. */
  answer(path: string, request: SitemapRequest): Promise<Reply | Response | null>;
}

const xmlType = "application/xml; charset=utf-8";
const xmlHeaders = { ...siteHeaders, "content-type": xmlType, "cache-control": cacheControlOf(null) };
/** Each of them reads a whole site, so only a few run at once; the others are told to try again. */
const maxAtOnce = 4;

/** The limits of one file. The protocol allows 50,000 addresses and 50 MB. */
interface Limits {
  readonly maxAddresses?: number;
  readonly maxBytes?: number;
  /** Addresses that are read in one query. */
  readonly batch?: number;
}

export function createSitemap(
  ctx: RenderContext,
  { maxAddresses = 50_000, maxBytes = 50_000_000, batch = 2000 }: Limits = {},
): Sitemap {
  const countsOf = createCounts(ctx, { addresses: maxAddresses, bytes: maxBytes });
  const streamed = createStreams(maxAtOnce, xmlHeaders);
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
      const skip = ((asked ?? 1) - 1) * counts.perFile;
      return streamed(file(request, counts, listAddresses(ctx, batch, request, counts, skip)));
    },
  };
}

async function* file(
  request: SitemapRequest,
  counts: Counts,
  parts: AsyncGenerator<Address[]>,
): AsyncGenerator<string> {
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">\n`;
  let left = counts.perFile;
  for await (const part of parts) {
    const taken = part.slice(0, left);
    left -= taken.length;
    yield taken.map((address) => entry(request, address)).join("");
    if (left === 0) break;
  }
  yield "</urlset>\n";
}

/** A page that several domains list has one address in all of their sitemaps: its `canonical_url`. */
function entry({ state, domain, scheme }: SitemapRequest, address: Address): string {
  const { path, locale, changedAt, page, group, below } = address;
  const place = { scheme, domains: state.domains, site: state.site.locale };
  const location = addressOf(scheme, domainFor(state.domains, locale) ?? domain, path);
  const links = page && group ? seoOf(page, group, place, below).alternates : [];
  // Links are left out if there is only one language and an equal default, because they say nothing. They are also left
  // out if the address is not an alternate, because the others would not link back.
  const isNamed = links.length >= 3 && links.some(({ url }) => url === location);
  const lines = (isNamed ? links : []).map(
    (link) => `<xhtml:link rel="alternate" hreflang="${link.locale}" href="${escapeHtml(link.url)}"/>`,
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

/** Throws 503 while `most` answers are running. */
type Stream = (texts: AsyncGenerator<string>) => Response;

export function createStreams(most: number, headers: Readonly<Record<string, string>>): Stream {
  let running = 0;
  return (texts) => {
    if (running >= most) throw new HttpError(503, { error: "try again" }, { "retry-after": "5" });
    running++;
    let isOver = false;
    const end = () => {
      if (!isOver) running--;
      isOver = true;
    };
    return new Response(streamOf(texts, end), { headers });
  };
}

/** Calls `end` when all has been read, when producing fails, and when the reader goes away. */
function streamOf(texts: AsyncGenerator<string>, end: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
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
}
