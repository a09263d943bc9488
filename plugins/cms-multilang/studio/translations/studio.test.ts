import { describe, expect, test } from "bun:test";
import type { Finding } from "../../care/finding.ts";
import { fieldOf, groupsOf, placeOf, subjectOf, isMendable, mendOf, nearest, type World } from "./mends.ts";
import {
  columnsOf,
  columnsOfList,
  filterOf,
  namesOf,
  nextFor,
  progressOf,
  rowOf,
  rowsFor,
  rowsIn,
  rowsPath,
  workOf,
  type Cell,
  type Row,
} from "./rows.ts";
import { isLong, planIn, planText, sitemapsIn, withDomain, withoutSlave } from "./migration.ts";
import { changesOf, mistaken, pathFor, unitsOf, wayOf, type Entry, type Group } from "./units.ts";

const cell = (state: Cell["state"], page: string | null, more: Partial<Cell> = {}): Cell => {
  return { state, page, missing: [], stale: [], ...more };
};
const row = (page: string, fr: Cell): Row => {
  return { page, name: page, path: page, locales: { pl: cell("own", page), fr } };
};

describe("the matrix", () => {
  const rows = [
    row("a", cell("own", "a-fr")),
    row("b", cell("missing", null)),
    row("c", cell("inherited", "c")),
    row("d", cell("inherited", "d-fr")),
    row("e", cell("fields", "e", { missing: ["x"] })),
    row("f", cell("stale", "f-fr", { stale: ["content"] })),
  ];
  test("knows what each cell needs", () => {
    expect(rows.map((one) => workOf(one, one.locales.fr))).toEqual([
      undefined,
      "missing",
      undefined,
      "missing",
      "missing",
      "stale",
    ]);
    expect(progressOf(rows, "fr")).toEqual({ done: 2, all: 6 });
  });
  test("is filtered by the address", () => {
    const shown = (query: string) =>
      rowsFor(rows, filterOf(new URLSearchParams(query)))
        .map(({ page }) => page)
        .join("");
    expect(["missing=fr", "stale=fr", "missing=it", ""].map(shown)).toEqual(["bde", "f", "abcdef", "abcdef"]);
  });
  test.each([
    ["a", "b"],
    ["e", "f"],
    ["f", "b"],
    ["gone", "b"],
  ])("goes on from %s with %s", (from, to) => expect(nextFor(rows, from, "fr")?.page).toBe(to));
  test("ends when nothing is left", () => expect(nextFor(rows.slice(0, 2), "b", "fr")).toBeUndefined());
  test("finds the row of a page that is based on another", () => {
    expect([rowOf(rows, "d-fr")?.page, rowOf(rows, "e")?.page, rowOf(rows, "x"), rowOf(rows, null)]).toEqual([
      "d",
      "e",
      undefined,
      undefined,
    ]);
  });
  test("of other kinds is of the same form", () => {
    const texts = [
      { code: "hours", name: "Hours", locales: { fr: { state: "missing", code: "hours", missing: ["a"], stale: [] } } },
    ];
    expect(rowsIn(texts, "paragraph")).toMatchObject([
      { page: "hours", path: "", locales: { fr: { page: "hours", missing: ["a"] } } },
    ]);
    expect(rowsPath("a/b", "article")).toEqual({ path: "/cms/sites/a%2Fb/texts.json", query: { kind: "article" } });
  });
  test("has the site's language first", () => expect(columnsOf(rows, "fr")).toEqual(["fr", "pl"]));
});

const entry = (id: number, more: Readonly<Record<string, unknown>> = {}): Entry => {
  return { id, code: `p${id}`, locale: null, path: `p${id}`, content: "", fields: {}, based_on_page_id: null, ...more };
};
const keyed = { pl: { title: "Tytuł", lead: "Wstęp" }, en: { title: "Title" } };
const master = entry(1, { locale: "pl", fields: keyed, html_title: "T" });
const group = (root: Entry, own?: Entry): Group => ({ kind: "page", root, own, locale: "fr", site: "pl" });
const places = (of: Group) =>
  unitsOf(of, { locale: "pl", record: of.root }).map(({ name, source, value, place }) => [name, source, value, place]);

