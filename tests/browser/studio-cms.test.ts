/** Sites in the Studio: with domains, layouts, pages in several languages, paragraphs, categories and articles. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import sample from "../../scripts/new-plugin/plugin.ts";
import { eventually, type TestApp } from "../harness.ts";
import { siteMaker, type SiteMaker } from "../sites.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let app: TestApp;
let make: SiteMaker;
beforeAll(async () => {
  studio = await startStudio({ plugin: sample, env: { CORE_TIMEZONE: "Asia/Tokyo" } });
  ({ app } = studio);
  make = siteMaker(app);
});
afterAll(() => studio.stop());

const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name }).waitFor();
const save = (page: Page) => page.getByRole("button", { name: "Save" }).click();
const at = (page: Page, path: string) => page.goto(`${app.origin}/studio/${path}`);
const serious = (faults: readonly string[]) => faults.filter((fault) => !/status of (409|422)/.test(fault));

/** Over what an editor holds, as one pastes. */
async function write(editor: Locator, words: string): Promise<void> {
  await editor.focus();
  await editor.press("Control+a");
  await editor.press("Delete");
  await editor.page().keyboard.insertText(words);
}

test("a site is built by hand: domain with its language, layout, page, its translation, paragraph, preview", async () => {
  await make.site({ code: "other", name: "Other", locale: "en" });
  await make.layout({ code: "theirs", name: "Their layout", site_code: "other", content: "{{ content }}" });
  await using opened = await studio.signedIn({ at: "/studio/cms/sites/new" });
  const { page, faults } = opened;
  await page.getByLabel("Short name").fill("acme");
  await page.getByLabel("Name", { exact: true }).fill("Acme <b>");
  await page.getByLabel("Language", { exact: true }).selectOption("pl");
  await page.getByLabel("In several languages").check();
  await save(page);
  await heading(page, "Acme <b>");

  // From the site to its domains: a new one is of this site.
  await page.getByRole("navigation", { name: "Related" }).getByRole("link", { name: "Domains" }).click();
  await page.waitForURL(/domains\?site_code=acme$/);
  await page.getByRole("button", { name: "New domain" }).click();
  expect(await page.getByLabel("Site", { exact: true }).inputValue()).toBe("acme");
  await page.getByLabel("Address").fill("localhost");
  await page.getByLabel("Language", { exact: true }).selectOption("pl");
  await save(page);
  await page.getByLabel("Address").and(page.locator("[aria-invalid=true]")).waitFor();
  await page.getByLabel("Address").fill("www.acme.example");
  await save(page);
  await heading(page, "www.acme.example");
  expect((await app.get("/cms/domains.json?name=www.acme.example")).json).toMatchObject([
    { locale: "pl", site_code: "acme" },
  ]);
  await page.getByLabel("Language", { exact: true }).selectOption("en");
  await save(page);
  await eventually(async () => (await app.get("/cms/domains.json?name=www.acme.example")).json[0].locale === "en");

  await at(page, "cms/layouts/new?site_code=acme");
  await page.getByLabel("Short name").fill("main");
  await page.getByLabel("Name", { exact: true }).fill("Main");
  const content = page.getByRole("textbox", { name: "Content" });
  await write(content, "<html>\n{{ content | nonsense }}</html>");
  await save(page);
  await page.getByRole("button", { name: /^Line 2, column \d+: .*nonsense/ }).waitFor();
  await write(content, "<html lang='{{ html_lang }}'>{{ content }}</html>");
  await save(page);
  await heading(page, "Main");

  await at(page, "cms/pages/new?site_code=acme");
  await page.getByLabel("Short name").fill("offer");
  await page.getByLabel("Name", { exact: true }).fill("Oferta");
  // Only what belongs to the site can be chosen.
  await page.getByLabel("Frame").selectOption("main");
  expect(await page.getByLabel("Frame").locator("option").allTextContents()).toEqual(["None", "Main"]);
  await page.getByLabel("Path").fill("oferta");
  await page.getByLabel("Language", { exact: true }).selectOption("pl");
  await write(content, "<h1>{{ title }}</h1>");
  await write(page.getByRole("textbox", { name: "Fields" }), '{ "title": "Nasza oferta" }');
  await save(page);
  await heading(page, "Oferta");
  const preview = page.getByRole("link", { name: "Preview" });
  expect(await preview.getAttribute("href")).toBe("/w/acme/oferta?lang=pl");
  expect((await app.get("/w/acme/oferta?lang=pl")).text).toContain("<h1>Nasza oferta</h1>");

  await at(page, "cms/pages/new?site_code=acme&locale=en");
  await page.getByLabel("Short name").fill("offer-en");
  await page.getByLabel("Name", { exact: true }).fill("Offer");
  await page.getByLabel("Path").fill("offer");
  await page.getByLabel("Based on").selectOption("offer");
  await save(page);
  await heading(page, "Offer");
  const [slave] = (await app.get("/cms/pages.json?code=offer-en")).json;
  expect(slave).toMatchObject({ based_on_page_code: "offer", locale: "en", path: "offer" });
  await page.getByRole("link", { name: "Open: offer" }).click();
  await heading(page, "Oferta");
  await page.getByRole("navigation", { name: "Related" }).getByRole("link", { name: "Paragraphs" }).click();
  await page.getByRole("button", { name: "New paragraph" }).click();
  await page.getByLabel("Short name").fill("intro");
  await page.getByLabel("Name", { exact: true }).fill("Intro");
  await write(content, "<p>{{ paragraph.text }}</p>");
  await save(page);
  await heading(page, "Intro");
  expect((await app.get("/cms/paragraphs.json?code=intro")).json).toMatchObject([{ page_code: "offer" }]);

  // The lists of one site: without the site as a filter, and what is new there is of it.
  await at(page, "cms/sites/acme");
  const tabs = page.getByRole("navigation", { name: "site", exact: true });
  await tabs.getByRole("link", { name: "Layouts" }).click();
  await page.waitForURL(/sites\/acme\/layouts$/);
  await page.getByRole("grid", { name: "Layouts" }).getByRole("link", { name: "Main", exact: true }).waitFor();
  expect(await page.getByText("Their layout").count()).toBe(0);
  await page.getByRole("button", { name: "New layout" }).click();
  expect(await page.getByLabel("Site", { exact: true }).inputValue()).toBe("acme");

  await at(page, "cms/sites/acme");
  await page.getByRole("link", { name: "Checks", exact: true }).click();
  await page.getByRole("heading", { level: 2 }).first().waitFor();
  await page.getByRole("link", { name: "Translations" }).click();
  await page.getByRole("grid", { name: "Translations" }).getByRole("columnheader", { name: "English" }).waitFor();
  expect(serious(faults)).toEqual([]);
});

