import { slugOf } from "./text.ts";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { clientAddress, parseNetworks } from "../net/client-address.ts";
import { HttpError, sentenceOf, ValidationError } from "./errors.ts";
import { etag, expectedVersion } from "../http/answers/etag.ts";
import { flagOf, integerId, isObject, pageOf, timeOfUuidv7, uuidOf, uuidv7, wildcardPattern } from "./values.ts";

describe("a page of a list", () => {
  test.each([
    ["", 100, 0],
    ["limit=5&offset=7", 5, 7],
    ["limit=0", 1, 0],
    ["limit=-3&offset=-3", 1, 0],
    ["limit=5000", 1000, 0],
    ["limit=abc&offset=x", 100, 0],
    ["limit=1.5", 100, 0],
    ["limit=&offset=", 100, 0],
    ["offset=99999999999999999999", 100, 2 ** 40],
  ])("%s", (query, limit, offset) => {
    expect(pageOf(new URLSearchParams(query))).toEqual({ limit, offset });
  });
});

test.each([
  [{}, true],
  [{ a: 1 }, true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  [undefined, false],
  ["{}", false],
  [1, false],
])("%p is an object: %p", (value, expected) => {
  expect(isObject(value)).toBe(expected);
});

test.each([
  [{}, ""],
  [{ city: ["is required"] }, "city is required"],
  [
    { city: ["is required"], id: ["can't be blank", "is too short"] },
    "city is required; id can't be blank; id is too short",
  ],
  [{ base: ["nothing to change"] }, "nothing to change"],
])("%p as a line of text", (fields, expected) => {
  expect(sentenceOf(fields)).toBe(expected);
});

test("the time of a UUID of version 7 is the one in it", () => {
  expect(timeOfUuidv7("017f22e2-79b0-7cc3-98c4-dc0c0c07398f").toISOString()).toBe("2022-02-22T19:22:22.000Z");
  const before = Date.now();
  const made = timeOfUuidv7(uuidv7()).getTime();
  expect(made).toBeGreaterThanOrEqual(before);
  expect(made).toBeLessThanOrEqual(Date.now());
  // They go on from where they were when the clock was set back; nothing is made at a time to come.
  expect(timeOfUuidv7("ffffffff-ffff-7cc3-98c4-dc0c0c07398f").getTime()).toBeLessThanOrEqual(Date.now());
});

test("a flag in an address is true or false, missing, or 422 that names it", () => {
  const flag = (query: string) => flagOf(new URLSearchParams(query), "active");
  for (const yes of ["true", "yes", "1"]) expect(flag(`active=${yes}`)).toBe(true);
  for (const no of ["false", "no", "0"]) expect(flag(`active=${no}`)).toBe(false);
  for (const none of ["", "active=", "other=true"]) expect(flag(none)).toBeUndefined();
  for (const wrong of ["perhaps", "TRUE", "2", "constructor", "%00"]) {
    expect(() => flag(`active=${wrong}`)).toThrow(ValidationError);
  }
});

describe("ids in addresses", () => {
  test.each(["", "0", "-1", "1.0", "1e3", "abc", "9".repeat(16), " 1", "1 ", "\0", "__proto__"])(
    "%p is no id",
    (value) => {
      expect(() => integerId(value)).toThrow(HttpError);
      expect(() => uuidOf(value)).toThrow(HttpError);
    },
  );

  test("a UUID of version 7 is one, and later ones sort later", () => {
    const ids = Array.from({ length: 100 }, () => uuidv7());
    expect(ids.map((id) => uuidOf(id))).toEqual(ids);
    expect(ids.toSorted()).toEqual(ids);
  });
});

describe("slugs", () => {
  test.each([
    ["Zażółć Gęślą Jaźń", "zazolc-gesla-jazn"],
    ["  --Hello, World!-- ", "hello-world"],
    ["Straße", "strasse"],
    ["Новини України", "novyny-ukrainy"],
    ["Про нас", "pro-nas"],
    ["ЩЕДРИК Є їжак", "shchedryk-ie-izhak"],
    ["Объявление", "obiavlenye"],
    ["Œuvre, Ærø, đ, ı, þ", "oeuvre-aero-d-i-th"],
    ["Ελληνικά Νέα", "ellinika-nea"],
    ["2026", "2026"],
    ["日本", ""],
    ["x".repeat(100), "x".repeat(60)],
  ])("%s -> %s", (name, slug) => expect(slugOf(name)).toBe(slug));
});

/** What LIKE does, case left aside: `%` any text, `_` one character, `\` takes the next as it is. */
function like(pattern: string, value: string): boolean {
  const source = pattern.replaceAll(/\\(.)|%|_|[^\\%_]/gsu, (part, escaped: string | undefined) => {
    if (part === "%") return "[^]*";
    if (part === "_") return "[^]";
    return (escaped ?? part).replaceAll(/[$()*+.?[\\\]^{|}/-]/g, String.raw`\$&`);
  });
  return new RegExp(`^${source}$`, "u").test(value);
}

describe("wildcards", () => {
  test.each([
    ["ann", "%ann%"],
    ["ann*", "ann%"],
    ["*ann", "%ann"],
    ["a%b", "a%b"],
    ["50_", String.raw`%50\_%`],
    ["a\\b", String.raw`%a\\b%`],
    ["", "%%"],
  ])("%s -> %s", (phrase, pattern) => expect(wildcardPattern(phrase)).toBe(pattern));

  test("a phrase without wildcards finds every text that holds it, and no other", () => {
    const plain = fc.string({ unit: fc.constantFrom("a", "b", "_", "\\", ".") });
    fc.assert(
      fc.property(plain, plain, (phrase, value) => {
        expect(like(wildcardPattern(phrase), value)).toBe(value.includes(phrase));
      }),
    );
  });
});

describe("the client's address", () => {
  const trusted = parseNetworks("10.0.0.0/8, ::1");
  test.each([
    ["203.0.113.9", null, "203.0.113.9"],
    ["203.0.113.9", "1.2.3.4", "203.0.113.9"],
    ["10.0.0.1", "1.2.3.4", "1.2.3.4"],
    ["10.0.0.1", "9.9.9.9, 1.2.3.4, 10.0.0.2", "1.2.3.4"],
    ["10.0.0.1", "1.2.3.4, nonsense", "10.0.0.1"],
    ["::1", "::ffff:1.2.3.4", "1.2.3.4"],
    ["::ffff:10.0.0.1", "1.2.3.4", "1.2.3.4"],
  ])("peer %s, X-Forwarded-For %s -> %s", (peer, forwarded, client) => {
    expect(clientAddress(peer, forwarded, trusted)).toBe(client);
  });
});

describe("If-Match", () => {
  const asking = (tag: string) => new Request("http://x.test", { headers: { "if-match": tag } });
  test.each([
    [etag("a-b", 3), 3],
    [`W/${etag("a-b", 3)}`, 3],
    ["*", undefined],
    ["", undefined],
    ['"x", "a-b-3"', 3],
    ['"a-b-2","a-b-3" , "x"', 3],
  ])("%s asks for version %p", (tag, version) => expect(expectedVersion(asking(tag), "a-b")).toBe(version));

  test.each(['"x-3"', "3", '"a-b-x"', '""', '"x", "y"', ","])("%s asks for none that an object has", (tag) => {
    expect(expectedVersion(asking(tag), "a-b")).toBe(0);
  });
});
