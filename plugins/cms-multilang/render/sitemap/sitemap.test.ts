import { describe, expect, test } from "bun:test";
import { serverWithSites } from "../../../../tests/sites.ts";
import { readOn } from "platform";
import * as renderStore from "../store.ts";
import type { SiteState } from "../door/cache.ts";
import { createSiteEngine } from "../templates/engine.ts";
import { createSitemap } from "./sitemap.ts";

const server = serverWithSites(async () => {
  await acme();
});
const { make, at } = server;

async function acme(): Promise<void> {
  await make.site({ code: "acme", name: "Acme", locale: "pl", multilang: true });
  await make.domain({ name: "acme.pl", site_code: "acme", locale: "pl" });
  await make.domain({ name: "acme.com", site_code: "acme", locale: "en" });
  await make.domain({ name: "acme.eu", site_code: "acme" });
  const page = (code: string, path: string, locale: string | null, more = {}) =>
    make.page({ code, path, locale, site_code: "acme", content: "<{{ canonical_url }}>", ...more });
  await page("home", "", null);
  await page("about-pl", "o-nas", "pl");
  await page("about-en", "about", "en", { based_on_page_code: "about-pl" });
  await page("price-pl", "price", "pl");
  await page("price-en", "price", "en");
  await page("price-any", "price", null);
  await page("off", "off", null, { active: false });
  await page("missing", "missing", null, { kind: "404" });
  await page("amp", "a&b", null);
  const content = '{% articles category="news" %}{% list %}{% show %}x{% endarticles %}<{{ canonical_url }}>';
  await page("blog", "blog", null, { content });
  await make.category({ code: "news", name: "News", site_code: "acme" });
  const article = (code: string, more = {}) =>
    make.article({ code, path: code, title: code, site_code: "acme", category_code: "news", ...more });
  await article("one", { locale: "pl" });
  await article("two", { locale: "en" });
  await article("three");
  await article("hidden", { active: false });
  await article("later", { published_at: "2999-01-01" });
  await article("elsewhere", { category_code: null });
}

const locations = (xml: string) => [...xml.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, url]) => url);
const entryOf = (xml: string, url: string) =>
  xml.split("<url>").find((part) => part.includes(`<loc>${url}</loc>`)) ?? "";

