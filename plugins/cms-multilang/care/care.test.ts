import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { accounts } from "../../accounts/api.ts";
import { cms, type CmsKind } from "../api.ts";
import { otherAccount, person, startTestApp, type TestApp } from "../../../tests/harness.ts";
import type { Finding, FindingCode } from "./finding.ts";

// The harness says so only to the first file of a run.
setDefaultTimeout(600_000);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  await app.post("/core/dbs", { db: { name: "open", code: "open", public_methods: { create: true, search: true } } });
});
afterAll(() => app.stop());

type Body = Readonly<Record<string, unknown>>;
/** Codes and hosts begin with `@`, which stands for the site's code: so that each case has a site of its own. */
interface Site {
  readonly site?: Body;
  readonly domains?: readonly Body[];
  readonly records?: readonly (readonly [CmsKind, Body])[];
}

let sites = 0;

async function make({ site = {}, domains, records = [] }: Site): Promise<string> {
  const code = `s${++sites}x`;
  const named = (body: Body): Body => JSON.parse(JSON.stringify(body).replaceAll("@", code));
  const account = await app.service(accounts).defaultAccount();
  await app.service(cms).change({ account, userId: null }, async (writes) => {
    await writes.create("site", { code, name: code, locale: "pl", multilang: true, ...site });
    for (const domain of domains ?? [
      { name: "@.pl.test", locale: "pl" },
      { name: "@.en.test", locale: "en" },
    ])
      await writes.create("domain", { site_code: code, ...named(domain) });
    for (const [kind, body] of records) await writes.create(kind, { site_code: code, ...named(body) });
  });
  return code;
}

