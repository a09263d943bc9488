import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { adminPassword, otherAccount, person, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { siteMaker, type SiteMaker } from "../../../tests/sites.ts";

let app: TestApp;
let make: SiteMaker;
let guest: string;
beforeAll(async () => {
  app = await startTestApp();
  make = siteMaker(app);
  guest = (await person(app, { role: "guest" })).token;
  await make.site({ code: "acme", name: "Acme", locale: "pl", multilang: true });
  await make.domain({ name: "acme.pl", site_code: "acme", locale: "pl" });
  await make.layout({
    code: "lay",
    site_code: "acme",
    content: "[{{ html_lang }}|{{ seo_head }}{{ canonical_url }}{{ seo_alternates }}|{{ content_lang }}]{{ content }}",
  });
  const page = (body: Record<string, unknown>) => make.page({ site_code: "acme", layout_code: "lay", ...body });
  await page({
    code: "home",
    path: "",
    content: "{{ t }}{{ params.q }}",
    fields: { pl: { t: "Start" }, en: { t: "Home" } },
  });
  await page({ code: "about", path: "o-nas/zespół", locale: "pl", content: "PL" });
  await page({ code: "about-en", path: "about", locale: "en", based_on_page_code: "about" });
  await page({ code: "two-pl", path: "two", locale: "pl", content: "two PL" });
  await page({ code: "two-en", path: "two", locale: "en", content: "two EN" });
  await page({ code: "draft", path: "draft", active: false, content: "draft" });
  await page({
    code: "list",
    path: "list",
    content:
      "{% articles %}{% list %}{{ article.title }} {{ article.url }},{% show %}{{ article.title }}{% endarticles %}",
  });
  await make.article({ code: "now", path: "now", title: "Now", site_code: "acme" });
  await make.article({ code: "later", path: "later", title: "Later", site_code: "acme", published_at: "2999-01-01" });
});
afterAll(() => app.stop());

describe("the preview shows a page to those who are signed in:", () => {
  const table: [path: string, text: string][] = [
    ["/w/acme", "[pl||pl]Start"],
    ["/w/acme/", "[pl||pl]Start"],
    ["/w/acme?lang=en", "[pl||en]Home"],
    ["/w/acme/?lang=it", "[pl||pl]Start"],
    ["/w/acme/?q=%3Cb%3E", "[pl||pl]Start&lt;b&gt;"],
    ["/w/acme/o-nas/zesp%C3%B3%C5%82", "[pl||pl]PL"],
    ["/w/acme/about", "[en||en]PL"],
    ["/w/acme/about?lang=de", "[en||en]PL"],
    ["/w/acme/two", "[pl||pl]two PL"],
    ["/w/acme/two?lang=en", "[en||en]two EN"],
  ];
  test.each(table)("%s", async (path, text) => {
    for (const token of [undefined, guest]) {
      const answer = await app.get(path, token === undefined ? {} : { token });
      expect([answer.status, answer.text]).toEqual([200, text]);
    }
  });

  test("links to articles stay in the preview", async () => {
    expect((await app.get("/w/acme/list", { token: guest })).text).toContain("Now /w/acme/list/now,");
    expect((await app.get("/w/acme/list/now", { token: guest })).text).toContain("Now");
  });

  test("a trailing slash is redirected within it", async () => {
    const answer = await app.get("/w/acme/about/?lang=en");
    expect([answer.status, answer.headers.get("location")]).toEqual([301, "/w/acme/about?lang=en"]);
  });
});

describe("drafts are seen with the privilege `cms` alone:", () => {
  test.each(["/w/acme/draft", "/w/acme/list/later"])("%s", async (path) => {
    expect((await app.get(path)).status).toBe(200);
    expect((await app.get(path, { token: guest })).status).toBe(404);
  });
  test("a list", async () => {
    expect((await app.get("/w/acme/list")).text).toContain("Later");
    expect((await app.get("/w/acme/list", { token: guest })).text).not.toContain("Later");
  });
  test("a site that is switched off", async () => {
    await make.change("site", "acme", { active: false });
    expect((await app.get("/w/acme/about")).status).toBe(200);
    expect((await app.get("/w/acme/about", { token: guest })).status).toBe(404);
    await make.change("site", "acme", { active: true });
  });
  test("a change is seen at once", async () => {
    await make.change("page", "draft", { content: "drafted" });
    expect((await app.get("/w/acme/draft")).text).toContain("drafted");
  });
});

describe("a previewed page runs in a sandbox on the account's host", () => {
  test.each(["/w/acme/about", "/w/acme/about/", "/w/acme/broken"])("%s", async (path) => {
    if (path.endsWith("broken"))
      await make.page({
        code: "broken",
        path: "broken",
        site_code: "acme",
        content: "{% for i in (1..99999999) %}x{% endfor %}",
      });
    const { headers } = await app.get(path);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy.split(";")[0]).toBe("sandbox allow-scripts allow-forms allow-popups");
    expect(policy).not.toContain("allow-same-origin");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-robots-tag")).toBe("noindex");
  });
  test("a fault names its reason, escaped", async () => {
    await make.page({ code: "fault", path: "fault", site_code: "acme", content: "ok" });
    await app.sql`update cms_pages set content = '{{ "<script>" | nofilter }}{% <script> %}' where code = 'fault'`;
    await make.change("page", "fault", { name: "x" });
    const answer = await app.get("/w/acme/fault");
    expect(answer.status).toBe(500);
    expect(answer.text).toContain("page fault, line 1, column ");
    expect(answer.text).not.toContain("<script>");
  });
});

describe("refused:", () => {
  test("without sign-in", async () => expect((await app.get("/w/acme/about", { token: null })).status).toBe(401));
  test("with a token that does not work", async () => {
    expect((await app.get("/w/acme", { token: "core_nothing" })).status).toBe(401);
  });
  test.each([
    "/w/unknown",
    "/w/unknown/about",
    "/w/acme/nothing",
    "/w/acme/%2F",
    "/w/acme/%00",
    "/w/%00/x",
    "/w/acme%2Fabout",
    `/w/${"a".repeat(5000)}`,
    "/w/acme/%ff",
    "/w/acme/about%2F",
    "/w",
  ])("%s", async (path) => expect((await app.get(path)).status).toBe(404));
  test("POST", async () => expect((await app.post("/w/acme/about", {})).status).toBe(405));
  test("another account's site", async () => {
    const other = await otherAccount(app);
    expect((await other.get("/w/acme/about")).status).toBe(404);
  });
});

test("a browser without sign-in is led to it, and back", async () => {
  for (const path of ["/w/acme", "/w/acme/about?lang=en", "/w/nobody/x"]) {
    const answer = await app.get(path, { token: null, headers: { accept: "text/html,*/*;q=0.8" } });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe(`/login?return_to=${encodeURIComponent(path)}`);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  }
  const login = { login: "admin", password: adminPassword };
  const cookie = (await app.post("/account/session.json", login, { token: null })).headers.get("set-cookie") ?? "";
  const headers = { cookie: cookie.split(";")[0] ?? "", accept: "text/html" };
  expect((await app.get("/w/acme/about", { token: null, headers })).status).toBe(200);
});
