import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { mostPageBytes, checkPages, withBundledPages, type StudioPage } from "./studio-pages.ts";

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

/** A folder with a plugin `crm` in it. */
function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "corestead-pages-"));
  folders.push(folder);
  for (const [name, text] of Object.entries({ "crm/plugin.ts": "", ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const title = { en: "Contacts" };
const page = (module: StudioPage["module"], more: Partial<StudioPage> = {}): StudioPage => ({
  path: "crm/contacts",
  title,
  module,
  ...more,
});
const plugin = (name: string, ...studio: StudioPage[]) => ({ name, privileges: [{ name: "contacts" }], studio });
const moduleOf = async (folder: string, name = "crm/studio/contacts.page.ts") => {
  const [bundled] = await withBundledPages([plugin("crm", page(pathToFileURL(join(folder, name))))]);
  return bundled?.studio[0]?.module;
};

/** The error and its cause in one line, as the command line shows it. */
async function refusal(run: () => Promise<unknown>): Promise<string> {
  const error = await run().then(
    () => new Error("it was accepted"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw error;
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

const text = "crm/studio/contacts.page.ts";
const mounts = "export const mount = () => undefined;";

describe("a page of several files", () => {
  const files = {
    [text]: `
      import { shout } from "../shared/shout.ts";
      import greeting from "greeting";
      import words from "./words.txt" with { type: "text" };
      import { ordered } from "./data.json";
      import type { Mount } from "platform/studio";
      export const mount: Mount = async (element) => {
        const { late } = await import("./late.ts");
        element.textContent = shout(greeting) + words + ordered + late + process.env.NODE_ENV + process.env.HOME;
      };`,
    "crm/shared/shout.ts":
      "export const shout = (text: string): string => text.toUpperCase(); export const unused = 12345;",
    "crm/studio/late.ts": `export const late: string = "late";`,
    "crm/studio/words.txt": "some words",
    "crm/studio/data.json": `{ "ordered": 7 }`,
    "node_modules/greeting/package.json": `{ "name": "greeting", "main": "index.cjs" }`,
    "node_modules/greeting/index.cjs": `module.exports = "hello from a package";`,
  };

  test("becomes one module without imports, in JavaScript", async () => {
    const source = String(await moduleOf(folderWith(files)));
    expect(new Bun.Transpiler({ loader: "js" }).scanImports(source)).toEqual([]);
    for (const part of ["hello from a package", "some words", "toUpperCase", "late", "production"])
      expect(source).toContain(part);
    expect(source).not.toContain("12345");
    expect(source).not.toContain(process.env["HOME"] ?? "/root");
  });

  test("is the same in every process, and another after a change of any of its files", async () => {
    const folder = folderWith(files);
    const first = await moduleOf(folder);
    expect(await moduleOf(folder)).toBe(first);
    expect(await moduleOf(folderWith(files))).toBe(first);
    writeFileSync(join(folder, "crm/studio/late.ts"), `export const late: string = "later";`);
    expect(await moduleOf(folder)).not.toBe(first);
  });

  test("may be in a folder that is linked to", async () => {
    const folder = folderWith(files);
    const plugins = folderWith({});
    symlinkSync(join(folder, "crm"), join(plugins, "linked"));
    expect(await moduleOf(plugins, "linked/studio/contacts.page.ts")).toBe(await moduleOf(folder));
  });
});

describe("a page that can not be bundled is one line with plugin, page, file and line", () => {
  const cases: [what: string, files: Record<string, string>, said: string[]][] = [
    ["a mistake", { [text]: "\nexport const a = ;" }, ["Unexpected ;", "contacts.page.ts:2:18)"]],
    [
      "a mistake in another file",
      { [text]: `import "./b.ts"; ${mounts}`, "crm/studio/b.ts": "const b: = 1;" },
      ["studio/b.ts:1:10)"],
    ],
    ["a package that is not there", { [text]: `import "leftpad";\n${mounts}` }, ['"leftpad"', "contacts.page.ts:1:8)"]],
    [
      "what is of the server",
      { [text]: `import { ok } from "platform"; ok(); ${mounts}` },
      ['"platform"', ".page.ts:1:"],
    ],
    ["no file", {}, ["contacts.page.ts does not exist"]],
    ["no mount", { [text]: "export default 1;" }, ["contacts.page.ts exports no mount(element, ctx)"]],
    ["an address", { [text]: `${mounts}\nimport "https://esm.sh/x";` }, ['"https://esm.sh/x" cannot', "page.ts:2)"]],
    ["a style", { [text]: `import "./a.css"; ${mounts}`, "crm/studio/a.css": "a {}" }, ["as text"]],
    [
      "another plugin's file",
      { [text]: `${mounts}\nimport "../../other/secret.ts";`, "other/secret.ts": "alert(1);" },
      ['"../../other/secret.ts" cannot be imported: it is outside of the plugin\'s folder', "page.ts:2)"],
    ],
    [
      "another plugin's file as text",
      { [text]: `import t from "../../t.txt" with { type: "text" }; export const mount = () => t;`, "t.txt": "x" },
      ["outside of the plugin's folder"],
    ],
    [
      "a file of the machine",
      { [text]: `import t from "/etc/hostname" with { type: "text" }; export const mount = () => t;` },
      ["outside of the plugin's folder"],
    ],
    [
      "too much code",
      { [text]: `${mounts} export const big = "${"x".repeat(5_000_000)}";` },
      ["is 5.0 MB of code, and may be 2.0 MB"],
    ],
  ];
  test.each(cases)("%s", async (_what, files, said) => {
    const line = await refusal(() => moduleOf(folderWith(files)));
    expect(line).toStartWith('plugin "crm": the page crm/contacts ');
    for (const part of said) expect(line).toContain(part);
    expect(line).not.toContain("\n");
  });

  test("a link that leads out of the folder", async () => {
    const folder = folderWith({ [text]: `import "./out.ts"; ${mounts}`, "elsewhere/out.ts": "alert(1);" });
    symlinkSync(join(folder, "elsewhere/out.ts"), join(folder, "crm/studio/out.ts"));
    expect(await refusal(() => moduleOf(folder))).toContain("outside of the plugin's folder");
  });
});

describe("pages that are refused", () => {
  test.each([
    ["a text with imports", page(`import "./b.js";`), "new URL("],
    ["a text that is too long", page("x".repeat(mostPageBytes + 1)), "2.0 MB of code"],
    ["an address that is no file", page(new URL("https://example.com/a.js")), "is not the address of a file"],
    [
      "a privilege of nobody",
      page(mounts, { privilege: "nobody" }),
      'the privilege "nobody", which no plugin declares',
    ],
  ])("%s", async (_what, wrong, said) => {
    expect(await refusal(() => withBundledPages([plugin("crm", wrong)]))).toContain(said);
  });

  test.each([
    ["crm/contacts", "crm/contacts"],
    ["crm/contacts/:id", "crm/contacts/:code"],
  ])("two at one address: %s and %s", async (one, two) => {
    const both = [plugin("a", page(mounts, { path: one })), plugin("b", page(mounts, { path: two }))];
    expect(await refusal(() => withBundledPages(both))).toBe(
      `plugin "b": the page ${two} stands at an address of plugin "a" already`,
    );
  });

  test.each(["", "/crm", "crm/", "Crm", "crm//x", "../crm", "crm/%2e", "crm/x".padEnd(201, "x"), "crm/:"])(
    "the path %j",
    (path) => {
      expect(() => checkPages("crm", [page(mounts, { path })])).toThrow('plugin "crm": the path of a Studio page');
    },
  );

  test.each(["", "  ", "x".repeat(81), "two\nlines", "a\0b", "\u202Ecba", "\u2066x"])("the title %j", (words) => {
    for (const wrong of [{ en: words }, { en: "Contacts", pl: words }])
      expect(() => checkPages("crm", [page(mounts, { title: wrong })])).toThrow("is one line of at most 80 characters");
  });

  test.each(["contacts", "Contacts/index", "shopping-list/index", "a/b/c/d/e", "contacts/"])("the view %j", (view) => {
    expect(() => checkPages("crm", [page(mounts, { view })])).toThrow("the view of the page crm/contacts is like");
  });

  test("what a plugin in JavaScript may give", () => {
    const given: StudioPage[] = JSON.parse('[{ "path": "crm/a", "title": "Contacts", "module": "" }]');
    expect(() => checkPages("crm", given)).toThrow("the title of the page crm/a is one line");
    const icon: StudioPage[] = JSON.parse(
      '[{ "path": "crm/a", "title": { "en": "A" }, "icon": "<svg>", "module": "" }]',
    );
    expect(() => checkPages("crm", icon)).toThrow("the icon of the page crm/a is one of bell, ");
  });

  test("a title may be written in any script, and hold what looks like HTML", () => {
    for (const en of ["<script>alert(1)</script>", "جهات الاتصال", "Zażółć", "📇"])
      expect(() => checkPages("crm", [page(mounts, { title: { en } })])).not.toThrow();
  });
});