describe("the sitemap of a domain lists pages of its locale and those without one (behaviour A.6):", () => {
  // Each at its canonical address: without a locale on the first domain, else on that of the locale.
  const table: [string, string[]][] = [
    ["acme.pl", ["pl/", "pl/o-nas", "pl/price", "pl/a&amp;b", "pl/blog", "pl/blog/one", "pl/blog/three"]],
    ["acme.com", ["pl/", "com/about", "com/price", "pl/a&amp;b", "pl/blog", "com/blog/two", "pl/blog/three"]],
    ["acme.eu", "pl/ pl/o-nas com/about pl/price pl/a&amp;b pl/blog pl/blog/one com/blog/two pl/blog/three".split(" ")],
  ];
  test.each(table)("%s", async (host, paths) => {
    const answer = await at(host, "/sitemap.xml");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/xml; charset=utf-8"]);
    expect(locations(answer.text)).toEqual(paths.map((path) => `https://acme.${path}`));
  });

  test("a page's other languages are told, the same on each domain", async () => {
    const pl = entryOf((await at("acme.pl", "/sitemap.xml")).text, "https://acme.pl/o-nas");
    const en = entryOf((await at("acme.com", "/sitemap.xml")).text, "https://acme.com/about");
    const links = (entry: string) => entry.match(/<xhtml:link[^>]*>/g);
    expect(links(pl)).toEqual([
      '<xhtml:link rel="alternate" hreflang="pl" href="https://acme.pl/o-nas"/>',
      '<xhtml:link rel="alternate" hreflang="en" href="https://acme.com/about"/>',
      '<xhtml:link rel="alternate" hreflang="x-default" href="https://acme.pl/o-nas"/>',
    ]);
    expect(links(en)).toEqual(links(pl));
    expect(pl).toMatch(/<lastmod>\d{4}-\d\d-\d\dT[\d:.]+Z<\/lastmod>/);
  });

  test("an article without a locale has the languages of its page, one with a locale none", async () => {
    const { text } = await at("acme.pl", "/sitemap.xml");
    expect(entryOf(text, "https://acme.pl/blog/three")).toContain('hreflang="en" href="https://acme.com/blog/three"');
    expect(entryOf(text, "https://acme.pl/blog/one")).not.toContain("xhtml:link");
  });

  test("without multilang there are no other languages", async () => {
    await make.change("site", "acme", { multilang: false });
    const { text } = await at("acme.pl", "/sitemap.xml");
    expect(locations(text)).toContain("https://acme.pl/o-nas");
    expect(text).not.toContain("<xhtml:link");
    await make.change("site", "acme", { multilang: true });
  });

  test("every address in it is shown, and is the canonical one that the page itself tells", async () => {
    for (const host of ["acme.pl", "acme.com", "acme.eu"]) {
      for (const url of locations((await at(host, "/sitemap.xml")).text)) {
        const address = new URL((url ?? "").replaceAll("&amp;", "&"));
        const { status, text } = await at(address.host, address.pathname);
        expect([host, status, text.includes(`<${address}>`)]).toEqual([host, 200, true]);
      }
    }
  });

  test("HEAD has no body, and other numbers are nothing", async () => {
    const head = await at("acme.pl", "/sitemap.xml", { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
    for (const path of [
      "/sitemap-1.xml",
      "/sitemap-0.xml",
      "/sitemap-99999999.xml",
      "/sitemap-x.xml",
      "/x/sitemap.xml",
    ])
      expect((await at("acme.pl", path)).status).toBe(404);
  });
});

describe("robots.txt", () => {
  test("names the sitemap of its own host", async () => {
    const answer = await at("acme.com", "/robots.txt");
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(answer.text).toContain("Sitemap: https://acme.com/sitemap.xml\n");
  });
  test("is the site's own where a page has that path", async () => {
    await make.page({ code: "robots", path: "robots.txt", site_code: "acme", content: "User-agent: *\nDisallow: /" });
    expect((await at("acme.com", "/robots.txt")).text).toBe("User-agent: *\nDisallow: /");
    await make.remove("page", "robots");
  });
});

test("the sitemap leaves out addresses that are redirected to the domain's language", async () => {
  const site_code = "moved";
  await make.site({ code: site_code, name: "Moved", locale: "pl", multilang: true });
  await make.domain({ name: "moved.pl", site_code, locale: "pl" });
  await make.domain({ name: "moved.com", site_code, locale: "en" });
  await make.page({ code: "open", path: "otwarte", site_code, content: "x" });
  await make.page({ code: "open-en", path: "open", site_code, locale: "en", based_on_page_code: "open" });
  await make.page({ code: "shared", path: "shared", site_code, content: "x" });
  expect(locations((await at("moved.pl", "/sitemap.xml")).text)).toEqual([
    "https://moved.pl/otwarte",
    "https://moved.pl/shared",
  ]);
  const en = locations((await at("moved.com", "/sitemap.xml")).text);
  expect(en).toEqual(["https://moved.com/open", "https://moved.pl/shared"]);
  for (const url of en) expect((await at(new URL(url ?? "").host, new URL(url ?? "").pathname)).status).toBe(200);
  expect((await at("moved.com", "/otwarte")).status).toBe(301);
});

describe("a list longer than a file", () => {
  const request = async () => {
    const { sql } = server.app;
    const reading = {
      sql,
      read: readOn(sql),
      engine: createSiteEngine(),
      media: { picturesOf: async () => new Map() },
    };
    const [row] = await server.app.sql<{ id: number }[]>`select id from cms_sites where code = 'acme'`;
    const found = await renderStore.siteById(reading, row?.id ?? 0);
    const domain = found?.domains.find(({ name }) => name === "acme.eu");
    if (!found || !domain) throw new Error("the site is missing");
    const state: SiteState = {
      serial: 0,
      account: { id: found.site.accountId, name: "", baseUrl: "", timezone: "UTC", locale: "pl" },
      ...found,
      layout: async () => undefined,
      categories: () => renderStore.categories(reading, found.site),
      redirects: () => Promise.resolve(new Map()),
      nextPublication: async () => null,
    };
    return { reading, request: { state, domain, scheme: "https:", headOnly: false } };
  };
  const textOf = async (answer: unknown) => {
    if (answer instanceof Response) return answer.text();
    return typeof answer === "object" && answer !== null && "body" in answer ? String(answer.body) : "";
  };

  test("is an index of files that have every address once, whatever the size of a part", async () => {
    const { reading, request: asked } = await request();
    const whole = locations((await at("acme.eu", "/sitemap.xml")).text);
    for (const [maxAddresses, batch] of [
      [4, 2],
      [3, 3],
      [1, 1],
      [5, 1000],
      [8, 3],
    ] as const) {
      const sitemap = createSitemap(reading, { maxAddresses, batch });
      const index = await textOf(await sitemap.answer("sitemap.xml", asked));
      const files = locations(index);
      expect(index).toContain("<sitemapindex");
      expect(files).toHaveLength(Math.ceil(whole.length / maxAddresses));
      const all: (string | undefined)[] = [];
      for (const file of files) {
        const part = locations(await textOf(await sitemap.answer(new URL(file ?? "").pathname.slice(1), asked)));
        expect(part.length).toBeLessThanOrEqual(maxAddresses);
        all.push(...part);
      }
      expect(all).toEqual(whole);
      expect(await sitemap.answer(`sitemap-${files.length + 1}.xml`, asked)).toBeNull();
    }
  });

  test("is parted by size too: a file keeps within its bytes, whatever its addresses take", async () => {
    const { reading, request: asked } = await request();
    const whole = locations((await at("acme.eu", "/sitemap.xml")).text);
    const maxBytes = 2500;
    const sitemap = createSitemap(reading, { maxBytes });
    const files = locations(await textOf(await sitemap.answer("sitemap.xml", asked)));
    expect(files.length).toBeGreaterThan(1);
    const all: (string | undefined)[] = [];
    for (const file of files) {
      const xml = await textOf(await sitemap.answer(new URL(file ?? "").pathname.slice(1), asked));
      expect(xml.length).toBeLessThanOrEqual(maxBytes);
      all.push(...locations(xml));
    }
    expect(all).toEqual(whole);
  });

  test("is not read by more than a few at once", async () => {
    const { reading, request: asked } = await request();
    const sitemap = createSitemap(reading);
    const open = await Promise.all(Array.from({ length: 4 }, () => sitemap.answer("sitemap.xml", asked)));
    expect(sitemap.answer("sitemap.xml", asked)).rejects.toMatchObject({ status: 503 });
    for (const answer of open) if (answer instanceof Response) await answer.body?.cancel();
    expect(await textOf(await sitemap.answer("sitemap.xml", asked))).toContain("<urlset");
  });
});
