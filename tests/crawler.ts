/** Walks over a site's hosts as a search engine does: every internal link, every hreflang, the sitemaps. */

export interface Crawled {
  readonly url: string;
  readonly status: number;
  readonly type: string;
  readonly html: string;
  /** Internal addresses that the page links to. */
  readonly links: readonly string[];
  readonly canonical: string | undefined;
  /** hreflang to address. */
  readonly alternates: ReadonlyMap<string, string>;
}

export interface SitemapEntry {
  readonly url: string;
  readonly alternates: ReadonlyMap<string, string>;
}

export interface CrawlOptions {
  /** Where the server listens; hosts of the site are asked for there. */
  readonly origin: string;
  /** Addresses to begin with; their hosts are the site. */
  readonly from: readonly string[];
  readonly maxPages?: number;
}

/** Everything that can be reached, by address; redirects are results too. */
export async function crawl({ origin, from, maxPages = 500 }: CrawlOptions): Promise<ReadonlyMap<string, Crawled>> {
  const hosts = new Set(from.map((url) => new URL(url).host));
  const found = new Map<string, Crawled>();
  const open = [...from];
  for (let url = open.shift(); url !== undefined; url = open.shift()) {
    if (found.has(url)) continue;
    if (found.size >= maxPages) throw new Error(`more than ${maxPages} pages`);
    const page = await read(origin, url, hosts);
    found.set(url, page);
    open.push(...page.links, ...page.alternates.values(), ...(page.canonical === undefined ? [] : [page.canonical]));
  }
  return found;
}

/** One address as it is answered. */
export async function read(
  origin: string,
  url: string,
  hosts: ReadonlySet<string> = new Set([new URL(url).host]),
): Promise<Crawled> {
  const response = await get(origin, url);
  const html = await response.text();
  const location = response.headers.get("location");
  const hrefs = [...html.matchAll(/<a\b[^>]*?\bhref="([^"]*)"/g)].map(([, href = ""]) => href);
  const links = [...hrefs, ...(location === null ? [] : [location])]
    .map((href) => new URL(decoded(href), url))
    .filter(({ protocol, host }) => protocol.startsWith("http") && hosts.has(host))
    .map((link) => withoutHash(link));
  const [, canonical] = /<link rel="canonical" href="([^"]*)">/.exec(html) ?? [];
  return {
    url,
    status: response.status,
    type: response.headers.get("content-type") ?? "",
    html,
    links: [...new Set(links)],
    canonical: canonical === undefined ? undefined : decoded(canonical),
    alternates: alternatesIn(html),
  };
}

/** The addresses in a sitemap, including those in the sitemaps that it lists. */
export async function sitemap(origin: string, url: string): Promise<SitemapEntry[]> {
  const text = await (await get(origin, url)).text();
  const further = [...text.matchAll(/<sitemap>\s*<loc>([^<]*)<\/loc>/g)].map(([, loc = ""]) => decoded(loc));
  const own = [...text.matchAll(/<url>([^]*?)<\/url>/g)].map(([, entry = ""]) => ({
    url: decoded(/<loc>([^<]*)<\/loc>/.exec(entry)?.[1] ?? ""),
    alternates: alternatesIn(entry),
  }));
  const rest = await Promise.all(further.map((one) => sitemap(origin, one)));
  return [...own, ...rest.flat()];
}

/**
 * One line for each translation that one of `pages` names without being named by it in turn. What a translation names
 * is read on its page, in `seen`: where its canonical address is on another domain, its own sitemap says nothing of it.
 */
export function oneSided(pages: Iterable<SitemapEntry>, seen: ReadonlyMap<string, SitemapEntry>): string[] {
  return [...pages].flatMap((page) =>
    [...page.alternates]
      .filter(([, target]) => ![...(seen.get(target)?.alternates.values() ?? [])].includes(page.url))
      .map(([locale, target]) => `${page.url} names ${target} (${locale}), which does not name it`),
  );
}

async function get(origin: string, url: string): Promise<Response> {
  const { host, pathname, search } = new URL(url);
  return fetch(`${origin}${pathname}${search}`, { redirect: "manual", headers: { host } });
}

function alternatesIn(text: string): Map<string, string> {
  const pattern = /<(?:xhtml:)?link rel="alternate" hreflang="([^"]*)" href="([^"]*)"/g;
  return new Map([...text.matchAll(pattern)].map(([, locale = "", href = ""]) => [locale, decoded(href)]));
}

function decoded(text: string): string {
  return text.replaceAll("&amp;", "&").replaceAll("&#39;", "'").replaceAll("&quot;", '"');
}

function withoutHash(url: URL): string {
  url.hash = "";
  return url.href;
}
