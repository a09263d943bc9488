/** The pages of a site: found, written in two languages with what they inherit, and looked at before they are saved. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { eventually, type TestApp } from "../harness.ts";
import { siteMaker } from "../sites.ts";
import { startStudio, type Studio } from "./studio-fixture.ts";

let studio: Studio;
let app: TestApp;
let ids: Readonly<Record<string, number>>;
beforeAll(async () => {
  studio = await startStudio();
  ({ app } = studio);
  const make = siteMaker(app);
  const site_code = "acme";
  await make.site({ code: "acme", name: "Acme", locale: "pl", multilang: true });
  await make.domain({ name: "acme.pl", site_code, locale: "pl" });
  await make.domain({ name: "acme.com", site_code, locale: "en" });
  await make.layout({
    code: "main",
    site_code,
    content:
      "<html><head><title>{{ html_title }}</title><style>h1 { color: rgb(1, 2, 3); }</style>{{ seo_head }}</head><body>{{ content }}</body></html>",
  });
  const page = (body: Record<string, unknown>) => make.page({ site_code, ...body });
  const home = await page({ code: "home", name: "Home", path: "", fields: { t: "T", en: { t: "E" } } });
  const offer = await page({
    code: "offer",
    name: "Oferta",
    path: "oferta",
    locale: "pl",
    layout_code: "main",
    html_title: "Oferta",
    content: "<h1>{{ title }}</h1><script>document.body.textContent = 'ran'</script>",
    fields: { title: "Nasza oferta", lead: "Od lat" },
  });
  const slave = await page({
    code: "offer-en",
    name: "Offer",
    path: "offer",
    locale: "en",
    based_on_page_code: "offer",
  });
  const hidden = await page({ code: "shoes", name: "Buty", path: "oferta/letnie/buty", active: false });
  ids = { home: home.id, offer: offer.id, slave: slave.id, hidden: hidden.id };
});
afterAll(() => studio.stop());

/** A 422 is what a wrong form gets; a script of the previewed page is stopped. */
const serious = (faults: readonly string[]) =>
  faults.filter((fault) => !/status of (409|412|422)|Blocked script execution/.test(fault));

test("pages are found in the tree, by their masters and in the table, and a new one is made", async () => {
  await using opened = await studio.signedIn({ at: "/studio/cms/sites/acme" });
  const { page, faults } = opened;
  await page
    .getByRole("navigation", { name: "site", exact: true })
    .getByRole("link", { name: "Pages", exact: true })
    .click();
  await page.waitForURL(/\/studio\/sites\/acme$/);
  const main = page.getByRole("main");
  const link = (name: string): Locator => main.getByRole("link", { name, exact: true });
  const tree = page.getByRole("list", { name: "By path" });
  await tree.getByText("letnie").waitFor();
  await tree.getByText("Not published").waitFor();
  await tree.getByText("English: by the values of its fields").waitFor();
  await tree.getByRole("button", { name: "Below Oferta" }).click();
  await link("Buty").waitFor({ state: "hidden" });

  await link("By master").click();
  await page.waitForURL(/view=masters/);
  await page.getByRole("list", { name: "By master" }).getByText("based on offer").waitFor();
  await link("Table").click();
  await page.waitForURL(/view=table/);
  await page.getByRole("columnheader", { name: "Languages" }).waitFor();
  await page.getByRole("searchbox").fill("but");
  await page.getByRole("searchbox").press("Enter");
  await page.waitForURL(/q=but/);
  await page.getByText("1 of 1 pages").waitFor();
  await link("Buty").waitFor();

  await link("New page").click();
  await page.getByLabel("Name", { exact: true }).fill("Kontakt");
  await page.getByLabel("Path", { exact: true }).fill("kontakt");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Kontakt" }).waitFor();
  expect((await app.get("/cms/pages.json?site_code=acme&code=kontakt")).json).toMatchObject([{ path: "kontakt" }]);
  await page.getByRole("navigation", { name: "Breadcrumbs" }).getByRole("link", { name: "Pages" }).click();
  await page.getByRole("list", { name: "By path" }).waitFor();
  expect(serious(faults)).toEqual([]);
});

