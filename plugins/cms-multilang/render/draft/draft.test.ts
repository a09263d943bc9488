import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type TestApp } from "../../../../tests/harness.ts";
import { siteMaker } from "../../../../tests/sites.ts";
import { seenIn } from "./seen.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  const make = siteMaker(app);
  await make.site({ code: "acme", name: "Acme", locale: "pl", multilang: true });
  await make.domain({ name: "acme.pl", site_code: "acme", locale: "pl" });
  await make.domain({ name: "acme.com", site_code: "acme", locale: "en" });
  await make.layout({
    code: "lay",
    site_code: "acme",
    content:
      '<html lang="{{ html_lang }}"><head><title>{{ html_title }}</title><meta name="description" content="{{ html_description }}">{{ seo_head }}</head><body>{{ content }}</body></html>',
  });
  const page = (body: Record<string, unknown>) => make.page({ site_code: "acme", layout_code: "lay", ...body });
  await page({ code: "about", path: "o-nas", locale: "pl", content: "<p>{{ t }}</p>", fields: { t: "PL" } });
  await page({ code: "about-en", path: "about", locale: "en", based_on_page_code: "about", layout_code: null });
  await page({ code: "shared", path: "shared", content: "{{ t }}", fields: { t: "T", en: { t: "E" } } });
  await page({ code: "feed", path: "feed.xml", content: "<feed/>", layout_code: null });
  await make.site({ code: "bare", name: "Bare", locale: "en" });
  await make.page({ code: "one", path: "one", site_code: "bare", content: "{{ t }}", fields: { de: { t: "D" } } });
});
afterAll(() => app.stop());

const ask = (page: Record<string, unknown>, options = {}) => app.post("/cms/pages/preview.json", { page }, options);
const acme = (id: string, more: Record<string, unknown> = {}) => ({ id, site_code: "acme", ...more });

