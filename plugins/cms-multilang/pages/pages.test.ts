import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestApp, type Answer, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

let site = "";
let sites = 0;
beforeEach(async () => {
  site = `site-${++sites}`;
  expect((await app.post("/cms/sites.json", { site: { code: site, name: site } })).status).toBe(201);
});

const post = (fields: object) => app.post("/cms/pages.json", { page: { site_code: site, ...fields } });
const patch = (code: string, fields: object) => app.patch(`/cms/pages/${site}-${code}.json`, { page: fields });
const get = async (code: string) => (await app.get(`/cms/pages/${site}-${code}.json`)).json;

/** A page that must be made. */
async function page(code: string, fields: object = {}) {
  const answer = await post({ code: `${site}-${code}`, path: code, ...fields });
  expect(`${answer.status} ${answer.text}`).toStartWith("201");
  return answer.json;
}

function refused(answer: Answer, field: string): void {
  expect(`${answer.status} ${Object.keys(answer.json).join()}`).toBe(`422 ${field}`);
}

test("a language that is none is answered with those that there are", async () => {
  const locales = ["must be one of pl, en, fr, cs, sk, de, es, uk or empty"];
  expect((await post({ name: "A", path: "a", locale: "xx" })).json).toEqual({ locale: locales });
});

describe("a path in a site (behaviour 8)", () => {
  test("has one page for each locale and at most one without", async () => {
    await page("a");
    for (const locale of ["pl", "en", "fr", "cs", "sk", "de", "es", "uk"]) {
      expect((await post({ name: "A", path: "a", locale })).status).toBe(201);
      refused(await post({ name: "A", path: "/a/", locale }), "path");
    }
    refused(await post({ name: "A", path: "a" }), "path");
    refused(await post({ name: "A", path: "a/", locale: "" }), "path");
    expect((await post({ name: "A", path: "A" })).status).toBe(201);
  });

  test("is refused where a change would lead there", async () => {
    await page("a", { locale: "pl" });
    await page("b", { locale: "pl" });
    await page("c", { path: "a", locale: "en" });
    refused(await patch("b", { path: "a" }), "path");
    refused(await patch("c", { locale: "pl" }), "path");
    expect((await patch("a", { path: "a", locale: "pl" })).status).toBe(200);
  });

  test("is empty for the home page, one whatever its locale", async () => {
    await page("home", { path: "/" });
    for (const home of [{ path: "" }, { path: "///" }, { path: "", locale: "pl" }])
      refused(await post({ name: "Home", ...home }), "path");
    await page("b");
    refused(await patch("b", { path: "" }), "path");
    await app.post("/cms/sites.json", { site: { code: `${site}-other`, name: "Other" } });
    expect((await post({ name: "Home", path: "", site_code: `${site}-other` })).status).toBe(201);
  });
});

