import { describe, expect, test } from "bun:test";
import { numbered, pageNumberOf, paginateValues, type Pagination, paramsOf } from "./params.ts";

describe("?page=", () => {
  const table: [query: string, page: number][] = [
    ["", 1],
    ["page=1", 1],
    ["page=2", 2],
    ["page=9999", 9999],
    ["page=10000", 1],
    ["page=0", 1],
    ["page=-2", 1],
    ["page=02", 1],
    ["page=2.5", 1],
    ["page=2x", 1],
    ["page=", 1],
    ["page=3&page=4", 3],
    ["PAGE=3", 1],
  ];
  test.each(table)("%p is page %p", (query, page) => expect(pageNumberOf(new URLSearchParams(query))).toBe(page));
});

describe("a part of a list", () => {
  const addresses: [page: number, lang: "de" | undefined, address: string][] = [
    [1, undefined, "/news"],
    [2, undefined, "/news?page=2"],
    [1, "de", "/news?lang=de"],
    [2, "de", "/news?lang=de&page=2"],
  ];
  test.each(addresses)("%p in %p is at %s", (page, lang, address) =>
    expect(numbered("/news", page, lang)).toBe(address),
  );

  const neighbours: [page: number, pages: number, previous: string | null, next: string | null][] = [
    [1, 1, null, null],
    [1, 3, null, "/news?page=2"],
    [2, 3, "/news", "/news?page=3"],
    [3, 3, "/news?page=2", null],
  ];
  test.each(neighbours)("%p of %p leads back to %p and on to %p", (page, pages, previous, next) => {
    const pagination: Pagination = { page, pages, total: 25, path: "news" };
    const values = paginateValues(pagination, (path) => `/${path}`, undefined);
    expect(values).toEqual({ page, pages, total: 25, prev_url: previous, next_url: next });
  });
});

describe("params", () => {
  const many = Array.from({ length: 60 }, (_, at) => `k${at}=${at}`).join("&");
  const shown = (query: string) => ({ ...paramsOf(new URLSearchParams(query)).values });
  const table: [query: string, values: Record<string, string>][] = [
    ["", {}],
    ["q=a", { q: "a" }],
    ["q=a&q=b", { q: "a" }],
    ["q=<b>&%22=1", { q: "&lt;b&gt;", "&quot;": "1" }],
    ["=a", {}],
    ["q=", { q: "" }],
    ["__proto__=x&constructor=y", { ["__proto__"]: "x", constructor: "y" }],
    [`q=${"x".repeat(1000)}`, { q: "x".repeat(1000) }],
    [`q=${"x".repeat(1001)}`, {}],
    [`${"n".repeat(100)}=1`, { ["n".repeat(100)]: "1" }],
    [`${"n".repeat(101)}=1`, {}],
  ];
  test.each(table)("of %.40s", (query, values) => expect(Object.entries(shown(query))).toEqual(Object.entries(values)));

  test("are fifty at most", () => expect(Object.keys(shown(many))).toHaveLength(50));

  const uses: [what: string, use: (values: Record<string, unknown>) => unknown, used: boolean][] = [
    ["nobody looks", () => undefined, false],
    ["one is read", (values) => values["q"], true],
    ["one that is missing is read", (values) => values["other"], true],
    ["they are counted", (values) => Object.keys(values), true],
    ["one is looked for", (values) => "q" in values, true],
    ["one is described", (values) => Object.hasOwn(values, "q"), true],
  ];
  test.each(uses)("a page is this request's alone once %s", (_, use, used) => {
    const params = paramsOf(new URLSearchParams("q=a"));
    use(params.values);
    expect(params.used()).toBe(used);
  });
});
