import { expect, test } from "bun:test";
import { serverWithSites } from "../../../../tests/sites.ts";

const site_code = "links";
const server = serverWithSites(async () => {
  const { make } = server;
  await make.site({ code: site_code, name: "Links", locale: "pl", multilang: true });
  await make.domain({ name: "links.pl", site_code, locale: "pl" });
  await make.domain({ name: "links.com", site_code, locale: "en" });
  await make.domain({ name: "links.eu", site_code });
  const codes = ["shared", "about", "about-en", "only-pl", "twins", "none"];
  const content = codes.map((code) => `{{ "${code}" | page_url }}`).join(" ") + " {{ page.url }} {{ 5 | page_url }}";
  const page = (code: string, body: object) => make.page({ code, path: code, site_code, content, ...body });
  await page("menu", {});
  await page("shared", { path: "contact us" });
  await page("about", { locale: "pl", path: "o-nas" });
  await page("about-en", { locale: "en", path: "about", based_on_page_code: "about" });
  await page("only-pl", { locale: "pl" });
  await page("twins", { locale: "pl" });
  await page("twins-en", { locale: "en", path: "twins" });
  await page("missing", { kind: "404" });
});
const { at, make } = server;

const pl = "/contact%20us /o-nas /o-nas /only-pl /twins ";
const cases: [host: string, path: string, text: string][] = [
  ["links.pl", "/menu", `${pl} /menu `],
  ["links.com", "/menu", "/contact%20us /about /about https://links.pl/only-pl /twins  /menu "],
  // A page's own language wins over the domain's, and its address is on the domain of that language.
  [
    "links.com",
    "/only-pl",
    "https://links.pl/contact%20us https://links.pl/o-nas https://links.pl/o-nas https://links.pl/only-pl https://links.pl/twins  https://links.pl/only-pl ",
  ],
  ["links.pl", "/menu?lang=fr", "/contact%20us?lang=fr /o-nas /o-nas /only-pl /twins  /menu "],
  ["links.pl", "/nowhere", `${pl} /missing `],
];
test.each(cases)("%s%s links to pages in the language shown", async (host, path, text) => {
  expect((await at(host, path)).text).toBe(text);
});

test("a page that moves is linked at its new path at once, and without multilang at its own", async () => {
  await make.change("page", "shared", { path: "moved" });
  expect((await at("links.pl", "/menu")).text).toStartWith("/moved /o-nas ");
  await make.change("site", site_code, { multilang: false });
  expect((await at("links.com", "/menu")).text).toBe("/moved /o-nas /about /only-pl /twins  /menu ");
});
