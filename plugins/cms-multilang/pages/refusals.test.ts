/** Refused writes of layouts, pages and paragraphs: each names its field, and leaves no row and no event. */
import { describe, expect, test } from "bun:test";
import { adminToken as token } from "../../../tests/harness.ts";
import { deep, notACode, holdsToken, refusals, type Wrong } from "../../../tests/fixtures/cms-refusals.ts";

const { refused, seen, send } = refusals();

/** What layouts, pages and paragraphs have in common. */
const wrongTexts: Wrong[] = [
  ["a number for a code", { code: "12" }, { code: notACode }],
  ["a code with a slash", { code: "a/b" }, { code: notACode }],
  ["a code that is too long", { code: "c".repeat(101) }, { code: "may have at most 100 characters" }],
  ["a blank name", { name: "" }, { name: "can't be blank" }],
  ["a name that is too long", { name: "n".repeat(256) }, { name: "may have at most 255 characters" }],
  ["content of another type", { content: 5 }, { content: "must be a string" }],
  ["content that is too long", { content: "x".repeat(256_001) }, { content: "may have at most 256000 characters" }],
  ["a tag that is not closed", { content: "a\n{{ b" }, { content: 'line 2, column 1: output "{{ b" not closed' }],
  ["an unknown tag", { content: "{% nothing %}" }, { content: 'line 1, column 1: tag "nothing" not found' }],
  ["an unknown filter", { content: "{{ a | nothing }}" }, { content: "line 1, column 1: undefined filter: nothing" }],
  [
    "a paragraph that is named by a variable",
    { content: "{% paragraph code %}" },
    { content: 'line 1, column 1: `paragraph` takes the code of a paragraph as a literal: {% paragraph "code" %}' },
  ],
  ["fields that are a text", { fields: "a" }, { fields: "must be an object" }],
  ["fields that are too deep", { fields: deep(21) }, { fields: "may nest at most 20 levels deep" }],
  [
    "fields that are too long",
    { fields: { a: "x".repeat(500_000) } },
    { fields: "may have at most 500000 characters as JSON" },
  ],
  ["a real token in its content", { content: token }, { content: holdsToken }],
  ["a real token in its fields", { fields: { a: [token] } }, { fields: holdsToken }],
];

const inAcme = { code: "new", site_code: "acme" };
const kinds = [
  { kind: "layout", plural: "layouts", ref: "main" },
  { kind: "page", plural: "pages", ref: "lone" },
  { kind: "paragraph", plural: "paragraphs", ref: "intro" },
];

describe.each(kinds)("a $kind", ({ kind, plural, ref }) => {
  test.each(wrongTexts)("made with %s", async (_, fields, says) => {
    await refused("POST", `/cms/${plural}.json`, 422, { body: { [kind]: { ...inAcme, ...fields } }, says });
  });

  test.each(wrongTexts)("changed to %s", async (_, fields, says) => {
    await refused("PATCH", `/cms/${plural}/${ref}.json`, 422, { body: { [kind]: fields }, says });
  });
});