describe("a page is rendered as it is typed, and nothing is saved:", () => {
  const table: [what: string, page: Record<string, unknown>, text: string, more: object][] = [
    [
      "as it is saved",
      acme("about"),
      "<p>PL</p>",
      { locale: "pl", domain: "acme.pl", address: "http://acme.pl/o-nas" },
    ],
    ["its text", acme("about", { content: "<b>{{ t }}</b>" }), "<b>PL</b>", { fault: null }],
    ["its fields", acme("about", { fields: { t: "<i>" } }), "<p><i></p>", {}],
    ["what a slave inherits", acme("about-en"), "<p>PL</p>", { locale: "en", domain: "acme.com" }],
    ["what it no longer inherits", acme("about-en", { fields: { t: "EN" } }), "<p>EN</p>", {}],
    ["on a domain of its language", acme("shared", { domain: "acme.com" }), "E</body>", { locale: "en" }],
    ["on a domain of no value", acme("shared", { domain: "acme.pl" }), "T</body>", { locale: "pl" }],
    ["by lang", acme("shared", { domain: "acme.pl", lang: "en" }), "E</body>", { locale: "en" }],
    [
      "in another layout",
      acme("about", { layout_code: "" }),
      "<p>PL</p>",
      { seen: expect.objectContaining({ title: null }) },
    ],
    [
      "without a domain",
      { id: "one", site_code: "bare", lang: "de" },
      "D",
      { domain: null, address: null, locale: "de" },
    ],
    ["what is no HTML", acme("feed"), "&lt;feed/&gt;", {}],
  ];
  test.each(table)("%s", async (_, page, text, more) => {
    const before = await app.sql`select id, version from cms_pages order by id`;
    const { status, json } = await ask(page);
    expect([status, json]).toEqual([200, expect.objectContaining(more)]);
    const shown = await app.get(json.url);
    expect([shown.status, shown.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(shown.headers.get("content-security-policy")).toStartWith("sandbox allow-scripts allow-forms allow-popups;");
    expect(shown.text).toContain(text);
    expect(await app.sql`select id, version from cms_pages order by id`).toEqual(before);
  });
});

test("what search engines see, beside what they should see", async () => {
  const head = { html_title: "Über & uns", html_description: "a &quot;b&quot;", path: "neu" };
  const { json } = await ask(acme("about", head));
  const alternates = [
    { locale: "pl", url: "http://acme.pl/neu" },
    { locale: "en", url: "http://acme.com/about" },
    { locale: "x-default", url: "http://acme.pl/neu" },
  ];
  expect(json).toMatchObject({ canonical_url: "http://acme.pl/neu", alternates, redirects_to: null });
  expect(json.seen).toEqual({
    title: "Über & uns",
    description: 'a "b"',
    canonical_url: "http://acme.pl/neu",
    alternates,
    robots: null,
    lang: "pl",
  });
  expect((await ask(acme("about", { domain: "acme.com" }))).json.redirects_to).toBe("http://acme.com/about");
});

describe("refused, by field:", () => {
  const table: [page: Record<string, unknown>, errors: object][] = [
    [acme("nothing"), { id: ["names no page"] }],
    [acme("one"), { id: ["names no page"] }],
    [acme("about", { domain: "acme.de" }), { domain: ["names no domain of this site"] }],
    [acme("about", { lang: "it" }), { lang: expect.anything() }],
    [
      acme("about", { content: "a\n{{ x | nonsense }}" }),
      { content: [expect.stringMatching(/^line 2, column \d+: /)] },
    ],
    [acme("about", { layout_code: "none" }), { layout_code: ["names no layout of this site"] }],
    [acme("about", { path: "a//b" }), { path: expect.anything() }],
    [acme("shared", { based_on_page_code: "about-en" }), { based_on_page_code: expect.anything() }],
    [acme("about", { content: 7 }), { content: expect.anything() }],
    [{ content: "x" }, { id: expect.anything() }],
  ];
  test.each(table)("%j", async (page, errors) => {
    const { status, json } = await ask(page);
    expect([status, json]).toEqual([422, errors]);
  });
});

test("a template that fails at run time is a page that says why", async () => {
  const { json } = await ask(acme("about", { content: "{% for i in (1..99999999) %}x{% endfor %}" }));
  expect(json.fault).toStartWith("page about, line 1, column ");
  expect((await app.get(json.url)).text).toContain("The page cannot be shown");
});

test("it is for its maker, for a while, and for those who build sites", async () => {
  const { json } = await ask(acme("about"));
  const [guest, colleague] = [await person(app, { role: "guest" }), await person(app, { role: "manager" })];
  expect((await ask(acme("about"), { token: guest.token })).status).toBe(403);
  expect((await ask(acme("about"), { token: null })).status).toBe(401);
  expect((await app.get(json.url, { token: guest.token })).status).toBe(403);
  expect((await app.get(json.url, { token: colleague.token })).status).toBe(404);
  const other = await otherAccount(app);
  expect((await other.get(json.url)).status).toBe(404);
  expect((await other.post("/cms/pages/preview.json", { page: acme("about") })).status).toBe(422);
  for (let more = 0; more < 10; more++) await ask(acme("about"));
  expect((await app.get(json.url)).status).toBe(404);
  const next = (await ask(acme("about"))).json.url;
  await app.sql`update cms_previews set expires_at = now() - interval '1 second'`;
  expect((await app.get(next)).status).toBe(404);
});

test("only the first of each counts, references are read, and links lead out of the frame", () => {
  const { seen, framed } = seenIn(
    `<html><head><title> A &#x26; &lt;B&gt;
      &bad; </title><title>C</title><meta name="Description" content="&quot;1&quot;"><meta name="description" content="2">
      <link rel="canonical" href="/a?b=1&amp;c=2"><link rel="alternate" type="application/rss+xml" href="/feed"></head>`,
  );
  expect(seen).toEqual({
    title: "A & <B> &bad;",
    description: '"1"',
    canonical_url: "/a?b=1&c=2",
    alternates: [],
    robots: null,
    lang: null,
  });
  expect(framed).toStartWith('<html><head><base target="_blank">');
});

describe("the head of a page is read as a browser reads it:", () => {
  const table: [what: string, html: string, title: string | null, description: string | null][] = [
    ["in any case, with any quotes", "<TITLE>T</TITLE ><META NAME=description CONTENT='D > E'/>", "T", "D > E"],
    ["without a head", "<title>T</title><meta content=D name=description>", "T", "D"],
    ["no comment", '<!-- <title>C</title> --><title>T</title><meta name="description">', "T", null],
    ["no script", '<script>"<title>S</title>"</script><title>T</title>', "T", null],
    ["a title is text", "<title><b>T</b></title>", "<b>T</b>", null],
    ["the first of two attributes", '<meta name="description" content="1" content="2">', null, "1"],
    ["not in the body", '<body><title>B</title><meta name="description" content="D">', null, null],
    ["not behind the head", '</head><meta name="description" content="D">', null, null],
    ["what is never closed", '<title>T</title><meta name="description" content="D', "T", null],
    ["a title that is never closed", "<title>T", null, null],
    ["odd attributes", '<meta = "x" name=description / content = D>', null, "D"],
    ["nothing", "", null, null],
  ];
  test.each(table)("%s", (_, html, title, description) => {
    expect(seenIn(html).seen).toMatchObject({ title, description });
  });

  test.each(["<", "<a ", "<!--", "<script>", "<a b='", "<title><", "&#", "<a =", "</"])("many of %j", (part) => {
    const html = `<head>${part.repeat(300_000)}`;
    expect(seenIn(html).framed).toStartWith('<head><base target="_blank">');
  });
});
