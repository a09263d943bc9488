/** Whatever comments, tests and READMEs cite exists in docs/, and the lists in docs/ are complete. */
import { describe, expect, test } from "bun:test";
import { dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");

interface Text {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** Everything that people write here. NOTICE contains other people's texts. */
const places = [
  "*.md",
  ".ci/*",
  "scripts/{start,test,setup}",
  "{runtime,plugins,sites,scripts,tests,docs}/**/*.{ts,tsx,js,mjs,svelte,vue,html,sql,md,txt,liquid,yaml}",
];
const texts: Text[] = [];
for (const place of places)
  for await (const path of new Bun.Glob(place).scan({ cwd: root, dot: true }))
    texts.push({ path, text: await Bun.file(join(root, path)).text() });

const read = (path: string) => Bun.file(join(root, path)).text();

const number = String.raw`(?:\d+|[AB])(?:\.\d+)*(?!\w)`;
const citation = new RegExp(
  String.raw`\b(behaviour|architecture) (${number}(?:(?:, | and |, and |; )${number})*)`,
  "g",
);

/**
 * `behaviour 2.4, B.7` cites "behaviour 2.4" and "behaviour B.7"; it may go on behind the break of a comment's line.
 */
function citations(text: string): string[] {
  const joined = text.replaceAll(/\n[ \t]*(?:\*|\/\/|--|#)?[ \t]*/g, " ");
  return [...joined.matchAll(citation)].flatMap(([, file, list = ""]) =>
    list.split(/, and | and |, |; /).map((one) => `${file} ${one}`),
  );
}

/** Headings such as `## 3. States` and `### A.4 Master`, and below each the numbers of its rules: `A.4.2`. */
function numbersOf(file: string, text: string): string[] {
  const found: string[] = [];
  let heading: string | undefined;
  for (const line of text.split("\n")) {
    const [, title] = /^#{2,3} ((?:\d+|[AB])(?:\.\d+)*)\.? /.exec(line) ?? [];
    const [, rule] = /^(\d+)\. /.exec(line) ?? [];
    if (line.startsWith("#")) heading = title;
    if (title !== undefined) found.push(`${file} ${title}`);
    else if (rule !== undefined && heading !== undefined) found.push(`${file} ${heading}.${rule}`);
  }
  return found;
}

const behaviour = numbersOf("behaviour", await read("docs/behaviour.md"));
const architecture = numbersOf("architecture", await read("docs/architecture.md"));
const known = new Set([...behaviour, ...architecture]);

const cite = (file: string, list: string) => `${file} ${list}`;

/** The names that these numbers had before they moved to docs/. */
const oldNames = ["SPEC", "CONTRACT", "DESIGN", "STUDIO"];
const oldCitation = new RegExp(String.raw`\b(?:${oldNames.join("|")})(?:\.md\b|(?: section)? (?:\d|A\b|Appendix))`);
/** Never edited: databases know their checksums. */
const landed = new Set([
  "plugins/apps/migrations/001_apps.sql",
  "plugins/cms-multilang/migrations/001_cms.sql",
  "plugins/connectors/migrations/001_connectors.sql",
  "plugins/crons/migrations/001_crons.sql",
  "plugins/flows/migrations/001_flows.sql",
  "plugins/jsondb/migrations/001_jsondb.sql",
  "plugins/prompts/migrations/001_prompts.sql",
]);

describe("a citation", () => {
  test.each([
    [cite("behaviour", "2.4"), ["behaviour 2.4"]],
    [`(${cite("behaviour", "2.4, B.7")})`, ["behaviour 2.4", "behaviour B.7"]],
    [cite("behaviour", "2.7, 8 and A.4."), ["behaviour 2.7", "behaviour 8", "behaviour A.4"]],
    [cite("behaviour", "2.7, 4.6, 8 and A, B.11)"), ["2.7", "4.6", "8", "A", "B.11"].map((one) => `behaviour ${one}`)],
    [`${cite("behaviour", "B.10")}, ${cite("architecture", "5. See")}`, ["behaviour B.10", "architecture 5"]],
    [
      ` * ${cite("behaviour", "2.4,")}\n   * 4.4, ${cite("architecture", "3")}`,
      ["2.4", "4.4"].map((one) => `behaviour ${one}`).concat("architecture 3"),
    ],
    [`-- ${cite("behaviour", "A.4.4 (one site), A.4.5")}`, ["behaviour A.4.4"]],
    ["its behaviour in 2 cases, the architecture", []],
  ])("is found: %j", (text, found) => {
    expect(citations(text)).toEqual(found);
  });

  test("names a heading or a rule that docs/ has", () => {
    const missing = [cite("behaviour", "10, A.4.9, 2.4.99"), cite("architecture", "99, A")].flatMap(citations);
    expect(missing.map((one) => [one, known.has(one)])).toEqual(missing.map((one) => [one, false]));
    expect(missing.length).toBe(5);
    const found = texts.flatMap(({ path, text }) => citations(text).map((one) => ({ path, one })));
    expect(found.length).toBeGreaterThan(5);
    expect(found.filter(({ one }) => !known.has(one))).toEqual([]);
  });

  test("is of a document that is in the repository", () => {
    for (const name of oldNames)
      for (const rest of ["2.4", "A.4.2", "A", "section 3"]) {
        expect([name, rest, oldCitation.test(`-- ${name} ${rest}`)]).toEqual([name, rest, true]);
        expect(oldCitation.test(`${name}.md`)).toBe(true);
      }
    expect(oldCitation.test("IN AN ACTION OF CONTRACT, TORT")).toBe(false);
    const old = texts.filter(({ text }) => oldCitation.test(text)).map(({ path }) => path);
    expect(old.filter((path) => !landed.has(path))).toEqual([]);
    expect([...landed].filter((path) => !old.includes(path))).toEqual([]);
  });
});

describe("docs/", () => {
  test("has each number once", () => {
    expect(
      numbersOf("a", "## 1. One\n\n1. first\n2. second\n\n### 1.2 Two\n\n1. third\n\n## Other\n\n1. none"),
    ).toEqual(["1", "1.1", "1.2", "1.2", "1.2.1"].map((one) => `a ${one}`));
    for (const numbers of [behaviour, architecture]) {
      expect(numbers.length).toBeGreaterThan(5);
      expect(numbers.filter((one, at) => numbers.indexOf(one) !== at)).toEqual([]);
    }
  });

  test("lists every cache that processes share", async () => {
    const named = (text: string) =>
      [...text.matchAll(/\bctx\.cache\b[^(]*\(\{\s*name: "([\w.-]+)"/g)].map(([, name]) => name);
    expect(named(`ctx.cache<Readonly<Row>>({\n  name: "a.rows",`)).toEqual(["a.rows"]);
    const ours = texts.filter(({ path }) => /^(plugins|sites)\/.*(?<!\.test)\.ts$/.test(path));
    const caches = ours.flatMap(({ text }) => named(text));
    expect(caches.length).toBeGreaterThan(10);
    const listed = await read("docs/architecture.md");
    expect(caches.filter((name) => !listed.includes(`| \`${name}\` `))).toEqual([]);
  });

  test("and every other document link to files that are there", async () => {
    const links = (text: string) => [...text.matchAll(/\]\((?!\w+:|\/|#)([^)#\s]+)/g)].map(([, link = ""]) => link);
    expect(links("[a](docs/a.md#b) [c](https://c) [d](#e) [f](/g)")).toEqual(["docs/a.md"]);
    const written = texts.filter(({ path }) => path.endsWith(".md") && !/\/(prompts|site)\//.test(path));
    const found = written.flatMap(({ path, text }) => links(text).map((link) => ({ path, link })));
    expect(found.length).toBeGreaterThan(5);
    const isThere = ({ path, link }: (typeof found)[number]) => Bun.file(join(root, dirname(path), link)).exists();
    const there = await Promise.all(found.map(isThere));
    expect(found.filter((_, at) => !there[at])).toEqual([]);
  });

  test("and every comment and document name source files that are there", async () => {
    const names = (text: string) =>
      [...text.matchAll(/(?<![\w$*<./-])(?:[\w-]+\/)*[\w-]+(?:\.svelte)?\.(?:ts|svelte)\b(?![\w(])/g)].map(
        ([name]) => name,
      );
    expect(names("`a/b-c.ts`, d.svelte (e.svelte.ts) ./f.ts <name>/g.ts /h.ts i.test.ts")).toEqual([
      "a/b-c.ts",
      "d.svelte",
      "e.svelte.ts",
    ]);
    const comments = (text: string) =>
      [...text.matchAll(/\/\*\*[\s\S]*?\*\/|(?<!:)\/\/.*|<!--[\s\S]*?-->/g)].join("\n");
    const ours = texts.filter(
      ({ path }) => !/^tests\/|\.test\.ts$|^CHANGELOG|platform(?:-types)?\.(?:md|txt)$|node_modules/.test(path),
    );
    const said = ours.flatMap(({ path, text }) =>
      names(path.endsWith(".md") ? text : /\.(?:ts|svelte)$/.test(path) ? comments(text) : "").map((name) => ({
        path,
        name,
      })),
    );
    expect(said.length).toBeGreaterThan(100);
    const files = texts.map(({ path }) => `/${path}`);
    const examples = new Set(["platform.d.ts", "NNN_notes.sql"]);
    const isThere = (name: string) => examples.has(name) || files.some((file) => file.endsWith(`/${name}`));
    expect(said.filter(({ name }) => !isThere(name))).toEqual([]);
  });
});
