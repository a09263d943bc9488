import { describe, expect, test } from "bun:test";
import type { Reply } from "platform";
import { createLog } from "../../../../runtime/system/log.ts";
import { addressIn, type Asked } from "./replies.ts";
import type { Locale } from "../../locales.ts";
import type { SiteState } from "./cache.ts";
import type { ArticleData } from "../data.ts";
import type { FoundPage } from "../addresses/find.ts";
import {
  createFoundPages,
  createKeptPages,
  createMissingPaths,
  maxMissing,
  maxMissingChars,
  type Answer,
} from "./kept-pages.ts";

const state: SiteState = {
  serial: 1,
  site: { id: 1, accountId: 1, code: "acme", name: "", locale: "pl", multilang: true, fields: {}, active: true },
  account: { id: 1, name: "", baseUrl: "", timezone: "UTC", locale: "pl" },
  domains: [],
  layout: async () => undefined,
  categories: async () => [],
  redirects: () => Promise.resolve(new Map()),
  nextPublication: async () => null,
};
const domain = { id: 1, name: "acme.pl", locale: "pl", isPrimary: true } as const;
const plain: Asked = { ...addressIn("http://acme.pl/a"), state, domain, log: createLog("error"), headOnly: false };
const reply = (body: string): Reply => ({ status: 200, body, headers: {} });
const answer = (body: string, more: Partial<Answer> = {}): Answer => {
  return { reply: reply(body), shared: true, until: Infinity, page: 1, ...more };
};

const then = new Date(0);
const pageFound: FoundPage = {
  group: [],
  page: {
    id: 1,
    siteId: 1,
    code: "a",
    name: "A",
    path: "a",
    locale: null,
    kind: "page",
    layoutId: null,
    content: "{{ title }}",
    fields: {},
    htmlTitle: null,
    htmlDescription: null,
    htmlKeywords: null,
    basedOnPageId: null,
    position: 0,
    cacheSeconds: null,
    createdAt: then,
    updatedAt: then,
    master: null,
  },
};
const article: ArticleData = {
  id: 1,
  siteId: 1,
  categoryId: null,
  code: "a",
  locale: null,
  path: "a",
  title: "A",
  lead: null,
  content: "",
  fields: {},
  htmlTitle: null,
  htmlDescription: null,
  publishedAt: then,
  active: true,
  createdAt: then,
  updatedAt: then,
  categoryIds: [],
};

/** What differs from the request that filled a cache, and whether it is met by what that one left. */
const differing: [string, Partial<Asked>, { page: boolean; found: boolean; missing: boolean }][] = [
  ["nothing", {}, { page: true, found: true, missing: true }],
  ["the query", { search: "?a=1" }, { page: true, found: true, missing: true }],
  ["HEAD", { headOnly: true }, { page: true, found: true, missing: true }],
  ["the site's state", { state: { ...state, serial: 2 } }, { page: false, found: false, missing: false }],
  ["a domain of its language", { domain: { ...domain, id: 2 } }, { page: false, found: true, missing: false }],
  [
    "a domain of another language",
    { domain: { ...domain, id: 2, locale: "en" } },
    { page: false, found: false, missing: false },
  ],
  ["the language asked for", { lang: "en" }, { page: false, found: true, missing: true }],
  ["the part of a list", { page: 2 }, { page: false, found: true, missing: true }],
];

describe.each(differing)("what was kept for another request: %s differs", (_, more, met) => {
  const asked = { ...plain, ...more };

  test("an answer", async () => {
    const kept = createKeptPages(1_000_000, () => 0);
    await kept.get(plain, "a", async () => answer("first"));
    expect(kept.peek(asked, "a") !== undefined).toBe(met.page);
    const body = async () => (await kept.get(asked, "a", async () => answer("second", { page: asked.page })))?.body;
    expect([await body(), await body()]).toEqual(met.page ? ["first", "first"] : ["second", "second"]);
  });

  test("a page that was found", () => {
    const found = createFoundPages(1_000_000);
    found.put(plain, "a", pageFound);
    expect(found.get(asked, "a")).toBe(met.found ? pageFound : undefined);
    expect(found.get(asked, "b")).toBeUndefined();
  });

  test("a path that leads nowhere", () => {
    const missing = createMissingPaths(() => 0);
    missing.add(plain);
    expect(missing.has(asked)).toBe(met.missing);
    expect(missing.has({ ...asked, pathname: "/b" })).toBe(false);
  });
});

