/** Refused writes of categories and articles: each names its field, and leaves no row and no event. */
import { expect, test } from "bun:test";
import { adminToken as token } from "../../../tests/harness.ts";
import { deep, notACode, holdsToken, refusals, type Wrong } from "../../../tests/fixtures/cms-refusals.ts";

const { refused, seen, send } = refusals();

const wrongCategory: Wrong[] = [
  ["a number for a code", { code: "12" }, { code: notACode }],
  ["a blank name", { name: "" }, { name: "can't be blank" }],
  ["a path of another type", { path: 5 }, { path: "must be a string" }],
  ["a path with an empty segment", { path: "a//b" }, { path: "must not contain an empty segment (//)" }],
  ["a path of too many bytes", { path: "x".repeat(2001) }, { path: "may have at most 2000 bytes" }],
  ["a real token", { name: token }, { name: holdsToken }],
];
const wrongNewCategory: Wrong[] = [
  ["no site", { site_code: undefined }, { site_code: "is required" }],
  ["neither a name nor a code", { code: undefined }, { name: "is required" }],
  ["a taken code", { code: "news" }, { code: "is already taken" }],
  ["another account's site", { site_code: "theirs" }, { site_code: "names no site of this account" }],
];
const wrongCategoryChange: Wrong[] = [
  ["another site", { site_code: "shop" }, { site_code: "cannot be changed" }],
  ["a code that its site has", { code: "news" }, { code: "is already taken" }],
  ["a path that its site has", { path: "nowosci" }, { path: "is already taken" }],
];
test.each([...wrongCategory, ...wrongNewCategory])("a new category with %s", async (_, fields, says) => {
  await refused("POST", "/cms/categories.json", 422, {
    body: { category: { code: "new", site_code: "acme", ...fields } },
    says,
  });
});
test.each([...wrongCategory, ...wrongCategoryChange])("a category that is changed to %s", async (_, fields, says) => {
  await refused("PATCH", "/cms/categories/events.json", 422, { body: { category: fields }, says });
});
const wrongArticle: Wrong[] = [
  ["a number for a code", { code: "12" }, { code: notACode }],
  ["a blank title", { title: " " }, { title: "must be not blank" }],
  ["a title that is too long", { title: "t".repeat(1001) }, { title: "may have at most 1000 characters" }],
  ["a lead that is too long", { lead: "l".repeat(50_001) }, { lead: "may have at most 50000 characters" }],
  ["content that is too long", { content: "x".repeat(1_000_001) }, { content: "may have at most 1000000 characters" }],
  ["a path with a dot segment", { path: "./a" }, { path: "must not contain the segment ." }],
  ["the path of another article", { path: "first", category_code: "news", locale: "pl" }, { path: "is already taken" }],
  ["an unknown locale", { locale: "xx" }, { locale: "must be one of pl, en, fr, cs, sk, de, es, uk or empty" }],
  [
    "a date that does not exist",
    { published_at: "2026-02-30" },
    { published_at: "must be a date, or a date with time such as 2026-01-31T10:00:00Z" },
  ],
  [
    "a date in words",
    { published_at: "tomorrow" },
    { published_at: "must be a date, or a date with time such as 2026-01-31T10:00:00Z" },
  ],
  ["a category that is not there", { category_code: "nothing" }, { category_code: "names no category of this site" }],
  ["another site's category", { category_code: "shop-news" }, { category_code: "names no category of this site" }],
  [
    "the code of one category and the id of another",
    { category_code: "events", category_id: "{news}" },
    { category_id: "names no category of this site" },
  ],
  [
    "an additional category that is not there",
    { categories: ["news", "nothing"] },
    { categories: "nothing names no category of this site" },
  ],
  [
    "another site's additional category",
    { categories: ["shop-news"] },
    { categories: "shop-news names no category of this site" },
  ],
  ["additional categories that are a text", { categories: "news" }, { categories: "must be an array" }],
  [
    "too many additional categories",
    { categories: Array.from({ length: 101 }, (_, at) => `c${at}`) },
    { categories: "may have at most 100 elements" },
  ],
  ["fields that are too deep", { fields: deep(21) }, { fields: "may nest at most 20 levels deep" }],
  ["a flag that is neither true nor false", { active: "maybe" }, { active: "must be true or false" }],
  ["a real token in its lead", { lead: token }, { lead: holdsToken }],
];
const wrongNewArticle: Wrong[] = [
  ["no site", { site_code: undefined }, { site_code: "is required" }],
  ["no title", { title: undefined }, { title: "is required" }],
  ["a taken code", { code: "first" }, { code: "is already taken" }],
  ["another account's site", { site_code: "theirs" }, { site_code: "names no site of this account" }],
];
const wrongArticleChange: Wrong[] = [
  ["another site", { site_code: "shop" }, { site_code: "cannot be changed" }],
  ["an empty path", { path: "/" }, { path: "can't be blank" }],
  ["a code that its site has", { code: "first" }, { code: "is already taken" }],
];
test.each([...wrongArticle, ...wrongNewArticle])("a new article with %s", async (_, fields, says) => {
  await refused("POST", "/cms/articles.json", 422, {
    body: { article: { title: "New", site_code: "acme", ...fields } },
    says,
  });
});
test.each([...wrongArticle, ...wrongArticleChange])("a article that is changed to %s", async (_, fields, says) => {
  await refused("PATCH", "/cms/articles/second.json", 422, { body: { article: fields }, says });
});
test("what is accepted is seen: the article, its categories, the site's revision and an event", async () => {
  const before = await seen();
  const body = { article: { categories: ["events"], published_at: null } };
  expect((await send("PATCH", "/cms/articles/second.json", { body })).status).toBe(200);
  const after = await seen();
  const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
  expect(changed.toSorted()).toEqual(["cms_article_categories", "cms_articles", "cms_sites", "events"]);
});
