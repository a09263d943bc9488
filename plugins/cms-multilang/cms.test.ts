import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type OtherAccount, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
let other: OtherAccount;
beforeAll(async () => {
  app = await startTestApp();
  other = await otherAccount(app);
  await made("site", { code: "acme", name: "Acme" });
  await made("site", { code: "second", name: "Second" });
  await made("layout", { code: "base", site_code: "acme", content: "<main>{{ content }}</main>" });
  await made("page", { code: "first", site_code: "acme", path: "first" });
  await made("category", { code: "news", site_code: "acme" });
  await made("category", { code: "events", site_code: "acme" });
});
afterAll(() => app.stop());

/** The record that the API has made of this body. */
async function made(name: string, body: object) {
  const answer = await app.post(`/cms/${plurals[name]}.json`, { [name]: body });
  expect(`${answer.status} ${answer.text}`).toStartWith("201");
  return answer.json;
}

const plurals: Record<string, string> = {
  site: "sites",
  domain: "domains",
  layout: "layouts",
  page: "pages",
  paragraph: "paragraphs",
  category: "categories",
  article: "articles",
};

interface Case {
  readonly name: string;
  readonly body: Record<string, unknown>;
  readonly answer: Record<string, unknown>;
  readonly change: Record<string, unknown>;
  readonly changed: Record<string, unknown>;
}

const translated = { title: "x", pl: { title: "Tytuł" }, xx: { a: [1, null, { b: true }] }, __proto__x: 1 };
const cases: Case[] = [
  {
    name: "site",
    body: { code: "case", name: "Case", locale: "pl", multilang: true, fields: translated },
    answer: { code: "case", name: "Case", locale: "pl", multilang: true, fields: translated, active: true },
    change: { locale: "de", active: false, fields: { a: 1 } },
    changed: { code: "case", locale: "de", active: false, fields: { a: 1 }, multilang: true },
  },
  {
    name: "domain",
    body: { name: "Case.Example.COM", site_code: "second", locale: "cs" },
    answer: { name: "case.example.com", site_code: "second", locale: "cs", primary: true },
    change: { locale: null, name: "www.case.example.com" },
    changed: { name: "www.case.example.com", locale: null, primary: true },
  },
  {
    name: "layout",
    body: { code: "case", name: "Case", site_code: "acme", content: "{{ content }}", fields: translated },
    answer: { code: "case", name: "Case", site_code: "acme", content: "{{ content }}", fields: translated },
    change: { content: null },
    changed: { content: "", fields: translated },
  },
  {
    name: "page",
    body: {
      code: "case",
      name: "Case",
      site_code: "acme",
      path: "/a/case/",
      locale: "uk",
      layout_code: "base",
      content: "<h1>{{ title }}</h1>",
      fields: translated,
      html_title: "T",
      html_description: "D",
      html_keywords: "K",
      based_on_page_code: "first",
      position: -3,
      cache_seconds: 60,
    },
    answer: {
      code: "case",
      path: "a/case",
      locale: "uk",
      kind: "text",
      layout_code: "base",
      content: "<h1>{{ title }}</h1>",
      fields: translated,
      html_title: "T",
      html_description: "D",
      html_keywords: "K",
      based_on_page_code: "first",
      active: true,
      position: -3,
      cache_seconds: 60,
    },
    change: {
      locale: "",
      layout_id: null,
      based_on_page_code: null,
      html_title: "",
      html_keywords: null,
      cache_seconds: null,
      kind: "news",
    },
    changed: {
      locale: null,
      layout_id: null,
      layout_code: null,
      based_on_page_id: null,
      based_on_page_code: null,
      html_title: "",
      html_description: "D",
      html_keywords: null,
      cache_seconds: null,
      kind: "news",
      path: "a/case",
    },
  },
  {
    name: "paragraph",
    body: { code: "case", name: "Case", page_code: "first", content: "<p>{{ paragraph.a }}</p>", fields: { a: 1 } },
    answer: { code: "case", page_code: "first", site_code: "acme", fields: { a: 1 }, position: 0 },
    change: { page_code: null, position: 5 },
    changed: { page_code: null, page_id: null, site_code: "acme", position: 5 },
  },
  {
    name: "category",
    body: { code: "case", name: "Case", path: "/case/", site_code: "acme" },
    answer: { code: "case", name: "Case", path: "case", site_code: "acme" },
    change: { path: null },
    changed: { path: null },
  },
  {
    name: "article",
    body: {
      code: "case",
      site_code: "acme",
      category_code: "news",
      categories: ["events", "news", "events"],
      locale: "sk",
      title: "Zażółć gęślą",
      lead: "L",
      content: "<p>C</p>",
      fields: { a: 1 },
      html_title: "T",
      html_description: "D",
      published_at: "2026-01-05T10:00:00+01:00",
    },
    answer: {
      code: "case",
      category_code: "news",
      categories: ["events", "news"],
      locale: "sk",
      path: "zazolc-gesla",
      lead: "L",
      fields: { a: 1 },
      published_at: "2026-01-05T09:00:00.000Z",
      active: true,
    },
    change: { categories: [], category_code: "events", published_at: null, lead: "", html_title: "" },
    changed: {
      categories: [],
      category_code: "events",
      published_at: null,
      lead: "",
      html_title: "",
      html_description: "D",
      title: "Zażółć gęślą",
    },
  },
];

