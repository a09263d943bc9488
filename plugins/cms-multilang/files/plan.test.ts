import { describe, expect, test } from "bun:test";
import type { SiteRecord } from "./kinds.ts";
import { parsePlan, planFromSitemaps } from "./plan.ts";
import { plainTemplate, suffixedIn, suffixedKey } from "../liquid-tags.ts";

describe("a plan", () => {
  const slave = { code: "b", path: "b", locale: "en" };
  const right: [what: string, plan: object][] = [
    ["with a locale alone", { locale: "pl" }],
    ["with domains", { locale: "pl", domains: [{ name: "a.test", locale: null, primary: true }] }],
    ["with names of variables", { locale: "pl", variables: ["title"] }],
    ["with all variables", { locale: "pl", variables: "all" }],
    [
      "with groups",
      { locale: "pl", groups: [{ master: "a", path: "", locale: "pl", slaves: [{ ...slave, keep_content: true }] }] },
    ],
  ];
  test.each(right)("%s is read as it stands", (_, plan) =>
    expect(parsePlan(JSON.stringify(plan))).toEqual(plan as never),
  );

  const wrong: [what: string, text: string, message: string][] = [
    ["that is not JSON", "{", "the plan: "],
    ["that is a list", "[]", "the plan: "],
    ["without a locale", "{}", "locale is required"],
    ["with an unknown locale", '{"locale":"it"}', "locale must be one of pl, en, fr, cs, sk, de, es, uk"],
    ["with a domain without a name", '{"locale":"pl","domains":[{}]}', "name"],
    ["with a domain of an unknown locale", '{"locale":"pl","domains":[{"name":"a.test","locale":"it"}]}', "locale"],
    ["with variables in a text", '{"locale":"pl","variables":"some"}', "variables"],
    ["with a group without a master", '{"locale":"pl","groups":[{"slaves":[]}]}', "master"],
    ["with a group without slaves", '{"locale":"pl","groups":[{"master":"a"}]}', "slaves"],
    [
      "with a slave without a path",
      JSON.stringify({ locale: "pl", groups: [{ master: "a", slaves: [{ code: "b", locale: "en" }] }] }),
      "path",
    ],
    [
      "with too many slaves",
      JSON.stringify({ locale: "pl", groups: [{ master: "a", slaves: Array.from({ length: 51 }, () => slave) }] }),
      "slaves",
    ],
  ];
  test.each(wrong)("%s is refused with its reason", (_, text, message) => {
    expect(() => parsePlan(text)).toThrow(/^the plan: /);
    expect(() => parsePlan(text)).toThrow(message);
  });
});

