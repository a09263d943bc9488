import { beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { otherAccount } from "../../../tests/harness.ts";
import { serverWithSites, siteMaker } from "../../../tests/sites.ts";

const server = serverWithSites(async () => {
  await acme();
});
const { make, at } = server;

/** The status of an answer to a request target that is sent as it is. */
async function statusOf(host: string, target: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(server.app.app.port, "127.0.0.1", () =>
    socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
  );
  let answer = "";
  socket.on("data", (data) => (answer += data.toString("latin1")));
  socket.on("close", () => resolve(answer));
  socket.on("error", reject);
  return Number((await promise).slice(9, 12));
}

/** A site in three languages over three domains, made by all three ways of behaviour A.3. */
async function acme(): Promise<void> {
  await make.site({
    code: "acme",
    name: "Acme",
    locale: "pl",
    multilang: true,
    fields: { phone: "1", en: { phone: "2" } },
  });
  await make.domain({ name: "acme.pl", site_code: "acme", locale: "pl" });
  await make.domain({ name: "acme.com", site_code: "acme", locale: "en" });
  await make.domain({ name: "acme.eu", site_code: "acme" });
  await make.layout({
    code: "main",
    site_code: "acme",
    fields: { foot: "stopka", en: { foot: "footer" } },
    content:
      "[{{ html_lang }}|{{ content_lang }}|{{ layout.foot }}|{{ foot }}|{{ site.phone }}|{{ page.html_title }}]{{ content }}",
  });
  const page = (body: Record<string, unknown>) => make.page({ site_code: "acme", layout_code: "main", ...body });
  // Way 1: one page without a locale.
  await page({
    code: "home",
    path: "",
    content: "{{ title }}/{{ lead }}",
    fields: { lead: "L", pl: { title: "Start" }, en: { title: "Home", lead: "E" } },
  });
  // Way 2: pages of their own at one path.
  await page({ code: "price-pl", path: "price", locale: "pl", content: "cennik" });
  await page({ code: "price-en", path: "price", locale: "en", content: "prices" });
  await page({ code: "price-any", path: "price", content: "any" });
  // Way 3: a master and its slaves.
  await page({
    code: "about-pl",
    path: "o-nas",
    locale: "pl",
    content: "{{ title }}+{{ more }}",
    html_title: "O nas",
    fields: { title: "My", more: "M", en: { more: "ME" } },
  });
  await page({
    code: "about-en",
    path: "about",
    locale: "en",
    based_on_page_code: "about-pl",
    layout_code: null,
    fields: { title: "Us" },
  });
  await page({ code: "deep", path: "offer/new/2026.html", locale: "pl", content: "deep" });
  await page({ code: "off", path: "off", content: "off", active: false });
}

describe("a page is found by host, path and language:", () => {
  const table: [host: string, path: string, text: string][] = [
    ["acme.pl", "/", "[pl|pl|stopka||1|]Start/L"],
    ["acme.com", "/", "[pl|en|footer||2|]Home/E"],
    ["acme.eu", "/", "[pl|pl|stopka||1|]Start/L"],
    ["acme.eu", "/?lang=en", "[pl|en|footer||2|]Home/E"],
    ["acme.com", "/?lang=pl", "[pl|pl|stopka||1|]Start/L"],
    ["acme.com", "/?lang=de", "[pl|de|stopka||1|]/L"],
    ["acme.com", "/?lang=it", "[pl|en|footer||2|]Home/E"],
    ["acme.pl", "/price", "[pl|pl|stopka||1|]cennik"],
    ["acme.com", "/price", "[en|en|footer||2|]prices"],
    ["acme.eu", "/price", "[pl|pl|stopka||1|]any"],
    ["acme.com", "/price?lang=de", "[en|en|footer||2|]prices"],
    ["acme.pl", "/o-nas", "[pl|pl|stopka||1|O nas]My+M"],
    ["acme.com", "/about", "[en|en|footer||2|O nas]Us+ME"],
    ["acme.eu", "/about", "[en|en|footer||2|O nas]Us+ME"],
    ["acme.pl", "/offer/new/2026.html", "[pl|pl|stopka||1|]deep"],
    ["acme.com", "/offer/new/2026.html", "[pl|pl|stopka||1|]deep"],
    ["ACME.com:8080", "/about", "[en|en|footer||2|O nas]Us+ME"],
  ];
  test.each(table)("%s%s", async (host, path, text) => {
    const answer = await at(host, path);
    expect([answer.status, answer.text]).toEqual([200, text]);
    expect(answer.headers.get("content-language")).toBe(text.split("|")[1] ?? "");
  });
});

describe("a request is redirected (301):", () => {
  const table: [host: string, path: string, location: string][] = [
    ["acme.pl", "/about?a=1&b=%20x", "/o-nas?a=1&b=%20x"],
    ["acme.com", "/o-nas", "/about"],
    ["acme.com", "/about/", "/about"],
    ["acme.com", "/about///?x", "/about?x"],
    ["acme.com", "/o-nas/", "/about"],
  ];
  test.each(table)("%s%s", async (host, path, location) => {
    const answer = await at(host, path);
    expect([answer.status, answer.headers.get("location"), answer.text]).toEqual([301, location, ""]);
  });

  test("when a page has moved, and no longer where another one stands now", async () => {
    await make.page({ code: "mover", path: "first", site_code: "acme", content: "mover" });
    await make.change("page", "mover", { path: "second" });
    await make.change("page", "mover", { path: "third" });
    expect((await at("acme.pl", "/first?q=1")).headers.get("location")).toBe("/third?q=1");
    expect((await at("acme.pl", "/second")).headers.get("location")).toBe("/third");
    await make.page({ code: "newcomer", path: "first", site_code: "acme", content: "newcomer" });
    expect((await at("acme.pl", "/first")).text).toBe("newcomer");
    await make.remove("page", "mover");
    expect((await at("acme.pl", "/second")).status).toBe(404);
  });
});

test("where a page of another language was, the domain's own is one redirect away", async () => {
  await make.page({ code: "hop", path: "hop-pl", locale: "pl", site_code: "acme", content: "hop" });
  await make.page({ code: "hop-en", path: "hop-old", locale: "en", site_code: "acme", based_on_page_code: "hop" });
  await make.change("page", "hop-en", { path: "hop-new" });
  expect((await at("acme.com", "/hop-old?q=1")).headers.get("location")).toBe("/hop-new?q=1");
  expect((await at("acme.pl", "/hop-old?q=1")).headers.get("location")).toBe("/hop-pl?q=1");
});

describe("what is not there is 404, and says nothing of what was asked for:", () => {
  const table: [host: string, path: string][] = [
    ["acme.pl", "/nothing"],
    ["acme.pl", "/off"],
    ["acme.pl", "/nothing/"],
    ["acme.pl", "/%2F"],
    ["acme.pl", "/o-nas%2F"],
    ["acme.pl", "/offer%2Fnew%2F2026.html"],
    ["acme.pl", "/offer%252Fnew"],
    ["acme.pl", "/%00"],
    ["acme.pl", "/o-nas%00"],
    ["acme.pl", "/%ff%fe"],
    ["acme.pl", "/%E0%A4%A"],
    ["acme.pl", "/%"],
    ["acme.pl", "/..%2f..%2fetc/passwd"],
    ["acme.pl", `/${"a".repeat(8000)}`],
    ["acme.pl", `/${"a/".repeat(3000)}`],
    ["acme.pl", "/__proto__"],
    ["acme.pl", "/<script>alert(1)</script>"],
    ["acme.pl", "/core/prompts.json"],
    ["acme.pl", "/cms/sites.json"],
    ["acme.pl", "/account/session.json"],
    ["acme.pl", "/docs"],
    ["acme.pl", "/w/acme/o-nas"],
  ];
  test.each(table)("%s %s", async (host, path) => {
    const answer = await at(host, path);
    expect(answer.status).toBe(404);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.text).not.toContain("acme");
    expect(answer.text).not.toContain("script");
  });

  // A client that tidies addresses would not send these.
  test.each(["//o-nas", "//evil.test/", "//evil.test//", "/o-nas#x", "/o-nas/../..//o-nas"])(
    "as it is sent: %s",
    async (target) => expect(await statusOf("acme.pl", target)).toBe(404),
  );
  test("dots are resolved before anything is looked up", async () => {
    expect(await statusOf("acme.pl", "/x/../o-nas")).toBe(200);
    expect(await statusOf("acme.pl", "/../../../etc/passwd")).toBe(404);
  });

  test.each(["POST", "PUT", "PATCH", "DELETE"])("%s to a page is 405, elsewhere 404", async (method) => {
    const refused = await at("acme.pl", "/o-nas", { method });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect((await at("acme.pl", "/nowhere", { method })).status).toBe(404);
  });

  test("a host of nobody", async () => {
    const answer = await at("nobody.test", "/o-nas");
    expect(answer.status).toBe(404);
    expect(answer.text).not.toContain("nobody.test");
  });

  test("an administrator's token opens nothing there", async () => {
    expect((await server.app.get("/cms/sites.json", { headers: { host: "acme.pl" } })).status).toBe(404);
  });
});