describe.each(cases)("a $name", ({ name, body, answer, change, changed }) => {
  const path = `/cms/${plurals[name]}`;
  let id = 0;
  let tag = "";
  const code = () => String(name === "domain" ? answer["name"] : answer["code"]);

  test("is made: 201 with the whole object and its tag", async () => {
    const given = await app.post(`${path}.json`, { [name]: body });
    expect(given.json).toMatchObject(answer);
    expect(given.status).toBe(201);
    id = given.json.id;
    tag = given.headers.get("etag") ?? "";
    expect(Number.isInteger(id)).toBe(true);
    expect(tag).toBe(`"${id}-1"`);
    expect(new Date(given.json.created_at).toISOString()).toBe(given.json.created_at);
  });

  test("is read by id and by code, and not sent again where its tag is known", async () => {
    const byId = await app.get(`${path}/${id}.json`);
    expect(byId.json).toMatchObject(answer);
    expect((await app.get(`${path}/${code()}.json`)).json).toEqual(byId.json);
    expect((await app.get(`${path}/${code()}`)).json).toEqual(byId.json);
    expect((await app.get(`${path}/${id}.json`, { headers: { "if-none-match": tag } })).status).toBe(304);
  });

  test("stands in the list, with the count", async () => {
    const listed = await app.get(`${path}.json?limit=1000`);
    expect(listed.json.map((row: { id: number }) => row.id)).toContain(id);
    expect(Number(listed.headers.get("x-total-count"))).toBe(listed.json.length);
    const page = await app.get(`${path}.json?limit=1&offset=1`);
    expect(page.headers.get("x-total-count")).toBe(listed.headers.get("x-total-count"));
    const filter = name === "domain" ? "name" : "code";
    expect((await app.get(`${path}.json?${filter}=${code()}`)).json).toMatchObject([answer]);
    expect((await app.get(`${path}.json?${filter}=nobody`)).json).toEqual([]);
  });

  test("whose code is taken is refused with 422", async () => {
    const again = await app.post(`${path}.json`, { [name]: { ...body, ...(name === "page" && { path: "again" }) } });
    const field = name === "domain" ? "name" : "code";
    expect([again.status, again.json]).toEqual([422, { [field]: ["is already taken"] }]);
  });

  test("is not changed with the tag of an older version or of another", async () => {
    const wrong = [`"${id}-9"`, `"${id + 1}-1"`, "nonsense"];
    for (const given of wrong) {
      const stale = { headers: { "if-match": given } };
      expect((await app.patch(`${path}/${id}.json`, { [name]: change }, stale)).status).toBe(412);
      expect((await app.delete(`${path}/${id}.json`, stale)).status).toBe(412);
    }
  });

  test("is changed in what is given only, and gets another tag", async () => {
    const given = await app.patch(`${path}/${id}.json`, { [name]: change }, { headers: { "if-match": tag } });
    expect(given.json).toMatchObject(changed);
    expect(given.status).toBe(200);
    expect(given.headers.get("etag")).toBe(`"${id}-2"`);
    expect((await app.get(`${path}/${id}.json`)).json).toEqual(given.json);
    const none = await app.patch(`${path}/${id}.json`, { [name]: { unknown: 1 } });
    expect(none.json).toMatchObject(changed);
  });

  test("is 404 to another account, by id and by code", async () => {
    const tagged = { headers: { "if-match": `"${id}-9"` } };
    for (const ref of [id, code()]) {
      expect((await other.patch(`${path}/${ref}.json`, { [name]: change }, tagged)).status).toBe(404);
      expect((await other.delete(`${path}/${ref}.json`, tagged)).status).toBe(404);
      expect((await other.get(`${path}/${ref}.json`)).status).toBe(404);
      expect((await other.patch(`${path}/${ref}.json`, { [name]: change })).status).toBe(404);
      expect((await other.delete(`${path}/${ref}.json`)).status).toBe(404);
    }
    expect((await other.get(`${path}.json`)).json).toEqual([]);
  });

  test("needs the privilege `cms`, which managers have", async () => {
    const user = await person(app, { role: "user" });
    const manager = await person(app, { role: "manager" });
    const granted = await person(app, { role: "guest", privileges: ["cms"] });
    expect((await app.get(`${path}.json`, { token: user.token })).status).toBe(403);
    expect((await app.get(`${path}.json`, { token: null })).status).toBe(401);
    expect((await app.get(`${path}/${id}.json`, { token: manager.token })).status).toBe(200);
    expect((await app.get(`${path}/${id}.json`, { token: granted.token })).status).toBe(200);
  });

  const nowhere = ["0", "-1", "1.5", "999999999", "9".repeat(40), "nobody", "a%00b", "..%2f", "%ff", "a".repeat(3000)];
  test.each(nowhere)("is 404 at %p", async (ref) => {
    expect((await app.get(`${path}/${ref}`)).status).toBe(404);
    expect((await app.delete(`${path}/${ref}`)).status).toBe(404);
  });

  test("is deleted: 204, and then 404", async () => {
    const gone = await app.delete(`${path}/${id}.json`);
    expect([gone.status, gone.text]).toEqual([204, ""]);
    expect((await app.get(`${path}/${id}.json`)).status).toBe(404);
    expect((await app.delete(`${path}/${id}.json`)).status).toBe(404);
  });
});