describe("the texts to translate", () => {
  test.each([
    ["fields", group(entry(1))],
    ["slave", group(entry(1, { locale: "pl" }))],
    ["home", group(entry(1, { locale: "pl", path: "" }))],
    ["own", group(entry(1, { locale: "pl" }), entry(2, { locale: "fr" }))],
  ])("are kept by %s", (way, of) => expect(wayOf(of)).toBe(way as never));

  test("of a page without a language stand in its fields", () => {
    expect(places(group(entry(1, { fields: keyed, html_title: "T" })))).toEqual([
      ["fields.title", "Tytuł", "", { record: "root", key: "title", locale: "fr" }],
      ["fields.lead", "Wstęp", "", { record: "root", key: "lead", locale: "fr" }],
    ]);
  });
  test("of a new page stand in its columns, and in its master's fields where those are by language", () => {
    expect(places(group(master))).toEqual([
      ["html_title", "T", "", { record: "own", column: "html_title" }],
      ["fields.title", "Tytuł", "", { record: "root", key: "title", locale: "fr" }],
      ["fields.lead", "Wstęp", "", { record: "root", key: "lead", locale: "fr" }],
    ]);
  });
  test("of a page whose master's fields are plain are its own", () => {
    const slave = entry(2, { locale: "fr", based_on_page_id: 1, fields: { title: "Titre", n: 7 } });
    expect(places(group(entry(1, { locale: "pl", fields: { title: "Tytuł", n: 5 } }), slave))).toEqual([
      ["fields.title", "Tytuł", "Titre", { record: "own", key: "title" }],
      ["fields.n", "5", "7", { record: "own", key: "n" }],
    ]);
  });
  test("of a page of its own are its own, whatever the other one has", () => {
    const other = entry(2, { locale: "fr", fields: { title: "Titre" } });
    expect(places(group(master, other)).map(([name, , value, place]) => [name, value, place])).toEqual([
      ["html_title", "", { record: "own", column: "html_title" }],
      ["fields.title", "Titre", { record: "own", key: "title" }],
      ["fields.lead", "", { record: "own", key: "lead" }],
    ]);
  });
  test("of a paragraph stand in its fields, those of an article in one of its own", () => {
    const paragraph: Group = { ...group(entry(1, { fields: keyed, content: "<p>" })), kind: "paragraph" };
    expect(places(paragraph).map(([name]) => name)).toEqual(["fields.title", "fields.lead"]);
    const source = entry(1, { locale: "pl", title: "Piec", content: "<p>", fields: { note: "X", n: 1 } });
    const article: Group = { ...group(source), kind: "article" };
    expect([wayOf(article), wayOf({ ...article, root: entry(1) })]).toEqual(["copy", "shared"]);
    expect(places(article).map(([name, , , place]) => [name, place])).toEqual([
      ["title", { record: "own", column: "title" }],
      ["fields.note", { record: "own", key: "note" }],
      ["content", { record: "own", column: "content" }],
    ]);
    const units = unitsOf(article, { locale: "pl", record: source });
    expect(changesOf(article, units, { title: "Four", "fields.note": "Y" })).toEqual([
      { record: "own", values: { title: "Four", fields: { note: "Y", n: 1 } } },
    ]);
  });
  test("may be read in any language that has them", () => {
    const [title] = unitsOf(group(entry(1, { fields: keyed })), { locale: "en", record: entry(1, { fields: keyed }) });
    expect(title?.source).toBe("Title");
  });
  test("named like what every object has are found only where they are", () => {
    const fields = JSON.parse('{"pl":{"constructor":"A","__proto__":"B"}}') as object;
    const units = unitsOf(group(entry(1, { fields })), { locale: "pl", record: entry(1, { fields }) });
    expect(units.map(({ name, source, value }) => [name, source, value])).toEqual([
      ["fields.constructor", "A", ""],
      ["fields.__proto__", "B", ""],
    ]);
  });
});

describe("a save", () => {
  const of = group(master, entry(2, { locale: "fr", based_on_page_id: 1, html_title: "Ancien" }));
  const units = unitsOf(of, { locale: "pl", record: master });
  test("has only what was typed, by the record that keeps it; an empty text takes the value away", () => {
    expect(changesOf(of, units, {})).toEqual([]);
    expect(changesOf(of, units, { html_title: "", "fields.title": "Titre", "fields.lead": "" })).toEqual([
      { record: "own", values: { html_title: null } },
      { record: "root", values: { fields: { ...keyed, fr: { title: "Titre" } } } },
    ]);
  });
  test("leaves no empty language behind", () => {
    const root = entry(1, { fields: { pl: { a: "1" }, fr: { a: "2" } } });
    const all = unitsOf(group(root), { locale: "pl", record: root });
    expect(changesOf({ kind: "page", root, own: undefined }, all, { "fields.a": "" })).toEqual([
      { record: "root", values: { fields: { pl: { a: "1" } } } },
    ]);
  });
  test("knows what is no JSON, and keeps what is", () => {
    const root = entry(1, { fields: { pl: { list: ["a"] } } });
    const all = unitsOf(group(root), { locale: "pl", record: root });
    expect(mistaken(all, { "fields.list": "[" })).toEqual(["fields.list"]);
    expect(mistaken(all, { "fields.list": '["b"]' })).toEqual([]);
    expect(changesOf({ kind: "page", root, own: undefined }, all, { "fields.list": '["b"]' })[0]?.values).toEqual({
      fields: { pl: { list: ["a"] }, fr: { list: ["b"] } },
    });
    const [change] = changesOf({ kind: "page", root, own: undefined }, all, { "fields.list": "[7615917337495251231]" });
    expect(JSON.stringify(change?.values)).toBe('{"fields":{"pl":{"list":["a"]},"fr":{"list":[7615917337495251231]}}}');
  });
});

