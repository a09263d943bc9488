import { describe, expect, test } from "bun:test";
import type { Locale } from "../locales.ts";
import type { Domain } from "../render/addresses/addresses.ts";
import type { Variant } from "../render/addresses/variant.ts";
import { alternatesFindings, domainFindings } from "./pages.ts";
import { headFindings, suffixFindings, type HeadOptions } from "./templates.ts";

const codes = (found: readonly { readonly code: string }[]) => found.map(({ code }) => code);
const domain = (id: number, name: string, locale: Locale | null): Domain => ({ id, name, locale, isPrimary: id === 1 });
const [pl, en, bare] = [domain(1, "acme.pl", "pl"), domain(2, "acme.com", "en"), domain(3, "acme.eu", null)];

describe("the domains of a site", () => {
  const table: [what: string, domains: Domain[], multilang: boolean, found: string[]][] = [
    ["none", [], true, ["no_domain"]],
    ["none, without multilang", [], false, ["no_domain"]],
    ["one for each language", [pl, en], true, []],
    ["one without a locale among others", [pl, bare], true, []],
    ["none with a locale", [bare], true, ["domains_without_locale"]],
    ["none with a locale, without multilang", [bare], false, []],
    ["two of one language", [pl, domain(2, "acme.org", "pl")], true, ["domain_duplicate"]],
    ["two of one language, without multilang", [pl, domain(2, "acme.org", "pl")], false, []],
    ["two without a locale", [pl, bare, domain(4, "acme.info", null)], true, ["domain_duplicate"]],
    ["one with www. and without", [pl, domain(2, "www.acme.pl", "en")], true, ["domain_duplicate"]],
    ["one with www. and without, without multilang", [pl, domain(2, "www.acme.pl", null)], false, ["domain_duplicate"]],
  ];
  test.each(table)("%s", (_, domains, multilang, found) =>
    expect(codes(domainFindings(domains, multilang))).toEqual(found),
  );
});

describe("the head of a template", () => {
  const multilang: HeadOptions = { multilang: true, hasSharedPages: false };
  const shared: HeadOptions = { multilang: true, hasSharedPages: true };
  const single: HeadOptions = { multilang: false, hasSharedPages: false };
  const seo = "<head>{{ seo_head }}</head>";
  const table: [what: string, content: string, options: HeadOptions, found: string[]][] = [
    ["without an <html> tag", "<p>{{ content }}</p>", multilang, []],
    ["that is whole", `<html lang="{{ html_lang }}">${seo}`, multilang, []],
    ["with content_lang", `<html lang="{{ content_lang }}">${seo}`, shared, []],
    [
      "with html_lang beside pages of several languages",
      `<html lang="{{ html_lang }}">${seo}`,
      shared,
      ["html_lang_of_shared_pages"],
    ],
    ["with the page's locale", `<html lang="{{ page.locale }}">${seo}`, multilang, ["locale_as_html_lang"]],
    ["with the site's locale, without multilang", '<html lang="{{ site.locale }}">', single, ["locale_as_html_lang"]],
    ["with a language that is written down", `<html lang="pl">${seo}`, multilang, ["layout_without_html_lang"]],
    ["without a language", `<html>${seo}`, multilang, ["layout_without_html_lang"]],
    ["without a language, without multilang", "<html>", single, []],
    ["without quotes", `<html lang={{ html_lang }}>${seo}`, multilang, []],
    ["without seo_head", '<html lang="{{ html_lang }}">', multilang, ["layout_without_seo_head"]],
    ["with seo_head in a text alone", '<html lang="{{ html_lang }}">seo_head', multilang, ["layout_without_seo_head"]],
    [
      "with both parts of seo_head",
      '<html lang="{{ html_lang }}">{{ canonical_url }}{% for a in seo_alternates %}{% endfor %}',
      multilang,
      [],
    ],
    [
      "with one part of seo_head",
      '<html lang="{{ html_lang }}">{{ canonical_url }}',
      multilang,
      ["layout_without_seo_head"],
    ],
    ["with nothing right", "<html>", multilang, ["layout_without_html_lang", "layout_without_seo_head"]],
  ];
  test.each(table)("%s", (_, content, options, found) => {
    const findings = headFindings({ page: null, place: "layout main ", content, fields: {} }, options);
    expect(codes(findings)).toEqual(found);
    for (const { field } of findings) expect(field).toBe("layout main content");
  });
});