describe("a plan from old sitemaps", () => {
  const site: SiteRecord = { kind: "site", code: "", values: { locale: "pl" } };
  const page = (code: string, path: string, locale: string | null = null): SiteRecord => ({
    kind: "page",
    code,
    values: { path, locale },
  });
  const link = (locale: string, href: string) => `<xhtml:link rel="alternate" hreflang="${locale}" href="${href}"/>`;
  const url = (...links: string[]) => `<url><loc>https://a.pl/</loc>${links.join("")}</url>`;
  const about = url(link("pl", "https://a.pl/o-nas"), link("en", "https://a.com/about"));
  const slave = { code: "about-en", path: "about", locale: "en" };
  const group = { master: "about", path: "o-nas", locale: "pl", slaves: [slave] };
  const table: [what: string, sitemaps: string[], pages: SiteRecord[], groups: object[], notes: string[]][] = [
    [
      "takes the codes of pages by path and locale",
      [about],
      [page("about", "o-nas", "pl"), page("en-about", "about", "en")],
      [{ ...group, slaves: [{ ...slave, code: "en-about" }] }],
      [],
    ],
    ["takes pages without a locale too", [about], [page("about", "o-nas")], [group], []],
    ["names each group once", [about, about], [page("about", "o-nas")], [group], []],
    [
      "leaves x-default out",
      [
        url(
          link("pl", "https://a.pl/o-nas"),
          link("en", "https://a.com/about"),
          link("x-default", "https://a.pl/o-nas"),
        ),
      ],
      [page("about", "o-nas")],
      [group],
      [],
    ],
    [
      "reads regions as their language",
      [url(link("pl-PL", "https://a.pl/o-nas"), link("en-GB", "https://a.com/about"))],
      [page("about", "o-nas")],
      [group],
      [],
    ],
    [
      "gives a slave at its master's path a prefix",
      [url(link("pl", "https://a.pl/x"), link("en", "https://a.com/x"))],
      [page("x", "x")],
      [{ master: "x", path: "x", locale: "pl", slaves: [{ code: "x-en", path: "en/x", locale: "en" }] }],
      [],
    ],
    [
      "decodes paths",
      [url(link("pl", "https://a.pl/%C5%BC"), link("en", "https://a.com/z?a=1&amp;b"))],
      [page("z", "ż")],
      [{ master: "z", path: "ż", locale: "pl", slaves: [{ code: "z-en", path: "z", locale: "en" }] }],
      [],
    ],
    [
      "notes the home page",
      [url(link("pl", "https://a.pl/"), link("en", "https://a.com/"))],
      [page("home", "")],
      [],
      ["the home page (pl, en) is translated by its fields"],
    ],
    ["notes a path without a page", [about], [], [], ["no page has the path o-nas"]],
    [
      "leaves out an address in one language",
      [url(link("pl", "https://a.pl/o-nas"))],
      [page("about", "o-nas")],
      [],
      [],
    ],
    [
      "leaves out what is not an address",
      [url(link("pl", "o-nas"), link("en", "https://a.com/about"))],
      [page("about", "o-nas")],
      [],
      [],
    ],
    [
      "leaves out unknown languages",
      [url(link("it", "https://a.it/x"), link("en", "https://a.com/about"))],
      [page("about", "about")],
      [],
      [],
    ],
    ["is empty for what is not a sitemap", ["<p>nothing</p>", ""], [page("about", "o-nas")], [], []],
  ];
  test.each(table)("%s", (_, sitemaps, pages, groups, notes) => {
    const plan = planFromSitemaps(sitemaps, [site, ...pages]);
    expect([plan.groups, plan.notes]).toEqual([groups as never, notes]);
  });

  test("has one primary domain, of the site's locale; a host with several languages has none", () => {
    const shared = url(link("pl", "https://a.eu/o-nas"), link("en", "https://a.eu/about"));
    const { locale, domains } = planFromSitemaps([about + shared], [site, page("about", "o-nas")]);
    expect([locale, domains]).toEqual([
      "pl",
      [
        { name: "a.pl", locale: "pl", primary: true },
        { name: "a.com", locale: "en", primary: false },
        { name: "a.eu", locale: null, primary: false },
      ],
    ]);
  });
});

describe("a variable with a language at its end", () => {
  const keys: [key: string, suffixed: ReturnType<typeof suffixedKey>][] = [
    ["title_en", { name: "title", locale: "en" }],
    ["long_title_uk", { name: "long_title", locale: "uk" }],
    ["a-b_pl", { name: "a-b", locale: "pl" }],
    ["title_it", undefined],
    ["title_EN", undefined],
    ["title", undefined],
    ["_en", undefined],
    ["en", undefined],
    ["1_en", undefined],
    ["title_en_x", undefined],
  ];
  test.each(keys)("%s", (key, suffixed) => expect(suffixedKey(key)).toEqual(suffixed));

  test("is found once, at its first line", () => {
    const found = suffixedIn("{{ a }}\n{{ title_en }}\n{% if title_en and text_pl == 'x_de' %}{% endif %}");
    expect(found.map(({ variable, line }) => [variable, line])).toEqual([
      ["title_en", 2],
      ["text_pl", 3],
    ]);
  });

  const templates: [template: string, plain: string][] = [
    ["{{ title_en }} title_en", "{{ title }} title_en"],
    ['{{ "title_en" | append: title_en }}', '{{ "title_en" | append: title }}'],
    ["{% if title_en %}{{ other_en }}{% endif %}", "{% if title %}{{ other_en }}{% endif %}"],
    ["{{ page.title_en }}", "{{ page.title }}"],
    ["{{ subtitle_en }}", "{{ subtitle_en }}"],
    ["{{ title_en", "{{ title_en"],
  ];
  test.each(templates)("%s becomes %s", (template, plain) => {
    expect(plainTemplate(template, (variable) => variable === "title_en")).toBe(plain);
  });
});
