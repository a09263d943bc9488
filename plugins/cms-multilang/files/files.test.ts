import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withActor } from "platform";
import { otherAccount, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { follower, traces } from "../../../tests/traces.ts";
import { plugins } from "../../index.ts";
import { locales } from "../locales.ts";

// The harness says so only to the first file of a run.
setDefaultTimeout(600_000);

let app: TestApp;
let root: string;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  root = await mkdtemp(join(tmpdir(), "corestead-files-"));
});
afterAll(async () => {
  await app.stop();
  await rm(root, { recursive: true });
});

/** As the command line runs it, which says who makes changes. */
const command = async (name: string, words: readonly string[], options: Record<string, string> = {}) => {
  const found = app.app.commands.find((each) => each.name === name);
  if (!found) throw new Error(`there is no command ${name}`);
  return withActor(
    () => ({ kind: "command", command: name }),
    () => found.run(options, words),
  );
};
const pull = (code: string, folder: string) => command("site pull", [code, folder]);
const push = (code: string, folder: string, options: Record<string, string> = {}) =>
  command("site push", [code, folder], options);

type Files = Readonly<Record<string, string>>;
let folders = 0;

async function folderOf(files: Files): Promise<string> {
  const folder = join(root, `f${++folders}`);
  for (const [path, text] of Object.entries(files)) await Bun.write(join(folder, path), text);
  await mkdir(folder, { recursive: true });
  return folder;
}

async function filesIn(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(
    files.toSorted().map(async (file) => [file.slice(folder.length + 1), await Bun.file(file).text()]),
  );
  return Object.fromEntries(texts);
}

/** What a push writes, if it writes anything. */
const traced = () =>
  traces(
    app,
    "cms_sites",
    "cms_domains",
    "cms_layouts",
    "cms_pages",
    "cms_paragraphs",
    "cms_articles",
    "cms_redirects",
    "cms_redirect_rules",
  );

async function realToken(): Promise<string> {
  const { json } = await app.post("/account/api_tokens.json", { api_token: {} });
  return json.token;
}