test("a site's locale starts as its account's", async () => {
  const polish = await otherAccount(app, { locale: "pl-PL" });
  const foreign = await otherAccount(app, { locale: "it" });
  expect((await polish.post("/cms/sites.json", { site: { name: "A" } })).json).toMatchObject({
    code: "a",
    locale: "pl",
  });
  expect((await foreign.post("/cms/sites.json", { site: { name: "A" } })).json).toMatchObject({ locale: "en" });
});

test("a code is made from the name, with a number where it is taken", async () => {
  const body = { name: "Żółty Słoń", site_code: "acme" };
  expect((await made("layout", body)).code).toBe("zolty-slon");
  expect((await made("layout", body)).code).toBe("zolty-slon-2");
  const page = await made("page", { name: "O nas", site_code: "acme" });
  expect([page.code, page.path]).toEqual(["o-nas", "o-nas"]);
  expect(await made("page", { code: "only-code", site_code: "acme" })).toMatchObject({ name: "only-code" });
});

test("an article is published as it is made, and its path gets a number where it is taken", async () => {
  const before = Date.now();
  const article = await made("article", { title: "Same title", site_code: "acme" });
  expect(new Date(article.published_at).getTime()).toBeGreaterThanOrEqual(before - 1000);
  expect((await made("article", { title: "Same title", site_code: "acme" })).path).toBe("same-title-2");
});

