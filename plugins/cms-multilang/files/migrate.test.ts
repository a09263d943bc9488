import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accounts } from "../../accounts/api.ts";
import { cms } from "../api.ts";
import { adminToken, otherAccount, person, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { planFromRecords } from "./plan.ts";
import { plainTemplate, suffixedIn, suffixedKey } from "../liquid-tags.ts";

// The harness says so only to the first file of a run.
setDefaultTimeout(600_000);

let app: TestApp;
let root: string;
beforeAll(async () => {
  app = await startTestApp();
  root = await mkdtemp(join(tmpdir(), "corestead-migrate-"));
});
afterAll(async () => {
  await app.stop();
  await rm(root, { recursive: true });
});

const command = async (name: string, words: readonly string[], options: Record<string, string> = {}) =>
  (await app.app.commands.find((each) => each.name === name)?.run(options, words)) ?? [];

/** A site as it was before: a page for each language beside the others, and variables with a language at their end. */
const oldSite = {
  "site.yaml": "name: Old\nlocale: en\n",
  "domains/acme.pl.yaml": "primary: true\n",
  "layouts/main.liquid":
    '---\nname: Main\nfields:\n  foot_pl: Stopka\n  foot_en: Foot\n---\n<html class="a" lang="pl">\n<head>\n  <title>x</title>\n</head>\n' +
    '{% if page.locale == "en" %}{{ layout.foot_en }}{% else %}{{ layout.foot_pl }}{% endif %}{{ content }}</html>\n',
  "pages/home.liquid":
    '---\nname: Home\npath: ""\nlayout_code: main\nfields:\n  title_pl: Witaj\n  title_en: Welcome\n---\n<h1>{{ title_pl | default: "title_pl" }}</h1>\n',
  "pages/about.liquid":
    "---\nname: About\npath: pl/o-nas\nlayout_code: main\nhtml_title: O nas\nfields:\n  lead: My\n  title_pl: O nas\n---\n{{ title_pl }}{{ lead }}\n",
  "pages/about-us.liquid":
    "---\nname: About us\npath: en/about\nlayout_code: main\nhtml_title: About\nfields:\n  lead: We\n  title_en: About\n---\n{{ title_en }}, {{ lead }}\n",
  "paragraphs/note.liquid":
    "---\nname: Note\nfields:\n  text_en: A note\n---\n{{ paragraph.text_en }} {{ unknown_de }}\n",
};

const sitemap = `<?xml version="1.0"?><urlset>
<url><loc>https://acme.pl/</loc>
  <xhtml:link rel="alternate" hreflang="pl" href="https://acme.pl/"/><xhtml:link rel="alternate" hreflang="en" href="https://acme.com/"/></url>
<url><loc>https://acme.pl/pl/o-nas</loc>
  <xhtml:link rel="alternate" hreflang="pl" href="https://acme.pl/pl/o-nas"/>
  <xhtml:link hreflang='en-GB' href='https://acme.com/en/about/' rel="alternate"/>
  <xhtml:link rel="alternate" hreflang="x-default" href="https://acme.pl/pl/o-nas"/></url>
<url><loc>https://acme.pl/lost</loc>
  <xhtml:link rel="alternate" hreflang="pl" href="https://acme.pl/lost"/><xhtml:link rel="alternate" hreflang="en" href="https://acme.com/lost-en"/></url>
</urlset>`;

async function makeOld(code: string): Promise<void> {
  const account = await app.service(accounts).defaultAccount();
  const files = Object.entries(oldSite).map(([path, text]) => [path.replace("acme.pl", `${code}.pl`), text] as const);
  await app.service(cms).pushFiles({ account, userId: null }, code, new Map(files));
}

async function planFile(plan: unknown): Promise<string> {
  const file = join(root, `${crypto.randomUUID()}.json`);
  await Bun.write(file, typeof plan === "string" ? plan : JSON.stringify(plan));
  return file;
}

const page = async (site: string, code: string) => (await app.get(`/cms/pages/${code}.json?site_code=${site}`)).json;
const fails = async (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => "it did not fail",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

describe("site migrate (behaviour A.8)", () => {
  const plan = (code: string) => ({
    locale: "pl",
    domains: [
      { name: `${code}.pl`, locale: "pl", primary: true },
      { name: `${code}.com`, locale: "en" },
    ],
    groups: [
      {
        master: "about",
        path: "/o-nas/",
        slaves: [
          { code: "about-us", path: "about", locale: "en" },
          { code: "about-de", path: "ueber-uns", locale: "de" },
        ],
      },
    ],
  });

  test("makes masters and slaves, values keyed by locale, domains and the layout's head; a second time nothing", async () => {
    await makeOld("m1");
    const file = await planFile(plan("m1"));
    const dry = await command("site migrate", ["m1"], { plan: file, "dry-run": "true" });
    expect((await page("m1", "about")).path).toBe("pl/o-nas");
    expect(dry.at(-1)).toBe("a dry run: nothing was changed");
    const lines = await command("site migrate", ["m1"], { plan: file });
    expect(lines.slice(0, -1)).toEqual(dry.slice(0, -2));
    expect(lines).toEqual(
      expect.arrayContaining([
        "+ domains/m1.com.yaml",
        "+ pages/about-de.liquid",
        '    path: "pl/o-nas" -> "o-nas"',
        "    multilang: false -> true",
        '! pages/about-us.liquid: its own content (23 characters) is removed; "keep_content" keeps it',
        "! paragraphs/note.liquid: {{ unknown_de }} in line 1 of the content has no value anywhere, so it stays",
      ]),
    );
    expect((await app.get("/cms/sites/m1.json")).json).toMatchObject({ multilang: true, locale: "pl" });
    expect(await page("m1", "home")).toMatchObject({
      fields: { pl: { title: "Witaj" }, en: { title: "Welcome" } },
      content: '<h1>{{ title | default: "title_pl" }}</h1>',
    });
    expect(await page("m1", "about")).toMatchObject({
      path: "o-nas",
      locale: "pl",
      content: "{{ title }}{{ lead }}",
      fields: { lead: "My", pl: { title: "O nas" }, en: { title: "About", lead: "We" } },
    });
    expect(await page("m1", "about-us")).toMatchObject({
      path: "about",
      locale: "en",
      based_on_page_code: "about",
      content: "",
      fields: {},
      html_title: "About",
    });
    expect(await page("m1", "about-de")).toMatchObject({ path: "ueber-uns", locale: "de", name: "About (de)" });
    const layout = (await app.get("/cms/layouts/main.json?site_code=m1")).json;
    expect(layout.content).toContain('<html lang="{{ html_lang }}" class="a">');
    expect(layout.content).toContain("{{ seo_head }}\n</head>");
    expect(layout.content).toContain("{{ layout.foot }}{% else %}{{ layout.foot }}");
    expect(layout.fields).toEqual({ pl: { foot: "Stopka" }, en: { foot: "Foot" } });

    const again = await command("site migrate", ["m1"], { plan: file });
    expect(again.at(-1)).toBe("0 to create, 0 to change, 0 to delete");
  });

  test("serves the pages at their new places, and leads there from the old ones", async () => {
    await makeOld("m2");
    await command("site migrate", ["m2"], { plan: await planFile(plan("m2")) });
    const get = (host: string, path: string) =>
      fetch(`${app.origin}${path}`, { redirect: "manual", headers: { host } });
    expect(await (await get("m2.com", "/about")).text()).toContain("AboutWe");
    expect(await (await get("m2.pl", "/o-nas")).text()).toContain("O nasMy");
    expect((await get("m2.pl", "/pl/o-nas")).headers.get("location")).toBe("/o-nas");
    expect((await get("m2.com", "/en/about")).headers.get("location")).toBe("/about");
    expect((await get("m2.pl", "/about")).headers.get("location")).toBe("/o-nas");
  });

  test("makes a plan of old sitemaps, which can be carried out", async () => {
    await makeOld("m3");
    const file = join(root, "sitemap.xml");
    await Bun.write(file, sitemap);
    const [text = ""] = await command("site plan", ["m3", file]);
    expect(JSON.parse(text)).toEqual({
      locale: "en",
      domains: [
        { name: "acme.pl", locale: "pl", primary: false },
        { name: "acme.com", locale: "en", primary: true },
      ],
      variables: "all",
      groups: [
        {
          master: "about-us",
          path: "en/about",
          locale: "en",
          slaves: [{ code: "about", path: "pl/o-nas", locale: "pl" }],
        },
      ],
      notes: ["the home page (pl, en) is translated by its fields", "no page has the path lost-en"],
    });
    const lines = await command("site migrate", ["m3"], { plan: await planFile(text) });
    expect(lines).toContain("+ domains/acme.com.yaml");
    expect((await page("m3", "about")).based_on_page_code).toBe("about-us");
  });

  // [what, the plan, what is told]
  const wrong: [string, unknown, RegExp][] = [
    ["no JSON", "{", /the plan: the body is not valid JSON/],
    ["no locale", {}, /the plan: locale is required/],
    ["an unknown locale", { locale: "it" }, /the plan: locale must be/],
    ["a page that is not there", { locale: "pl", groups: [{ master: "x", slaves: [] }] }, /no page x/],
    ["the home page as a master", { locale: "pl", groups: [{ master: "home", slaves: [] }] }, /home is the home page/],
    [
      "its own slave",
      { locale: "pl", groups: [{ master: "about", slaves: [{ code: "about", path: "x", locale: "en" }] }] },
      /cannot be its own slave/,
    ],
    [
      "the master's path",
      {
        locale: "pl",
        groups: [{ master: "about", path: "x", slaves: [{ code: "about-us", path: "x", locale: "en" }] }],
      },
      /must not have its master's path/,
    ],
    [
      "a path that is none",
      { locale: "pl", groups: [{ master: "about", path: "a//b", slaves: [] }] },
      /the plan: the path "a\/\/b" must not contain an empty segment/,
    ],
    [
      "a taken path",
      {
        locale: "pl",
        groups: [{ master: "about", path: "a", slaves: [{ code: "about-us", path: "", locale: "en" }] }],
      },
      /pages\/about-us\.liquid:\d+: path/,
    ],
  ];
  test.each(wrong)("changes nothing for a plan with %s", async (_, given, told) => {
    const code = `w${crypto.randomUUID().slice(0, 8)}`;
    await makeOld(code);
    const before =
      await app.sql`select * from cms_pages p join cms_sites s on s.id = p.site_id where s.code = ${code} order by p.id`;
    expect(await fails(command("site migrate", [code], { plan: await planFile(given) }))).toMatch(told);
    const after =
      await app.sql`select * from cms_pages p join cms_sites s on s.id = p.site_id where s.code = ${code} order by p.id`;
    expect(JSON.stringify(after)).toBe(JSON.stringify(before));
  });

  test("needs a site and a plan", async () => {
    expect(await fails(command("site migrate", ["m1"]))).toContain("name the plan");
    expect(await fails(command("site migrate", []))).toContain("usage: corestead site migrate");
    expect(await fails(command("site migrate", ["m1"], { plan: join(root, "none") }))).toContain("there is no file");
    expect(await fails(command("site migrate", ["none"], { plan: await planFile({ locale: "pl" }) }))).toContain(
      "no site none",
    );
  });
});

describe("POST /cms/sites/:id/migrate", () => {
  const plan = {
    locale: "pl",
    domains: [{ name: "m9.pl", locale: "pl", primary: true }],
    groups: [{ master: "about", path: "o-nas", slaves: [{ code: "about-us", path: "about", locale: "en" }] }],
  };
  const migrate = (migration: unknown, site = "m9") => app.post(`/cms/sites/${site}/migrate.json`, { migration });
  const rows = async () => {
    // Whoever reads the log has all entries made.
    await app.get("/core/activity.json?limit=1");
    return JSON.stringify([
      await app.sql`select code, path, content, fields, version, field_times from cms_pages order by id`,
      await app.sql`select code, multilang, revision from cms_sites order by id`,
      await app.sql`select id, path from cms_redirects order by id`,
      await app.sql`select count(*) from activity`,
    ]);
  };

  test("with dry_run tells what would change, and leaves no trace; without it does just that", async () => {
    await makeOld("m9");
    const before = await rows();
    const dry = await migrate({ ...plan, dry_run: true });
    expect([dry.status, dry.json]).toMatchObject([200, { dry_run: true, created: 0 }]);
    expect(await rows()).toBe(before);
    const aboutUs = dry.json.changes.find(({ code }: { code: string }) => code === "about-us");
    expect(aboutUs).toMatchObject({ change: "update", kind: "page" });
    expect(aboutUs.fields).toContainEqual({ name: "based_on_page_code", before: null, after: "about" });
    expect(dry.json.notes).toContainEqual(expect.stringContaining("its own content"));
    const done = await migrate(plan);
    expect(done.json).toEqual({ ...dry.json, dry_run: false });
    expect(await page("m9", "about-us")).toMatchObject({ based_on_page_code: "about", path: "about" });
    expect((await migrate(plan)).json).toMatchObject({ created: 0, updated: 0, changes: [] });
  });

  test.each([
    ["no locale", {}, { locale: ["is required"] }],
    [
      "a page that is not there",
      { locale: "pl", groups: [{ master: "x", slaves: [] }] },
      { base: ["there is no page x"] },
    ],
    [
      "a taken path",
      {
        locale: "pl",
        groups: [{ master: "about", path: "a", slaves: [{ code: "about-us", path: "", locale: "en" }] }],
      },
      { base: [expect.stringContaining("pages/about-us.liquid: path")] },
    ],
    [
      "a real token",
      { locale: "pl", groups: [{ master: "about", path: adminToken, slaves: [] }] },
      { groups: [expect.stringContaining("token")] },
    ],
  ])("refuses a plan with %s", async (_, given, said) => {
    const answer = await migrate(given);
    expect([answer.status, answer.json]).toEqual([422, said]);
  });

  test("is of its account, and takes cms", async () => {
    const { token } = await person(app, { role: "user" });
    const other = await otherAccount(app);
    for (const word of ["plan", "migrate"]) {
      const body = { [word === "plan" ? "plan" : "migration"]: { locale: "pl" } };
      expect((await app.post(`/cms/sites/m9/${word}.json`, body, { token })).status).toBe(403);
      expect((await app.post(`/cms/sites/none/${word}.json`, body)).status).toBe(404);
      expect((await other.post(`/cms/sites/m9/${word}.json`, body)).status).toBe(404);
    }
  });

  test("is drafted from sitemaps, or from the site itself", async () => {
    const draft = (given: object) => app.post("/cms/sites/m9/plan.json", { plan: given });
    expect((await draft({})).json).toMatchObject({ locale: "pl", groups: [], domains: [{ name: "m9.pl" }] });
    expect((await draft({ sitemaps: [sitemap] })).json.notes).toContain("no page has the path lost");
  });
});

test("a plan of the site itself goes by the codes and paths of its pages", () => {
  const one = (code: string, path: string, more = {}) => ({ kind: "page" as const, code, values: { path, ...more } });
  const groupsOf = (...pages: ReturnType<typeof one>[]) =>
    planFromRecords([{ kind: "site", code: "", values: { locale: "pl" } }, ...pages]).groups;
  expect(groupsOf(one("about", "pl/o-nas"), one("about-en", "en/about"), one("about_de", "ueber-uns"))).toEqual([
    {
      master: "about",
      path: "o-nas",
      locale: "pl",
      slaves: [
        { code: "about-en", path: "about", locale: "en" },
        { code: "about_de", path: "ueber-uns", locale: "de" },
      ],
    },
  ]);
  expect(groupsOf(one("kontakt-pl", "kontakt"), one("kontakt-de", "de/kontakt"))).toMatchObject([
    { master: "kontakt-pl", slaves: [{ code: "kontakt-de", path: "de/kontakt" }] },
  ]);
  expect(groupsOf(one("home", ""), one("home-en", "en"))).toEqual([]);
  expect(groupsOf(one("a", "a"), one("a-en", "b", { based_on_page_code: "a" }), one("x-it", "x"))).toEqual([]);
});

describe("variables with a language at their end", () => {
  test.each([
    ["title_en", { name: "title", locale: "en" }],
    ["meta_title_uk", { name: "meta_title", locale: "uk" }],
    ["title_it", undefined],
    ["_en", undefined],
    ["title", undefined],
    ["title_EN", undefined],
  ])("%s", (key, expected) => {
    expect(suffixedKey(key)).toEqual(expected as never);
  });

  test("are found in tags alone, not in texts, names of attributes or longer words", () => {
    const template =
      'a_en {{ b_en }}\n{% if c_pl == "d_en" %}{{ e_en.x }} {{ f_en_x }} {{ x | g: h_de: 1 }}{% endif %}';
    expect(suffixedIn(template).map(({ variable, line }) => `${variable} ${line}`)).toEqual([
      "b_en 1",
      "c_pl 2",
      "e_en 2",
    ]);
    expect(plainTemplate(template, (name) => name !== "c_pl")).toBe(
      'a_en {{ b }}\n{% if c_pl == "d_en" %}{{ e.x }} {{ f_en_x }} {{ x | g: h_de: 1 }}{% endif %}',
    );
  });
});