const siteFile = "name: A site\nlocale: pl\n";
const pageFile = (path: string, rest = "", content = "") => `---\nname: P\npath: ${path}\n${rest}---\n${content}`;
const fails = async (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => "it did not fail",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

describe("a site as files", () => {
  test("is made, pulled as it was written, changed and made smaller", async () => {
    const files = {
      "site.yaml": 'name: Acme\nlocale: pl\nmultilang: true\nfields:\n  phone: "12"\n',
      "domains/acme.test%3A8080.yaml": "locale: pl\nprimary: true\n",
      "domains/en.acme.test.yaml": "locale: en\n",
      "layouts/f-main.liquid": "---\nname: Main\n---\n<html>{{ content }}</html>\n",
      "categories/f-news.yaml": "name: News\npath: news\n",
      "pages/f-home.liquid": pageFile(
        '""',
        "layout_code: f-main\nfields:\n  pl:\n    title: Początek\n",
        "{{ title }}\n\n",
      ),
      "pages/f-about.liquid": pageFile("o-nas", "locale: pl\n", "x\n"),
      "pages/f-about-en.liquid": pageFile("about", "locale: en\nbased_on_page_code: f-about\n"),
      "paragraphs/f-note.liquid": "---\nname: Note\npage_code: f-home\nposition: 2\n---\nnote\n",
      "articles/f-first.liquid":
        "---\ntitle: First\npath: first\nlocale: pl\ncategory_code: f-news\npublished_at: 2026-01-31T10:00:00Z\n---\ntext\n",
      "README.md": "left alone",
    };
    const folder = await folderOf(files);
    const made = await push("f-acme", folder, { "dry-run": "true" });
    expect((await app.get("/cms/sites/f-acme.json")).status).toBe(404);
    expect(await push("f-acme", folder)).toEqual(made.slice(0, -1));
    expect(made.at(-2)).toBe("10 to create, 0 to change, 0 to delete");
    expect(await push("f-acme", folder)).toEqual(["0 to create, 0 to change, 0 to delete"]);

    const home = (await app.get("/cms/pages/f-home.json")).json;
    expect(home).toMatchObject({ path: "", content: "{{ title }}\n", layout_code: "f-main", site_code: "f-acme" });
    expect((await app.get("/cms/pages/f-about-en.json")).json.based_on_page_code).toBe("f-about");
    expect((await app.get("/cms/articles/f-first.json")).json).toMatchObject({
      category_code: "f-news",
      content: "text",
    });

    const copy = await folderOf({ "README.md": "left alone", "pages/gone.liquid": "x", "pages/.hidden": "x" });
    await pull("f-acme", copy);
    const { "pages/.hidden": hidden, ...pulled } = await filesIn(copy);
    expect(hidden).toBe("x");
    expect(pulled).toEqual(files);

    await Bun.write(join(folder, "pages/f-about.liquid"), pageFile("o-firmie", "locale: pl\n", "y\n"));
    await rm(join(folder, "paragraphs/f-note.liquid"));
    const lines = [
      "~ pages/f-about.liquid",
      '    path: "o-nas" -> "o-firmie"',
      '    content: "x" -> "y"',
      "? paragraphs/f-note.liquid (only on the server; --delete removes it)",
      "0 to create, 1 to change, 0 to delete",
    ];
    expect(await push("f-acme", folder, { "dry-run": "true" })).toEqual([...lines, "a dry run: nothing was changed"]);
    expect((await app.get("/cms/pages/f-about.json")).json.path).toBe("o-nas");
    expect(await push("f-acme", folder)).toEqual(lines);
    expect((await app.get("/cms/paragraphs/f-note.json")).status).toBe(200);
    expect(await push("f-acme", folder, { delete: "true" })).toEqual([
      "- paragraphs/f-note.liquid",
      "0 to create, 0 to change, 1 to delete",
    ]);
    expect((await app.get("/cms/paragraphs/f-note.json")).status).toBe(404);
  });

  test("is pulled into files that say the same in other words without a change of them", async () => {
    const written = {
      "site.yaml": '# ours\nlocale: "pl"\nname: "W"\nfields: {"b": 1, "aa": 2}\n',
      "pages/w-page.liquid": '---\npath: /x/\nname: "P"\nhtml_title: ""\nactive: true\n---\ntext\n',
      "pages/w-other.liquid": pageFile("z"),
    };
    const folder = await folderOf(written);
    await push("w-site", folder);
    await app.patch("/cms/pages/w-other.json?site_code=w-site", { page: { name: "Q" } });
    expect(await pull("w-site", folder)).toEqual([
      "wrote pages/w-other.liquid",
      `3 files in ${folder}, 1 written, 0 removed`,
    ]);
    expect(await filesIn(folder)).toEqual({ ...written, "pages/w-other.liquid": "---\nname: Q\npath: z\n---\n" });
  });

  test("keeps redirects, tells of changes and shows them at once, as the API does", async () => {
    await app.post("/account/webhooks.json", {
      webhook: { source_type: "Cms::Page", kind: "update", url: "http://127.0.0.1:9/" },
    });
    const files = (path: string, text: string) => ({
      "site.yaml": siteFile,
      "domains/r.test.yaml": "",
      "pages/r-page.liquid": pageFile(path, "", `${text}\n`),
    });
    await push("r-site", await folderOf(files("old", "one")));
    const get = (path: string) => fetch(`${app.origin}${path}`, { redirect: "manual", headers: { host: "r.test" } });
    expect(await (await get("/old")).text()).toBe("one");
    await push("r-site", await folderOf(files("new", "two")));
    expect(await (await get("/new")).text()).toBe("two");
    expect((await get("/old")).headers.get("location")).toBe("/new");
  });

  test("has its redirects in one file: round trip, change, exchange and deletion", async () => {
    const files = (redirects: string) => ({
      "site.yaml": siteFile,
      "domains/lead.test.yaml": "primary: true\n",
      "redirects.yaml": redirects,
    });
    const first =
      '"/a b": /new\n"/one": /two\n"/two": /end\n"lead.test/one":\n  to: https://acme.example/x\n  status: 302\n';
    const folder = await folderOf(files(first));
    expect((await push("leads", folder)).slice(2)).toEqual([
      "+ redirects.yaml: /a b",
      "+ redirects.yaml: /one",
      "+ redirects.yaml: /two",
      "+ redirects.yaml: lead.test/one",
      "6 to create, 0 to change, 0 to delete",
    ]);
    const get = (path: string) => fetch(`${app.origin}${path}`, { redirect: "manual", headers: { host: "lead.test" } });
    expect((await get("/a%20b")).headers.get("location")).toBe("/new");
    expect((await get("/one")).status).toBe(302);
    const copy = await folderOf({});
    await pull("leads", copy);
    expect((await filesIn(copy))["redirects.yaml"]).toBe(first);
    // What says the same in other words keeps its words, and its order.
    const words = '# ours\n"/two/": {"to": "/end", "status": 301}\n' + first.replace('"/two": /end\n', "");
    await Bun.write(join(folder, "redirects.yaml"), words);
    expect(await pull("leads", folder)).toEqual([`3 files in ${folder}, 0 written, 0 removed`]);
    // Each of the two would lead back if the other one still led where it did.
    const turned = '"/one": /end\n"/two": /one\n';
    await Bun.write(join(folder, "redirects.yaml"), turned);
    const lines = [
      "~ redirects.yaml: /one",
      '    to: "/two" -> "/end"',
      "~ redirects.yaml: /two",
      '    to: "/end" -> "/one"',
      "- redirects.yaml: /a b",
      "- redirects.yaml: lead.test/one",
      "0 to create, 2 to change, 2 to delete",
    ];
    const dry = await push("leads", folder, { delete: "true", "dry-run": "true" });
    expect(dry.toSorted()).toEqual([...lines, "a dry run: nothing was changed"].toSorted());
    expect((await app.get("/cms/redirects.json?site_code=leads")).json).toHaveLength(4);
    await push("leads", folder, { delete: "true" });
    await pull("leads", copy);
    expect((await filesIn(copy))["redirects.yaml"]).toBe(turned);
    const bare = await folderOf({ "site.yaml": siteFile });
    await push("leads", bare, { delete: "true" });
    expect(await pull("leads", copy)).toContain("removed redirects.yaml");
  });

  test("lets pages take each other's paths, in a ring too, and leaves no trace of the way", async () => {
    const files = (paths: readonly string[]) => ({
      "site.yaml": siteFile,
      ...Object.fromEntries(paths.map((path, at) => [`pages/ring-${at}.liquid`, pageFile(path)])),
    });
    await push("ring", await folderOf(files(["a", "b", "c", "d"])));
    await push("ring", await folderOf(files(["b", "c", "a", "e"])));
    const rows = await app.sql`select path from cms_pages where code like 'ring-%' order by code`;
    expect(rows.map(({ path }) => path)).toEqual(["b", "c", "a", "e"]);
    const left =
      await app.sql`select r.path from cms_redirects r join cms_sites s on s.id = r.site_id where s.code = 'ring'`;
    expect(left.map(({ path }) => path)).toEqual(["d"]);
    // One that is gone makes room for one that comes.
    const folder = await folderOf({ "site.yaml": siteFile, "pages/ring-new.liquid": pageFile("b") });
    expect(await fails(push("ring", folder))).toContain("pages/ring-new.liquid:3: path is already taken");
    await push("ring", folder, { delete: "true" });
    expect((await app.get("/cms/pages/ring-new.json")).json.path).toBe("b");
  });

  // [what, files beside site.yaml, what is told]
  const wrong: [string, Files, RegExp][] = [
    ["no site.yaml", { "site.yaml": "" }, /site\.yaml:1: name is missing/],
    ["an unknown folder", { "page/x.liquid": "---\n---\n" }, /page\/x\.liquid:1: is not a file of a site/],
    ["another ending", { "pages/x.html": "" }, /pages\/x\.html:1: is not a file of a site/],
    ["a name that is no code", { "pages/a b.liquid": pageFile("x") }, /pages\/a b\.liquid:1/],
    ["a number for a code", { "pages/12.liquid": pageFile("x") }, /pages\/12\.liquid:1: code must be/],
    ["no front matter", { "pages/x.liquid": "hello" }, /pages\/x\.liquid:1: must begin with front matter/],
    ["front matter that does not end", { "pages/x.liquid": "---\nname: x\n" }, /pages\/x\.liquid:1: must begin/],
    [
      "an unknown field",
      { "pages/x.liquid": pageFile("x", "pth: y\n") },
      /pages\/x\.liquid:4: pth is not a field of this file/,
    ],
    ["a missing field", { "pages/x.liquid": "---\nname: x\n---\n" }, /pages\/x\.liquid:1: path is missing/],
    [
      "a wrong type",
      { "pages/x.liquid": pageFile("x", "active: maybe\n") },
      /pages\/x\.liquid:4: active must be true or false/,
    ],
    [
      "a list for a map",
      { "pages/x.liquid": pageFile("x", "fields: []\n") },
      /pages\/x\.liquid:4: fields must be a map/,
    ],
    ["broken YAML", { "pages/x.liquid": pageFile("x", "html_title: a: b\n") }, /pages\/x\.liquid:4: cannot be read/],
    ["an unknown locale", { "pages/x.liquid": pageFile("x", "locale: it\n") }, /pages\/x\.liquid:4: locale must be/],
    ["a path with dots", { "pages/x.liquid": pageFile("a/../b") }, /pages\/x\.liquid:3: path must not contain/],
    ["a template", { "pages/x.liquid": pageFile("x", "", "a\n{% if %}\n") }, /pages\/x\.liquid:6: column \d+:/],
    [
      "an unknown layout",
      { "pages/x.liquid": pageFile("x", "layout_code: y\n") },
      /x\.liquid:4: layout_code: there is no file layouts\/y\.liquid/,
    ],
    [
      "an unknown master",
      { "pages/x.liquid": pageFile("x", "based_on_page_code: y\n") },
      /x\.liquid:4: based_on_page_code: there is no file/,
    ],
    [
      "a slave of a slave",
      {
        "pages/wa.liquid": pageFile("a"),
        "pages/wb.liquid": pageFile("b", "based_on_page_code: wa\n"),
        "pages/wc.liquid": pageFile("c", "based_on_page_code: wb\n"),
      },
      /pages\/wc\.liquid:4: based_on_page_code/,
    ],
    [
      "two pages at one path",
      { "pages/wa.liquid": pageFile("a"), "pages/wb.liquid": pageFile("a") },
      /pages\/wb\.liquid:3: path is already taken/,
    ],
    [
      "a wrong time",
      { "articles/x.liquid": "---\ntitle: x\npath: x\npublished_at: soon\n---\n" },
      /articles\/x\.liquid:4: published_at must be a date/,
    ],
    [
      "two mistakes at once",
      { "pages/x.liquid": pageFile("x", "a: 1\nb: 2\n") },
      /:4: a is not a field[^]*:5: b is not a field/,
    ],
    ["what cannot be stored", { "pages/x.liquid": pageFile("x", "", "a\0b") }, /pages\/x\.liquid/],
    [
      "an escape of what cannot be stored",
      { "pages/x.liquid": pageFile("x", 'fields:\n  a: "\\u0000"\n') },
      /pages\/x\.liquid/,
    ],
    ["a redirect that leads back", { "redirects.yaml": '"/b": /x\n"/x": /b\n' }, /redirects\.yaml:\d: to leads back/],
    ["a redirect to nowhere", { "redirects.yaml": '"/b": /x\n"/a": b\n' }, /redirects\.yaml:2: to must be a path/],
    ["a redirect by another status", { "redirects.yaml": '"/a": {"to":"/b","status":307}\n' }, /yaml:1: status must/],
    ["a redirect on a domain of no file", { "redirects.yaml": '"a.test/a": /b\n' }, /yaml:1: domain: there is no file/],
    ["a redirect with another key", { "redirects.yaml": '"/a": {"to":"/b","as":1}\n' }, /yaml:1: \/a: must be a path/],
    ["a redirect of no path", { "redirects.yaml": "a: /b\n" }, /redirects\.yaml:1: a: must be "\/path"/],
    ["one path twice", { "redirects.yaml": '"/a": /b\n"/a/": /c\n' }, /redirects\.yaml:2: \/a\/ appears twice/],
    ["the home page's path", { "redirects.yaml": '"/": /b\n' }, /redirects\.yaml:1: path can't be blank/],
    ["a domain of no host", { "domains/-.yaml": "" }, /domains\/-\.yaml:1/],
  ];
  test.each(wrong)("is refused with file and line: %s", async (_, files, told) => {
    const folder = await folderOf({ "site.yaml": siteFile, ...files });
    const before = await traced();
    expect(await fails(push("wrong", folder))).toMatch(told);
    expect((await app.get("/cms/sites/wrong.json")).status).toBe(404);
    expect(await traced()).toEqual(before);
  });

  // [what, the file and its text with the token, what is told]
  const tellTales: [string, (token: string) => readonly [string, string], RegExp][] = [
    [
      "a page's content",
      (token) => ["pages/x.liquid", pageFile("x", "", `a\n${token}\n`)],
      /x\.liquid:5: content holds/,
    ],
    [
      "a field",
      (token) => ["pages/x.liquid", pageFile("x", `fields:\n  a: "${token}"\n`)],
      /x\.liquid:4: fields holds/,
    ],
    ["a title", (token) => ["pages/x.liquid", pageFile("x", `html_title: ${token}\n`)], /:4: html_title holds/],
    [
      "a layout",
      (token) => ["layouts/x.liquid", `---\nname: x\n---\n${token}\n`],
      /layouts\/x\.liquid:4: content holds/,
    ],
    ["a paragraph", (token) => ["paragraphs/x.liquid", `---\nname: x\n---\n${token}\n`], /x\.liquid:4: content holds/],
    [
      "an article",
      (token) => ["articles/x.liquid", `---\ntitle: x\npath: x\n---\n${token}\n`],
      /articles\/x\.liquid:5: content holds/,
    ],
    ["the site", (token) => ["site.yaml", `${siteFile}fields:\n  key: ${token}\n`], /site\.yaml:3: fields holds/],
  ];
  test.each(tellTales)("is refused with a real token in %s, as the API refuses it", async (_, fileWith, told) => {
    const [file, text] = fileWith(await realToken());
    const folder = await folderOf({ "site.yaml": siteFile, [file]: text });
    const before = await traced();
    expect(await fails(push("tells", folder))).toMatch(told);
    expect(await traced()).toEqual(before);
    const [, placeholder] = fileWith("{{ 'core_token' }}");
    expect(await fails(push("tells", await folderOf({ "site.yaml": siteFile, [file]: placeholder })))).not.toContain(
      "holds a real token",
    );
  });

  test("reads and writes nothing outside of its folder", async () => {
    const outside = await folderOf({ "secret.liquid": "secret" });
    const folder = await folderOf({ "site.yaml": siteFile });
    await mkdir(join(folder, "pages"));
    await symlink(join(outside, "secret.liquid"), join(folder, "pages/x.liquid"));
    expect(await fails(push("links", folder))).toContain("pages/x.liquid is neither a file nor a folder");
    await push("links", await folderOf({ "site.yaml": siteFile, "pages/links-x.liquid": pageFile("x") }));
    const into = await folderOf({});
    await symlink(outside, join(into, "pages"));
    expect(await fails(pull("links", into))).toContain("neither a file nor a folder");
    expect(await readdir(outside)).toEqual(["secret.liquid"]);
    expect(await fails(push("links", join(root, "nowhere")))).toContain("nowhere");
  });

  test("is of the account that it is pushed to", async () => {
    const other = await otherAccount(app);
    const folder = await folderOf({ "site.yaml": siteFile, "pages/mine.liquid": pageFile("mine") });
    await push("theirs", folder, { account: other.host });
    expect((await other.get("/cms/pages/mine.json")).status).toBe(200);
    expect((await app.get("/cms/sites/theirs.json")).status).toBe(404);
    expect(await fails(pull("theirs", folder))).toContain("there is no site theirs");
    expect(await fails(push("theirs", folder, { account: "nobody.test" }))).toContain("no account has the host");
    // Codes are each site's own; a host is one site's.
    await push(
      "first",
      await folderOf({ "site.yaml": siteFile, "pages/shared.liquid": pageFile("a"), "domains/one.test.yaml": "" }),
    );
    await push("second", await folderOf({ "site.yaml": siteFile, "pages/shared.liquid": pageFile("b") }));
    const paths = async () =>
      (await app.sql`select path from cms_pages where code = 'shared' order by id`).map(({ path }) => path);
    expect(await paths()).toEqual(["a", "b"]);
    await push("second", await folderOf({ "site.yaml": siteFile, "pages/shared.liquid": pageFile("c") }));
    expect(await paths()).toEqual(["a", "c"]);
    const third = await folderOf({ "site.yaml": siteFile, "domains/one.test.yaml": "" });
    expect(await fails(push("third", third))).toContain(
      "domains/one.test.yaml:1: name is already taken by another site",
    );
    expect((await app.get("/cms/sites/third.json")).status).toBe(404);
  });

  test("comes back the same, whatever it holds", async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(randomSite, async (records) => {
        const code = `random${++number}`;
        const site = JSON.parse(JSON.stringify(records).replaceAll("@", code));
        await makeBySite(code, site);
        const folder = join(root, code);
        await pull(code, folder);
        expect(await push(code, folder, { delete: "true" })).toEqual(["0 to create, 0 to change, 0 to delete"]);
        // And as another site of another account: the files say it all.
        const twin = await otherAccount(app);
        await rm(join(folder, "domains"), { recursive: true }); // a host is one site's
        await push(code, folder, { account: twin.host });
        const again = join(root, `${code}-twin`);
        await command("site pull", [code, again], { account: twin.host });
        expect(await filesIn(again)).toEqual(await filesIn(folder));
      }),
      { numRuns: 8 },
    );
  }, 600_000);
});