test("what shows a code is of a new version when that code changes", async () => {
  await made("site", { code: "moving", name: "Moving" });
  await made("layout", { code: "moving-layout", site_code: "moving" });
  await made("page", { code: "moving-page", site_code: "moving", layout_code: "moving-layout" });
  const first = await app.get("/cms/pages/moving-page.json");
  await app.patch("/cms/layouts/moving-layout.json", { layout: { code: "moved-layout" } });
  const second = await app.get("/cms/pages/moving-page.json");
  await app.patch("/cms/sites/moving.json", { site: { code: "moved" } });
  const third = await app.get("/cms/pages/moving-page.json");
  expect(third.json).toMatchObject({ layout_code: "moved-layout", site_code: "moved" });
  expect(new Set([first, second, third].map(({ headers }) => headers.get("etag"))).size).toBe(3);
  expect((await app.delete("/cms/layouts/moved-layout.json")).status).toBe(204);
  expect((await app.get("/cms/pages/moving-page.json")).json).toMatchObject({ layout_id: null, layout_code: null });
});

test("a site is deleted with everything in it", async () => {
  const site = await made("site", { code: "whole", name: "Whole" });
  await made("domain", { name: "whole.example.com", site_code: "whole" });
  await made("layout", { code: "whole-layout", site_code: "whole" });
  const page = { site_code: "whole", layout_code: "whole-layout" };
  await made("page", { ...page, code: "whole-master", path: "a" });
  await made("page", { ...page, code: "whole-slave", path: "b", based_on_page_code: "whole-master" });
  await made("paragraph", { code: "whole-paragraph", page_code: "whole-slave" });
  await made("category", { code: "whole-category", site_code: "whole" });
  await made("article", { title: "Whole", site_code: "whole", categories: ["whole-category"] });
  await app.patch("/cms/pages/whole-master.json", { page: { path: "c" } });
  expect((await app.delete("/cms/sites/whole.json")).status).toBe(204);
  for (const plural of Object.values(plurals).filter((each) => each !== "sites")) {
    expect((await app.get(`/cms/${plural}.json?site_code=whole`)).json).toEqual([]);
  }
  expect(await app.sql`select id from cms_redirects where site_id = ${site.id}`).toHaveLength(0);
});

test("lists are filtered", async () => {
  await made("site", { code: "lists", name: "Lists" });
  const page = { site_code: "lists", kind: "list-kind" };
  await made("page", { ...page, code: "l-home", path: "" });
  await made("page", { ...page, code: "l-pl", path: "list", locale: "pl" });
  await made("page", { ...page, code: "l-en", path: "list", locale: "en", active: false, position: -1 });
  await made("category", { code: "l-main", site_code: "lists" });
  await made("category", { code: "l-more", site_code: "lists", path: "more" });
  await made("article", { code: "l-1", title: "One", site_code: "lists", category_code: "l-main" });
  await made("article", { code: "l-2", title: "Two", site_code: "lists", categories: ["l-main"], locale: "de" });
  await made("paragraph", { code: "l-p", page_code: "l-pl" });
  await made("paragraph", { code: "l-all" });
  const codes = async (path: string) => (await app.get(path)).json.map((row: { code: string }) => row.code);
  const expected: [string, string[]][] = [
    ["/cms/pages.json?site_code=lists", ["l-en", "l-home", "l-pl"]],
    ["/cms/pages.json?site_code=lists&locale=pl", ["l-pl"]],
    ["/cms/pages.json?site_code=lists&locale=none", ["l-home"]],
    ["/cms/pages.json?site_code=lists&path=/list/", ["l-en", "l-pl"]],
    ["/cms/pages.json?site_code=lists&path=", ["l-home"]],
    ["/cms/pages.json?kind=list-kind&active=false", ["l-en"]],
    ["/cms/pages.json?q=L-*N", ["l-en"]],
    ["/cms/pages.json?site_code=lists&locale=xx", []],
    ["/cms/pages.json?site_code=nobody", []],
    ["/cms/articles.json?category_code=l-main", ["l-1", "l-2"]],
    ["/cms/articles.json?site_code=lists&locale=de", ["l-2"]],
    ["/cms/articles.json?q=on&site_code=lists", ["l-1"]],
    ["/cms/categories.json?path=/more", ["l-more"]],
    ["/cms/paragraphs.json?page_code=l-pl", ["l-p"]],
    ["/cms/paragraphs.json?site_code=none", ["l-all"]],
  ];
  for (const [path, found] of expected) expect([path, await codes(path)]).toEqual([path, found]);
});