describe("a slave (behaviour A.4)", () => {
  test("names its master by id or by code, and both are shown", async () => {
    const master = await page("m");
    const shown = { based_on_page_id: master.id, based_on_page_code: `${site}-m` };
    expect(await page("s", { based_on_page_code: `${site}-m` })).toMatchObject(shown);
    expect(await page("t", { based_on_page_id: master.id })).toMatchObject(shown);
    expect((await patch("t", { based_on_page_id: null })).json).toMatchObject({ based_on_page_id: null });
    expect((await patch("t", { based_on_page_code: `${site}-m` })).json).toMatchObject(shown);
    expect((await patch("t", { name: "T" })).json).toMatchObject(shown);
    expect((await patch("t", { based_on_page_code: "" })).json).toMatchObject({ based_on_page_code: null });
  });

  test("must name a page that is there", async () => {
    const master = await page("m");
    for (const wrong of ["nobody", "a b", "0", "99999999"])
      refused(await post({ name: "S", based_on_page_code: wrong }), "based_on_page_code");
    refused(await post({ name: "S", based_on_page_id: 99999999 }), "based_on_page_id");
    refused(
      await post({ name: "S", based_on_page_id: master.id + 1, based_on_page_code: `${site}-m` }),
      "based_on_page_id",
    );
  });

  test("is of one level: no slave of a slave, and no slave out of a master", async () => {
    await page("m");
    await page("other");
    await page("s", { based_on_page_code: `${site}-m` });
    refused(await post({ name: "T", based_on_page_code: `${site}-s` }), "based_on_page_code");
    refused(await patch("other", { based_on_page_code: `${site}-s` }), "based_on_page_code");
    refused(await patch("m", { based_on_page_code: `${site}-other` }), "based_on_page_code");
    expect((await patch("s", { based_on_page_code: null })).status).toBe(200);
    expect((await patch("m", { based_on_page_code: `${site}-other` })).status).toBe(200);
  });

  test("is no slave of itself, nor of a page of another site", async () => {
    const own = await page("m");
    refused(await patch("m", { based_on_page_code: `${site}-m` }), "based_on_page_code");
    refused(await patch("m", { based_on_page_id: own.id }), "based_on_page_id");
    await app.post("/cms/sites.json", { site: { code: `${site}-other`, name: "Other" } });
    refused(
      await post({ name: "S", site_code: `${site}-other`, based_on_page_code: `${site}-m` }),
      "based_on_page_code",
    );
  });

  test("does not stand on its master's path, whichever of them moves", async () => {
    await page("m", { locale: "pl" });
    refused(await post({ name: "S", path: "m", locale: "en", based_on_page_code: `${site}-m` }), "path");
    await page("s", { locale: "en", based_on_page_code: `${site}-m` });
    refused(await patch("s", { path: "/m" }), "path");
    refused(await patch("m", { path: "s/" }), "path");
    expect((await patch("m", { path: "moved" })).status).toBe(200);
    expect((await patch("s", { path: "m" })).status).toBe(200);
    refused(await patch("s", { path: "moved" }), "path");
  });

  test("has no home page for a master, and no master becomes the home page (behaviour A.9)", async () => {
    await page("home", { path: "" });
    refused(await post({ name: "S", path: "s", based_on_page_code: `${site}-home` }), "based_on_page_code");
    await app.delete(`/cms/pages/${site}-home.json`);
    await page("m");
    await page("s", { based_on_page_code: `${site}-m` });
    refused(await patch("m", { path: "" }), "path");
  });

  test("stands alone when its master is destroyed, and keeps what is its own", async () => {
    await page("m");
    await page("s", { based_on_page_code: `${site}-m`, html_title: "Own", html_description: "Own too" });
    const before = await app.get(`/cms/pages/${site}-s.json`);
    expect((await app.delete(`/cms/pages/${site}-m.json`)).status).toBe(204);
    const after = await app.get(`/cms/pages/${site}-s.json`);
    expect(after.json).toMatchObject({ based_on_page_id: null, based_on_page_code: null, html_title: "Own" });
    expect(after.headers.get("etag")).not.toBe(before.headers.get("etag"));
  });
});

test("what a page names is of its own site", async () => {
  await app.post("/cms/sites.json", { site: { code: `${site}-other`, name: "Other" } });
  await app.post("/cms/layouts.json", { layout: { code: `${site}-layout`, site_code: `${site}-other` } });
  refused(await post({ name: "A", layout_code: `${site}-layout` }), "layout_code");
  refused(await post({ name: "A", layout_code: "nobody" }), "layout_code");
  refused(await post({ name: "A", layout_id: 99999999 }), "layout_id");
  await page("a");
  refused(await patch("a", { site_code: `${site}-other` }), "site_code");
  expect((await patch("a", { site_code: site })).status).toBe(200);
  for (const none of [{}, { site_code: "" }, { site_code: null }])
    refused(await app.post("/cms/pages.json", { page: { name: "A", ...none } }), "site_code");
  refused(await app.post("/cms/pages.json", { page: { name: "A", site_code: "nobody" } }), "site_code");
});

test("a template that cannot be read is refused under `content`, with its line and column", async () => {
  const broken = "<h1>\n  {{ title | }\n{% if x %}";
  const bodies: [string, object][] = [
    ["pages", { page: { name: "A", site_code: site, content: broken } }],
    ["layouts", { layout: { name: "A", site_code: site, content: broken } }],
    ["paragraphs", { paragraph: { name: "A", site_code: site, content: broken } }],
  ];
  for (const [plural, body] of bodies) {
    const answer = await app.post(`/cms/${plural}.json`, body);
    refused(answer, "content");
    expect(answer.json.content[0]).toMatch(/line \d+, column \d+/);
  }
  const article = { title: "About Liquid", site_code: site, content: broken };
  expect((await app.post("/cms/articles.json", { article })).json.content).toBe(broken);
  await page("a");
  refused(await patch("a", { content: broken }), "content");
  refused(await patch("a", { content: "{% articles category={{ x }} %}{% endarticles %}" }), "content");
});