const line = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
  .filter((text) => text.trim() !== "" && !text.includes("@"));
const text = fc
  .array(fc.constantFrom("word", "---", "", "  x", "\r", "a: b", "{{ title }}", "ż\u2028", "\t"), { maxLength: 8 })
  .map((parts) => parts.join("\n"));
const fields = fc.dictionary(
  fc.constantFrom("title", "pl", "en", "a b", "__proto__", "n"),
  fc.oneof(
    line,
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.dictionary(fc.constantFrom("title", "x"), text),
    fc.array(line, { maxLength: 2 }),
  ),
);
const locale = fc.constantFrom(null, ...locales);
const randomSite = fc.record({
  site: fc.record({
    name: line,
    locale: fc.constantFrom(...locales),
    multilang: fc.boolean(),
    active: fc.boolean(),
    fields,
  }),
  layout: fc.record({ name: line, content: text, fields }),
  pages: fc.array(
    fc.record({
      name: line,
      locale,
      content: text,
      fields,
      html_title: fc.option(line),
      active: fc.boolean(),
      position: fc.integer({ min: -5, max: 5 }),
      layout_code: fc.constantFrom(null, "@-main"),
      slave: fc.boolean(),
    }),
    { maxLength: 5 },
  ),
  paragraph: fc.record({ name: line, content: text, fields }),
  redirect: fc.record({
    path: fc.constantFrom("old", "a b/ż", 'q"?x#', "__proto__"),
    to: fc.constantFrom("/x?a=b#c", "https://elsewhere.example/ä"),
    status: fc.constantFrom(301, 302, 308),
  }),
  article: fc.record({
    title: line,
    locale,
    lead: fc.option(line),
    content: text,
    fields,
    published_at: fc.constantFrom(null, "2026-01-31T10:00:00.123Z"),
  }),
});

