import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { locales, type Locale } from "../../locales.ts";
import { effectiveLocale, htmlLang, langOf, type LocaleSources } from "./addresses.ts";

type Row = [
  page: Locale | null,
  lang: Locale | undefined,
  domain: Locale | null,
  site: Locale,
  effective: Locale,
  html: Locale,
];

describe("the locale of a page (behaviour A.1), and html_lang (behaviour 2.7)", () => {
  const table: Row[] = [
    ["en", "de", "fr", "pl", "en", "en"],
    ["en", undefined, null, "pl", "en", "en"],
    [null, "de", "fr", "pl", "de", "pl"],
    [null, "de", null, "pl", "de", "pl"],
    [null, undefined, "fr", "pl", "fr", "pl"],
    [null, undefined, null, "pl", "pl", "pl"],
    [null, undefined, "pl", "pl", "pl", "pl"],
  ];
  test.each(table)(
    "page %p, lang %p, domain %p, site %p: %p, html_lang %p",
    (page, lang, domain, site, effective, html) => {
      const sources: LocaleSources = { page, lang, domain, site };
      expect(effectiveLocale(sources)).toBe(effective);
      expect(htmlLang(sources)).toBe(html);
    },
  );

  test("a page's own locale wins over everything", () => {
    const any = fc.constantFrom(...locales);
    fc.assert(
      fc.property(any, fc.option(any, { nil: undefined }), fc.option(any), any, (page, lang, domain, site) => {
        expect(effectiveLocale({ page, lang, domain, site })).toBe(page);
      }),
    );
  });
});

describe("?lang=", () => {
  const cases: [string, Locale | undefined][] = [
    ["lang=de", "de"],
    ["lang=uk", "uk"],
    ["lang=it", undefined],
    ["lang=DE", undefined],
    ["lang=de-AT", undefined],
    ["lang=", undefined],
    ["lang=__proto__", undefined],
    ["lang=it&lang=de", undefined],
    ["", undefined],
  ];
  test.each(cases)("%p is %p", (query, lang) => expect(langOf(new URLSearchParams(query))).toBe(lang));
});