test("a template has as many characters as can be read, that of an article more", async () => {
  const longest = "x".repeat(256_000);
  expect((await post({ name: "Long", content: longest })).status).toBe(201);
  const longer = await post({ name: "Longer", content: `${longest}x` });
  expect(longer.json).toEqual({ content: [expect.stringContaining("256000 characters")] });
  const article = { title: "Long", site_code: site, content: longest.repeat(3) };
  expect((await app.post("/cms/articles.json", { article })).status).toBe(201);
});

describe("a path that a page has left", () => {
  const redirects = () => app.sql<{ path: string; locale: string | null; code: string }[]>`
    select r.path, r.locale, p.code from cms_redirects r
    join cms_pages p on p.id = r.page_id join cms_sites s on s.id = r.site_id
    where s.code = ${site} order by r.path`;
  const found = async () => (await redirects()).map(({ path, code }) => `${path} -> ${code.slice(site.length + 1)}`);

  test("leads to where the page is now, through any number of moves, and never in a circle", async () => {
    await page("a");
    await patch("a", { path: "b" });
    await patch("a", { path: "c" });
    expect(await found()).toEqual(["a -> a", "b -> a"]);
    await patch("a", { path: "b" });
    expect(await found()).toEqual(["a -> a", "c -> a"]);
    await patch("a", { path: "a" });
    expect(await found()).toEqual(["b -> a", "c -> a"]);
  });

  test("belongs to a new page that stands there, and to the last that left it", async () => {
    await page("a");
    await patch("a", { path: "b" });
    await page("n", { path: "a" });
    expect(await found()).toEqual([]);
    await patch("n", { path: "x" });
    expect(await found()).toEqual(["a -> n"]);
    await page("z");
    await patch("z", { path: "a" });
    await patch("z", { path: "y" });
    expect(await found()).toEqual(["a -> z", "z -> z"]);
  });

  test("is kept for each locale, and goes with its page", async () => {
    await page("pl", { path: "a", locale: "pl" });
    await page("en", { path: "a", locale: "en" });
    await patch("en", { path: "b" });
    expect(await redirects()).toMatchObject([{ path: "a", locale: "en" }]);
    await patch("pl", { name: "still there" });
    expect(await found()).toEqual(["a -> en"]);
    await app.delete(`/cms/pages/${site}-en.json`);
    expect(await found()).toEqual([]);
  });
});