test("what is typed over an inherited value unlinks it, another's change is merged, and it is linked again", async () => {
  await using opened = await studio.signedIn({ at: `/studio/cms/acme/pages/${ids["slave"]}` });
  const { page, faults } = opened;
  const title = page.getByRole("group", { name: "title", exact: true });
  const english = title.getByRole("textbox", { name: "English: title" });
  await title.getByText("Falls back to the value of Oferta without a language").waitFor();
  expect(await english.inputValue()).toBe("Nasza oferta");
  await english.fill("Our offer");
  await title.getByText("No longer inherited from Oferta").waitFor();
  const slave = async () => (await app.get(`/cms/pages/${ids["slave"]}.json`)).json;
  // A colleague names it meanwhile.
  await app.patch(`/cms/pages/${ids["slave"]}.json`, { page: { name: "Offers" } });
  const save = page.getByRole("button", { name: "Save", exact: true });
  await save.click();
  await page.getByRole("alert").waitFor();
  await save.click();
  await eventually(async () => (await slave()).fields.en?.title === "Our offer");
  expect((await slave()).name).toBe("Offers");

  await page.getByRole("button", { name: "Write its own" }).click();
  await page.getByRole("textbox", { name: "Content" }).waitFor();
  await page.getByRole("button", { name: "Inherit again", exact: true }).click();
  await title.getByRole("button", { name: "Inherit again: title, English" }).click();
  await title.getByText("Falls back to the value of Oferta without a language").waitFor();
  await page.getByRole("textbox", { name: "Title", exact: true }).fill("Offer");
  await save.click();
  await eventually(async () => (await slave()).html_title === "Offer");
  expect(await slave()).toMatchObject({ fields: {}, content: "" });

  await page.getByRole("main").getByRole("link", { name: "Settings", exact: true }).click();
  await page.getByText("offer is the master").waitFor();
  expect(serious(faults)).toEqual([]);
});

test("the page is looked at as it is typed: by domain and width, without its scripts, and as a search engine sees it", async () => {
  await using opened = await studio.signedIn({ at: `/studio/cms/acme/pages/${ids["offer"]}` });
  const { page, faults } = opened;
  await page
    .getByRole("group", { name: "title", exact: true })
    .getByRole("textbox", { name: "Without a language: title" })
    .fill("Nowa oferta");
  await page.getByRole("link", { name: "Preview", exact: true }).click();
  const frame = page.frameLocator('iframe[title="Preview of the page"]');
  const heading = frame.getByRole("heading", { name: "Nowa oferta" });
  await heading.waitFor();
  expect(await heading.evaluate((one) => getComputedStyle(one).color)).toBe("rgb(1, 2, 3)");
  expect((await app.get(`/cms/pages/${ids["offer"]}.json`)).json.fields.title).toBe("Nasza oferta");
  await page.getByText("Shown in Polish at http://acme.pl/oferta").waitFor();
  await page.getByText("The page has no description", { exact: false }).first().waitFor();
  const result = page.getByRole("region", { name: "As a search engine would show it" });
  await result.getByText("acme.pl › oferta").waitFor();
  await result.getByText("http://acme.com/offer").waitFor();

  await page.getByLabel("Domain").selectOption("acme.com");
  await result.getByText("Visitors of this domain are led to http://acme.com/offer instead.").waitFor();
  await page.getByRole("button", { name: "360 px" }).click();
  await page.waitForURL(/domain=acme\.com&width=360/);
  expect(await page.locator("iframe").evaluate((one) => one.clientWidth)).toBe(358);
  expect(await page.locator("iframe").getAttribute("sandbox")).toBe("");
  await heading.waitFor();
  expect(serious(faults)).toEqual([]);
});

test("a phone shows it without scrolling sideways, in German and in the dark", async () => {
  await using opened = await studio.signedIn({
    viewport: { width: 360, height: 700 },
    colorScheme: "dark",
    locale: "de-DE",
  });
  const { page, faults } = opened;
  for (const path of ["", "?view=table", "/new", `/${ids["home"]}`, `/${ids["offer"]}?tab=preview`]) {
    await page.goto(`${app.origin}/studio/cms/acme/pages${path}`);
    await page.locator("main .card:visible").first().waitFor();
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 360]);
  }
  expect(serious(faults)).toEqual([]);
});