test("an article has categories chosen by name and a time in the account's zone, and is deleted with its undo", async () => {
  await make.site({ code: "blog", name: "Blog", locale: "en" });
  await make.category({ code: "news", name: "News", site_code: "blog" });
  await make.category({ code: "events", name: "Events", site_code: "blog" });
  await using opened = await studio.signedIn({ at: "/studio/cms/articles/new?site_code=blog" });
  const { page, faults } = opened;
  await page.getByLabel("Title").first().fill("A new office");
  await page.getByLabel("Category", { exact: true }).selectOption("news");
  await page.getByLabel("Published").fill("2026-02-01T09:30");
  await page.getByText("Asia/Tokyo").waitFor();
  await save(page);
  await heading(page, "A new office");
  const [article] = (await app.get("/cms/articles.json?site_code=blog")).json;
  expect(article).toMatchObject({ category_code: "news", published_at: "2026-02-01T00:30:00.000Z" });
  expect(await page.getByLabel("Published").inputValue()).toBe("2026-02-01T09:30");
  await page.getByRole("button", { name: "Delete" }).click();
  await heading(page, "Articles");
  await page.getByRole("button", { name: "Undo" }).click();
  await heading(page, "A new office");
  expect((await app.get(`/cms/articles/${article.id}.json`)).status).toBe(200);
  expect(serious(faults)).toEqual([]);
});

test("a folder plugin's resource is worked with in the same way", async () => {
  await using opened = await studio.signedIn({ at: "/studio/sample-plugin/items" });
  const { page, faults } = opened;
  await page.getByRole("button", { name: "New item" }).click();
  await page.getByLabel("Title").fill(" ");
  await save(page);
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Title").fill("Shelf <b>");
  await save(page);
  await heading(page, "Shelf <b>");
  await page.getByLabel("Title").fill("Desk");
  await save(page);
  await eventually(async () => (await app.get("/sample-plugin/items")).json[0]?.title === "Desk");
  expect(serious(faults)).toEqual([]);
});

test("a phone shows sites without scrolling sideways, in German and in the dark", async () => {
  await make.site({ code: "phone", name: "x".repeat(200), locale: "en" });
  await make.page({ code: "long", name: "y".repeat(200), path: "z".repeat(200), site_code: "phone" });
  await using opened = await studio.signedIn({
    viewport: { width: 360, height: 700 },
    colorScheme: "dark",
    locale: "de-DE",
  });
  const { page, faults } = opened;
  for (const path of [
    "cms/pages?site_code=phone",
    "cms/pages/new?site_code=phone",
    "cms/sites/phone",
    "cms/sites/phone/check",
  ]) {
    await at(page, path);
    await page.locator("main [role=grid], main form.form, main .empty").first().waitFor();
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 360]);
  }
  expect(serious(faults)).toEqual([]);
});