describe("two requests at once", () => {
  const together = async (...requests: (() => Promise<Answer>)[]) =>
    (await Promise.all(requests.map((send) => send()))).map(({ status }) => status).toSorted((a, b) => a - b);
  const times = (most: number, send: (at: number) => Promise<Answer>) =>
    together(...Array.from({ length: most }, (_, at) => () => send(at)));

  test("make one home page, whatever their locales", async () => {
    const locales = [null, "pl", "en", "de", "cs", "sk"];
    const statuses = await times(6, (at) => post({ name: `Home ${at}`, path: "", locale: locales[at] }));
    expect(statuses).toEqual([201, 422, 422, 422, 422, 422]);
  });

  test("make one page of a path and locale", async () => {
    expect(await times(5, (at) => post({ name: `A ${at}`, path: "a", locale: "pl" }))).toEqual([
      201, 422, 422, 422, 422,
    ]);
    expect(await times(5, (at) => post({ name: `B ${at}`, path: "b" }))).toEqual([201, 422, 422, 422, 422]);
  });

  test("make no chain of masters", async () => {
    for (let round = 0; round < 5; round++) {
      for (const code of ["a", "b", "c"]) await page(`${code}${round}`);
      const follow = (code: string, master: string) => () =>
        patch(`${code}${round}`, { based_on_page_code: `${site}-${master}${round}` });
      await together(follow("a", "b"), follow("b", "c"), follow("c", "a"), follow("b", "a"));
    }
    const chains = await app.sql`
      select s.code from cms_pages s join cms_pages m on m.id = s.based_on_page_id where m.based_on_page_id is not null`;
    expect(chains).toHaveLength(0);
    const slaves = await app.sql`select 1 from cms_pages where based_on_page_id is not null`;
    expect(slaves.length).toBeGreaterThanOrEqual(5);
  });

  test("bring no slave onto its master's path", async () => {
    for (let round = 0; round < 5; round++) {
      await page(`m${round}`, { locale: "pl" });
      await page(`s${round}`, { locale: "en", based_on_page_code: `${site}-m${round}` });
      const move = (code: string) => () => patch(`${code}${round}`, { path: `meeting-${round}` });
      expect(await together(move("m"), move("s"))).toEqual([200, 422]);
    }
  });

  test("with one tag: one is made, the others are 412", async () => {
    await page("a");
    const tag = (await app.get(`/cms/pages/${site}-a.json`)).headers.get("etag") ?? "";
    const statuses = await times(6, (at) =>
      app.patch(`/cms/pages/${site}-a.json`, { page: { name: `A ${at}` } }, { headers: { "if-match": tag } }),
    );
    expect(statuses).toEqual([200, 412, 412, 412, 412, 412]);
  });

  test("each grow the site's revision by one", async () => {
    const revision = async () => (await app.sql`select revision from cms_sites where code = ${site}`)[0]?.["revision"];
    const before = await revision();
    await times(8, (at) => post({ name: `R ${at}`, path: `r-${at}` }));
    expect(await revision()).toBe(before + 8);
  });
});

describe("the database itself", () => {
  test("refuses what no request could bring about", async () => {
    const master = await page("m");
    const slave = await page("s", { based_on_page_code: `${site}-m` });
    const other = await page("o");
    await app.post("/cms/sites.json", { site: { code: `${site}-other`, name: "Other" } });
    const [foreign] = await app.sql`select id from cms_sites where code = ${`${site}-other`}`;
    const attempts: [string, () => Promise<unknown>][] = [
      [
        "a slave of a slave",
        async () =>
          app.sql`update cms_pages set based_on_page_id = ${slave.id}, based_on_path = 's' where id = ${other.id}`,
      ],
      [
        "a slave out of a master",
        async () =>
          app.sql`update cms_pages set based_on_page_id = ${other.id}, based_on_path = 'o' where id = ${master.id}`,
      ],
      [
        "a slave of itself",
        async () =>
          app.sql`update cms_pages set based_on_page_id = ${other.id}, based_on_path = 'o' where id = ${other.id}`,
      ],
      [
        "a wrong copy of the master's path",
        async () =>
          app.sql`update cms_pages set based_on_page_id = ${master.id}, based_on_path = 'x' where id = ${other.id}`,
      ],
      [
        "a master on its slave's path",
        async () => app.sql`update cms_pages set path = 's', locale = 'pl' where id = ${master.id}`,
      ],
      [
        "a slave on its master's path",
        async () => app.sql`update cms_pages set path = 'm', locale = 'pl' where id = ${slave.id}`,
      ],
      ["a master that is the home page", async () => app.sql`update cms_pages set path = '' where id = ${master.id}`],
      [
        "a master that goes to another site",
        async () => app.sql`update cms_pages set site_id = ${foreign?.["id"]} where id = ${slave.id}`,
      ],
      ["a locale that is none", async () => app.sql`update cms_pages set locale = 'xx' where id = ${other.id}`],
      ["a path with a slash at its end", async () => app.sql`update cms_pages set path = 'o/' where id = ${other.id}`],
      [
        "a page of another account",
        async () => app.sql`update cms_pages set account_id = account_id + 1 where id = ${other.id}`,
      ],
    ];
    for (const [what, attempt] of attempts) {
      const error: unknown = await attempt().catch((thrown: unknown) => thrown);
      expect(`${what}: ${error instanceof Error && "code" in error ? String(error.code).slice(0, 2) : "done"}`).toBe(
        `${what}: 23`,
      );
    }
    await app.sql`delete from cms_pages where id = ${master.id}`;
    expect(await get("s")).toMatchObject({ based_on_page_id: null });
  });
});
