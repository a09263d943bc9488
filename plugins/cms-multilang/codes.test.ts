/** Codes are unique in their site: two sites of one account, with the same codes, side by side. behaviour B.11. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { otherAccount, startTestApp, type OtherAccount, type TestApp } from "../../tests/harness.ts";
import { cms } from "./api.ts";

let app: TestApp;
let other: OtherAccount;
const sites = ["one", "two"] as const;
const plurals = {
  layout: "layouts",
  page: "pages",
  paragraph: "paragraphs",
  category: "categories",
  article: "articles",
} as const;
type Kind = keyof typeof plurals;
const kinds: readonly Kind[] = ["layout", "page", "paragraph", "category", "article"];

beforeAll(async () => {
  app = await startTestApp();
  other = await otherAccount(app);
  for (const code of sites) await build(code);
});
afterAll(() => app.stop());

/** A small site whose codes are the same as the other's. */
async function build(code: string) {
  await made("sites", { site: { code, name: `Site ${code}`, locale: "en" } });
  await made("domains", { domain: { name: `${code}.test`, site_code: code } });
  await app.approve(`${code}.test`);
  const content = `<p>layout of ${code}</p>{{ content }}`;
  await made("layouts", { layout: { code: "main", site_code: code, content } });
  const news = '{% articles category="news" %}{% list %}[{{ article.title }}]{% endarticles %}';
  const text = `<h1>home of ${code}</h1>{% paragraph "hours" %}{% paragraphs %}${news}`;
  await made("pages", { page: { code: "home", site_code: code, path: "", layout_code: "main", content: text } });
  await made("pages", { page: { code: "about", site_code: code, locale: "en", content: `about ${code}` } });
  await made("pages", {
    page: { code: "about-pl", site_code: code, path: "o-nas", locale: "pl", based_on_page_code: "about" },
  });
  await made("paragraphs", { paragraph: { code: "hours", site_code: code, content: `<i>hours of ${code}</i>` } });
  const intro = { code: "intro", site_code: code, page_code: "home", content: `<i>intro of ${code}</i>` };
  await made("paragraphs", { paragraph: intro });
  await made("categories", { category: { code: "news", site_code: code } });
  await made("categories", { category: { code: "events", site_code: code } });
  const article = { code: "first", title: `First of ${code}`, category_code: "news", categories: ["events"] };
  await made("articles", { article: { ...article, site_code: code } });
}

async function made(plural: string, body: object) {
  const answer = await app.post(`/cms/${plural}.json`, body);
  expect(`${answer.status} ${answer.text}`).toStartWith("201");
  return answer.json;
}

const codeOf: Record<Kind, string> = {
  layout: "main",
  page: "home",
  paragraph: "hours",
  category: "news",
  article: "first",
};
const addressOf = (kind: Kind, site?: string) =>
  `/cms/${plurals[kind]}/${codeOf[kind]}.json${site === undefined ? "" : `?site_code=${site}`}`;

