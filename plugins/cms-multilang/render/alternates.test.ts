import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { locales, type Locale } from "../locales.ts";
import { addressOf, askedPath, domainFor, pathAddress, type Domain } from "./addresses.ts";
import { coverage, langSwitch, seoHead, seoOf } from "./alternates.ts";
import { redirectTarget, type Variant } from "./variant.ts";

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
    ["/a%5cb", null],
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
    expect(seoOf(page, page.locale ?? "pl", group, place).alternates).toEqual([...expected]);
  });
  test("the canonical address is on the page's own domain", () => {
    expect(seoOf(about, "en", group, place).canonicalUrl).toBe("https://acme.com/about");
    expect(seoOf(variant(9, "x", "fr"), "fr", [variant(9, "x", "fr")], place).canonicalUrl).toBe("https://acme.pl/x");
  });
  test("an article stands below each of them", () => {
    expect(seoOf(about, "en", group, place, "first").alternates[1]).toEqual({
      locale: "en",
      url: "https://acme.com/about/first",
    });
  });
  test("without a domain there is nothing to tell", () => {
    const seo = seoOf(about, "en", group, { ...place, domains: [] });
    expect(seo).toEqual({ canonicalUrl: undefined, alternates: [] });
    expect(seoHead(seo)).toBe("");
  });
});

describe("a page without a locale", () => {
  const home = variant(1, "", null);
  test("is one of each domain's locale", () => {
    expect(seoOf(home, "en", [home], place)).toEqual({
      canonicalUrl: "https://acme.com/",
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
    expect(coverage([home, about], place.domains, "pl").map(({ variant: { id }, locale }) => [id, locale])).toEqual([
      [1, "pl"],
      [1, "de"],
      [2, "en"],
    ]);
  });
});

describe("the default of a master without a locale is an address that leads nowhere else:", () => {
  const bare = domain(4, "acme.eu", null, true);
  const primary = (one: Domain, isPrimary = true) => ({ ...one, isPrimary });
  const other = primary(pl, false);
  const master = variant(1, "n", null);
  const slave = (locale: Locale) => variant(2, "s", locale, 1);
  const table: [string, Domain[], Variant[], string][] = [
    ["the primary domain's is the slave's", [primary(en), other], [master, slave("en")], "https://acme.pl/n"],
    ["and the site's own too", [primary(en), other, de], [master, slave("en")], "https://acme.pl/n"],
    [
      "it stands for another language alone",
      [other, primary(en), de],
      [master, slave("pl"), { ...slave("en"), id: 3 }],
      "https://acme.de:8443/n",
    ],
    ["the primary domain's is its own", [pl, en], [master, slave("en")], "https://acme.pl/n"],
    ["of several languages that of the primary domain", [other, primary(en)], [master], "https://acme.com/n"],
    ["a primary domain without a language", [bare, other, en], [master, slave("en")], "https://acme.eu/n"],
  ];
  test.each(table)("%s", (_, domains, group, url) => {
    for (const page of group) {
      const { alternates } = seoOf(page, page.locale ?? "pl", group, { ...place, domains });
      expect(alternates.at(-1)).toEqual({ locale: "x-default", url });
      const at = domains.find(({ name }) => new URL(url).host === name);
      const choice = { multilang: true, domain: at?.locale ?? null, site: "pl" as const };
      expect(redirectTarget(master, group, choice)).toBeUndefined();
    }
  });
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
      const sets = group.map((page) => seoOf(page, page.locale ?? site, group, { scheme: "https:", domains, site }));
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
