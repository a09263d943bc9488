import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { locales, type Locale } from "../../locales.ts";
import { cleanPath } from "../../code.ts";
import { addressOf, askedPath, domainFor, pathAddress, type Domain } from "./addresses.ts";
import { coverage, langSwitch, seoHead, seoOf } from "./alternates.ts";
import type { Variant } from "./variant.ts";

const domain = (id: number, name: string, locale: Locale | null, isPrimary = false): Domain => ({
  id,
  name,
  locale,
  isPrimary,
});
const pl = domain(1, "acme.pl", "pl", true);
const en = domain(2, "acme.com", "en");
const de = domain(3, "acme.de:8443", "de");
const place = { scheme: "https:", domains: [pl, en, de], site: "pl" as const };
const variant = (id: number, path: string, locale: Locale | null, basedOnPageId: number | null = null): Variant => {
  return { id, path, locale, basedOnPageId };
};

describe("a domain for a locale", () => {
  const bare = domain(4, "acme.eu", null, true);
  const table: [string, Domain[], Locale | null, string | undefined][] = [
    ["the one that has it", [pl, en], "en", "acme.com"],
    ["else the site's", [pl, en], "fr", "acme.pl"],
    ["a page without one: the site's", [en, bare], null, "acme.eu"],
    ["no primary: the first", [en, de], "fr", "acme.com"],
    ["of two the primary", [domain(9, "a.pl", "pl"), pl], "pl", "acme.pl"],
    ["none", [], "pl", undefined],
  ];
  test.each(table)("%s", (_, domains, locale, name) => expect(domainFor(domains, locale)?.name).toBe(name));
});

describe("addresses", () => {
  test("carry what the domain's name carries, and an encoded path", () => {
    expect(addressOf("https:", de, "über/uns & wir")).toBe("https://acme.de:8443/%C3%BCber/uns%20&%20wir");
    expect(pathAddress("")).toBe("/");
    expect(pathAddress("it's")).toBe("/it%27s");
  });
  test("lead back to their path, whatever it holds", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), (given) => {
        const clean = cleanPath(given);
        if ("mistake" in clean) return;
        const { pathname, search, hash } = new URL(`http://site.test${pathAddress(clean.path)}`);
        expect([askedPath(pathname), search, hash]).toEqual([{ path: clean.path, hasSlash: false }, "", ""]);
      }),
    );
  });
});

describe("the path of a request", () => {
  const table: [string, ReturnType<typeof askedPath>][] = [
    ["/", { path: "", hasSlash: false }],
    ["/a/b", { path: "a/b", hasSlash: false }],
    ["/a/", { path: "a", hasSlash: true }],
    ["/a///", { path: "a", hasSlash: true }],
    ["/%C5%BC", { path: "ż", hasSlash: false }],
    ["/z%CC%87", { path: "ż", hasSlash: false }],
    ["/a.html", { path: "a.html", hasSlash: false }],
    ["//evil.test/", null],
    ["/a//b", null],
    ["/a%2Fb", null],
    ["/a%5cb", { path: "a\\b", hasSlash: false }],
    ["/a%3Fb%23c", { path: "a?b#c", hasSlash: false }],
    ["/%2541", { path: "%41", hasSlash: false }],
    ["/%20", { path: " ", hasSlash: false }],
    ["/%20a%20/", { path: " a ", hasSlash: true }],
    ["/a%252Fb", { path: "a%2Fb", hasSlash: false }],
    ["/a%00", null],
    ["/a%0A", null],
    ["/%ff", null],
    ["/%", null],
    ["/a/../b", null],
    ["/a/%2e%2e/b", null],
    ["/./a", null],
    [`/${"a".repeat(8000)}`, null],
  ];
  test.each(table)("%s", (pathname, expected) => expect(askedPath(pathname)).toEqual(expected));

  test("whatever is asked for, there is an answer", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void askedPath(`/${text}`)));
  });
});