describe.each(kinds)("a %s", (kind) => {
  test("is found by its code and its site", async () => {
    for (const site of sites) {
      const answer = await app.get(addressOf(kind, site));
      expect(answer.status).toBe(200);
      expect(answer.json).toMatchObject({ code: codeOf[kind], site_code: site });
    }
  });

  test("whose code several sites have is asked for with its site, in every call, and nothing is changed", async () => {
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const answer = await app.request(method, addressOf(kind), method === "PATCH" ? { [kind]: {} } : undefined);
      expect(answer.status).toBe(409);
      expect(answer.json).toEqual({ error: expect.stringContaining("?site_code=one or ?site_code=two") });
    }
    for (const site of sites) expect((await app.get(addressOf(kind, site))).status).toBe(200);
  });

  test("is 404 in a site that has none of its code, in one that is not there, and in another account's", async () => {
    await app.post("/cms/sites.json", { site: { code: "empty", name: "Empty" } });
    for (const site of ["empty", "nobody", "a%00b", "%27", "none", "x".repeat(5000)])
      for (const method of ["GET", "DELETE"])
        expect(`${site} ${(await app.request(method, addressOf(kind, site))).status}`).toBe(`${site} 404`);
    expect(
      (await app.get(addressOf(kind, "one"), { token: other.adminToken, headers: { host: other.host } })).status,
    ).toBe(404);
  });

  test("is found by its id alone, and not in another site", async () => {
    const { id } = (await app.get(addressOf(kind, "two"))).json;
    const address = `/cms/${plurals[kind]}/${id}.json`;
    expect((await app.get(address)).json.site_code).toBe("two");
    expect((await app.get(`${address}?site_code=two`)).json.site_code).toBe("two");
    expect((await app.get(`${address}?site_code=one`)).status).toBe(404);
  });

  test("is listed for both, and for each", async () => {
    const listed = async (query: string) =>
      (await app.get(`/cms/${plurals[kind]}.json?code=${codeOf[kind]}${query}`)).json.map(
        (row: { site_code: string }) => row.site_code,
      );
    expect((await listed("")).toSorted()).toEqual(["one", "two"]);
    expect(await listed("&site_code=two")).toEqual(["two"]);
  });

  test("is refused where its own site has its code, and made where another has it", async () => {
    const body = { code: codeOf[kind], title: "Again", ...(kind === "page" && { path: "again" }) };
    const refused = await app.post(`/cms/${plurals[kind]}.json`, { [kind]: { ...body, site_code: "one" } });
    expect(refused.status).toBe(422);
    expect(Object.keys(refused.json)).toEqual(["code"]);
    await app.post("/cms/sites.json", { site: { code: "third", name: "Third" } });
    const { id } = await made(plurals[kind], { [kind]: { ...body, site_code: "third" } });
    expect((await app.delete(`/cms/${plurals[kind]}/${id}.json`)).status).toBe(204);
  });

  test("is renamed to a code that another site has, and not to one of its own", async () => {
    const title = kind === "article" ? { title: "Renamed" } : { name: "Renamed" };
    const { id } = await made(plurals[kind], { [kind]: { code: "renamed", site_code: "one", ...title } });
    const address = `/cms/${plurals[kind]}/renamed.json`;
    const taken = await app.patch(address, { [kind]: { code: codeOf[kind] } });
    expect(`${taken.status} ${Object.keys(taken.json).join()}`).toBe("422 code");
    await made(plurals[kind], { [kind]: { code: "in-two", site_code: "two", ...title } });
    expect((await app.patch(address, { [kind]: { code: "in-two" } })).status).toBe(200);
    for (const at of [`${id}`, "in-two"])
      expect((await app.delete(`/cms/${plurals[kind]}/${at}.json`)).status).toBe(204);
  });

  test("gets a code by its name, counted within its site", async () => {
    const body = { [kind === "article" ? "title" : "name"]: "Made By Name", site_code: "one" };
    const codes: string[] = [];
    for (const site_code of ["one", "one", "two"]) {
      const unique = kind === "page" ? { path: `made-${codes.length}` } : {};
      codes.push((await made(plurals[kind], { [kind]: { ...body, ...unique, site_code } })).code);
    }
    expect(codes).toEqual(["made-by-name", "made-by-name-2", "made-by-name"]);
  });
});

test("references are looked up in the record's own site, when it is made and when it changes", async () => {
  for (const site of sites) {
    const of = async (kind: Kind, code: string) =>
      (await app.get(`/cms/${plurals[kind]}/${code}.json?site_code=${site}`)).json;
    const home = await of("page", "home");
    expect(home.layout_id).toBe((await of("layout", "main")).id);
    expect((await of("page", "about-pl")).based_on_page_id).toBe((await of("page", "about")).id);
    expect((await of("paragraph", "intro")).page_id).toBe(home.id);
    expect((await of("article", "first")).category_id).toBe((await of("category", "news")).id);
    const change = (kind: Kind, code: string, body: object) =>
      app.patch(`/cms/${plurals[kind]}/${code}.json?site_code=${site}`, { [kind]: body });
    expect((await change("page", "home", { layout_code: "main" })).json.layout_id).toBe(home.layout_id);
    expect((await change("page", "about-pl", { based_on_page_code: "about" })).status).toBe(200);
    expect((await change("paragraph", "intro", { page_code: "about" })).json.page_id).toBe(
      (await of("page", "about")).id,
    );
    expect((await change("paragraph", "intro", { page_code: "home" })).json.page_id).toBe(home.id);
    const article = await change("article", "first", { category_code: "events", categories: ["news"] });
    expect(article.json).toMatchObject({ category_id: (await of("category", "events")).id, categories: ["news"] });
    expect((await change("article", "first", { category_code: "news", categories: [] })).status).toBe(200);
  }
});

