import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { codeFrom, freeOf, refOf, cleanPath, maxPathBytes } from "./code.ts";
import { fieldTimes } from "./input.ts";
import { cleanHost } from "./sites/host.ts";
import { masterMistake } from "./pages/page.ts";
import { parsePublished } from "./articles/article.ts";
import type { PageRow } from "./rows.ts";

describe("a path", () => {
  const kept: [string, string][] = [
    ["", ""],
    ["/", ""],
    ["///", ""],
    ["offer", "offer"],
    ["/offer/", "offer"],
    ["//offer//", "offer"],
    [" /offer/ ", " /offer/ "],
    ["/ offer /", " offer "],
    [" ", " "],
    ["/\u00a0/", "\u00a0"],
    ["a/ /b", "a/ /b"],
    ["a/b/c", "a/b/c"],
    ["o-nas/zespół", "o-nas/zespół"],
    ["Zespo\u0301ł", "Zespół"],
    ["a b", "a b"],
    ["a.b", "a.b"],
    ["...", "..."],
    ["100%", "100%"],
    ["a?b", "a?b"],
    ["a#b", "a#b"],
    ["a\\b", "a\\b"],
    ["a%2Fb", "a%2Fb"],
    ["%41", "%41"],
    ["%2e%2e", "%2e%2e"],
    ["p".repeat(maxPathBytes), "p".repeat(maxPathBytes)],
  ];
  test.each(kept)("%p is kept as %p", (given, path) => expect(cleanPath(given)).toEqual({ path }));

  const refused = ["a//b", "a/./b", "..", "a/..", "/a/../b/", "a\u0000b", "a\nb", "\ta", "a\r\n", "a\u0085b"];
  test.each([...refused, "p".repeat(maxPathBytes + 1), "ż".repeat(maxPathBytes / 2 + 1)])("%p is refused", (given) =>
    expect(cleanPath(given)).toHaveProperty("mistake"),
  );

  test("that is kept is kept as it is, and a request can ask for it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), (given) => {
        const clean = cleanPath(given);
        if ("mistake" in clean) return;
        expect(cleanPath(clean.path)).toEqual(clean);
        const url = new URL(`http://site.test/${clean.path.split("/").map(encodeURIComponent).join("/")}`);
        expect(decodeURIComponent(url.pathname.slice(1))).toBe(clean.path);
      }),
    );
  });
});

describe("the name of a domain", () => {
  const kept: [string, string][] = [
    ["www.example.com", "www.example.com"],
    [" WWW.Example.COM ", "www.example.com"],
    ["www.example.com.", "www.example.com"],
    ["acme.localhost:3000", "acme.localhost:3000"],
    ["example.com:80", "example.com:80"],
    ["example.com:0080", "example.com:80"],
    ["zażółć.pl", "xn--za-6ja4f8n1l.pl"],
  ];
  test.each(kept)("%p is kept as %p", (given, host) => expect(cleanHost(given)).toEqual({ host }));

  const refused =
    "http://a.b a.b/ a.b/c a?b a#b user@a.b a..b .a -a.b a-.b a_b.c localhost localhost:3000 intranet 127.0.0.1 127.0.0.1:8080 10.1.2.3:80 2130706433 0177.0.0.1 1.2.3.4. a.b:0 a.b:65536 a:b a:1:2 [::1] 1.2.3 0x7f.1 %61.b";
  test.each([...refused.split(" "), "", " ", "a b", "a\tb", "a\u0000b", "\\", `${"a".repeat(64)}.b`, "a.".repeat(130)])(
    "%p is refused",
    (given) => expect(cleanHost(given)).toHaveProperty("mistake"),
  );

  test("that is kept is kept as it is, and is a host", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.domain(), fc.webAuthority()), (given) => {
        const clean = cleanHost(given);
        if ("mistake" in clean) return;
        expect(cleanHost(clean.host)).toEqual(clean);
        expect(clean.host).toBe(clean.host.toLowerCase());
        expect(new URL(`https://${clean.host}`).hostname).toBe(clean.host.replace(/:\d+$/, ""));
      }),
    );
  });
});

