import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { locales, type Locale } from "../../locales.ts";
import { chooseVariant, redirectTarget, type Choice, type Variant } from "./variant.ts";

let ids = 0;
const variant = (path: string, locale: Locale | null, basedOnPageId: number | null = null): Variant => {
  return { id: ++ids, path, locale, basedOnPageId };
};
const at = (domain: Locale | null, more: Partial<Choice> = {}): Choice => ({
  multilang: true,
  domain,
  site: "pl",
  ...more,
});

describe("of several pages at one path", () => {
  type Row = [there: (Locale | null)[], domain: Locale | null, multilang: boolean, chosen: Locale | null | undefined];
  const table: Row[] = [
    [["pl", "en", null], "en", true, "en"],
    [["pl", null], "en", true, null],
    [["de", "pl", "en"], "fr", true, "pl"],
    [["uk", "de"], "fr", true, "de"],
    [["uk", "es", "sk"], null, true, "sk"],
    [["pl", null], null, true, null],
    [[null], "en", true, null],
    [["en"], "pl", true, "en"],
    [[], "pl", true, undefined],
    [["pl", "en", null], "en", false, null],
    [["pl", "en"], "en", false, "pl"],
    [["de", "en"], "de", false, "en"],
  ];
  test.each(table)("%p under a domain of %p, multilang %p: %p", (there, domain, multilang, chosen) => {
    const pages = there.map((locale) => variant("x", locale));
    expect(chooseVariant(pages, at(domain, { multilang }))?.locale).toBe(chosen);
  });

  test.each([null, "fr"] as const)(
    "the site's language comes before the fixed order, under a domain of %p",
    (domain) => {
      const pages = (["pl", "en", "de"] as const).map((locale) => variant("x", locale));
      for (const site of ["en", "de"] as const) expect(chooseVariant(pages, at(domain, { site }))?.locale).toBe(site);
    },
  );

  test("the order in which they are stored does not matter", () => {
    const some = fc.uniqueArray(fc.constantFrom(null, ...locales), { minLength: 1 });
    fc.assert(
      fc.property(some, fc.constantFrom(null, ...locales), fc.boolean(), (there, domain, multilang) => {
        const pages = there.map((locale) => variant("x", locale));
        const choice = at(domain, { multilang });
        expect(chooseVariant(pages.toReversed(), choice)).toBe(chooseVariant(pages, choice));
      }),
    );
  });
});

describe("a page in another language than the domain's is redirected (behaviour A.5):", () => {
  const master = variant("o-nas", "pl");
  const en = variant("about", "en", master.id);
  const de = variant("ueber-uns", "de", master.id);
  const open = variant("kontakt", null);
  const contact = variant("contact", "en", open.id);
  const family = [master, en, de];
  const openFamily = [open, contact];
  type Row = [string, Variant, Variant[], Choice, string | undefined];
  const table: Row[] = [
    ["a slave to the master", en, family, at("pl"), "o-nas"],
    ["the master to a slave", master, family, at("de"), "ueber-uns"],
    ["a slave to another slave", de, family, at("en"), "about"],
    ["not where it is the right one", en, family, at("en"), undefined],
    ["not where none is", en, family, at("fr"), undefined],
    ["not under a domain without a locale", en, family, at(null), undefined],
    ["not without multilang", en, family, at("pl", { multilang: false }), undefined],
    ["a master without a locale to the slave of the domain's", open, openFamily, at("en"), "contact"],
    ["a slave to a master without one, under the site's own locale", contact, openFamily, at("pl"), "kontakt"],
    ["not to a master without one under another locale", contact, openFamily, at("fr"), undefined],
    ["never to the same path", variant("x", "en"), [variant("x", "pl")], at("pl"), undefined],
  ];
  test.each(table)("%s", (_, page, group, choice, path) => {
    expect(redirectTarget(page, group, choice)?.path).toBe(path);
  });

  test("a redirect never leads to a page that is redirected itself", () => {
    const locale = fc.constantFrom(null, ...locales);
    fc.assert(
      fc.property(
        fc.array(locale, { minLength: 1, maxLength: 6 }),
        locale,
        fc.constantFrom(...locales),
        (there, domain, site) => {
          const root = variant("p0", there[0] ?? null);
          const group = [root, ...there.slice(1).map((one, index) => variant(`p${index + 1}`, one, root.id))];
          const choice = at(domain, { site });
          for (const page of group) {
            const target = redirectTarget(page, group, choice);
            if (target) expect(redirectTarget(target, group, choice)).toBeUndefined();
          }
        },
      ),
    );
  });
});