describe("alternates of a master and its slaves", () => {
  const master = variant(1, "o-nas", "pl");
  const about = variant(2, "about", "en", 1);
  const ueber = variant(3, "ueber", "de", 1);
  const group = [ueber, about, master];
  const expected = [
    { locale: "pl", url: "https://acme.pl/o-nas" },
    { locale: "en", url: "https://acme.com/about" },
    { locale: "de", url: "https://acme.de:8443/ueber" },
    { locale: "x-default", url: "https://acme.pl/o-nas" },
  ] as const;
  test.each([master, about, ueber])("are the same on each of them: $path", (page) => {
    expect(seoOf(page, group, place).alternates).toEqual([...expected]);
  });
  test("the canonical address is on the page's own domain", () => {
    expect(seoOf(about, group, place).canonicalUrl).toBe("https://acme.com/about");
    expect(seoOf(variant(9, "x", "fr"), [variant(9, "x", "fr")], place).canonicalUrl).toBe("https://acme.pl/x");
  });
  test("an article stands below each of them", () => {
    expect(seoOf(about, group, place, "first").alternates[1]).toEqual({
      locale: "en",
      url: "https://acme.com/about/first",
    });
  });
  test("without a domain there is nothing to tell", () => {
    const seo = seoOf(about, group, { ...place, domains: [] });
    expect(seo).toEqual({ canonicalUrl: undefined, alternates: [] });
    expect(seoHead(seo)).toBe("");
  });
});

describe("a page without a locale", () => {
  const home = variant(1, "", null);
  test("has one canonical address, on the primary domain, and is one of each domain's locale", () => {
    expect(seoOf(home, [home], place)).toEqual({
      canonicalUrl: "https://acme.pl/",
      alternates: [
        { locale: "pl", url: "https://acme.pl/" },
        { locale: "en", url: "https://acme.com/" },
        { locale: "de", url: "https://acme.de:8443/" },
        { locale: "x-default", url: "https://acme.pl/" },
      ],
    });
  });
  test("leaves a locale to the slave that has it", () => {
    const about = variant(2, "about", "en", 1);
    const placed = coverage(home, [home, about], place.domains, "pl");
    expect(placed.map(({ variant: { id }, locale }) => [id, locale])).toEqual([
      [1, "pl"],
      [1, "de"],
      [2, "en"],
    ]);
  });
});

describe("the canonical address and the default of a master without a locale", () => {
  const bare = domain(4, "acme.eu", null, true);
  const primary = (one: Domain, isPrimary = true) => ({ ...one, isPrimary });
  const other = primary(pl, false);
  const master = variant(1, "n", null);
  const slave = (locale: Locale) => variant(2, "s", locale, 1);
  const table: [string, Domain[], Variant[], string][] = [
    ["stand on the primary domain", [pl, en], [master, slave("en")], "https://acme.pl/n"],
    ["where its language is a slave's too", [primary(en), other], [master, slave("en")], "https://acme.com/n"],
    ["where its language is not the site's", [other, primary(en)], [master], "https://acme.com/n"],
    ["where it has no language", [bare, other, en], [master, slave("en")], "https://acme.eu/n"],
    ["without a primary domain on the first", [de, other], [master, slave("pl")], "https://acme.de:8443/n"],
  ];
  test.each(table)("%s", (_, domains, group, url) => {
    for (const page of group)
      expect(seoOf(page, group, { ...place, domains }).alternates.at(-1)).toEqual({ locale: "x-default", url });
    expect(seoOf(master, group, { ...place, domains }).canonicalUrl).toBe(url);
  });
});

describe("pages that share a path with one of a family", () => {
  const told = (page: Variant, group: Variant[]) =>
    Object.fromEntries(seoOf(page, group, place).alternates.map(({ locale, url }) => [locale, new URL(url).pathname]));
  const master = variant(1, "o-nas", "pl");
  const slave = variant(2, "ueber-uns", "de", 1);
  const twin = variant(3, "o-nas", "de");
  test("do not displace a slave", () => {
    for (const page of [master, slave])
      expect(told(page, [master, slave, twin])).toEqual({ pl: "/o-nas", de: "/ueber-uns", "x-default": "/o-nas" });
  });
  test("do not displace a master without a locale", () => {
    const family = [variant(1, "a", null), variant(2, "b", "en", 1)];
    for (const page of family)
      expect(told(page, [...family, variant(3, "b", "pl")])).toEqual({
        pl: "/a",
        de: "/a",
        en: "/b",
        "x-default": "/a",
      });
  });
  test("do not take the default", () => {
    const [a, b, c] = [variant(1, "a", "de"), variant(2, "b", "en", 1), variant(3, "b", "pl")];
    for (const page of [a, b])
      expect(told(page, [a, b, c])).toEqual({ pl: "/b", en: "/b", de: "/a", "x-default": "/a" });
  });
  test("of two families each has its own default", () => {
    const group = [variant(1, "a", "pl"), variant(2, "b", "en", 1), variant(3, "b", "de"), variant(4, "c", "pl", 3)];
    expect(group.map((page) => told(page, group)["x-default"])).toEqual(["/a", "/a", "/b", "/b"]);
  });
  test("fill the languages that the family has not", () => {
    const group = [variant(1, "x", "pl"), variant(2, "x", "en"), variant(3, "y", "de", 1)];
    for (const page of group) expect(told(page, group)).toEqual({ pl: "/x", en: "/x", de: "/y", "x-default": "/x" });
  });
});