describe("a code", () => {
  const refs: [string, object | undefined][] = [
    ["7", { id: 7 }],
    ["offer", { code: "offer" }],
    ["a.b_c-1", { code: "a.b_c-1" }],
    ["2024-news", { code: "2024-news" }],
    ["0", undefined],
    ["1234567890123456", undefined],
    ["", undefined],
    ["a.json", undefined],
    ["a b", undefined],
    ["a\u0000", undefined],
    ["../a", undefined],
    ["a".repeat(101), undefined],
  ];
  test.each(refs)("of the address %p is %p", (text, ref) => expect(refOf(text)).toEqual(ref as never));

  const made: [string, string][] = [
    ["Zażółć Gęślą", "zazolc-gesla"],
    ["2024", "page-2024"],
    ["!!!", "page"],
  ];
  test.each(made)("is made from the name %p: %p", (name, code) => expect(codeFrom(name, "page")).toBe(code));

  test("that is taken gets the first free number", () => {
    expect(freeOf("a", new Set())).toBe("a");
    expect(freeOf("a", new Set(["a", "a-2", "a-4"]))).toBe("a-3");
  });
});

describe("published_at", () => {
  const cases: [string, string | undefined][] = [
    ["2026-01-05", "2026-01-04T23:00:00.000Z"],
    ["2026-07-05", "2026-07-04T22:00:00.000Z"],
    ["2026-01-05T10:00", "2026-01-05T09:00:00.000Z"],
    ["2026-01-05T10:00:00Z", "2026-01-05T10:00:00.000Z"],
    ["2026-01-05 10:00:00.123+0200", "2026-01-05T08:00:00.123Z"],
    ["2026-02-30", undefined],
    ["2026-13-01", undefined],
    ["2026-01-05T25:00Z", undefined],
    ["0001-01-01", undefined],
    ["tomorrow", undefined],
    ["5", undefined],
  ];
  test.each(cases)("%p in Warsaw is %p", (text, at) =>
    expect(parsePublished(text, "Europe/Warsaw")?.toISOString()).toBe(at as never),
  );
});

describe("a master (behaviour A.4)", () => {
  const master = { id: 1, siteId: 1, path: "oferta", basedOnPageId: null };
  const slave = { id: 2, siteId: 1, path: "offer" };
  type Case = [string, Parameters<typeof masterMistake>, "master" | "path" | undefined];
  const cases: Case[] = [
    ["of another path is fine", [slave, master, []], undefined],
    ["for a page that is still to be made is fine", [{ ...slave, id: undefined }, master, []], undefined],
    ["that is the page itself is not", [{ ...slave, id: 1 }, master, []], "master"],
    ["of another site is not", [slave, { ...master, siteId: 2 }, []], "master"],
    ["that is a slave is not", [slave, { ...master, basedOnPageId: 5 }, []], "master"],
    ["for a page with slaves is not", [slave, master, [{ path: "x" }]], "master"],
    ["that is the home page is not", [slave, { ...master, path: "" }, []], "master"],
    ["on the slave's path is not", [{ ...slave, path: "oferta" }, master, []], "path"],
    ["moving to its slave's path is not", [slave, undefined, [{ path: "offer" }]], "path"],
    ["becoming the home page is not", [{ ...slave, path: "" }, undefined, [{ path: "x" }]], "path"],
    ["moving elsewhere is fine", [slave, undefined, [{ path: "x" }]], undefined],
  ];
  test.each(cases)("%s", (_, args, field) => expect(masterMistake(...args)?.field).toBe(field as never));
});

describe("times of fields", () => {
  const page = { layoutId: null, htmlTitle: null, htmlDescription: null, htmlKeywords: null };
  const before = { ...page, content: "a", fields: { title: "t", pl: { title: "T", lead: "L" }, xx: { a: 1 } } };
  const first = new Date("2026-01-01T00:00:00Z");
  const second = new Date("2026-01-02T00:00:00Z");

  test("a new page has that of its making for all that is not empty", () => {
    const at = first.toISOString();
    expect(fieldTimes(undefined, before, first)).toEqual({
      content: at,
      "fields.title": at,
      "fields.pl.title": at,
      "fields.pl.lead": at,
      "fields.xx": at,
    });
  });

  test("only what has changed has a new one", () => {
    const kept = { ...before, fieldTimes: fieldTimes(undefined, before, first) } satisfies Partial<PageRow>;
    const after = { ...before, content: "b", fields: { title: "t", pl: { title: "T2" } } };
    expect(fieldTimes(kept, after, second)).toEqual({
      content: second.toISOString(),
      "fields.title": first.toISOString(),
      "fields.pl.title": second.toISOString(),
    });
  });

  test("very many keys have one time for all", () => {
    const fields = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`k${at}`, at]));
    expect(fieldTimes(undefined, { ...page, content: "", fields }, first)).toEqual({ fields: first.toISOString() });
  });
});