describe("an answer", () => {
  test("is HTML that browsers may run and frame from the same site only", async () => {
    const { headers } = await at("acme.pl", "/o-nas");
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "frame-ancestors 'self'",
      "x-frame-options": "SAMEORIGIN",
      "x-content-type-options": "nosniff",
      "cache-control": "public, max-age=0, must-revalidate",
      "content-language": "pl",
    });
  });

  test("has an ETag of its bytes, and is not sent again to whoever has it", async () => {
    const first = await at("acme.pl", "/o-nas");
    const etag = first.headers.get("etag") ?? "";
    expect((await at("acme.eu", "/o-nas")).headers.get("etag")).toBe(etag);
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const again = await at("acme.pl", "/o-nas", { headers: { "if-none-match": known } });
      expect([again.status, again.text]).toEqual([304, ""]);
    }
    expect((await at("acme.pl", "/o-nas", { headers: { "if-none-match": '"other"' } })).status).toBe(200);
    expect((await at("acme.com", "/about")).headers.get("etag")).not.toBe(etag);
  });

  test("to HEAD is that to GET without a body", async () => {
    const get = await at("acme.pl", "/o-nas");
    const head = await at("acme.pl", "/o-nas", { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers.get("etag")).toBe(get.headers.get("etag") ?? "");
    expect((await at("acme.pl", "/nothing", { method: "HEAD" })).status).toBe(404);
  });

  test("is kept by browsers as long as its page says", async () => {
    await make.page({ code: "kept", path: "kept", site_code: "acme", content: "x", cache_seconds: 60 });
    expect((await at("acme.pl", "/kept")).headers.get("cache-control")).toBe("public, max-age=60");
  });

  test("is of the kind that its path's ending says", async () => {
    await make.page({ code: "security", path: ".well-known/security.txt", site_code: "acme", content: "Contact: x" });
    await make.page({ code: "feed", path: "feed.xml", site_code: "acme", content: "<rss/>" });
    expect((await at("acme.pl", "/.well-known/security.txt")).headers.get("content-type")).toBe(
      "text/plain; charset=utf-8",
    );
    expect((await at("acme.pl", "/feed.xml")).headers.get("content-type")).toBe("application/xml; charset=utf-8");
  });
});