test("of two slaves of one language the first is told", () => {
  const group = [variant(1, "a", "pl"), variant(2, "b", "en", 1), variant(3, "c", "en", 1)];
  for (const page of group)
    expect(seoOf(page, group, place).alternates.map(({ url }) => new URL(url).pathname)).toEqual(["/a", "/b", "/a"]);
});

test("alternates are mutual: every page of a group tells the same, itself included, and no language twice", () => {
  const locale = fc.option(fc.constantFrom(...locales));
  const groups = fc.tuple(
    fc.uniqueArray(locale, { minLength: 1 }),
    fc.uniqueArray(locale),
    fc.constantFrom(...locales),
  );
  fc.assert(
    fc.property(groups, ([there, onDomains, site]) => {
      const domains = onDomains.map((one, index) => domain(index, `d${index}.test`, one, index === 0));
      const group = there.map((one, index) => variant(index + 1, `p${index}`, one, index === 0 ? null : 1));
      const sets = group.map((page) => seoOf(page, group, { scheme: "https:", domains, site }));
      for (const { alternates } of sets) expect(alternates).toEqual([...(sets[0]?.alternates ?? [])]);
      const told = sets[0]?.alternates.map((one) => one.locale) ?? [];
      expect(new Set(told).size).toBe(told.length);
      for (const [index, { canonicalUrl, alternates }] of sets.entries()) {
        if (group[index]?.locale !== null && canonicalUrl)
          expect(alternates).toContainEqual({ locale: group[index]?.locale ?? site, url: canonicalUrl });
      }
    }),
  );
});

test("seo_head is escaped HTML", () => {
  const canonicalUrl = `https://x.test/"><script>`;
  const head = seoHead({ canonicalUrl, alternates: [{ locale: "pl", url: "https://x.test/?a&b" }] });
  expect(head).toBe(
    '<link rel="canonical" href="https://x.test/&quot;&gt;&lt;script&gt;">\n' +
      '<link rel="alternate" hreflang="pl" href="https://x.test/?a&amp;b">',
  );
});

describe("lang_switch", () => {
  const address = ({ path }: Variant, of: Locale, lang: boolean) => {
    const host = lang ? pl : domainFor(place.domains, of);
    return host && `${addressOf("https:", host, path)}${lang ? `?lang=${of}` : ""}`;
  };
  const options = { domains: place.domains, site: "pl" as const, fieldLocales: [], address };
  test("lists a page's languages in the order of the supported ones, by their own names", () => {
    const group = [variant(3, "ueber", "de", 1), variant(1, "o-nas", "pl"), variant(2, "about", "en", 1)];
    const page = group[2] ?? variant(0, "", null);
    expect(langSwitch({ ...options, page, group, current: "en" })).toEqual([
      { locale: "pl", url: "https://acme.pl/o-nas", name: "Polski", current: false },
      { locale: "en", url: "https://acme.com/about", name: "English", current: true },
      { locale: "de", url: "https://acme.de:8443/ueber", name: "Deutsch", current: false },
    ]);
  });
  test("a language without a domain is asked for by ?lang=", () => {
    const home = variant(1, "", null);
    const switches = langSwitch({ ...options, page: home, group: [home], current: "pl", fieldLocales: ["uk", "en"] });
    expect(switches.map(({ locale, url }) => [locale, url])).toEqual([
      ["pl", "https://acme.pl/"],
      ["en", "https://acme.com/"],
      ["de", "https://acme.de:8443/"],
      ["uk", "https://acme.pl/?lang=uk"],
    ]);
  });
});
