/** The translation matrix of a site, its checks and its migration. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../harness.ts";
import { siteMaker, type SiteMaker } from "../sites.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let make: SiteMaker;
beforeAll(async () => {
  studio = await startStudio();
  make = siteMaker(studio.app);
});
afterAll(() => studio.stop());

test("a site in three languages is translated into a fourth, with the matrix as the guide", async () => {
  const { app } = studio;
  const site_code = "kobalt";
  await make.site({ code: site_code, locale: "pl", multilang: true });
  for (const locale of ["pl", "en", "de"]) await make.domain({ name: `${locale}.kobalt.example`, site_code, locale });
  const fields = { pl: { title: "Witaj" }, en: { title: "Welcome" }, de: { title: "Willkommen" } };
  await make.page({ code: "home", path: "", site_code, fields });
  const about = { pl: { title: "O nas" }, en: { title: "About" }, de: { title: "Über uns" } };
  await make.page({ code: "about", path: "o-nas", locale: "pl", site_code, fields: about, html_title: "O nas" });
  for (const [locale, path] of [
    ["en", "about"],
    ["de", "ueber-uns"],
  ])
    await make.page({ code: `about-${locale}`, path, locale, site_code, based_on_page_code: "about" });
  const hours = { pl: { title: "Godziny" }, en: { title: "Hours" }, de: { title: "Zeiten" } };
  await make.paragraph({ code: "hours", site_code, fields: hours });
  await using opened = await studio.signedIn({ at: "/studio/cms/sites/kobalt" });
  const { page, faults } = opened;
  await page.getByRole("link", { name: "Translations", exact: true }).click();
  const matrix = page.getByRole("grid", { name: "Translations" });
  await matrix.getByRole("columnheader", { name: "German" }).waitFor();
  await page.getByLabel("Add a language").selectOption("fr");
  await page.waitForURL(/with=fr&missing=fr/);

  // By keys alone: into the first cell of French, to the next page, and back.
  await matrix.getByRole("link", { name: "Missing: home, French" }).waitFor();
  await matrix.locator('[tabindex="0"]').focus();
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "home: French" }).waitFor();
  const title = page.getByRole("textbox", { name: "Title", exact: true });
  await page.waitForFunction(() => document.activeElement?.matches("[data-unit]"));
  expect(await title.evaluate((one) => one === document.activeElement)).toBe(true);
  await title.fill("Bienvenue");
  await page.keyboard.press("Control+s");
  await page.getByRole("heading", { level: 1, name: "about: French" }).waitFor();
  expect(await page.getByRole("link", { name: "Open", exact: true }).getAttribute("href")).toMatch(
    /\/pages\/\d+\?lang=fr$/,
  );
  await page.getByRole("textbox", { name: "Html title" }).fill("À propos");
  await title.fill("Qui sommes-nous");
  expect(await page.getByRole("textbox", { name: "Path" }).inputValue()).toBe("qui-sommes-nous");
  await page.keyboard.press("Control+s");
  await page.getByText("Nothing is left to do here.").waitFor();

  const [made] = (await app.get("/cms/pages.json?site_code=kobalt&locale=fr")).json;
  expect(made).toMatchObject({
    path: "qui-sommes-nous",
    based_on_page_code: "about",
    html_title: "À propos",
    fields: {},
  });
  expect((await app.get("/cms/pages/about.json?site_code=kobalt")).json.fields).toEqual({
    ...about,
    fr: { title: "Qui sommes-nous" },
  });
  expect((await app.get("/cms/pages/home.json?site_code=kobalt")).json.fields.fr).toEqual({ title: "Bienvenue" });

  // Paragraphs too, by their fields; the filter stays.
  await page.getByRole("navigation", { name: "What is translated" }).getByRole("link", { name: "Paragraphs" }).click();
  await matrix.getByRole("link", { name: "Missing: hours, French" }).click();
  await title.fill("Horaires");
  await page.keyboard.press("Control+s");
  await page.getByText("Nothing is left to do here.").waitFor();
  expect((await app.get("/cms/paragraphs/hours.json?site_code=kobalt")).json.fields.fr).toEqual({ title: "Horaires" });

  // The source changes: its translation is stale until it is written again.
  await make.change("page", "about", { fields: { ...about, pl: { title: "Kim jesteśmy" }, fr: { title: "Qui" } } });
  await make.change("page", "about", { fields: { ...about, pl: { title: "Kto my" }, fr: { title: "Qui" } } });
  await page.goto(`${app.origin}/studio/cms/kobalt/translations?stale=fr`);
  await matrix.getByRole("link", { name: "Stale: 1: about, French" }).click();
  await page.getByText("The source has changed since").waitFor();
  await title.fill("Qui nous sommes");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await eventually(
    async () => (await app.get("/cms/pages/about.json?site_code=kobalt")).json.fields.fr.title === "Qui nous sommes",
  );
  expect(faults).toEqual([]);
});

test("what a check finds is told in words, and mended where that is sure", async () => {
  const { app } = studio;
  const site_code = "broken";
  await make.site({ code: site_code, locale: "pl", multilang: true });
  await make.domain({ name: "broken.example", site_code, locale: "pl" });
  const content = '<html lang="{{ locale }}"><head>{{ seo_head }}</head>{{ content }}</html>';
  await make.layout({ code: "main", site_code, content });
  await make.paragraph({ code: "hours", site_code });
  await make.page({ code: "p", path: "p", site_code, layout_code: "main", content: '{% paragraph "huors" %}' });
  await using opened = await studio.signedIn({ at: "/studio/cms/broken/checks" });
  const { page, faults } = opened;
  await page.getByRole("heading", { name: "The attribute lang is made from locale" }).waitFor();
  const mend = async (name: string) => {
    await page.getByRole("button", { name, exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("table").waitFor();
    await dialog.getByRole("button", { name: "Mend", exact: true }).click();
    await page.getByRole("button", { name, exact: true }).waitFor({ state: "detached" });
  };
  await mend("Mend: main · content");
  await mend("Mend: p · content");
  await page.getByText("Nothing to mend: no rule is broken.").waitFor();
  expect((await app.get("/cms/layouts/main.json?site_code=broken")).json.content).toContain('lang="{{ html_lang }}"');
  expect((await app.get("/cms/pages/p.json?site_code=broken")).json.content).toBe('{% paragraph "hours" %}');
  expect(faults).toEqual([]);
});

test("the migration to several languages is tried out, and run once the site's name is typed", async () => {
  const { app } = studio;
  const site_code = "old";
  await make.site({ code: site_code, name: "Old shop", locale: "pl" });
  await make.page({
    code: "about",
    path: "o-nas",
    site_code,
    content: "{{ title_pl }}",
    fields: { title_pl: "O nas" },
  });
  await make.page({ code: "about-en", path: "en/about", site_code, fields: { title_en: "About" } });
  const pageOf = async (code: string) => (await app.get(`/cms/pages/${code}.json?site_code=old`)).json;
  await using opened = await studio.signedIn({ at: "/studio/cms/old/migration" });
  const { page, faults } = opened;
  await page.getByRole("button", { name: "Leave out: about-en" }).waitFor();
  const run = page.getByRole("button", { name: "Migrate", exact: true });
  expect(await run.getAttribute("aria-disabled")).toBe("true");
  await page.getByRole("button", { name: "Dry run" }).click();
  await page.getByText("Would be made: 0. Would be changed: 3.").waitFor();
  expect((await pageOf("about")).fields).toEqual({ title_pl: "O nas" });
  await run.click();
  const dialog = page.getByRole("dialog", { name: "Migrate" });
  await dialog.getByLabel("Name", { exact: true }).fill("Old shop");
  await dialog.getByRole("button", { name: "Migrate" }).click();
  await page.getByText("Made: 0. Changed: 3.").waitFor();
  expect(await pageOf("about")).toMatchObject({
    locale: "pl",
    fields: { pl: { title: "O nas" }, en: { title: "About" } },
  });
  expect(await pageOf("about-en")).toMatchObject({ based_on_page_code: "about", path: "about", fields: {} });
  expect(faults).toEqual([]);
});
