import { expect, test } from "bun:test";
import { serverWithSites } from "../../../tests/sites.ts";

const hosts = ["acme.pl", "acme.com", "acme.de:8443", "acme.eu"];
const server = serverWithSites(async () => {
  await make.site({ code: "acme", name: "Acme", locale: "pl", multilang: true });
  for (const [index, locale] of ["pl", "en", "de", null].entries())
    await make.domain({ name: hosts[index], site_code: "acme", locale });
  await make.layout({
    code: "lay",
    site_code: "acme",
    content: "<html lang={{ content_lang }}><head>{{ seo_head }}</head>{{ content }}",
  });
  const page = (code: string, path: string, locale: string | null, master?: string) =>
    make.page({
      code,
      path,
      locale,
      site_code: "acme",
      layout_code: "lay",
      ...(master && { based_on_page_code: master }),
    });
  await page("home", "", null);
  await page("about", "o-nas", "pl");
  await page("about-en", "about", "en", "about");
  await page("about-de", "über-uns", "de", "about");
  await page("offer", "oferta", null);
  await page("offer-en", "offer", "en", "offer");
  await page("price-pl", "price", "pl");
  await page("price-en", "price", "en");
  await page("price-any", "price", null);
  await page("french", "bonjour", "fr");
  await page("open-first", "kontakt", "pl");
  await page("open-second", "contact", null, "open-first");
  await make.page({
    code: "blog",
    path: "blog",
    site_code: "acme",
    layout_code: "lay",
    content: "{% articles %}{% list %}{% show %}{{ article.title }}{% endarticles %}",
  });
  for (const locale of [null, "pl", "en"])
    await make.article({ code: `a-${locale}`, path: `a-${locale}`, title: "A", locale, site_code: "acme" });
});
const { make } = server;

interface Crawled {
  readonly status: number;
  readonly lang: string | undefined;
  readonly canonical: string | undefined;
  readonly alternates: Map<string, string>;
}

const crawled = new Map<string, Promise<Crawled>>();

/** A page as a search engine reads it. */
function crawl(url: string): Promise<Crawled> {
  const found = crawled.get(url) ?? read(url);
  crawled.set(url, found);
  return found;
}

async function read(url: string): Promise<Crawled> {
  const { host, pathname, search } = new URL(url);
  const { status, text } = await make.at(host, pathname + search);
  const links = [...text.matchAll(/<link rel="alternate" hreflang="([^"]+)" href="([^"]+)">/g)];
  return {
    status,
    lang: /<html lang=(\w+)>/.exec(text)?.[1],
    canonical: /<link rel="canonical" href="([^"]+)">/.exec(text)?.[1],
    alternates: new Map(links.map(([, locale = "", address = ""]) => [locale, address])),
  };
}

test("by Google's rules: every canonical address is its own, and hreflang is mutual and in its language", async () => {
  const listed = await Promise.all(hosts.map(async (host) => (await make.at(host, "/sitemap.xml")).text));
  const urls = listed.flatMap((xml) => [...xml.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url = ""]) => url));
  expect(urls.length).toBeGreaterThan(30);
  let pages = 0;
  for (const url of urls) {
    const { status, canonical = "" } = await crawl(url);
    // A page without a locale gives way to the one of the domain's language.
    if (status === 301) continue;
    expect([url, status]).toEqual([url, 200]);
    const own = await crawl(canonical);
    // A page without a locale, where its family has one of the primary domain's language: the check warns of it.
    if (own.status === 301) continue;
    expect([canonical, own.status, own.canonical]).toEqual([canonical, 200, canonical]);
    expect([...own.alternates.values()]).toContain(canonical);
    expect(own.alternates.has("x-default")).toBe(true);
    for (const [locale, address] of own.alternates) {
      const other = await crawl(address);
      // A page without a locale is shown on every domain, and its canonical address is on the primary one.
      const shared = new URL(other.canonical ?? address).pathname === new URL(address).pathname;
      const expected = shared ? other.canonical : address;
      expect([address, other.status, other.canonical]).toEqual([address, 200, expected]);
      if (locale !== "x-default") expect([address, other.lang]).toEqual([address, locale]);
      expect(Object.fromEntries(other.alternates)).toEqual(Object.fromEntries(own.alternates));
    }
    pages++;
  }
  expect(pages).toBeGreaterThan(25);
});
