import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { HtmlValidate } from "html-validate";
import type { Page } from "playwright-core";
import { accounts } from "../../plugins/accounts/api.ts";
import { cms } from "../../plugins/cms-multilang/api.ts";
import { siteFiles } from "../../sites/demo/files.js";
import { faultsOf, launchChromium, type TestBrowser } from "../chromium.ts";
import { crawl, oneSided, read, sitemap, type Crawled } from "../crawler.ts";
import { startTestApp, type TestApp } from "../harness.ts";
import { faintTexts } from "./faint-texts.ts";

// The harness says so only to the first file of a run.
setDefaultTimeout(600_000);

let app: TestApp;
let browser: TestBrowser;
let pl: string;
let en: string;
let pages: ReadonlyMap<string, Crawled>;

beforeAll(async () => {
  app = await startTestApp();
  // As `corestead demo` does, without its apps: see tests/demo.test.ts.
  const { port } = new URL(app.origin);
  const withPort = (file: string) => file.replace(/^(domains\/.*)\.yaml$/, `$1%3A${port}.yaml`);
  const files = new Map([...siteFiles].map(([file, text]) => [withPort(file), text]));
  const account = await app.service(accounts).defaultAccount();
  await app.service(cms).pushFiles({ account, userId: null }, "kobalt", files);
  pl = `http://kobalt.localhost:${port}`;
  en = `http://en.kobalt.localhost:${port}`;
  browser = await launchChromium();
  pages = await crawl({ origin: app.origin, from: [`${pl}/`, `${en}/`] });
});

afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

const open = async (url: string, size = { width: 1280, height: 800 }): Promise<{ page: Page; faults: string[] }> => {
  const page = await browser.newPage({ viewport: size });
  const faults = faultsOf(page);
  await page.goto(url, { waitUntil: "load" });
  return { page, faults };
};

/** Where someone looks at it: SHOTS=/tmp/shots bun test tests/browser/demo-site.test.ts */
const folder = process.env["SHOTS"];

describe("the demo site in Chromium", () => {
  // [address, language, heading, addresses of the menu]
  const cases: [string, () => string, string, string, string[]][] = [
    ["in Polish", () => `${pl}/`, "pl", "Kamionka, która", ["/o-pracowni", "/kolekcja", "/blog", "/kontakt"]],
    ["in English", () => `${en}/`, "en", "Stoneware that", ["/workshop", "/collection", "/blog", "/contact"]],
    [
      "in German",
      () => `${pl}/?lang=de`,
      "de",
      "Steinzeug, das",
      ["/werkstatt", "/kollektion", "/tagebuch", "/de/kontakt"],
    ],
  ];
  test.each(cases)("shows its home page %s", async (_, address, lang, heading, menu) => {
    const { page, faults } = await open(address());
    expect(await page.getAttribute("html", "lang")).toBe(lang);
    expect(await page.textContent("h1")).toContain(heading);
    const hrefs = await page
      .locator("header .menu a")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    expect(hrefs).toEqual(menu);
    for (const path of menu) {
      await page.goto(new URL(path, address()).href);
      expect(await page.getAttribute("html", "lang")).toBe(lang);
      expect(await page.locator("h1").count()).toBe(1);
    }
    expect(faults).toEqual([]);
    await page.close();
  });

  test("leads to the same page in another language, over to the other domain", async () => {
    const { page } = await open(`${pl}/o-pracowni`);
    await page.click("nav.languages a[lang=en]");
    expect(page.url()).toBe(`${en}/workshop`);
    await page.click("nav.languages a[lang=de]");
    expect(page.url()).toBe(`${pl}/werkstatt`);
    await page.click("nav.languages a[lang=pl]");
    expect(page.url()).toBe(`${pl}/o-pracowni`);
    await page.close();
  });

  test("lists the journal's articles of its language alone, and shows each", async () => {
    for (const [address, count] of [
      [`${pl}/blog`, 3],
      [`${en}/blog`, 3],
      [`${pl}/tagebuch`, 3],
      [`${en}/blog/kiln`, 2],
      [`${pl}/tagebuch/kobalt`, 1],
    ] as const) {
      const { page } = await open(address);
      expect(await page.locator(".teaser").count()).toBe(count);
      const title = await page.locator(".teaser h2 a").first().textContent();
      await page.locator(".teaser h2 a").first().click();
      expect(await page.textContent("h1")).toBe(title);
      await page.close();
    }
  });

  test("can be used by keyboard: the first stop leads past the menu", async () => {
    const { page } = await open(`${en}/`);
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content");
    await page.keyboard.press("Enter");
    expect(new URL(page.url()).hash).toBe("#content");
    await page.close();
  });

  test.each([360, 768, 1280])("is as wide as the window of %i pixels, and no text is cut off", async (width) => {
    for (const path of ["/", "/o-pracowni", "/kolekcja", "/blog", "/blog/dlaczego-1250", "/de/kontakt", "/nigdzie"]) {
      const { page } = await open(`${pl}${path}`, { width, height: 800 });
      await page.emulateMedia({ reducedMotion: "reduce" });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect({ path, wide }).toEqual({ path, wide: width });
      if (folder) {
        const name = `${path.replaceAll("/", "_")}-${width}`;
        await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
        await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
        await page.screenshot({ path: `${folder}/${name}-dark.png`, fullPage: true });
      }
      await page.close();
    }
  });

  test.each(["light", "dark"] as const)("has text that stands out from its ground, %s", async (colorScheme) => {
    const { page } = await open(`${pl}/`);
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    expect(await page.evaluate(faintTexts)).toEqual([]);
    await page.goto(`${pl}/blog`);
    expect(await page.evaluate(faintTexts)).toEqual([]);
    await page.close();
  });
});