test("what another site alone has is none to a reference", async () => {
  await made("layouts", { layout: { code: "only-two", site_code: "two" } });
  await made("pages", { page: { code: "page-two", site_code: "two" } });
  await made("categories", { category: { code: "category-two", site_code: "two" } });
  const layoutId = (await app.get("/cms/layouts/only-two.json")).json.id;
  const cases: [string, object, string][] = [
    ["/cms/pages/home.json", { page: { layout_code: "only-two" } }, "layout_code"],
    ["/cms/pages/home.json", { page: { layout_id: layoutId } }, "layout_id"],
    ["/cms/pages/about.json", { page: { based_on_page_code: "page-two" } }, "based_on_page_code"],
    ["/cms/paragraphs/hours.json", { paragraph: { page_code: "page-two" } }, "page_code"],
    ["/cms/articles/first.json", { article: { category_code: "category-two" } }, "category_code"],
    ["/cms/articles/first.json", { article: { categories: ["category-two"] } }, "categories"],
  ];
  for (const [address, body, field] of cases) {
    const answer = await app.patch(`${address}?site_code=one`, body);
    expect(`${field} ${answer.status} ${Object.keys(answer.json).join()}`).toBe(`${field} 422 ${field}`);
  }
});

test("lists are narrowed by the code of a layout, master, page or category that several sites have", async () => {
  const codes = async (path: string) =>
    (await app.get(path)).json.map(
      ({ code, site_code }: { code: string; site_code: string }) => `${site_code} ${code}`,
    );
  expect(await codes("/cms/pages.json?layout_code=main")).toEqual(["one home", "two home"]);
  expect(await codes("/cms/pages.json?layout_code=main&site_code=two")).toEqual(["two home"]);
  expect(await codes("/cms/pages.json?based_on_page_code=about")).toEqual(["one about-pl", "two about-pl"]);
  expect(await codes("/cms/paragraphs.json?page_code=home&site_code=one")).toEqual(["one intro"]);
  expect(await codes("/cms/articles.json?category_code=news")).toEqual(["one first", "two first"]);
});

test("each site shows its own", async () => {
  for (const site of sites) {
    const page = await app.get("/", { token: null, headers: { host: `${site}.test` } });
    expect(page.text).toBe(
      `<p>layout of ${site}</p><h1>home of ${site}</h1><i>hours of ${site}</i><i>intro of ${site}</i>[First of ${site}]`,
    );
    expect((await app.get(`/w/${site}`)).text).toContain(`home of ${site}`);
  }
});

describe("a paragraph of every site", () => {
  beforeAll(async () => {
    await made("paragraphs", { paragraph: { code: "footer", content: "everybody's footer" } });
    for (const site_code of sites)
      await made("pages", { page: { code: "feet", site_code, content: '{% paragraph "footer" %}' } });
  });
  const shown = async (site: string) =>
    (await app.get("/feet", { token: null, headers: { host: `${site}.test` } })).text;

  test("is shown by each site but the one that has its own of that code", async () => {
    expect([await shown("one"), await shown("two")]).toEqual(["everybody's footer", "everybody's footer"]);
    await made("paragraphs", { paragraph: { code: "footer", site_code: "two", content: "footer of two" } });
    expect([await shown("one"), await shown("two")]).toEqual(["everybody's footer", "footer of two"]);
  });

  test("is named by `site_code=none`", async () => {
    expect((await app.get("/cms/paragraphs/footer.json")).status).toBe(409);
    expect((await app.get("/cms/paragraphs/footer.json?site_code=none")).json.site_code).toBeNull();
    expect((await app.get("/cms/paragraphs/footer.json?site_code=one")).status).toBe(404);
    const taken = await app.post("/cms/paragraphs.json", { paragraph: { code: "footer" } });
    expect(`${taken.status} ${Object.keys(taken.json).join()}`).toBe("422 code");
  });

  test("names a page with its site where several have one of that code", async () => {
    const lost = await app.patch("/cms/paragraphs/footer.json?site_code=none", { paragraph: { page_code: "home" } });
    expect(`${lost.status} ${Object.keys(lost.json).join()}`).toBe("422 page_code");
    const homeless = await app.post("/cms/paragraphs.json", { paragraph: { name: "Lost", page_code: "home" } });
    expect(`${homeless.status} ${Object.keys(homeless.json).join()}`).toBe("422 page_code");
    const body = { name: "Found", page_code: "home", site_code: "two" };
    expect((await app.post("/cms/paragraphs.json", { paragraph: body })).json.site_code).toBe("two");
  });
});