test.each([
  ["Über uns", "o-nas", "ueber-uns"],
  ["À propos de l’atelier", "o-nas", "a-propos-de-l-atelier"],
  ["Łódź", "o-nas", "lodz"],
  ["Kontakt", "kontakt", "fr/kontakt"],
  ["", "o-nas", "fr/o-nas"],
])("the path of %j beside %j is %j", (name, path, expected) => expect(pathFor(name, path, "fr")).toBe(expected));

const found = (code: Finding["code"], more: Partial<Finding> = {}): Finding => {
  return { code, severity: "error", page: null, message: "", ...more };
};

describe("what a check has found", () => {
  test("stands by kind, errors first", () => {
    const all = [found("missing_keys", { severity: "warning" }), found("template_error"), found("template_error")];
    expect(groupsOf(all).map(({ code, findings }) => [code, findings.length])).toEqual([
      ["template_error", 2],
      ["missing_keys", 1],
    ]);
  });
  test.each([
    [
      found("template_error", { page: "about", field: "content" }),
      "record",
      { kind: "page", code: "about" },
      "content",
    ],
    [found("template_error", { field: "layout main content" }), "record", { kind: "layout", code: "main" }, "content"],
    [found("article_without_category", { field: "article a" }), "record", { kind: "article", code: "a" }, ""],
    [found("stale_translation", { page: "p", locale: "de" }), "translations", { kind: "page", code: "p" }, ""],
    [found("suffixed_variable", { page: "p" }), "migration", { kind: "page", code: "p" }, ""],
    [found("no_domain"), "domains", undefined, ""],
    [found("path_needs_multilang", { page: "p" }), "site", { kind: "page", code: "p" }, ""],
  ])("leads where it is seen to: %j", (one, place, subject, field) => {
    expect([placeOf(one), subjectOf(one), fieldOf(one)]).toEqual([place, subject, field] as never);
  });
});