describe("the demo site as a crawler sees it", () => {
  test("has no link that leads nowhere", () => {
    const broken = [...pages.values()]
      .filter(({ status }) => status !== 200)
      .map(({ url, status }) => `${status} ${url}`);
    expect(broken).toEqual([]);
    expect(pages.size).toBeGreaterThan(25);
  });

  test("names translations both ways, over both domains", () => {
    const canonical = [...pages.values()].filter(({ url, canonical: own }) => own === url);
    expect(oneSided(canonical, pages)).toEqual([]);
    const home = pages.get(`${pl}/`);
    expect(Object.fromEntries(home?.alternates ?? [])).toEqual({ pl: `${pl}/`, en: `${en}/`, "x-default": `${pl}/` });
    const workshop = pages.get(`${en}/workshop`);
    expect(Object.fromEntries(workshop?.alternates ?? [])).toEqual({
      pl: `${pl}/o-pracowni`,
      en: `${en}/workshop`,
      de: `${pl}/werkstatt`,
      "x-default": `${pl}/o-pracowni`,
    });
  });

  test("has one canonical address for each page, which is there and says so itself", () => {
    for (const { url, canonical } of pages.values()) {
      expect({ url, canonical: canonical !== undefined }).toEqual({ url, canonical: true });
      expect(pages.get(canonical ?? "")?.canonical).toBe(canonical ?? "");
    }
  });

  test("has sitemaps whose addresses are canonical and name their translations both ways", async () => {
    const lists = await Promise.all([pl, en].map((site) => sitemap(app.origin, `${site}/sitemap.xml`)));
    const listed = new Map(lists.flat().map((entry) => [entry.url, entry]));
    expect(listed.size).toBeGreaterThan(20);
    expect(oneSided(listed.values(), pages)).toEqual([]);
    for (const { url, alternates } of listed.values()) {
      // On a domain without a locale all pages are listed (behaviour A.6), also those whose own address is on the other one.
      const { status, canonical = "" } = await read(app.origin, url);
      expect({ url, status }).toEqual({ url, status: 200 });
      expect({ canonical, isOwn: pages.get(canonical)?.canonical === canonical }).toEqual({ canonical, isOwn: true });
      if (alternates.size > 0) expect(canonical).toBe(url);
    }
    expect(await Promise.all([pl, en].map(robots))).toEqual([`${pl}/sitemap.xml`, `${en}/sitemap.xml`]);
  });

  test("is valid HTML on every page, its missing one included", async () => {
    const validator = new HtmlValidate({ extends: ["html-validate:recommended"] });
    const missing = await fetch(`${app.origin}/nigdzie`, { headers: { host: new URL(pl).host } });
    expect(missing.status).toBe(404);
    const texts = [...[...pages.values()].map(({ url, html }) => [url, html]), ["404", await missing.text()]];
    const wrong: string[] = [];
    for (const [url = "", html = ""] of texts) {
      const report = await validator.validateString(html);
      for (const { messages } of report.results)
        wrong.push(...messages.map(({ ruleId, message, line }) => `${url}:${line} ${ruleId}: ${message}`));
    }
    expect([...new Set(wrong)]).toEqual([]);
  });
});

async function robots(site: string): Promise<string | undefined> {
  const response = await fetch(`${app.origin}/robots.txt`, { headers: { host: new URL(site).host } });
  return /^Sitemap: (.*)$/m.exec(await response.text())?.[1];
}