describe("addresses for search engines", () => {
  beforeAll(async () => {
    await make.layout({
      code: "seo",
      site_code: "acme",
      content: "{{ seo_head }}|{{ canonical_url }}|{{ seo_alternates | json }}|{{ lang_switch | json }}",
    });
    await make.page({ code: "team-pl", path: "zespół", locale: "pl", site_code: "acme", layout_code: "seo" });
    await make.page({ code: "team-en", path: "team", locale: "en", site_code: "acme", based_on_page_code: "team-pl" });
  });
  const pl = "https://acme.pl/zesp%C3%B3%C5%82";
  const en = "https://acme.com/team";

  test("are those of BASE_URL's scheme and the domain of the page's locale", async () => {
    const [head, canonical, alternates, switches] = (await at("acme.com", "/team")).text.split("|");
    expect(canonical).toBe(en);
    expect(JSON.parse(alternates ?? "")).toEqual([
      { locale: "pl", url: pl },
      { locale: "en", url: en },
      { locale: "x-default", url: pl },
    ]);
    expect(head).toBe(
      `<link rel="canonical" href="${en}">\n<link rel="alternate" hreflang="pl" href="${pl}">\n` +
        `<link rel="alternate" hreflang="en" href="${en}">\n<link rel="alternate" hreflang="x-default" href="${pl}">`,
    );
    expect(JSON.parse(switches ?? "")).toEqual([
      { locale: "pl", url: pl, name: "Polski", current: false },
      { locale: "en", url: en, name: "English", current: true },
    ]);
  });

  test("are the same under whatever host the page is asked for, and whatever is asked", async () => {
    const first = await at("acme.com", "/team");
    for (const [host, path] of [
      ["acme.eu", "/team"],
      ["acme.com:8080", "/team?utm_source=x"],
    ] as const) {
      expect((await at(host, path)).text).toBe(first.text);
    }
  });

  test("are not there without multilang", async () => {
    await make.site({ code: "mono", name: "Mono", locale: "en" });
    await make.domain({ name: "mono.test", site_code: "mono" });
    await make.layout({
      code: "mono",
      site_code: "mono",
      content:
        "<{{ html_lang }}{{ seo_head }}{{ canonical_url }}{{ seo_alternates }}{{ lang_switch }}|{{ content_lang }}>",
    });
    await make.page({ code: "mono", path: "", site_code: "mono", layout_code: "mono" });
    expect((await at("mono.test", "/")).text).toBe("<|en>");
  });
});

