import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { locales, type Locale } from "../../locales.ts";
import type { Fields } from "../../rows.ts";
import { localesOf, resolveFields } from "./fields.ts";

const shown = (fields: Fields, locale: Locale) => ({ ...resolveFields(fields, locale) });

describe("a key is resolved for a locale (behaviour A.2):", () => {
  const table: [string, Fields, Locale, Record<string, unknown>][] = [
    ["top level alone", { title: "T" }, "pl", { title: "T" }],
    ["the locale's value first", { title: "T", en: { title: "E" } }, "en", { title: "E" }],
    ["of another locale nothing", { title: "T", en: { title: "E" } }, "de", { title: "T" }],
    ["fallback is per key", { a: 1, b: 2, en: { a: 10 } }, "en", { a: 10, b: 2 }],
    ["a key that only the locale has", { en: { x: 1 } }, "en", { x: 1 }],
    ["null in the locale is absent", { title: "T", en: { title: null } }, "en", { title: "T" }],
    ["an empty string is a value", { title: "T", en: { title: "" } }, "en", { title: "" }],
    ["false and 0 are values", { a: true, b: 5, en: { a: false, b: 0 } }, "en", { a: false, b: 0 }],
    ["null at the top is absent", { title: null }, "pl", {}],
    ["sub-objects by locale are no keys", { pl: { a: 1 }, en: { b: 2 } }, "pl", { a: 1 }],
    ["of an unsupported locale nothing", { title: "T", it: { title: "I" } }, "pl", { title: "T" }],
    ["a text under a locale's code is a key", { en: "England" }, "en", { en: "England" }],
    ["a list under a locale's code is a key", { en: ["x"] }, "en", { en: ["x"] }],
    ["other objects are keys", { seo: { a: 1 } }, "pl", { seo: { a: 1 } }],
    ["objects inside are not resolved", { menu: { en: { a: 1 } } }, "en", { menu: { en: { a: 1 } } }],
    ["nothing at all", {}, "uk", {}],
  ];
  test.each(table)("%s", (_, fields, locale, expected) => expect(shown(fields, locale)).toEqual(expected));

  test("keys of JSON that mean something to JavaScript are plain keys", () => {
    const fields: Fields = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": "C", "en": {"__proto__": "x"}}');
    const values = resolveFields(fields, "en");
    expect(Object.getPrototypeOf(values)).toBeNull();
    expect(values["constructor"]).toBe("C");
    expect(Object.hasOwn(values, "__proto__")).toBe(true);
    expect("polluted" in {}).toBe(false);
  });
});

test("every value is the locale's where it has one, else the top level's", () => {
  const value = fc.oneof(fc.string(), fc.integer(), fc.constant(null));
  const keys = fc.constantFrom("title", "lead", "x");
  const values = fc.dictionary(keys, value);
  const fields = fc
    .tuple(values, fc.dictionary(fc.constantFrom(...locales), values))
    .map(([top, by]) => ({ ...top, ...by }));
  fc.assert(
    fc.property(fields, fc.constantFrom(...locales), keys, (given: Fields, locale, key) => {
      const own = given[locale];
      const first = typeof own === "object" && own !== null ? Reflect.get(own, key) : undefined;
      expect(resolveFields(given, locale)[key]).toBe(first ?? given[key] ?? undefined);
    }),
  );
});

test("the locales that fields are there in", () => {
  expect(localesOf({ title: "T", de: { a: 1 }, en: {}, pl: "no", it: {} })).toEqual(["de", "en"]);
});