async function makeBySite(
  code: string,
  records: typeof randomSite extends fc.Arbitrary<infer T> ? T : never,
): Promise<void> {
  const { site, layout, pages, paragraph, article, redirect } = records;
  const make = async (kind: string, plural: string, body: object) => {
    const answer = await app.post(`/cms/${plural}.json`, { [kind]: { site_code: code, ...body } });
    if (answer.status !== 201) throw new Error(`${kind}: ${answer.text}`);
  };
  await make("site", "sites", { ...site, code });
  await make("domain", "domains", { name: `${code}.test:81`, locale: "pl" });
  await make("layout", "layouts", { ...layout, code: `${code}-main` });
  await make("category", "categories", { name: "C", code: `${code}-c`, path: "ż/c" });
  let master: string | undefined;
  for (const [at, { slave, ...page }] of pages.entries()) {
    const based = slave && master !== undefined ? { based_on_page_code: master } : {};
    await make("page", "pages", { ...page, ...based, code: `${code}-${at}`, path: at === 0 ? "" : `p/${at} ż'"` });
    if (at > 0 && !slave) master = `${code}-${at}`;
  }
  await make("paragraph", "paragraphs", { ...paragraph, code: `${code}-g` });
  await make("redirect", "redirects", redirect);
  await make("article", "articles", {
    ...article,
    code: `${code}-a`,
    path: "a",
    category_code: `${code}-c`,
    categories: [`${code}-c`],
  });
}