test("many requests at once with one code make one in each site", async () => {
  const codes = ["one", "two", "one", "two", "one", "two"];
  const answers = await Promise.all(
    codes.map((site_code) => app.post("/cms/layouts.json", { layout: { code: "race", site_code } })),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 201, 422, 422, 422, 422]);
});

describe("the service", () => {
  const author = async () => {
    const [account] = await app.sql<{ id: number }[]>`select id from accounts order by id limit 1`;
    return { account: { id: account?.id ?? 0, locale: "en", timezone: "UTC" }, userId: null };
  };

  test("puts records into the site that their bodies name", async () => {
    await app.service(cms).change(await author(), async (writes) => {
      for (const site_code of sites) {
        const put = await writes.put("page", { code: "home", site_code, name: `Put ${site_code}` });
        expect(put).toMatchObject({ made: false, record: { site_code, name: `Put ${site_code}` } });
        const page = await writes.find("page", "about", site_code);
        const paragraph = { code: "put", page_code: `${page?.id}`, content: site_code };
        expect(await writes.put("paragraph", paragraph)).toMatchObject({ made: true, record: { site_code } });
        expect(await writes.put("paragraph", paragraph)).toMatchObject({ made: false });
      }
      expect(await writes.put("paragraph", { code: "put" })).toMatchObject({ made: true, record: { site_code: null } });
      expect((await writes.update("paragraph", "put", { name: "P" }, "one"))["site_code"]).toBe("one");
      expect((await writes.update("paragraph", "put", { name: "P" }, "none"))["site_code"]).toBeNull();
      await writes.remove("paragraph", "put", "two");
      expect(await writes.find("paragraph", "put", "two")).toBeUndefined();
    });
  });

  test("refuses a code that several sites have, and undoes the change", async () => {
    const work = app.service(cms).change(await author(), async (writes) => {
      await writes.update("page", "home", { name: "Lost" }, "one");
      await writes.update("page", "home", { name: "Lost" });
    });
    expect(await work.catch((error: unknown) => String(error))).toContain("several sites have the page home");
    expect((await app.get("/cms/pages/home.json?site_code=one")).json.name).not.toBe("Lost");
  });

  test("pushes one folder into two sites of an account, and a change into one of them alone", async () => {
    const files = new Map([
      ["site.yaml", 'name: "Shop"\nlocale: en\n'],
      ["layouts/main.liquid", '---\nname: "Main"\n---\n<b>{{ content }}</b>\n'],
      ["categories/news.yaml", 'name: "News"\n'],
      ["pages/home.liquid", '---\nname: "Home"\npath: ""\nlayout_code: main\n---\n{% paragraph "intro" %}\n'],
      ["paragraphs/intro.liquid", '---\nname: "Intro"\npage_code: home\n---\nintro\n'],
      ["articles/first.liquid", '---\ntitle: "First"\npath: first\ncategory_code: news\n---\ntext\n'],
    ]);
    const push = async (site: string, from: ReadonlyMap<string, string>) =>
      app.service(cms).pushFiles(await author(), site, from);
    for (const site of ["shop", "shop-staging"]) {
      expect((await push(site, files)).length).toBeGreaterThan(1);
      expect(await push(site, files)).toHaveLength(1);
    }
    const changed = new Map(files).set(
      "paragraphs/intro.liquid",
      '---\nname: "Intro"\npage_code: home\n---\nnew intro\n',
    );
    await push("shop-staging", changed);
    expect((await app.get("/w/shop")).text).toBe("<b>intro</b>");
    expect((await app.get("/w/shop-staging")).text).toBe("<b>new intro</b>");
    expect(await push("shop", files)).toHaveLength(1);
  });
});
