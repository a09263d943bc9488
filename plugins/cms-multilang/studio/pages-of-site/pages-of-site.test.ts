import { describe, expect, test } from "bun:test";
import { resolveFields, mergeFields } from "../../render/values/fields.ts";
import { wordsFor, domainsIn, languagesOf, pageOf, pagesIn, siteOf, type Fields, type SitePage } from "./site-page.ts";
import { columnsOf, fieldRows, keyMistake, relinked, textState, unlinked } from "./inheritance.ts";
import { draftOf, hintsOf, renderedOf, resultOf, type Hint, type Rendered } from "./result.ts";
import { spokenBy, treeByMaster, treeByPath, type Branch } from "./tree.ts";

function page(id: number, path: string, more: Partial<Record<string, unknown>> = {}): SitePage {
  const made = pageOf({ id, code: `p${id}`, name: `P${id}`, path, fields: {}, ...more });
  if (!made) throw new Error("no page");
  return made;
}
const drawn = (branches: readonly Branch[]): unknown[] =>
  branches.map(({ page: at, part, branches: below }) => [at?.id ?? null, part, ...drawn(below)]);

describe("the tree of pages", () => {
  const pages = [
    page(1, "offer/shoes"),
    page(2, ""),
    page(3, "offer"),
    page(4, "a/b/c"),
    page(5, "offer", { locale: "en" }),
    page(6, "about", { based_on_page_id: 3 }),
    page(7, "first", { position: -1, based_on_page_id: 99 }),
  ];
  test("by path: what is below, with gaps, and several pages at one path", () => {
    expect(drawn(treeByPath(pages))).toEqual([
      [2, "/"],
      [7, "first"],
      [null, "a", [null, "b", [4, "c"]]],
      [6, "about"],
      [3, "offer", [1, "shoes"]],
      [5, "offer"],
    ]);
  });
  test("by master; a slave whose master is not shown stands by itself", () => {
    expect(drawn(treeByMaster(pages))).toEqual([
      [7, "first"],
      [2, "/"],
      [4, "a/b/c"],
      [3, "offer", [6, "about"]],
      [5, "offer"],
      [1, "offer/shoes"],
    ]);
  });
  test("a path that means something to JavaScript is a path", () => {
    expect(drawn(treeByPath([page(1, "__proto__/constructor")]))).toEqual([[null, "__proto__", [1, "constructor"]]]);
  });
});

test("in which languages a page is there", () => {
  const master = page(1, "oferta", { locale: "pl" });
  const slave = page(2, "offer", { locale: "en", based_on_page_id: 1 });
  const shared = page(3, "", { fields: { title: "T", en: { title: "E" }, de: "no" } });
  const of = (one: SitePage) =>
    spokenBy(one, [master, slave, shared], ["pl", "en", "de"]).map(({ locale, state, pageId }) => [
      locale,
      state,
      pageId,
    ]);
  expect(of(master)).toEqual([
    ["pl", "page", 1],
    ["en", "slave", 2],
    ["de", "none", undefined],
  ]);
  expect(of(slave)).toEqual([["en", "page", 2]]);
  expect(of(shared)).toEqual([
    ["pl", "shared", 3],
    ["en", "fields", 3],
    ["de", "shared", 3],
  ]);
});

