import { beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../../../../tests/harness.ts";
import { serverWithSites } from "../../../../tests/sites.ts";
import { parseAttributes } from "./blocks.ts";
import { createSiteEngine } from "./engine.ts";

const { mistakes } = createSiteEngine();
const server = serverWithSites(async () => {
  await blog();
});
const { make, at } = server;

const block =
  '{% articles category="news,tips" limit=3 sort="-published_at" %}' +
  "{% list %}({{ article.title }} {{ article.url }}){% empty %}nothing{% show %}<{{ article.title }}|{{ article.lead }}|{{ article.content }}|{{ article.x }}|{{ article.category.name }}>{% endarticles %}";

async function blog(): Promise<void> {
  await make.site({ code: "blog", name: "Blog", locale: "pl", multilang: true });
  await make.domain({ name: "blog.pl", site_code: "blog", locale: "pl" });
  await make.domain({ name: "blog.com", site_code: "blog", locale: "en" });
  await make.domain({ name: "blog.eu", site_code: "blog" });
  await make.layout({
    code: "lay",
    site_code: "blog",
    content: "{{ html_title }}/{{ page.html_description }}/{{ canonical_url }}/{{ category.name }}#{{ content }}",
  });
  await make.category({ code: "news", name: "News", site_code: "blog" });
  await make.category({ code: "tips", name: "Tips", site_code: "blog" });
  await make.category({ code: "other", name: "Other", site_code: "blog" });
  await make.category({ code: "garden", name: "Garden", path: "ogród", site_code: "blog" });
  await make.page({
    code: "blog",
    path: "blog",
    site_code: "blog",
    layout_code: "lay",
    html_title: "Blog",
    content: block,
  });
  const article = (code: string, day: string, body: Record<string, unknown>) =>
    make.article({
      code,
      path: code,
      title: code.toUpperCase(),
      site_code: "blog",
      category_code: "news",
      published_at: `2026-01-${day}T00:00:00Z`,
      ...body,
    });
  await article("a1", "01", {
    locale: "pl",
    lead: "<p>Lead</p>",
    content: "C {{ site.code }}",
    fields: { x: "1", en: { x: "2" } },
  });
  await article("a2", "02", { locale: "en", html_title: "Second", html_description: "D" });
  await article("a3", "03", { category_code: "tips", categories: ["garden"], fields: { en: { title: "Three" } } });
  await article("a4", "04", { category_code: "other" });
  await article("a5", "05", { active: false });
  await article("a6", "06", { published_at: "2999-01-01T00:00:00Z" });
  await article("a7", "07", { category_code: "other", categories: ["news", "garden"], locale: "pl" });
}

describe("a list of articles", () => {
  const table: [host: string, path: string, text: string][] = [
    ["blog.pl", "/blog", "Blog//https://blog.pl/blog/#(A7 /blog/a7)(A3 /blog/a3)(A1 /blog/a1)"],
    ["blog.com", "/blog", "Blog//https://blog.pl/blog/#(Three /blog/a3)(A2 /blog/a2)"],
    ["blog.eu", "/blog", "Blog//https://blog.pl/blog/#(A7 /blog/a7)(A3 /blog/a3)(A2 /blog/a2)"],
    ["blog.pl", "/blog/ogr%C3%B3d", "Blog//https://blog.pl/blog/ogr%C3%B3d/Garden#(A7 /blog/a7)(A3 /blog/a3)"],
  ];
  test.each(table)("%s%s", async (host, path, text) => {
    const answer = await at(host, path);
    expect([answer.status, answer.text]).toEqual([200, text]);
  });

  test("says where there is none", async () => {
    await make.page({ code: "none", path: "none", site_code: "blog", content: block.replace("news,tips", "unknown") });
    expect((await at("blog.pl", "/none")).text).toBe("nothing");
  });

  test("that holds more than an answer is a fault, not a part of it", async () => {
    const category = { category_code: "large", site_code: "blog" };
    await make.category({ code: "large", name: "Large", site_code: "blog" });
    const fields = { text: "x".repeat(450_000) };
    for (let n = 10; n < 30; n++)
      await make.article({ code: `l${n}`, title: `l${n}`, published_at: "2026-01-01", fields, ...category });
    const list = (limit: number) =>
      `{% articles category="large" limit=${limit} %}{% list %}{{ article.title }}{% show %}-{% endarticles %}`;
    await make.page({ code: "large-whole", path: "whole", site_code: "blog", content: list(20) });
    await make.page({ code: "large-part", path: "part", site_code: "blog", content: list(2) });
    expect((await at("blog.pl", "/part")).text).toBe("l29l28");
    expect((await at("blog.pl", "/whole")).status).toBe(500);
  });

  test("that holds more than an answer in its paragraphs is a fault too", async () => {
    await make.page({ code: "long", path: "long", site_code: "blog", content: "{% paragraphs %}" });
    const fields = { text: "x".repeat(480_000) };
    const place = { page_code: "long", site_code: "blog" };
    await make.paragraph({ code: "long0", name: "0", content: "0", fields, ...place });
    expect((await at("blog.pl", "/long")).text).toBe("0");
    for (let n = 1; n < 20; n++) await make.paragraph({ code: `long${n}`, name: "n", content: "n", fields, ...place });
    expect((await at("blog.pl", "/long")).status).toBe(500);
  });

  const sorts: [string, string][] = [
    ["published_at", "A1A3A7"],
    ["-title", "A7A3A1"],
    ["path", "A1A3A7"],
  ];
  test.each(sorts)("sorted by %s", async (sort, text) => {
    const code = `sort-${sort}`;
    const content = `{% articles category="news,tips" sort='${sort}' %}{% list %}{{ article.title }}{% endarticles %}`;
    await make.page({ code, path: code, site_code: "blog", content });
    expect((await at("blog.pl", `/${code}`)).text).toBe(text);
  });

  test.each([
    ["-published_at", "<b2><b1><b4><b3>"],
    ["published_at", "<b1><b2><b3><b4>"],
  ])("those without a date come last by %s", async (sort, text) => {
    const [site_code, category_code] = ["blog", `undated${sort}`];
    await make.category({ code: category_code, name: "x", site_code });
    for (const [title, published_at] of [
      ["b3", null],
      ["b1", "2026-01-01"],
      ["b4", null],
      ["b2", "2026-01-02"],
    ])
      await make.article({
        code: `${title}${sort}`,
        path: `${title}${sort}`,
        title,
        site_code,
        category_code,
        published_at,
      });
    const content = `{% articles category="${category_code}" sort="${sort}" %}{% list %}<{{ article.title }}>{% endarticles %}`;
    await make.page({ code: category_code, path: category_code, site_code, content });
    expect((await at("blog.pl", `/${category_code}`)).text).toBe(text);
  });

  test("with an offset, without a category, with loop variables", async () => {
    const content =
      "{% articles limit=2, offset=1 %}{% list %}{{ forloop.index }}/{{ forloop.length }}{{ article.title }}{% unless forloop.last %},{% endunless %}{% endarticles %}";
    await make.page({ code: "offset", path: "offset", site_code: "blog", content });
    expect((await at("blog.pl", "/offset")).text).toBe("1/2A4,2/2A3");
  });

  test("what stands before its first part is printed once, whether there are articles or not", async () => {
    const content = (category: string) =>
      `{% articles category="${category}" limit=2 %}<ul>{% list %}<li>{{ article.title }}{% empty %}none{% show %}{{ article.title }}{% endarticles %}`;
    await make.page({ code: "intro", path: "intro", site_code: "blog", content: content("news") });
    expect((await at("blog.pl", "/intro")).text).toBe("<ul><li>A7<li>A1");
    expect((await at("blog.pl", "/intro/a1")).text).toBe("A1");
    await make.change("page", "intro", { content: content("unknown") });
    expect((await at("blog.pl", "/intro")).text).toBe("<ul>none");
  });

  test("several in one page, in its layout and in a paragraph", async () => {
    const one = (code: string) =>
      `{% articles category="${code}" limit=1 %}{% list %}${code}:{{ article.title }} {% endarticles %}`;
    await make.layout({ code: "side", site_code: "blog", content: `${one("tips")}{{ content }}` });
    await make.paragraph({ code: "para", site_code: "blog", content: one("other") });
    const content = `${one("news")}{% paragraph "para" %}${one("news")}`;
    await make.page({ code: "many", path: "many", site_code: "blog", layout_code: "side", content });
    expect((await at("blog.pl", "/many")).text).toBe("tips:A3 news:A7 other:A7 news:A7 ");
  });

  test("leads to the page that shows each article, whichever page or layout lists it", async () => {
    const site_code = "paper";
    await make.site({ code: site_code, name: "Paper", locale: "pl", multilang: true });
    await make.domain({ name: "paper.pl", site_code, locale: "pl" });
    await make.domain({ name: "paper.com", site_code, locale: "en" });
    await make.domain({ name: "paper.eu", site_code });
    for (const code of ["press", "jobs", "lost", "city"]) {
      const path = code === "city" ? "city" : undefined;
      await make.category({ code, name: code, site_code, path });
    }
    const teaser =
      '{% articles category="press,jobs,lost" sort="path" %}{% list %}[{{ article.url }} {{ article.categories.last.url }}]{% endarticles %}';
    const show = (category: string) =>
      `{% articles category="${category}" %}{% list %}({{ article.url }}){% show %}<{{ article.title }}>{% endarticles %}`;
    await make.layout({ code: "top", site_code, content: `${teaser}{{ content }}` });
    await make.page({ code: "paper-home", path: "", site_code, layout_code: "top" });
    await make.page({ code: "contact", path: "kontakt", site_code, layout_code: "top" });
    await make.page({ code: "missing", kind: "404", path: "missing", site_code, content: teaser });
    await make.page({ code: "all", path: "all", site_code, active: false, content: show("press,lost") });
    await make.page({
      code: "press",
      path: "prasa",
      site_code,
      locale: "pl",
      layout_code: "top",
      content: show("press"),
    });
    await make.page({ code: "press-en", path: "press", site_code, locale: "en", based_on_page_code: "press" });
    await make.page({
      code: "blank",
      path: "blank",
      site_code,
      content: show("lost").replace(/show %}[^]*{% end/, "show %} {% comment %}x{% endcomment %} {% end"),
    });
    await make.paragraph({ code: "jobs", site_code, content: show("jobs") });
    await make.page({ code: "jobs", path: "praca", site_code, content: '{% paragraph "jobs" %}' });
    await make.article({
      code: "p1",
      path: "p1",
      title: "P1",
      site_code,
      category_code: "press",
      categories: ["city"],
    });
    await make.article({ code: "j1", path: "j1", title: "J1", site_code, category_code: "jobs", locale: "en" });
    await make.article({ code: "l1", path: "l1", title: "L1", site_code, category_code: "lost" });
    const pl = "[ ][/prasa/p1 /prasa/city]";
    expect((await at("paper.pl", "/")).text).toBe(pl);
    expect((await at("paper.pl", "/kontakt")).text).toBe(pl);
    expect((await at("paper.pl", "/nowhere")).text).toBe(pl);
    expect((await at("paper.pl", "/prasa/p1")).text).toBe(`${pl}<P1>`);
    expect((await at("paper.com", "/kontakt")).text).toBe("[/praca/j1 ][ ][/press/p1 /press/city]");
    expect((await at("paper.com", "/praca")).text).toBe("(/praca/j1)");
    // A domain without a language leads to the one of the article's page.
    expect((await at("paper.eu", "/")).text).toBe(
      "[/praca/j1 ][ ][https://paper.pl/prasa/p1 https://paper.pl/prasa/city]",
    );
    // A blank part shows nothing, so nothing is there.
    expect((await at("paper.pl", "/blank/l1")).status).toBe(404);
    expect((await at("paper.pl", "/sitemap.xml")).text).not.toContain("/blank/l1");
    for (const path of ["/prasa/p1", "/prasa/city"]) expect((await at("paper.pl", path)).status).toBe(200);
    await make.change("page", "blank", { content: show("lost") });
    expect((await at("paper.pl", "/")).text).toBe("[/blank/l1 ][/prasa/p1 /prasa/city]");
  });

  test.each([
    ["2026", "2026", "article-2026"],
    ["Новини України", "novyny-ukrainy", "novyny-ukrainy"],
    ["日本", "article", "article"],
  ])("an article named %s is at %s", async (title, path, code) => {
    const answer = await server.app.post("/cms/articles", {
      article: { title, site_code: "blog", category_code: "other" },
    });
    expect([answer.status, answer.json.path, answer.json.code]).toEqual([201, path, code]);
    expect((await server.app.delete(`/cms/articles/${answer.json.id}`)).status).toBe(204);
  });

  test("without multilang is not filtered by language", async () => {
    await make.change("site", "blog", { multilang: false });
    expect((await at("blog.com", "/blog")).text).toContain("(A7 /blog/a7)(Three /blog/a3)(A2 /blog/a2)");
    await make.change("site", "blog", { multilang: true });
    expect((await at("blog.com", "/blog")).text).not.toContain("A7");
  });
});

describe("one article", () => {
  const table: [host: string, path: string, text: string][] = [
    ["blog.pl", "/blog/a1", "A1/Lead/https://blog.pl/blog/a1/#<A1|<p>Lead</p>|C {{ site.code }}|1|News>"],
    ["blog.com", "/blog/a2", "Second/D/https://blog.com/blog/a2/#<A2||||News>"],
    ["blog.com", "/blog/a3", "Three//https://blog.pl/blog/a3/#<Three||||Tips>"],
    ["blog.eu", "/blog/a2", "Second/D/https://blog.com/blog/a2/#<A2||||News>"],
  ];
  test.each(table)("%s%s", async (host, path, text) => {
    const answer = await at(host, path);
    expect([answer.status, answer.text]).toEqual([200, text]);
  });

  const missing: [string, string][] = [
    ["blog.pl", "/blog/nothing"],
    ["blog.pl", "/blog/a2"],
    ["blog.com", "/blog/a1"],
    ["blog.pl", "/blog/a4"],
    ["blog.pl", "/blog/a5"],
    ["blog.pl", "/blog/a6"],
    ["blog.pl", "/a1"],
    ["blog.pl", "/blog/x/a1"],
    ["blog.pl", "/offset/a1"],
  ];
  test.each(missing)("is not at %s%s", async (host, path) => expect((await at(host, path)).status).toBe(404));

  test("is redirected when its page has moved", async () => {
    await make.page({ code: "moving", path: "old", site_code: "blog", content: block });
    await make.change("page", "moving", { path: "new" });
    expect((await at("blog.pl", "/old/a1?x")).headers.get("location")).toBe("/new/a1?x");
    expect((await at("blog.pl", "/old/nothing")).status).toBe(404);
  });

  test("with a trailing slash is redirected", async () => {
    expect((await at("blog.pl", "/blog/a1/")).headers.get("location")).toBe("/blog/a1");
  });

  test("of a page in another language is redirected to that page", async () => {
    await make.page({ code: "m", path: "aktualnosci", locale: "pl", site_code: "blog", content: block });
    await make.page({ code: "s", path: "updates", locale: "en", site_code: "blog", based_on_page_code: "m" });
    expect((await at("blog.com", "/aktualnosci/a3")).headers.get("location")).toBe("/updates/a3");
    expect((await at("blog.com", "/updates/a3")).text).toContain("Three");
  });

  test("below the home page", async () => {
    await make.page({ code: "home", path: "", site_code: "blog", content: block });
    expect((await at("blog.pl", "/a1")).text).toContain("<A1|");
    expect((await at("blog.pl", "/")).text).toContain("(A1 /a1)");
    await make.remove("page", "home");
  });
});

describe("an article that is to appear", () => {
  test("appears at its time without a change", async () => {
    await make.page({
      code: "soon",
      path: "soon",
      site_code: "blog",
      content: '{% articles category="soon" %}{% list %}{{ article.title }}{% empty %}-{% endarticles %}',
    });
    await make.category({ code: "soon", name: "Soon", site_code: "blog" });
    expect((await at("blog.pl", "/soon")).text).toBe("-");
    const published_at = new Date(Date.now() + 1500).toISOString();
    await make.article({
      code: "soon",
      path: "soon",
      title: "SOON",
      site_code: "blog",
      category_code: "soon",
      published_at,
    });
    expect((await at("blog.pl", "/soon")).text).toBe("-");
    await eventually(async () => (await at("blog.pl", "/soon")).text === "SOON", "the article");
  });
});

describe("attributes are literals:", () => {
  test.each([
    ['category="news" limit=3', { categories: ["news"], limit: 3 }],
    ["category='a, b ,a'", { categories: ["a", "b"] }],
    ['category:"a", limit: 5', { categories: ["a"], limit: 5 }],
    ["", { categories: [], limit: 20, offset: 0, sort: { by: "published_at", descending: true } }],
  ])("%s", (args, expected) => expect(parseAttributes(args)).toMatchObject(expected));

  test.each([
    'category="{{ c }}"',
    "category=c",
    'category="a" | upcase',
    'category=""',
    'category="a,,b"',
    "limit=0",
    "limit=101",
    "limit=-1",
    "limit=1.5",
    "limit=1e3",
    'limit="many"',
    "offset=10001",
    'sort="content"',
    'sort="published_at; drop table x"',
    'sort="--title"',
    "limit=1 limit=2",
    "page=2",
    "paginate=0",
    "paginate=101",
    "paginate=2 limit=2",
    "paginate=2 offset=2",
    '__proto__="x"',
  ])("not %s", (args) => {
    expect(() => parseAttributes(args)).toThrow();
    expect(mistakes(`ok\n{% articles ${args} %}{% list %}{% endarticles %}`)[0]).toMatch(/^line 2, column 1: /);
  });

  test.each([
    "{% articles %}{% list %}",
    "{% articles %}{% endarticles %}",
    "{% articles %}{% list %}{% list %}{% endarticles %}",
    "{% articles %}{% list %}{% articles %}{% list %}{% endarticles %}{% endarticles %}",
    "{% articles %}{% list %}{% if a %}{% endarticles %}{% endif %}",
    "{% if a %}{% articles %}{% endif %}{% list %}{% endarticles %}",
    "{% case a %}{% when 1 %}{% articles %}{% list %}{% when 2 %}{% endarticles %}{% endcase %}",
    "{% list %}",
    "{% endarticles %}",
    "{% articles %}{% list x %}{% endarticles %}",
    "{% articles %}{% list %}{% endarticles %}".repeat(21),
  ])("no block: %s", (content) => expect(mistakes(content)).toHaveLength(1));

  test("a whole block in each branch is right", () => {
    const whole = "{% articles %}\n {%- comment %}x{% endcomment %}\n{% show %}{% endarticles %}";
    expect(mistakes(`{% if a %}${whole}{% else %}${whole}{% endif %}`)).toEqual([]);
  });
});

describe("a list of several pages", () => {
  const content =
    "{% articles category='news,other' paginate=2 sort='path' %}{% list %}{{ article.title }} {% show %}{{ article.title }}{% endarticles %}" +
    "{{ paginate.page }}/{{ paginate.pages }} of {{ paginate.total }} {{ paginate.prev_url }} {{ paginate.next_url }} {{ canonical_url }} {{ seo_alternates.size }}";
  beforeAll(() => make.page({ code: "paged", path: "paged", site_code: "blog", content }));
  const canonical = "https://blog.pl/paged";
  const table: [path: string, text: string][] = [
    ["", `A1 A4 1/2 of 3  /paged?page=2 ${canonical} 3`],
    ["?page=1", `A1 A4 1/2 of 3  /paged?page=2 ${canonical} 3`],
    ["?page=2", `A7 2/2 of 3 /paged  ${canonical}?page=2 0`],
    ["?page=2&lang=en", `A7 2/2 of 3 /paged?lang=en  ${canonical}?page=2 0`],
    ["?page=3", `A7 2/2 of 3 /paged  ${canonical}?page=2 0`],
    ...["0", "-1", "02", "1e1", "99999", "x", ""].map((page): [string, string] => [
      `?page=${page}`,
      `A1 A4 1/2 of 3  /paged?page=2 ${canonical} 3`,
    ]),
    ["/ogr%C3%B3d?page=2", `A7 1/1 of 1   ${canonical}/ogr%C3%B3d 3`],
  ];
  // Twice: from the cache each has its own too.
  test.each([...table, ...table])("%s", async (path, text) => {
    expect((await at("blog.pl", `/paged${path}`)).text).toBe(text);
  });

  test("shows an article as ever, and grows at once", async () => {
    expect((await at("blog.pl", "/paged/a1?page=2")).text).toStartWith("A1/ of ");
    const more = { path: "a8", title: "A8", site_code: "blog", category_code: "news" };
    await make.article({ code: "a8", ...more });
    expect((await at("blog.pl", "/paged?page=3")).text).toStartWith("A7 A8 2/2 of 4 /paged  ");
    await make.remove("article", "a8");
    expect((await at("blog.pl", "/paged?page=3")).text).toStartWith("A7 2/2 of 3");
  });

  test("stays in the preview, and is one list of a template", async () => {
    expect((await server.app.get("/w/blog/paged?lang=pl")).text).toContain(" /w/blog/paged?lang=pl&page=2 ");
    const two = "{% articles paginate=2 %}{% list %}{% endarticles %}".repeat(2);
    expect(mistakes(two)).toEqual(["line 1, column 53: one `articles` block of a template may have paginate"]);
  });

  test("does not change what other pages answer", async () => {
    const [plain, numbered] = [await at("blog.pl", "/blog"), await at("blog.pl", "/blog?page=7")];
    expect([numbered.text, numbered.headers.get("etag")]).toEqual([plain.text, plain.headers.get("etag")]);
  });
});