async function check(code: string): Promise<Finding[]> {
  const answer = await app.get(`/cms/sites/${code}/check.json?limit=1000`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-total-count")).toBe(`${answer.json.length}`);
  return answer.json;
}

const head = '<html lang="{{ content_lang }}"><head>{{ seo_head }}</head>{{ content }}</html>';
const layout = (content = head): readonly [CmsKind, Body] => ["layout", { code: "@-main", name: "main", content }];
const page = (code: string, rest: Body): readonly [CmsKind, Body] => [
  "page",
  { code: `@-${code}`, name: code, layout_code: "@-main", path: code, content: "x", ...rest },
];
const about = [
  layout(),
  page("about", { locale: "pl", path: "o-nas" }),
  page("about-en", { locale: "en", path: "about", based_on_page_code: "@-about", content: "", layout_code: null }),
] as const;

describe("the check of a site", () => {
  test("finds nothing where all is well", async () => {
    expect(await check(await make({ records: about }))).toEqual([]);
  });

  // [what, a site with the mistake, the same without it, which field is told]
  type Case = [FindingCode, Site, Site, Partial<Finding>];
  const cases: Case[] = [
    ["no_domain", { domains: [] }, {}, { page: null }],
    ["domains_without_locale", { domains: [{ name: "@.test" }] }, { domains: [{ name: "@.test", locale: "pl" }] }, {}],
    [
      "domain_duplicate",
      {
        domains: [
          { name: "@.test", locale: "pl" },
          { name: "www.@.test", locale: "en" },
        ],
      },
      {
        domains: [
          { name: "@.test", locale: "pl" },
          { name: "shop.@.test", locale: "en" },
        ],
      },
      {},
    ],
    [
      "domain_duplicate",
      {
        domains: [
          { name: "@.test", locale: "pl" },
          { name: "b.@.test", locale: "pl" },
        ],
      },
      {
        domains: [
          { name: "@.test", locale: "pl" },
          { name: "b.@.test", locale: "en" },
        ],
      },
      { locale: "pl" },
    ],
    [
      "language_unreachable",
      {
        records: [
          ...about,
          page("about-de", { locale: "de", path: "ueber-uns", based_on_page_code: "@-about", content: "" }),
        ],
      },
      {
        domains: [
          { name: "@.pl.test", locale: "pl" },
          { name: "@.en.test", locale: "en" },
          { name: "@.de.test", locale: "de" },
        ],
        records: [
          ...about,
          page("about-de", { locale: "de", path: "ueber-uns", based_on_page_code: "@-about", content: "" }),
        ],
      },
      { page: "@-about-de", locale: "de" },
    ],
    [
      "duplicate_language",
      {
        records: [...about, page("other", { locale: "en", path: "other", based_on_page_code: "@-about", content: "" })],
      },
      { records: about },
      { page: "@-other", locale: "en" },
    ],
    [
      "canonical_redirects",
      {
        domains: [
          { name: "@.en.test", locale: "en" },
          { name: "@.pl.test", locale: "pl" },
        ],
        records: [
          layout(),
          page("n", { locale: null }),
          page("s", { locale: "en", based_on_page_code: "@-n", content: "" }),
        ],
      },
      { records: [layout(), page("n", { locale: null }), page("s", { locale: "en", based_on_page_code: "@-n" })] },
      { page: "@-n" },
    ],
    [
      "duplicate_canonical",
      {
        domains: [{ name: "@.pl.test", locale: "pl" }],
        records: [layout(), page("a", { locale: "en", path: "same" }), page("b", { locale: "de", path: "same" })],
      },
      {
        domains: [
          { name: "@.pl.test", locale: "pl" },
          { name: "@.en.test", locale: "en" },
          { name: "@.de.test", locale: "de" },
        ],
        records: [layout(), page("a", { locale: "en", path: "same" }), page("b", { locale: "de", path: "same" })],
      },
      { page: "@-b" },
    ],
    [
      "path_needs_multilang",
      {
        site: { multilang: false },
        records: [layout(), page("a", { locale: "pl", path: "p" }), page("b", { locale: "en", path: "p" })],
      },
      {
        site: { multilang: false },
        records: [layout(), page("a", { locale: "pl", path: "p" }), page("b", { locale: "en", path: "q" })],
      },
      { page: "@-b" },
    ],
    [
      "missing_translation",
      { records: [layout(), page("about", { locale: "pl" })] },
      { records: about },
      { page: "@-about", locale: "en" },
    ],
    [
      "missing_keys",
      {
        records: [layout(), page("home", { path: "", fields: { pl: { title: "T", lead: "L" }, en: { title: "T" } } })],
      },
      {
        records: [
          layout(),
          page("home", { path: "", fields: { pl: { title: "T", lead: "L" }, en: { title: "T", lead: "L" } } }),
        ],
      },
      { page: "@-home", locale: "en", field: "fields.lead" },
    ],
    [
      "suffixed_variable",
      { records: [layout(), page("p", { fields: { title_en: "T" } })] },
      { records: [layout(), page("p", { fields: { title: "T" } })] },
      { page: "@-p", locale: "en", field: "fields.title_en" },
    ],
    [
      "suffixed_variable",
      { records: [layout(), page("p", { content: 'a\n{{ title_en | default: "x_pl" }}' })] },
      { records: [layout(), page("p", { content: 'a\n{{ title | default: "x_pl" }} y_en' })] },
      { page: "@-p", field: "content" },
    ],
    [
      "suffixed_variable",
      { records: [layout(), ["paragraph", { code: "@-g", name: "g", fields: { name_de: "N" } }]] },
      { records: [layout(), ["paragraph", { code: "@-g", name: "g", fields: { de: { name: "N" } } }]] },
      { page: null, field: "paragraph @-g fields.name_de" },
    ],
    [
      "locale_as_html_lang",
      { records: [layout(head.replace("content_lang", "page.locale"))] },
      { records: [layout()] },
      { field: "layout @-main content" },
    ],
    [
      "locale_as_html_lang",
      { site: { multilang: false }, records: [layout("<html lang='{{locale}}'>")] },
      { site: { multilang: false }, records: [layout("<html lang='pl'>")] },
      { field: "layout @-main content" },
    ],
    [
      "layout_without_html_lang",
      { records: [layout(head.replace("{{ content_lang }}", "pl"))] },
      { site: { multilang: false }, records: [layout(head.replace("{{ content_lang }}", "pl"))] },
      {},
    ],
    ["layout_without_seo_head", { records: [layout(head.replace("{{ seo_head }}", ""))] }, { records: [layout()] }, {}],
    [
      "layout_without_seo_head",
      { records: [layout("<html lang='{{ content_lang }}'>seo_head")] },
      {
        records: [
          layout("<html lang='{{ content_lang }}'>{{ canonical_url }}{% for a in seo_alternates %}{% endfor %}"),
        ],
      },
      {},
    ],
    [
      "html_lang_of_shared_pages",
      { records: [layout(head.replace("content_lang", "html_lang"))] },
      { domains: [{ name: "@.test", locale: "pl" }], records: [layout(head.replace("content_lang", "html_lang"))] },
      {},
    ],
    [
      "page_without_layout",
      { records: [["page", { code: "@-p", name: "p", content: "x" }]] },
      {
        records: [
          ["page", { code: "@-p", name: "p", content: head }],
          ["page", { code: "@-r", name: "r", path: "ads.txt" }],
        ],
      },
      { page: "@-p" },
    ],
    [
      "unknown_paragraph",
      { records: [layout(), page("p", { content: '{% paragraph "@-none" %}' })] },
      {
        records: [
          layout(),
          page("p", { content: '{% paragraph "@-one" %}' }),
          ["paragraph", { code: "@-one", name: "one" }],
        ],
      },
      { page: "@-p", field: "content" },
    ],
    [
      "unknown_category",
      { records: [layout(), page("p", { content: '{% articles category="@-none" %}{% list %}{% endarticles %}' })] },
      {
        records: [
          layout(),
          ["category", { code: "@-news", name: "n" }],
          page("p", { content: '{% articles category="@-news" %}{% list %}{% endarticles %}' }),
        ],
      },
      { page: "@-p", field: "content" },
    ],
    [
      "unknown_page",
      { records: [layout(), page("p", { content: '{{ "@-none" | page_url }}' })] },
      { records: [layout(), page("p", { content: '{{ "@-p" | page_url }}' })] },
      { page: "@-p", field: "content" },
    ],
    [
      "article_hidden",
      {
        domains: [{ name: "@.pl.test", locale: "pl" }],
        records: [
          layout(),
          ["category", { code: "@-firing", name: "f", path: "x" }],
          ["article", { code: "@-a", title: "A", path: "x" }],
          page("p", { content: "{% articles %}{% show %}{{ article.title }}{% endarticles %}" }),
        ],
      },
      {
        domains: [{ name: "@.pl.test", locale: "pl" }],
        records: [
          layout(),
          ["article", { code: "@-a", title: "A", path: "x" }],
          page("p", { content: "{% articles %}{% show %}{{ article.title }}{% endarticles %}" }),
          page("q", { path: "x" }),
        ],
      },
      { page: "@-p", field: "article @-a" },
    ],
    [
      "article_hidden",
      {
        domains: [{ name: "@.pl.test", locale: "pl" }],
        records: [
          layout(),
          ["article", { code: "@-a", title: "A", path: "x" }],
          page("p", { content: "{% articles %}{% show %}{{ article.title }}{% endarticles %}" }),
          page("q", { path: "p/x" }),
        ],
      },
      { records: [layout(), page("q", { path: "p/x" })] },
      { page: "@-p", field: "article @-a" },
    ],
    ...[
      "",
      "?a=1",
      "/p",
      "send",
      "core/db/open/send",
      "../core/db/open/send.json",
      "core/db/@-none/create",
      "/core/db/open",
      "/core/db/open/create/x",
      "/core/records.json",
      "/connect/flows.json",
      "/core/db/@-none/create",
      "/core/db/open/search",
      "/core/db/open/update",
    ].map((action): Case => [
      "form_leads_nowhere",
      { records: [layout(), page("p", { content: `<form class=a method=POST action="${action}">x</form>` })] },
      {
        records: [
          layout(),
          page("p", {
            content:
              '<form method="post" action="/core/db/open/create?a=1">x</form><form method="post" action="core/db/open/create.json"></form><form method="post" action="{{ url }}"></form>' +
              '<form action="/p"></form><form method="post" action="https://x.example/"></form><form method="post" onsubmit="x()"></form>',
          }),
        ],
      },
      { page: "@-p", field: "content" },
    ]),
    [
      "article_without_category",
      { records: [["article", { code: "@-a", title: "A" }]] },
      {
        records: [
          ["category", { code: "@-news", name: "n" }],
          ["article", { code: "@-a", title: "A", categories: ["@-news"] }],
        ],
      },
      { field: "article @-a" },
    ],
    [
      "article_without_page",
      {
        domains: [{ name: "@.pl.test", locale: "pl" }],
        records: [
          layout(head.replace("</head>", '</head>{% articles category="@-news" %}{% list %}{% endarticles %}')),
          ["category", { code: "@-news", name: "n" }],
          ["article", { code: "@-a", title: "A", category_code: "@-news" }],
          page("p", {
            content: '{% articles category="@-none" %}{% list %}x{% show %}{{ article.title }}{% endarticles %}',
          }),
        ],
      },
      {
        domains: [{ name: "@.pl.test", locale: "pl" }],
        records: [
          layout(head.replace("</head>", '</head>{% articles category="@-news" %}{% list %}{% endarticles %}')),
          ["category", { code: "@-news", name: "n" }],
          ["article", { code: "@-a", title: "A", category_code: "@-news" }],
          page("p", { content: "{% articles %}{% show %}{{ article.title }}{% endarticles %}" }),
        ],
      },
      { page: null, locale: "pl", field: "layout @-main content" },
    ],
  ];
  test.each(cases)("finds %s, and nothing of it where it is mended", async (what, wrong, mended, place) => {
    const code = await make(wrong);
    const found = (await check(code)).filter((each) => each.code === what);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject(JSON.parse(JSON.stringify(place).replaceAll("@", code)));
    expect((await check(await make(mended))).filter((each) => each.code === what)).toEqual([]);
  });

  test("finds a template that can no longer be read, by its page", async () => {
    const code = await make({ records: [layout(), page("p", {})] });
    await app.sql`update cms_pages set content = ${"a\n{% if %}"} where code = ${`${code}-p`}`;
    expect(await check(code)).toContainEqual(
      expect.objectContaining({
        code: "template_error",
        severity: "error",
        page: `${code}-p`,
        message: expect.stringContaining("line 2"),
      }),
    );
  });

  test("finds a translation that its source has left behind, field by field, until it is changed too", async () => {
    const code = await make({
      records: [
        layout(),
        page("about", {
          locale: "pl",
          path: "o-nas",
          html_title: "O nas",
          fields: { pl: { lead: "A" }, en: { lead: "B" } },
        }),
        page("about-en", {
          locale: "en",
          path: "about",
          based_on_page_code: "@-about",
          html_title: "About",
          content: "own",
        }),
      ],
    });
    const stale = async () =>
      (await check(code))
        .filter((each) => each.code === "stale_translation")
        .map(({ page: of, field }) => `${of} ${field}`);
    const change = (which: string, body: Body) => app.patch(`/cms/pages/${code}-${which}.json`, { page: body });
    expect(await stale()).toEqual([]);
    await change("about", { html_title: "O firmie", name: "anything" });
    expect(await stale()).toEqual([`${code}-about-en html_title`]);
    await change("about", { content: "new", fields: { pl: { lead: "C" }, en: { lead: "B" } } });
    expect(await stale()).toEqual([
      `${code}-about-en content`,
      `${code}-about-en html_title`,
      `${code}-about-en fields.lead`,
    ]);
    await change("about-en", { html_title: "The firm", content: "new too" });
    expect(await stale()).toEqual([`${code}-about-en fields.lead`]);
    await change("about", { fields: { pl: { lead: "C" }, en: { lead: "D" } } });
    expect(await stale()).toEqual([]);
  });

  test("is in pages, needs the privilege and is each account's own", async () => {
    const code = await make({
      records: Array.from({ length: 5 }, (_, at) => page(`p${at}`, { layout_code: null, locale: "pl" })),
    });
    const all = (await app.get(`/cms/sites/${code}/check.json`)).json;
    const part = await app.get(`/cms/sites/${code}/check?limit=3&offset=2`);
    expect(part.json).toEqual(all.slice(2, 5));
    expect(part.headers.get("x-total-count")).toBe(`${all.length}`);
    for (const what of ["check", "translations", "texts"]) {
      const { token } = await person(app, { role: "user" });
      expect((await app.get(`/cms/sites/${code}/${what}.json`, { token })).status).toBe(403);
      expect((await app.get(`/cms/sites/${code}/${what}.json`, { token: null })).status).toBe(401);
      expect((await app.get(`/cms/sites/none/${what}.json`)).status).toBe(404);
      expect((await app.get(`/cms/sites/%00/${what}.json`)).status).toBe(404);
      const other = await otherAccount(app);
      expect((await other.get(`/cms/sites/${code}/${what}.json`)).status).toBe(404);
    }
  });
});

describe("the matrix of translations", () => {
  const cell = (state: string, of: string | null, missing: string[] = [], stale: string[] = []) => ({
    state,
    page: of,
    missing,
    stale,
  });

  test("says who says what in each language of the domains and pages", async () => {
    const code = await make({
      records: [
        layout(),
        page("home", { path: "", fields: { pl: { title: "T", lead: "L" }, en: { title: "T" } } }),
        page("robots", { path: "humans.txt", layout_code: null, content: "we" }),
        page("about", { locale: "pl", path: "o-nas", fields: { pl: { title: "T" }, en: { title: "T" } } }),
        page("about-en", { locale: "en", path: "about", based_on_page_code: "@-about", content: "" }),
        page("about-de", {
          locale: "de",
          path: "ueber-uns",
          based_on_page_code: "@-about",
          content: "own",
          fields: { title: "T" },
        }),
        page("about-fr", { locale: "fr", path: "a-propos", based_on_page_code: "@-about", content: "" }),
        page("blog-en", { locale: "en", path: "blog" }),
        page("blog", { locale: "pl", path: "blog" }),
      ],
    });
    const answer = await app.get(`/cms/sites/${code}/translations.json`);
    const rows = answer.json.map(({ page: of, locales }: { page: string; locales: Body }) => [
      of.slice(code.length + 1),
      locales,
    ]);
    const at = (name: string) => `${code}-${name}`;
    expect(Object.fromEntries(rows)).toEqual({
      home: {
        pl: cell("own", at("home")),
        en: cell("fields", at("home"), ["lead"]),
        fr: cell("missing", at("home"), ["lead", "title"]),
        de: cell("missing", at("home"), ["lead", "title"]),
      },
      robots: {
        pl: cell("own", at("robots")),
        en: cell("inherited", at("robots")),
        fr: cell("inherited", at("robots")),
        de: cell("inherited", at("robots")),
      },
      about: {
        pl: cell("own", at("about")),
        en: cell("fields", at("about-en")),
        fr: cell("inherited", at("about-fr"), ["title"]),
        de: cell("own", at("about-de")),
      },
      blog: {
        pl: cell("own", at("blog")),
        en: cell("own", at("blog-en")),
        fr: cell("missing", null),
        de: cell("missing", null),
      },
    });
    expect(answer.headers.get("x-total-count")).toBe("4");
    const more = await app.get(`/cms/sites/${code}/translations.json?locales=uk,it,pl`);
    const languages = more.json.map((row: { locales: Body }) => Object.keys(row.locales).join(" "));
    expect([...new Set(languages)]).toEqual(["pl en fr de uk"]);
    const part = await app.get(`/cms/sites/${code}/translations.json?limit=1&offset=3`);
    expect(part.json.map(({ page: of }: { page: string }) => of)).toEqual([at("blog")]);
  });

  test("says where a value keyed by a language is behind the primary one's", async () => {
    const code = await make({
      records: [page("home", { layout_code: null, path: "", fields: { pl: { title: "A" }, en: { title: "B" } } })],
    });
    await app.patch(`/cms/pages/${code}-home.json`, { page: { fields: { pl: { title: "C" }, en: { title: "B" } } } });
    const [{ locales }] = (await app.get(`/cms/sites/${code}/translations.json`)).json;
    expect(locales.en).toEqual(cell("stale", `${code}-home`, [], ["fields.en.title"]));
  });
});

describe("the translations of paragraphs, layouts and articles", () => {
  const textsOf = async (code: string, query: string) => {
    const answer = await app.get(`/cms/sites/${code}/texts.json?${query}`);
    const rows = answer.json.map(
      (row: { code: string; locales: Record<string, { state: string; code: string | null }> }) => {
        const cells = Object.entries(row.locales).map(([locale, cell]) => [locale, `${cell.state} ${cell.code}`]);
        return [row.code, Object.fromEntries(cells)];
      },
    );
    return { rows, total: answer.headers.get("x-total-count"), json: answer.json };
  };

  test("have a row for what has fields by language, and for each article in its languages", async () => {
    const at = { site_code: "texts" };
    await app.post("/cms/sites.json", { site: { code: "texts", name: "Texts", locale: "pl" } });
    for (const [code, fields] of [
      ["drawing", { width: 7 }],
      ["hours", { pl: { title: "Godziny", note: "X" }, en: { title: "Hours" } }],
    ])
      await app.post("/cms/paragraphs.json", { paragraph: { code, name: code, fields, ...at } });
    const paragraphs = await textsOf("texts", "locales=en,de");
    expect([paragraphs.rows, paragraphs.total]).toEqual([
      [["hours", { pl: "own hours", en: "fields hours", de: "missing hours" }]],
      "1",
    ]);
    expect(paragraphs.json[0].locales.en.missing).toEqual(["note"]);
    expect((await textsOf("texts", "kind=layout")).rows).toEqual([]);
    const { json: made } = await app.post("/cms/layouts.json", {
      layout: { code: "main", fields: { pl: { claim: "A" }, en: { claim: "B" } }, ...at },
    });
    expect(Object.keys(made)).not.toContain("field_times");
    for (const [kind, body] of [
      ["paragraph", { fields: { pl: { title: "Czynne", note: "X" }, en: { title: "Hours", note: "Y" } } }],
      ["layout", { fields: { pl: { claim: "C" }, en: { claim: "B" } } }],
    ] as const)
      await app.patch(`/cms/${kind}s/${kind === "layout" ? "main" : "hours"}.json?site_code=texts`, { [kind]: body });
    expect((await textsOf("texts", "locales=en")).json[0].locales.en.stale).toEqual(["fields.en.title"]);
    expect((await textsOf("texts", "kind=layout&locales=en")).json[0].locales.en.stale).toEqual(["fields.en.claim"]);
    const [entry] = (await app.get("/core/activity.json?model=Cms::Layout&action=update")).json;
    expect(Object.keys(entry.changes)).toEqual(["fields"]);

    await app.post("/cms/categories.json", { category: { code: "news", name: "News", ...at } });
    const article = (code: string, more: Body) =>
      app.post("/cms/articles.json", { article: { code, title: code, category_code: "news", ...at, ...more } });
    const then = "2026-01-01T09:00:00Z";
    await article("kiln-en", { locale: "en", published_at: then });
    await article("kiln", { locale: "pl", published_at: then });
    await article("all", { published_at: "2026-01-02T09:00:00Z" });
    await article("draft", { locale: "pl", published_at: null });
    const articles = await textsOf("texts", "kind=article");
    expect(articles.rows).toEqual([
      ["all", { pl: "inherited all", en: "inherited all" }],
      ["kiln", { pl: "own kiln", en: "own kiln-en" }],
      ["draft", { pl: "own draft", en: "missing null" }],
    ]);
    expect(articles.total).toBe("3");
    await app.patch("/cms/articles/kiln.json?site_code=texts", { article: { lead: "A lead" } });
    const kiln = async () => (await textsOf("texts", "kind=article")).json[1].locales.en;
    expect(await kiln()).toEqual({ state: "own", code: "kiln-en", missing: ["lead"], stale: [] });
    const change = (code: string, to: Body) => app.patch(`/cms/articles/${code}.json?site_code=texts`, { article: to });
    await change("kiln-en", { lead: "A lead", active: false });
    await change("kiln", { title: "Piec", fields: { author: "A" }, html_title: "" });
    expect(await kiln()).toEqual({ state: "stale", code: "kiln-en", missing: ["fields.author"], stale: ["title"] });
    await change("kiln-en", { title: "Kiln", fields: { en: { author: "A" } } });
    expect(await kiln()).toEqual({ state: "own", code: "kiln-en", missing: [], stale: [] });
    await change("kiln", { fields: { author: "B" } });
    expect((await kiln()).stale).toEqual(["fields.author"]);
    expect((await textsOf("texts", "kind=article&limit=1&offset=1")).rows.map(([code]: [string]) => code)).toEqual([
      "kiln",
    ]);
  });
});
