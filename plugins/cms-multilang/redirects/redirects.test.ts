import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { otherAccount } from "../../../tests/harness.ts";
import { serverWithSites } from "../../../tests/sites.ts";
import { cleanTarget, leadsBack, writingOrder, type Rule } from "./rule.ts";

let ids: { pl: number; com: number; other: number };
const server = serverWithSites(async (sites) => {
  await sites.site({ code: "acme", locale: "pl", multilang: true });
  const pl = await sites.domain({ name: "acme.pl", site_code: "acme", locale: "pl" });
  const com = await sites.domain({ name: "acme.com", site_code: "acme", locale: "en" });
  await sites.site({ code: "other", locale: "en" });
  const other = await sites.domain({ name: "other.com", site_code: "other" });
  await sites.page({ code: "offer", path: "offer", site_code: "acme", content: "Offer" });
  ids = { pl: pl.id, com: com.id, other: other.id };
});
const { make } = server;
const ask = (redirect: Record<string, unknown>) =>
  server.app.post("/cms/redirects.json", { redirect: { site_code: "acme", ...redirect } });
const answerAt = async (host: string, path: string) => {
  const { status, headers } = await make.at(host, path);
  return [status, headers.get("location")];
};

describe("visitors of a path without a page are led on:", () => {
  test("on every domain, with the query, until it is changed or deleted", async () => {
    expect(await answerAt("acme.pl", "/old")).toEqual([404, null]);
    const { status, json } = await ask({ path: "/old/", to: "/offer" });
    expect([status, json]).toMatchObject([
      201,
      { path: "old", to: "/offer", status: 301, domain_id: null, domain: null },
    ]);
    expect(await answerAt("acme.pl", "/old?a=1&b=%20")).toEqual([301, "/offer?a=1&b=%20"]);
    expect(await answerAt("acme.com", "/old/")).toEqual([301, "/offer"]);
    expect(await answerAt("other.com", "/old")).toEqual([404, null]);
    await make.change("redirect", json.id, { to: "https://Elsewhere.example/ä?x=1#y", status: 302 });
    expect(await answerAt("acme.pl", "/old?a=1")).toEqual([302, "https://elsewhere.example/%C3%A4?x=1#y"]);
    await make.remove("redirect", json.id);
    expect(await answerAt("acme.pl", "/old")).toEqual([404, null]);
  });

  test("one for the domain comes first, and goes with the domain", async () => {
    await ask({ path: "both", to: "/offer", status: 308 });
    expect((await ask({ path: "both", to: "/offer?lang=en", domain_id: ids.com })).json).toMatchObject({
      domain: "acme.com",
    });
    expect(await answerAt("acme.pl", "/both")).toEqual([308, "/offer"]);
    expect(await answerAt("acme.com", "/both?x=1")).toEqual([301, "/offer?lang=en"]);
    const named = await ask({ path: "by-name", to: "/offer", domain: "acme.com" });
    expect(named.json).toMatchObject({ domain_id: ids.com, domain: "acme.com" });
    const { json } = await server.app.patch(`/cms/redirects/${named.json.id}.json`, { redirect: { domain: null } });
    expect(json.domain).toBeNull();
    const list = await server.app.get("/cms/redirects.json?site_code=acme&path=both");
    expect(list.json.map(({ domain }: { domain: string | null }) => domain)).toEqual([null, "acme.com"]);
    expect((await server.app.get("/cms/redirects.json?q=bot*")).headers.get("x-total-count")).toBe("2");
  });

  test("a page comes first, and what a page has left there goes", async () => {
    await ask({ path: "later", to: "/offer" });
    const page = await make.page({ code: "later", path: "later", site_code: "acme", content: "Later" });
    expect((await make.at("acme.pl", "/later")).text).toBe("Later");
    await make.change("page", page.id, { path: "moved" });
    expect(await answerAt("acme.pl", "/later")).toEqual([301, "/moved"]);
    const [rule] = (await server.app.get("/cms/redirects.json?path=later")).json;
    await make.change("redirect", rule.id, { to: "/offer#top" });
    expect(await answerAt("acme.pl", "/later")).toEqual([301, "/offer#top"]);
  });
});

