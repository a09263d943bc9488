import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { serverWithSites } from "../../../../tests/sites.ts";

const server = serverWithSites(async () => {
  await make.site({ code: "acme", name: "Acme", locale: "pl", multilang: true });
  await make.domain({ name: "acme.pl", site_code: "acme", locale: "pl" });
  await make.domain({ name: "acme.com", site_code: "acme", locale: "en" });
  await make.page({ code: "home", path: "", site_code: "acme", content: "home" });
});
const { make } = server;

const at = (path: string, host = "acme.pl") => make.at(host, path);
const list =
  "{% articles %}{% list %}{{ article.url }},{{ article.category.url }} {% show %}{{ article.url }}{% endarticles %}";
const shows =
  "{{ page.url }}|{{ canonical_url }}|{{ seo_alternates | map: 'url' | join: ' ' }}|{{ lang_switch[1].url }}";

// What is sent as `path`, and the address that it is served at.
const paths: [path: string, address: string][] = [
  ["what?", "/what%3F"],
  ["c#", "/c%23"],
  ["a\\b", "/a%5Cb"],
  ["%41", "/%2541"],
  ["a%2Fb", "/a%252Fb"],
  ["%2e%2e/x", "/%252e%252e/x"],
  ["100%", "/100%25"],
  [" ", "/%20"],
  [" a b ", "/%20a%20b%20"],
  ['it\'s <b> & "c"', "/it%27s%20%3Cb%3E%20&%20%22c%22"],
];

describe.each(paths)("a page at the path %j", (path, address) => {
  const inXml = address.replaceAll("&", "&amp;");
  const slave = `${path}-en`;
  const slaveAddress = `${address}-en`;
  let id: number;
  let slaveId: number;
  beforeAll(async () => {
    const page = await make.page({ code: "odd", path, locale: "pl", site_code: "acme", content: shows });
    const other = await make.page({
      code: "odd-en",
      path: slave,
      locale: "en",
      site_code: "acme",
      based_on_page_code: "odd",
    });
    [id, slaveId] = [page.id, other.id];
    expect([page["path"], other["path"]]).toEqual([path, slave]);
  });
  afterAll(async () => {
    await make.remove("page", slaveId);
    await make.remove("page", id);
  });

  test("is served at its encoded address, which every link names", async () => {
    const [pl, en] = [`https://acme.pl${address}`, `https://acme.com${slaveAddress}`];
    const answer = await at(address);
    expect([answer.status, answer.text]).toEqual([200, `${address}|${pl}|${pl} ${en} ${pl}|${en}`]);
    expect((await at(slaveAddress, "acme.com")).text).toBe(`${slaveAddress}|${en}|${pl} ${en} ${pl}|${en}`);
    expect((await server.app.get(`/cms/pages.json?path=${encodeURIComponent(path)}`)).json).toHaveLength(1);
  });

  test("stands in the sitemap", async () => {
    const { text } = await at("/sitemap.xml");
    expect(text).toContain(`<url><loc>https://acme.pl${inXml}</loc>`);
    expect(text).toContain(`hreflang="pl" href="https://acme.pl${inXml.replaceAll("'", "&#39;")}"/>`);
  });

  test("is redirected to, from a slash at the end, another language and where it stood before", async () => {
    const moved = async (asked: string, host?: string) => {
      const answer = await at(asked, host);
      return [answer.status, answer.headers.get("location")];
    };
    expect(await moved(`${address}/?q=1`)).toEqual([301, `${address}?q=1`]);
    expect(await moved(slaveAddress)).toEqual([301, address]);
    await make.change("page", id, { path: "elsewhere" });
    expect(await moved(address)).toEqual([301, "/elsewhere"]);
    await make.change("page", id, { path });
    expect(await moved("/elsewhere?q=1")).toEqual([301, `${address}?q=1`]);
  });

  test("is shown in the preview", async () => {
    const answer = await server.app.get(`/w/acme${address}`);
    expect([answer.status, answer.text.split("|")[0]]).toEqual([200, `/w/acme${address}`]);
    const moved = await server.app.request("GET", `/w/acme${address}/`);
    expect([moved.status, moved.headers.get("location")]).toEqual([301, `/w/acme${address}`]);
  });

  test("has articles and categories at such paths too", async () => {
    const category = await make.category({ code: "odd", path, site_code: "acme" });
    const article = await make.article({
      code: "odd",
      title: "Odd",
      path: `${path}1`,
      site_code: "acme",
      category_code: "odd",
    });
    expect([category["path"], article["path"]]).toEqual([path, `${path}1`]);
    await make.change("page", id, { content: list });
    const url = `${address}${address}1`;
    expect((await at(address)).text).toBe(`${url},${address}${address} `);
    expect((await at(`${address}${address}`)).text).toBe(`${url},${address}${address} `);
    expect((await at(url)).text).toBe(url);
    expect((await server.app.get(`/w/acme${url}`)).text).toBe(`/w/acme${url}`);
    expect((await at("/sitemap.xml")).text).toContain(`<loc>https://acme.pl${inXml}${inXml}1</loc>`);
    await make.remove("article", article.id);
    await make.remove("category", category.id);
    await make.change("page", id, { content: shows });
  });
});

test("a blank path is not the home page, and a path of slashes is", async () => {
  const blank = await make.page({ code: "blank", path: " ", site_code: "acme", content: "blank" });
  expect([(await at("/")).text, (await at("/%20")).text]).toEqual(["home", "blank"]);
  const answer = await server.app.post("/cms/pages.json", { page: { code: "second", path: "//", site_code: "acme" } });
  expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["path"]]);
  await make.remove("page", blank.id);
});

test.each(["a\u0000b", "a\nb", "\ta", "a//b", "a/./b", "..", "a\u0085"])("the path %j is refused", async (path) => {
  for (const [kind, body] of [
    ["page", { code: "bad" }],
    ["article", { code: "bad", title: "Bad" }],
    ["category", { code: "bad", name: "Bad" }],
  ] as const) {
    const plural = kind === "category" ? "categories" : `${kind}s`;
    const answer = await server.app.post(`/cms/${plural}.json`, { [kind]: { ...body, path, site_code: "acme" } });
    expect([kind, answer.status, Object.keys(answer.json)]).toEqual([kind, 422, ["path"]]);
  }
});

test("a question mark in a path and one before the query are not taken for each other, even at once", async () => {
  await make.page({ code: "plain", path: "q", site_code: "acme", content: "plain {{ params.x }}" });
  await make.page({ code: "asked", path: "q?", site_code: "acme", content: "asked {{ params.x }}" });
  const answers = await Promise.all(["/q??x", "/q%3F?x", "/q??x", "/q%3F?x"].map((path) => at(path)));
  expect(answers.map(({ text }) => text.trim())).toEqual(["plain", "asked", "plain", "asked"]);
});