const wrongNewLayout: Wrong[] = [
  ["no site", { site_code: undefined }, { site_code: "is required" }],
  ["neither a name nor a code", { code: undefined }, { name: "is required" }],
  ["a taken code", { code: "main" }, { code: "is already taken" }],
  ["a site that is not there", { site_code: "nowhere" }, { site_code: "names no site of this account" }],
  ["another account's site", { site_code: "theirs" }, { site_code: "names no site of this account" }],
];
const wrongLayoutChange: Wrong[] = [
  ["another site", { site_code: "shop" }, { site_code: "cannot be changed" }],
  ["a code that its site has", { code: "twin" }, { code: "is already taken" }],
];
test.each(wrongNewLayout)("a new layout with %s", async (_, fields, says) => {
  await refused("POST", "/cms/layouts.json", 422, { body: { layout: { ...inAcme, ...fields } }, says });
});
test.each(wrongLayoutChange)("a layout that is changed to %s", async (_, fields, says) => {
  await refused("PATCH", "/cms/layouts/main.json", 422, { body: { layout: fields }, says });
});
const wrongPage: Wrong[] = [
  ["a number for a path", { path: 5 }, { path: "must be a string" }],
  ["a path with an empty segment", { path: "a//b" }, { path: "must not contain an empty segment (//)" }],
  ["a path with a dot segment", { path: "a/../b" }, { path: "must not contain the segment .." }],
  ["a path with a control character", { path: "a\tb" }, { path: "must not contain control characters" }],
  ["a path of too many bytes", { path: "ż".repeat(1001) }, { path: "may have at most 2000 bytes" }],
  ["the path of another page", { path: "lone", locale: "pl" }, { path: "is already taken" }],
  ["a second home page", { path: "/", locale: "en" }, { path: "is already taken" }],
  ["an unknown locale", { locale: "xx" }, { locale: "must be one of pl, en, fr, cs, sk, de, es, uk or empty" }],
  ["a kind with a blank", { kind: "a b" }, { kind: "must be letters, digits, - and _" }],
  ["a flag that is neither true nor false", { active: "maybe" }, { active: "must be true or false" }],
  ["half a position", { position: 1.5 }, { position: "must be a whole number" }],
  ["a position beyond every page", { position: 1_000_000_001 }, { position: "must be at most 1000000000" }],
  ["a negative time in caches", { cache_seconds: -1 }, { cache_seconds: "must be at least 0" }],
  ["more than a year in caches", { cache_seconds: 31_536_001 }, { cache_seconds: "must be at most 31536000" }],
  ["a title that is too long", { html_title: "t".repeat(1001) }, { html_title: "may have at most 1000 characters" }],
  [
    "a description that is too long",
    { html_description: "d".repeat(5001) },
    { html_description: "may have at most 5000 characters" },
  ],
  [
    "keywords that are too long",
    { html_keywords: "k".repeat(5001) },
    { html_keywords: "may have at most 5000 characters" },
  ],
  ["a layout that is not there", { layout_code: "nothing" }, { layout_code: "names no layout of this site" }],
  ["another site's layout", { layout_code: "shop-layout" }, { layout_code: "names no layout of this site" }],
  ["another site's layout by its id", { layout_id: "{shop-layout}" }, { layout_id: "names no layout of this site" }],
  [
    "the code of one layout and the id of another",
    { layout_code: "main", layout_id: "{shop-layout}" },
    { layout_id: "names no layout of this site" },
  ],
  [
    "a master that is not there",
    { based_on_page_code: "nothing" },
    { based_on_page_code: "names no page of this site" },
  ],
  [
    "another site's page for a master",
    { based_on_page_code: "shop-page" },
    { based_on_page_code: "names no page of this site" },
  ],
  [
    "another account's page for a master",
    { based_on_page_id: "{their-page}" },
    { based_on_page_id: "names no page of this site" },
  ],
  [
    "a slave for a master",
    { based_on_page_code: "offer-en" },
    { based_on_page_code: "names a page that is itself based on another page" },
  ],
  [
    "the home page for a master",
    { based_on_page_code: "home" },
    { based_on_page_code: "names the home page, which is translated by its fields" },
  ],
  [
    "its master's path",
    { path: "oferta", locale: "de", based_on_page_code: "offer" },
    { path: "must differ from the path of the page it is based on" },
  ],
  ["a real token in a title", { html_title: token }, { html_title: holdsToken }],
  [
    "several of them",
    { path: "..", layout_code: "nothing", content: "{{", fields: deep(21) },
    {
      path: "must not contain the segment ..",
      layout_code: "names no layout of this site",
      content: 'line 1, column 1: output "{{" not closed',
      fields: "may nest at most 20 levels deep",
    },
  ],
];
const wrongNewPage: Wrong[] = [
  ["no site", { code: "new", site_code: null }, { site_code: "is required" }],
  ["neither a name nor a code", { code: undefined }, { name: "is required" }],
  ["a taken code", { code: "home" }, { code: "is already taken" }],
  ["another account's site", { site_code: "theirs" }, { site_code: "names no site of this account" }],
];
const wrongPageChange: Wrong[] = [
  ["another site", { site_code: "shop" }, { site_code: "cannot be changed" }],
  ["another site's id", { site_id: "{shop}" }, { site_id: "cannot be changed" }],
  ["a code that its site has", { code: "home" }, { code: "is already taken" }],
  ["itself for a master", { based_on_page_code: "lone" }, { based_on_page_code: "a page cannot be based on itself" }],
];
const wrongMaster: Wrong[] = [
  [
    "a master of its own",
    { based_on_page_code: "lone" },
    { based_on_page_code: "must be empty: other pages are based on this one" },
  ],
  ["the path of its slave", { path: "offer" }, { path: "is already the path of a page based on this one" }],
  [
    "the home page's path",
    { path: "" },
    { path: "must not be empty: other pages are based on this one, and no page can be based on the home page" },
  ],
];
test.each([...wrongPage, ...wrongNewPage])("a new page with %s", async (_, fields, says) => {
  await refused("POST", "/cms/pages.json", 422, { body: { page: { ...inAcme, ...fields } }, says });
});
test.each(wrongPage)("a page that is changed to %s", async (_, fields, says) => {
  await refused("PATCH", "/cms/pages/twin.json?site_code=acme", 422, { body: { page: fields }, says });
});
test.each(wrongPageChange)("a page without slaves that is changed to %s", async (_, fields, says) => {
  await refused("PATCH", "/cms/pages/lone.json", 422, { body: { page: fields }, says });
});
test.each(wrongMaster)("a master that is changed to %s", async (_, fields, says) => {
  await refused("PATCH", "/cms/pages/offer.json", 422, { body: { page: fields }, says });
});
const wrongParagraph: Wrong[] = [
  ["a page that is not there", { page_code: "nothing" }, { page_code: "names no page of this site" }],
  ["another site's page", { page_code: "shop-page" }, { page_code: "names no page of this site" }],
  ["another account's page", { page_id: "{their-page}" }, { page_id: "names no page of this site" }],
  [
    "the code of one page and the id of another",
    { page_code: "home", page_id: "{lone}" },
    { page_id: "names no page of this site" },
  ],
  ["a position in words", { position: "first" }, { position: "must be a whole number" }],
  ["a code that its site has", { code: "footer" }, { code: "is already taken" }],
];
const wrongNewParagraph: Wrong[] = [
  ["neither a name nor a code", { code: undefined }, { name: "is required" }],
  [
    "a page of several sites",
    { site_code: undefined, page_code: "twin" },
    { page_code: "names pages of several sites: add site_code" },
  ],
  ["a code that every site's has", { site_code: null, code: "everywhere" }, { code: "is already taken" }],
  ["a site that is not there", { site_code: "nowhere" }, { site_code: "names no site of this account" }],
  ["another account's site", { site_code: "theirs" }, { site_code: "names no site of this account" }],
];
const wrongParagraphChange: Wrong[] = [
  ["another site", { site_code: "shop" }, { site_code: "cannot move the paragraph to another site" }],
];
test.each([...wrongParagraph, ...wrongNewParagraph])("a new paragraph with %s", async (_, fields, says) => {
  await refused("POST", "/cms/paragraphs.json", 422, { body: { paragraph: { ...inAcme, ...fields } }, says });
});
test.each([...wrongParagraph, ...wrongParagraphChange])(
  "a paragraph that is changed to %s",
  async (_, fields, says) => {
    await refused("PATCH", "/cms/paragraphs/intro.json", 422, { body: { paragraph: fields }, says });
  },
);
test("what is accepted is seen: the page, its redirect, the site's revision and an event", async () => {
  const before = await seen();
  expect((await send("PATCH", "/cms/pages/lone.json", { body: { page: { path: "moved" } } })).status).toBe(200);
  const after = await seen();
  const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
  expect(changed.toSorted()).toEqual(["cms_pages", "cms_redirects", "cms_sites", "events"]);
});