describe("variables:", () => {
  let count = 0;
  const show = async (content: string, body: Record<string, unknown> = {}, query = "") => {
    const code = `var-${++count}`;
    await make.page({ code, path: code, site_code: "acme", content, ...body });
    return (await at("acme.pl", `/${code}${query}`)).text;
  };
  const table: [string, string, Record<string, unknown>, string][] = [
    [
      "columns by page.",
      "{{ page.path }},{{ page.code }},{{ page.html_title }},{{ page.name }}",
      { html_title: "T", name: "N" },
      "var-1,var-1,T,N",
    ],
    ["a field comes before a column of its name", "{{ page.name }},{{ name }}", { fields: { name: "F" } }, "F,F"],
    [
      "columns do not stand bare, titles do",
      "{{ path }}{{ code }}{{ name }}{{ locale }}|{{ html_title }}",
      { html_title: "T" },
      "|T",
    ],
    [
      "titles may be translated by fields",
      "{{ html_title }},{{ page.html_title }}",
      { html_title: "T", fields: { pl: { html_title: "P" } } },
      "P,P",
    ],
    [
      "what the system says is not shadowed",
      "{{ site.code }},{{ content_lang }},{{ page.code }}",
      { fields: { site: { code: "x" }, content_lang: "x", page: { code: "x" } } },
      "acme,pl,var-5",
    ],
    ["output is not escaped, and can be", "{{ a }}{{ a | escape }}", { fields: { a: "<b>" } }, "<b>&lt;b&gt;"],
    ["a field is a value and no template", "{{ a }}", { fields: { a: "{{ site.code }}" } }, "{{ site.code }}"],
    ["dates are in the page's language", "{{ '2026-01-05' | date: '%-d %B' }}", {}, "5 stycznia"],
    ["suffixed names mean nothing", "[{{ title_pl }}]", { fields: { title: "T" } }, "[]"],
    [
      "an empty title is none",
      "{% if html_title or page.html_title %}there{% else %}none{% endif %}",
      { html_title: "" },
      "none",
    ],
    [
      "a number keeps its digits",
      "{{ order }}",
      { fields: { order: JSON.rawJSON("7615917337495251231") } },
      "7615917337495251231",
    ],
  ];
  test.each(table)("%s", async (_, content, body, text) => expect(await show(content, body)).toBe(text));

  test("params are the visitor's, escaped and bounded", async () => {
    const content =
      "{{ params.q }}|{{ params.long }}|{{ params['a<b'] }}|{{ params.__proto__ }}|{{ params.constructor }}|{{ params.size }}";
    const query = `?q=%3Cscript%3E%22%27&long=${"x".repeat(1001)}&q=second&__proto__=p`;
    expect(await show(content, {}, query)).toBe("&lt;script&gt;&quot;&#39;|||p||2");
  });
});