describe("refused, by field:", () => {
  const table: [redirect: Record<string, unknown>, field: string][] = [
    [{ to: "/x" }, "path"],
    [{ path: "x" }, "to"],
    [{ path: "/", to: "/x" }, "path"],
    [{ path: "a//b", to: "/x" }, "path"],
    [{ path: "x", to: "x" }, "to"],
    [{ path: "x", to: "//evil.example" }, "to"],
    [{ path: "x", to: "/\\evil.example" }, "to"],
    [{ path: "x", to: "/.//evil.example" }, "to"],
    [{ path: "x", to: "/a/..//evil.example" }, "to"],
    [{ path: "x", to: "/%2e//evil.example" }, "to"],
    [{ path: "x", to: "/\t/evil.example" }, "to"],
    [{ path: "x", to: "javascript:alert(1)" }, "to"],
    [{ path: "x", to: "https://user:pass@elsewhere.example/" }, "to"],
    [{ path: "x", to: "/x" }, "to"],
    [{ path: "x", to: "https://acme.pl/x" }, "to"],
    [{ path: "x", to: "/y", status: 307 }, "status"],
    [{ path: "x", to: "/y", domain: "nowhere.test" }, "domain"],
    [{ path: "x", to: "/y", domain: "other.com" }, "domain"],
    [{ path: "x", to: "/y", site_code: "nothing" }, "site_code"],
  ];
  test.each(table)("%j", async (redirect, field) => {
    const { status, json } = await ask(redirect);
    expect([status, Object.keys(json)]).toEqual([422, [field]]);
  });
  test("a domain of another site, a path that is taken, a circle of two, a move to another site", async () => {
    expect((await ask({ path: "x", to: "/y", domain_id: ids.other })).json).toEqual({
      domain_id: ["names no domain of this site"],
    });
    const { json } = await ask({ path: "one", to: "/two" });
    expect((await ask({ path: "one", to: "/three" })).json).toEqual({ path: ["is already taken"] });
    expect((await ask({ path: "two", to: "/one" })).json).toEqual({ to: ["leads back to this path, or on and on"] });
    const moved = await server.app.patch(`/cms/redirects/${json.id}.json`, { redirect: { site_code: "other" } });
    expect(moved.json).toEqual({ site_code: ["cannot be changed"] });
    const other = await otherAccount(server.app);
    expect((await other.get(`/cms/redirects/${json.id}.json`)).status).toBe(404);
    expect((await other.get("/cms/redirects.json")).json).toEqual([]);
  });
});

describe("a circle is found:", () => {
  const domains = [
    { id: 1, name: "a.pl" },
    { id: 2, name: "b.com" },
  ];
  const rule = (path: string, target: string, domainId: number | null = null): Rule => ({ path, target, domainId });
  const table: [what: string, is: boolean, first: Rule, ...others: Rule[]][] = [
    ["to itself", true, rule("x", "/x")],
    ["to itself by its slash and its encoding", true, rule("ż x", "/%C5%BC%20x/?a=1")],
    ["by another", true, rule("x", "/y"), rule("y", "/x")],
    ["over its own domain", true, rule("x", "https://a.pl/x")],
    ["over two domains", true, rule("x", "https://b.com/x", 1), rule("x", "https://a.pl/x", 2)],
    ["to another domain alone", false, rule("x", "https://b.com/x", 1)],
    ["between domains that never meet", false, rule("x", "/y", 1), rule("y", "/x", 2)],
    ["to another site", false, rule("x", "https://elsewhere.example/x")],
    ["a way of three", false, rule("x", "/y"), rule("y", "/z"), rule("z", "/end")],
    [
      "a way that is too long",
      true,
      rule("x", "/1"),
      ...Array.from({ length: 20 }, (_, at) => rule(`${at + 1}`, `/${at + 2}`)),
    ],
  ];
  test.each(table)("%s: %p", (_, is, first, ...others) => expect(leadsBack(first, others, domains)).toBe(is));
});

test("redirects are written after those that they lead to, a circle at last", () => {
  const domains = [{ id: 1, name: "a.pl" }];
  const rules: Rule[] = [
    { path: "a", target: "/b", domainId: null },
    { path: "b", target: "https://a.pl/c", domainId: null },
    { path: "c", target: "/end", domainId: 1 },
    { path: "d", target: "/d", domainId: null },
  ];
  const orders = [rules, rules.toReversed()].map((given) => writingOrder(given, domains).map(({ path }) => path));
  expect(orders).toEqual([
    ["c", "b", "a", "d"],
    ["d", "c", "b", "a"],
  ]);
});

test.each([
  ["/a b?x=ü#y", "/a%20b?x=%C3%BC#y"],
  ["/a/../b", "/b"],
  ["HTTPS://Acme.Example", "https://acme.example/"],
  ["/\t/evil.example", undefined],
  ["ftp://acme.example/", undefined],
  ["https://", undefined],
  ["", undefined],
])("%j leads to %p", (given, href) => {
  const clean = cleanTarget(given);
  expect("href" in clean ? clean.href : undefined).toBe(href);
});

test("a path that is taken leads to the site's own host, however a browser reads it", () => {
  const piece = fc.constantFrom("/", "\\", ".", "..", "%2e", "%2f", "\t", "\n", "evil.test", "@", ":", "?", "#");
  const path = fc.array(piece, { maxLength: 12 }).map((pieces) => `/${pieces.join("")}`);
  fc.assert(
    fc.property(path, (given) => {
      const clean = cleanTarget(given);
      if ("href" in clean) expect(new URL(clean.href, "https://own.example/a/b").host).toBe("own.example");
    }),
    { numRuns: 2000 },
  );
});

test("a target that an earlier version has stored leads nowhere else either", async () => {
  const { json } = await ask({ path: "stored", to: "/offer" });
  await server.app.sql`update cms_redirect_rules set target = '//evil.test/' where id = ${json.id}`;
  await ask({ path: "read-anew", to: "/offer" });
  expect(await answerAt("acme.pl", "/stored")).toEqual([404, null]);
});