describe("a sure mend", () => {
  const layout = (content: string) => ({ id: 3, code: "main", content });
  const world: World = {
    site: { code: "acme", locale: "pl" },
    layouts: [layout("")],
    categories: ["news", "events"],
    paragraphs: ["hours", "contact"],
    domains: [{ id: 9, primary: true, locale: null }],
    rows: [row("about", cell("missing", null)), { ...row("home", cell("missing", null)), path: "" }],
  };
  const at = (content: string) => ({ ...world, layouts: [layout(content)] });
  const ofLayout = (code: Finding["code"], content: string) =>
    mendOf(found(code, { field: "layout main content" }), at(content), layout(content))?.after;
  test.each([
    ["locale_as_html_lang", '<html class="a" lang="{{ locale }}">', '<html class="a" lang="{{ html_lang }}">'],
    ["layout_without_html_lang", "<html>", '<html lang="{{ html_lang }}">'],
    ["layout_without_html_lang", "<html lang=pl>", '<html lang="{{ html_lang }}">'],
    ["html_lang_of_shared_pages", "<html lang='{{ html_lang }}'>", '<html lang="{{ content_lang }}">'],
    ["html_lang_of_shared_pages", "<html lang=pl>", undefined],
    ["layout_without_html_lang", "<p>", undefined],
    ["layout_without_seo_head", "<head><title>x</title></head>", "<head><title>x</title>{{ seo_head }}\n</head>"],
    ["layout_without_seo_head", "<head></head><!-- </head> -->", undefined],
    ["layout_without_seo_head", '<head><link hreflang="pl"></head>', undefined],
  ] as const)("of %s in %s gives %s", (code, before, after) => expect(ofLayout(code, before)).toBe(after));

  const named = (code: Finding["code"], message: string, content: string) =>
    mendOf(found(code, { page: "p", message }), world, { id: 1, content })?.values;
  test("of a name is the only one that is nearly the same, in its own tags alone", () => {
    const paragraph = "prints the paragraph huors, which does not exist";
    expect(named("unknown_paragraph", paragraph, 'huors {% paragraph "huors" %} {{ "huors" }}')).toEqual({
      content: 'huors {% paragraph "hours" %} {{ "huors" }}',
    });
    const category = "lists articles of the category new, which does not exist";
    expect(named("unknown_category", category, '{% articles category="events, new" %}')).toEqual({
      content: '{% articles category="events, news" %}',
    });
    expect(named("unknown_paragraph", "prints the paragraph x, which does not exist", '{% paragraph "x" %}')).toBe(
      undefined,
    );
  });
  test.each([
    ["hous", ["hours", "house"], undefined],
    ["hous", ["hours"], "hours"],
    ["Opening_Hours", ["opening-hours"], "opening-hours"],
    ["ab", ["abc"], undefined],
    ["news", ["events"], undefined],
  ])("takes %s among %j for %s", (wrong, names, right) => expect(nearest(wrong, names)).toBe(right));

  const missing = (page: string) => found("missing_translation", { page, locale: "fr" });
  test("makes a page that is based on its master, but not on the home page or on one without a language", () => {
    const about = { id: 1, code: "about", name: "About", path: "o-nas", locale: "pl" };
    expect(mendOf(missing("about"), world, about)).toMatchObject({
      method: "POST",
      values: { based_on_page_code: "about", path: "fr/o-nas", locale: "fr", site_code: "acme" },
    });
    expect(mendOf(missing("about"), world, { ...about, locale: null })).toBeUndefined();
    expect(isMendable(missing("home"), world)).toBe(false);
  });
  test("of a layout whose pages are shared by languages takes the language of what is shown", () => {
    const shared = { ...at("<html>"), domains: [{ id: 9, primary: true, locale: "en" }] };
    const mend = mendOf(found("layout_without_html_lang", { field: "layout main content" }), shared, layout("<html>"));
    expect(mend?.after).toBe('<html lang="{{ content_lang }}">');
  });

  test("of a choice is there only where nothing else can be chosen", () => {
    expect(mendOf(found("domains_without_locale"), world, undefined)).toMatchObject({
      id: 9,
      values: { locale: "pl" },
    });
    const article = found("article_without_category", { field: "article a" });
    expect(isMendable(article, world)).toBe(false);
    expect(mendOf(article, { ...world, categories: ["news"] }, { id: 4 })?.values).toEqual({ category_code: "news" });
    const bare = found("page_without_layout", { page: "p" });
    expect(mendOf(bare, world, { id: 4, based_on_page_id: null })?.values).toEqual({ layout_code: "main" });
    expect(mendOf(bare, world, { id: 4, based_on_page_id: 1 })).toBeUndefined();
  });
});

describe("the plan of a migration", () => {
  const slaves = [{ code: "a-en", path: "a", locale: "en" as const }];
  const domains = [{ name: "a.test", locale: null }];
  const plan = { locale: "pl" as const, domains, variables: "all", groups: [{ master: "a", slaves }] };
  test("is edited as JSON and by hand", () => {
    expect(planIn(planText(plan))).toEqual(plan);
    expect(withoutSlave(plan, "a", "a-en").groups).toEqual([]);
    expect(withDomain(plan, "a.test", "de").domains).toEqual([{ name: "a.test", locale: "de" }]);
  });
  test.each(["", "{", "[]", '{"locale":"it"}', "null"])("is not %s", (text) => expect(planIn(text)).toBeUndefined());
  test("is drafted from sitemaps only if there are any", () => {
    expect([sitemapsIn(" \n"), sitemapsIn("<urlset/>")]).toEqual([[], ["<urlset/>"]]);
  });
  test("shows short values in a line", () => {
    expect(isLong({ before: null, after: true })).toBe(false);
    expect(isLong({ before: "a", after: { a: 1 } })).toBe(true);
  });
});

test.each(["layouts", "paragraphs", "articles", "categories", "domains"])(
  "the list of %s of a site begins with a name",
  (name) => {
    expect(["name", "title"]).toContain(columnsOfList(`/cms/${name}`)[0] ?? "");
  },
);

test("fields are called by their names alone, without their language", () => {
  expect(namesOf(["lead", "fields.title", "fields.en.note", "fields.en", "fields.v1.2"])).toBe(
    "lead, title, note, en, v1.2",
  );
});