describe("paragraphs", () => {
  beforeAll(async () => {
    await make.page({
      code: "paras",
      path: "paras",
      site_code: "acme",
      content: '{% paragraphs %}|{% paragraph "shared" %}|{% paragraph "none" %}',
      fields: { t: "T" },
    });
    const paragraph = (code: string, position: number, content: string, more = {}) =>
      make.paragraph({ code, position, content, page_code: "paras", ...more });
    await paragraph("two", 2, "2{{ paragraph.x }}{{ t }}", { fields: { x: "x", en: { x: "X" } } });
    await paragraph("one", 1, "1", {});
    await make.paragraph({ code: "shared", site_code: "acme", content: "S{% paragraph 'inner' %}" });
    await make.paragraph({ code: "inner", site_code: "acme", content: "I{{ paragraph.code }}" });
  });
  test("of a page are printed in their order, in the page's language", async () => {
    expect((await at("acme.pl", "/paras")).text).toBe("12xT|SIinner|");
    expect((await at("acme.com", "/paras")).text).toBe("12XT|SIinner|");
  });
  test("of a master stand on its slaves, until they have their own", async () => {
    await make.change("page", "paras", { locale: "pl" });
    await make.page({
      code: "paras-en",
      path: "paras-en",
      locale: "en",
      site_code: "acme",
      based_on_page_code: "paras",
    });
    expect((await at("acme.com", "/paras-en")).text).toBe("12XT|SIinner|");
    await make.paragraph({ code: "own", page_code: "paras-en", content: "own" });
    expect((await at("acme.com", "/paras-en")).text).toBe("own|SIinner|");
  });
  test("that print themselves end as a fault", async () => {
    await make.paragraph({ code: "loop", site_code: "acme", content: "x{% paragraph 'loop' %}{% paragraph 'loop' %}" });
    await make.page({ code: "looping", path: "looping", site_code: "acme", content: "{% paragraph 'loop' %}" });
    expect((await at("acme.pl", "/looping")).status).toBe(500);
  });
});

describe("a template that fails", () => {
  const stored = async (code: string, content: string) => {
    await make.page({ code, path: code, site_code: "acme", content: "x" });
    // As if it had been stored before it was checked.
    await server.app.sql`update cms_pages set content = ${content} where code = ${code}`;
    await make.change("page", code, { name: "changed" });
  };
  test("is refused at save with its line and column", async () => {
    for (const content of [
      "a\n {% if %}",
      "{{ a | nofilter }}",
      "{% render 'x' %}",
      "{% include 'x' %}",
      '{% articles category="{{ c }}" %}{% list %}{% endarticles %}',
    ]) {
      const answer = await server.app.post("/cms/pages.json", {
        page: { code: "bad", name: "x", path: "bad", site_code: "acme", content },
      });
      expect(answer.status).toBe(422);
      expect(answer.json.content[0]).toMatch(/^line \d+, column \d+: ./);
    }
  });
  test("is a plain 500 for visitors, and its reason for the log and the preview", async () => {
    await stored("broken", '{% if a %}{% articles category="x" %}{% list %}{% else %}{% endarticles %}{% endif %}');
    const answer = await at("acme.pl", "/broken");
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain("branch");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(server.app.logged.join("\n")).toContain("split between branches");
    const preview = await server.app.get("/w/acme/broken");
    expect(preview.status).toBe(500);
    expect(preview.text).toContain("page broken, line 1, column 11");
  });
  test("is right at once when it has been mended", async () => {
    await make.change("page", "broken", { content: "mended" });
    expect((await at("acme.pl", "/broken")).text).toBe("mended");
  });
  test("of a page and its paragraphs together are not more than one may be", async () => {
    const site_code = "acme";
    const codes = ["tags-1", "tags-2", "tags-3"];
    for (const code of codes) await make.paragraph({ code, site_code, content: "{{a}}".repeat(8000) });
    const content = codes.map((code) => `{% paragraph "${code}" %}`).join("");
    await make.page({ code: "tags", path: "tags", site_code, content });
    expect((await at("acme.pl", "/tags")).status).toBe(500);
    expect((await server.app.get("/w/acme/tags")).text).toContain(
      "paragraph tags-3, line 1, column 1: a page with its layout",
    );
    await make.change("page", "tags", { content: '{% paragraph "tags-1" %}' });
    expect((await at("acme.pl", "/tags")).status).toBe(200);
  });
  test("without an end harms nobody else", async () => {
    await make.page({
      code: "endless",
      path: "endless",
      site_code: "acme",
      content: "{% for i in (1..100000000) %}{% for j in (1..1000000) %}x{% endfor %}{% endfor %}",
    });
    const both = await Promise.all([at("acme.pl", "/endless"), at("acme.pl", "/o-nas")]);
    expect(both.map(({ status }) => status)).toEqual([500, 200]);
  });
});