describe("an answer", () => {
  // [what, the answer, when it is asked for again, whether it is made again]
  const cases: [string, Partial<Answer>, number, boolean][] = [
    ["of everybody", {}, 1e9, false],
    ["right until later", { until: 100 }, 99, false],
    ["right until now", { until: 100 }, 100, true],
    ["that was no longer right as it was made", { until: 0 }, 0, true],
    ["of this request alone", { shared: false }, 0, true],
    ["that has one part only", { page: 1 }, 0, false],
    ["of another part than was asked for", { page: 3 }, 0, true],
  ];
  test.each(cases)("%s", async (_, more, later, again) => {
    let now = 0;
    let made = 0;
    const kept = createKeptPages(1_000_000, () => now);
    const make = async () => answer(`${++made}`, more);
    expect((await kept.get(plain, "a", make))?.body).toBe("1");
    now = later;
    expect((await kept.get(plain, "a", make))?.body).toBe(again ? "2" : "1");
  });

  test("is made once for all who ask meanwhile, and for each query by itself", async () => {
    const kept = createKeptPages(1_000_000, () => 0);
    const started: string[] = [];
    const ready = Promise.withResolvers<void>();
    const ask = (search: string) =>
      kept.get({ ...plain, search }, "a", async () => {
        started.push(search);
        await ready.promise;
        return answer(search, { shared: false });
      });
    const asking = ["?x=1", "?x=1", "?x=2", "?x=1"].map(ask);
    ready.resolve();
    expect((await Promise.all(asking)).map((one) => one?.body)).toEqual(["?x=1", "?x=1", "?x=2", "?x=1"]);
    expect(started).toEqual(["?x=1", "?x=2"]);
  });

  test("that could not be made, or that is none, is asked for again", async () => {
    const kept = createKeptPages(1_000_000, () => 0);
    const failing = async () => Promise.reject(new Error("no database"));
    expect(kept.get(plain, "a", failing)).rejects.toThrow("no database");
    await Promise.all([kept.get(plain, "a", failing).catch(() => {}), kept.get(plain, "b", async () => null)]);
    expect((await kept.get(plain, "a", async () => answer("there")))?.body).toBe("there");
    expect((await kept.get(plain, "b", async () => answer("there")))?.body).toBe("there");
  });
});

test("a page that shows an article is found each time: it may go by itself", () => {
  const found = createFoundPages(1_000_000);
  found.put(plain, "a", { ...pageFound, article });
  expect(found.get(plain, "a")).toBeUndefined();
});

describe("a path that leads nowhere", () => {
  // [what, when the next article appears, when it is asked for again, whether it is still taken for missing]
  const cases: [string, number | undefined, number, boolean][] = [
    ["is so for a while", undefined, 9_999, true],
    ["and then asked for again", undefined, 10_000, false],
    ["until the next article appears", 500, 499, true],
    ["which may have the path", 500, 500, false],
    ["but not for longer than the while", 60_000, 10_000, false],
  ];
  test.each(cases)("%s", (_, next, later, has) => {
    let now = 0;
    const missing = createMissingPaths(() => now);
    missing.add(plain, next);
    now = later;
    expect(missing.has(plain)).toBe(has);
  });

  test("is not remembered if it is long, and there are only so many", () => {
    const missing = createMissingPaths(() => 0);
    const at = (pathname: string) => ({ ...plain, pathname });
    const long = at(`/${"x".repeat(maxMissingChars)}`);
    missing.add(long);
    expect(missing.has(long)).toBe(false);
    for (let index = 0; index <= maxMissing; index++) missing.add(at(`/${index}`));
    expect([missing.has(at("/0")), missing.has(at(`/${maxMissing}`))]).toEqual([false, true]);
  });
});

const addresses: [string, string, string, Locale | undefined, number][] = [
  ["http://a.test", "/", "", undefined, 1],
  ["http://a.test/", "/", "", undefined, 1],
  ["http://a.test/a/b", "/a/b", "", undefined, 1],
  ["http://a.test/a?lang=en&page=3", "/a", "?lang=en&page=3", "en", 3],
  ["http://a.test/a?lang=xx&page=0", "/a", "?lang=xx&page=0", undefined, 1],
  ["http://a.test/a%3Fb?c=/d?e", "/a%3Fb", "?c=/d?e", undefined, 1],
];
test.each(addresses)("%s is taken apart", (url, pathname, search, lang, page) => {
  const { query, ...rest } = addressIn(url);
  expect(rest).toEqual({ pathname, search, lang, page });
  expect(query.toString()).toBe(new URLSearchParams(search).toString());
});