test("a site, its domains and its languages, whatever is answered", () => {
  const site = siteOf({ code: "acme", name: "Acme", locale: "de", multilang: true });
  expect(site).toEqual({ code: "acme", name: "Acme", locale: "de", multilang: true });
  expect([siteOf(null), siteOf([]), siteOf({ name: "x" }), pageOf(7)]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect([pagesIn({}), pagesIn([null, 1]), domainsIn("x")]).toEqual([[], [], []]);
  const domains = domainsIn([
    { name: "a.pl", locale: "pl" },
    { name: "b", locale: "cs", status: "pending" },
    { name: "c", locale: null },
  ]);
  expect(domains).toEqual([
    { name: "a.pl", locale: "pl" },
    { name: "c", locale: null },
  ]);
  expect(
    languagesOf(site, domains, [page(1, "", { fields: { en: {}, it: {} } }), page(2, "x", { locale: "uk" })]),
  ).toEqual(["de", "pl", "en", "uk"]);
});

describe("where a value comes from:", () => {
  const table: [what: string, own: Fields, master: Fields | undefined, cells: [string, unknown][]][] = [
    [
      "own",
      { t: "O", en: { t: "OE" } },
      { t: "M" },
      [
        ["own", "O"],
        ["own", "OE"],
      ],
    ],
    [
      "the master's",
      {},
      { t: "M", en: { t: "ME" } },
      [
        ["master", "M"],
        ["master", "ME"],
      ],
    ],
    [
      "the master's language before the page's own general value",
      { t: "O" },
      { en: { t: "ME" } },
      [
        ["own", "O"],
        ["master", "ME"],
      ],
    ],
    [
      "the page's general value",
      { t: "O" },
      { t: "M" },
      [
        ["own", "O"],
        ["general", "O"],
      ],
    ],
    [
      "the master's general value",
      {},
      { t: "M" },
      [
        ["master", "M"],
        ["masterGeneral", "M"],
      ],
    ],
    [
      "null is absent",
      { t: null, en: { t: null } },
      { t: "M" },
      [
        ["master", "M"],
        ["masterGeneral", "M"],
      ],
    ],
    [
      "an empty text is a value",
      { t: "" },
      { t: "M" },
      [
        ["own", ""],
        ["general", ""],
      ],
    ],
    [
      "only in the language",
      { en: { t: "E" } },
      undefined,
      [
        ["none", undefined],
        ["own", "E"],
      ],
    ],
    [
      "no text",
      { t: { a: 1 } },
      undefined,
      [
        ["own", { a: 1 }],
        ["general", { a: 1 }],
      ],
    ],
  ];
  test.each(table)("%s", (_, own, master, cells) => {
    const [row] = fieldRows(own, master, ["en"]);
    expect(row?.key).toBe("t");
    expect(row?.cells.map(({ origin, value }): [string, unknown] => [origin, value])).toEqual(cells);
    // As the server shows it.
    expect(resolveFields(mergeFields(own, master ?? {}), "en")["t"]).toEqual(row?.cells[1]?.value);
  });

  test("keys of every language are rows once, those of locales are not", () => {
    const rows = fieldRows({ a: 1, en: { b: 2, a: 3 }, de: "Germany" }, { c: 1, en: { d: 1 } }, ["en"]);
    expect(rows.map(({ key }) => key)).toEqual(["c", "d", "a", "de", "b"]);
  });

  test.each([
    ["", undefined, "none", ""],
    [" ", "M", "master", "M"],
    ["O", "M", "own", "O"],
    ["O", undefined, "own", "O"],
    ["", " ", "none", ""],
  ] as const)("the text %j below %j", (own, master, origin, value) => {
    expect(textState(own, master)).toEqual({ origin, value });
  });
});

describe("a value is unlinked by writing it, and linked again by removing it:", () => {
  const table: [fields: Fields, locale: string, key: string, after: Fields][] = [
    [{ a: "1" }, "", "t", { a: "1", t: "x" }],
    [{ a: "1" }, "en", "t", { a: "1", en: { t: "x" } }],
    [{ en: { a: "1" } }, "en", "t", { en: { a: "1", t: "x" } }],
    [{}, "", "__proto__", JSON.parse('{ "__proto__": "x" }')],
  ];
  test.each(table)("%j, %p, %p", (fields, locale, key, after) => {
    const own = unlinked(fields, locale, key, "x");
    expect(JSON.stringify(own)).toBe(JSON.stringify(after));
    expect(relinked(own, locale, key)).toEqual(fields);
  });
  test("what is not there stays away", () => expect(relinked({ a: 1 }, "en", "a")).toEqual({ a: 1 }));
});

test("languages that are edited, names of fields, and words of the editor", () => {
  expect(columnsOf({ locale: null }, ["pl", "en"], {})).toEqual(["pl", "en"]);
  expect(columnsOf({ locale: "en" }, ["pl", "en"], { de: {}, t: 1 })).toEqual(["en", "de"]);
  const rows = fieldRows({ t: 1 }, undefined, []);
  expect(["", "en", "t", "title"].map((key) => keyMistake(key, rows))).toEqual(["blank", "locale", "taken", undefined]);
  const words = wordsFor(["lead", "en", "two words", "html_title"]).map(({ label }) => label);
  expect(words).toContain("page.lead");
  const ofLayout = wordsFor(["menu"], "layout").map(({ label }) => label);
  expect(["layout.menu", "content", "menu"].map((word) => ofLayout.includes(word))).toEqual([true, true, false]);
  expect([words.includes("en"), words.includes("two words"), new Set(words).size === words.length]).toEqual([
    false,
    false,
    true,
  ]);
});

const good = renderedOf({
  url: "/cms/previews/x",
  domain: "acme.pl",
  locale: "pl",
  address: "https://acme.pl/o-nas",
  redirects_to: null,
  fault: null,
  canonical_url: "https://acme.pl/o-nas",
  alternates: [
    { locale: "pl", url: "https://acme.pl/o-nas" },
    { locale: "en", url: "https://acme.com/about" },
  ],
  seen: {
    title: "O nas",
    description: "Kim jesteśmy",
    canonical_url: "https://acme.pl/o-nas",
    alternates: [
      { locale: "en", url: "https://acme.com/about" },
      { locale: "pl", url: "https://acme.pl/o-nas" },
    ],
    robots: null,
    lang: "pl",
  },
});

describe("what a search engine would object to:", () => {
  const table: [change: Partial<Rendered>, hints: Hint[]][] = [
    [{}, []],
    [{ redirectsTo: "https://acme.com/about" }, ["redirects"]],
    [{ robots: "NOINDEX, follow" }, ["noindex"]],
    [{ title: null, description: null }, ["noTitle", "noDescription"]],
    [{ title: "x".repeat(61), description: "x".repeat(161) }, ["longTitle", "longDescription"]],
    [{ lang: null, seenCanonical: null, seenAlternates: [] }, ["noLang", "noCanonical", "noAlternates"]],
    [
      { seenCanonical: "https://acme.pl/x", seenAlternates: [{ locale: "pl", url: "x" }] },
      ["otherCanonical", "otherAlternates"],
    ],
    [{ canonical: null, alternates: [], seenCanonical: null, seenAlternates: [] }, []],
    [{ fault: "page x, line 1", title: null }, []],
  ];
  test.each(table)("%j", (change, hints) => {
    if (!good) throw new Error("no page");
    expect(hintsOf({ ...good, ...change })).toEqual(hints);
  });

  test("the result is cut at a word, and its address is readable", () => {
    if (!good) throw new Error("no page");
    const title = `${"word ".repeat(20)}end`;
    const address = "https://acme.pl/o-nas/zesp%C3%B3%C5%82/%ff";
    expect(resultOf({ ...good, title, seenCanonical: null, address })).toEqual({
      crumbs: "acme.pl › o-nas › zespół › %ff",
      title: `${"word ".repeat(12).trim()} …`,
      description: "Kim jesteśmy",
    });
    expect(resultOf({ ...good, seenCanonical: "/x", title: null }).crumbs).toBe("/x");
  });

  test("an answer of another shape shows nothing", () => {
    expect([renderedOf(null), renderedOf({}), renderedOf({ url: "x" })?.alternates]).toEqual([
      undefined,
      undefined,
      [],
    ]);
  });
});

test("of a save a preview takes what changes the page that is shown", () => {
  expect(draftOf({ content: "x", fields: {}, active: true, code: "c", position: 1, cache_seconds: 1 })).toEqual({
    content: "x",
    fields: {},
  });
});