describe("a language at the end of a name", () => {
  const table: [
    what: string,
    content: string,
    fields: Record<string, unknown>,
    found: [string, string | undefined][],
  ][] = [
    ["in a field", "", { title_en: "x" }, [["en", "fields.title_en"]]],
    ["in a template", "{{ title_de }}", {}, [["de", "content"]]],
    [
      "in both",
      "{{ title_en }}",
      { title_en: "x" },
      [
        ["en", "fields.title_en"],
        ["en", "content"],
      ],
    ],
    ["in a text", "title_en", {}, []],
    ["below a language", "", { en: { title_en: "x" } }, []],
    ["of an unknown language", "{{ title_it }}", { title_it: "x" }, []],
  ];
  test.each(table)("%s", (_, content, fields, found) => {
    const findings = suffixFindings({ page: "a", place: "", content, fields });
    expect(findings.map(({ locale, field }) => [locale as string, field])).toEqual(found as never);
  });
});

describe("a page among its languages", () => {
  const page = (id: number, path: string, locale: Locale | null, basedOnPageId: number | null = null): Variant => ({
    id,
    path,
    locale,
    basedOnPageId,
  });
  const [master, slave] = [page(1, "o-nas", "pl"), page(2, "about", "en", 1)];
  const table: [
    what: string,
    asked: number,
    group: Variant[],
    domains: Domain[],
    multilang: boolean,
    found: string[],
  ][] = [
    ["a master with its slave", 1, [master, slave], [pl, en], true, []],
    ["a slave with its master", 2, [master, slave], [pl, en], true, []],
    ["a page alone", 1, [master], [pl, en], true, []],
    ["a site without a domain", 1, [master, slave], [], true, []],
    ["two slaves of one language", 2, [master, slave, page(3, "about-us", "en", 1)], [pl, en], true, []],
    [
      "two slaves of one language, of which the second",
      3,
      [master, slave, page(3, "about-us", "en", 1)],
      [pl, en],
      true,
      ["duplicate_language"],
    ],
    [
      "a page without a locale that redirects on the primary domain",
      1,
      [page(1, "n", null), page(2, "s", "pl", 1)],
      [pl, en],
      true,
      ["canonical_redirects"],
    ],
    [
      "a language without a domain, whose master is shown",
      3,
      [master, page(3, "ueber", "de", 1)],
      [pl],
      true,
      ["language_unreachable"],
    ],
    ["a language without a domain at a path of its own", 3, [page(3, "ueber", "de")], [pl], true, []],
    [
      "a language that another page hides",
      3,
      [page(1, "x", "pl"), page(3, "x", "de")],
      [pl],
      true,
      ["duplicate_canonical", "language_unreachable"],
    ],
    [
      "two pages at one path without multilang: the one that is shown",
      1,
      [page(1, "x", "pl"), page(2, "x", "en")],
      [pl],
      false,
      [],
    ],
    [
      "two pages at one path without multilang: the other one",
      2,
      [page(1, "x", "pl"), page(2, "x", "en")],
      [pl],
      false,
      ["path_needs_multilang"],
    ],
  ];
  test.each(table)("%s", (_, asked, group, domains, multilang, found) => {
    const which = group.find(({ id }) => id === asked);
    if (!which) throw new Error("the page asked for is one of the group");
    const site = { locale: "pl" as const, multilang };
    const findings = alternatesFindings({
      page: which,
      group,
      groupOf: () => group,
      codeOf: (id) => `p${id}`,
      site,
      domains,
      scheme: "https:",
    });
    expect(codes(findings)).toEqual(found);
    for (const finding of findings) expect(finding.page).toBe(`p${asked}`);
  });

  test("is told if a page that it names does not name it back", () => {
    const groupOf = (id: number) => (id === 1 ? [master, slave] : [slave]);
    const findings = alternatesFindings({
      page: master,
      group: groupOf(1),
      groupOf,
      codeOf: (id) => `p${id}`,
      site: { locale: "pl", multilang: true },
      domains: [pl, en],
      scheme: "https:",
    });
    expect(findings.map(({ code, message }) => [code, message])).toEqual([
      ["alternates_not_mutual", "names p2 as a translation, which does not name it back"],
    ]);
  });
});