describe("a site's own pages for what is missing or failed", () => {
  beforeAll(async () => {
    await make.site({ code: "own", name: "Own", locale: "pl", multilang: true });
    await make.domain({ name: "own.pl", site_code: "own", locale: "pl" });
    await make.domain({ name: "own.com", site_code: "own", locale: "en" });
    await make.page({
      code: "own-404",
      path: "not-found",
      kind: "404",
      site_code: "own",
      content: "{{ t }} {{ page.path }}",
      fields: { pl: { t: "Nie ma" }, en: { t: "Gone" } },
    });
    await make.page({ code: "own-500", path: "failed", kind: "500", site_code: "own", content: "sorry" });
    await make.page({
      code: "own-bad",
      path: "bad",
      site_code: "own",
      content: "{% for i in (1..100000000) %}x{% endfor %}",
    });
  });
  test("are in the language of the domain, under their status", async () => {
    for (const [host, text] of [
      ["own.pl", "Nie ma not-found"],
      ["own.com", "Gone not-found"],
    ] as const) {
      const answer = await at(host, "/whatever");
      expect([answer.status, answer.text]).toEqual([404, text]);
    }
    const failed = await at("own.pl", "/bad");
    expect([failed.status, failed.text]).toEqual([500, "sorry"]);
  });
  test("tell search engines nothing, and lead to the home page in other languages", async () => {
    const content =
      "{{ canonical_url }}{{ seo_head }}{{ seo_alternates }}{% for l in lang_switch %}{{ l.url }} {% endfor %}";
    await make.change("page", "own-500", { content });
    expect((await at("own.pl", "/bad")).text).toBe("https://own.pl/ https://own.com/ ");
    await make.change("page", "own-500", { content: "sorry" });
  });
  test("have no address of their own", async () => {
    expect((await at("own.pl", "/not-found")).status).toBe(404);
    expect((await at("own.pl", "/failed")).text).toBe("Nie ma not-found");
  });
  test("that fail themselves are the plain ones", async () => {
    await make.change("page", "own-404", { content: "{% for i in (1..100000000) %}x{% endfor %}" });
    for (const [path, lang, title] of [
      ["/whatever", "pl", "Nie znaleziono strony"],
      ["/whatever?lang=uk", "uk", "Сторінку не знайдено"],
      ["/whatever?lang=it", "pl", "Nie znaleziono strony"],
    ] as const) {
      const answer = await at("own.pl", path);
      expect([answer.status, answer.headers.get("content-language")]).toEqual([404, lang]);
      expect(answer.text).toContain(`<html lang="${lang}">`);
      expect(answer.text).toContain(`<h1>${title}</h1>`);
    }
  });
});

describe("a site that is switched off, or has lost its domain, shows nothing", () => {
  test("inactive", async () => {
    await make.site({ code: "off", name: "Off", locale: "pl" });
    await make.domain({ name: "off.test", site_code: "off" });
    await make.page({ code: "off-home", path: "", site_code: "off", content: "on" });
    expect((await at("off.test", "/")).text).toBe("on");
    await make.change("site", "off", { active: false });
    expect((await at("off.test", "/")).status).toBe(404);
    await make.change("site", "off", { active: true });
    expect((await at("off.test", "/")).text).toBe("on");
  });
  test("without its domain", async () => {
    await make.remove("domain", "off.test");
    expect((await at("off.test", "/")).status).toBe(404);
    await make.domain({ name: "off.test", site_code: "acme" });
    expect((await at("off.test", "/o-nas")).status).toBe(200);
  });
});

test("a name with a port is found by that port alone", async () => {
  await make.domain({ name: "ported.test:8443", site_code: "acme", locale: "en" });
  expect((await at("ported.test:8443", "/about")).status).toBe(200);
  expect((await at("ported.test", "/about")).status).toBe(404);
  expect((await at("ported.test:9999", "/about")).status).toBe(404);
});

test("another account's site has its own pages", async () => {
  const other = await otherAccount(server.app);
  const theirs = siteMaker(other);
  await theirs.site({ code: "acme", name: "Theirs", locale: "en" });
  await theirs.domain({ name: "theirs.test", site_code: "acme" });
  await theirs.page({ code: "about-en", path: "about", site_code: "acme", content: "theirs" });
  expect((await at("theirs.test", "/about")).text).toBe("theirs");
  expect((await at("acme.com", "/about")).text).toContain("Us+ME");
  expect((await at("theirs.test", "/o-nas")).status).toBe(404);
});
