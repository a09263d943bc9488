import { describe, expect, test } from "bun:test";
import type { SiteRecord } from "./kinds.ts";
import { fileOf, isSiteFile, keyOf, printRecord, readTree } from "./tree.ts";

const siteYaml = "name: Acme\nlocale: pl\n";
const tree = (files: Record<string, string>) => readTree(new Map(Object.entries({ "site.yaml": siteYaml, ...files })));

describe("the file of a record", () => {
  const table: [kind: SiteRecord["kind"], code: string, file: string][] = [
    ["site", "", "site.yaml"],
    ["domain", "acme.pl", "domains/acme.pl.yaml"],
    ["domain", "acme.pl:8080", "domains/acme.pl%3A8080.yaml"],
    ["layout", "main", "layouts/main.liquid"],
    ["category", "news", "categories/news.yaml"],
    ["page", "a.b", "pages/a.b.liquid"],
    ["paragraph", "intro", "paragraphs/intro.liquid"],
    ["article", "first", "articles/first.liquid"],
    ["redirect", "acme.pl/old", "redirects.yaml"],
  ];
  test.each(table)("of the %s %p is %s", (kind, code, file) => {
    expect(fileOf({ kind, code })).toBe(file);
    expect(isSiteFile(file)).toBe(true);
  });

  const others = [
    "README.md",
    "site.yml",
    "pages/site.yaml",
    "pages/a.yaml",
    "pages/a b.liquid",
    "pages/.liquid",
    "pages/.a.liquid",
    "pages/a/b.liquid",
    "domains/Acme.pl.yaml",
    "domains/acme.pl%3Ax.yaml",
    "other/a.liquid",
    "../pages/a.liquid",
  ];
  test.each(others)("%s is the file of no record", (file) => expect(isSiteFile(file)).toBe(false));
});

describe("files of a site", () => {
  test("that are read become records, with standard values for the fields that they leave out", () => {
    const { records, mistakes } = tree({ "layouts/a.liquid": "---\nname: A\n---\n<p>\n</p>\n" });
    expect([records.map(keyOf), mistakes]).toEqual([["site ", "layout a"], []]);
    expect(records.map(({ values }) => values)).toEqual([
      { name: "Acme", locale: "pl", multilang: false, active: true, fields: {} },
      { name: "A", fields: {}, content: "<p>\n</p>" },
    ]);
  });

  const contents = ["", "a", "a\n", "\n", "---\n", "a\n---\nb", "{{ x }}\r\n"];
  test.each(contents)("give the content %j back as it was printed", (content) => {
    const record: SiteRecord = { kind: "layout", code: "a", values: { name: "A", fields: { x: [1] }, content } };
    expect(tree({ [fileOf(record)]: printRecord(record) }).records[1]).toEqual(record);
  });

  const wrong: [what: string, files: Record<string, string>, told: string][] = [
    ["a file of no kind", { "pages/a.txt": "" }, "pages/a.txt:1: is not a file of a site"],
    ["another name of YAML", { "other.yml": "" }, "other.yml:1: is not a file of a site"],
    [
      "no front matter",
      { "pages/a.liquid": "<p>" },
      "pages/a.liquid:1: must begin with front matter between two lines of ---",
    ],
    [
      "front matter that does not end",
      { "pages/a.liquid": "---\nname: A\n" },
      "pages/a.liquid:1: must begin with front matter between two lines of ---",
    ],
    ["a missing field", { "layouts/a.liquid": "---\n---\n" }, "layouts/a.liquid:1: name is missing"],
    [
      "a field of another kind",
      { "layouts/a.liquid": "---\nname: A\npath: x\n---\n" },
      "layouts/a.liquid:3: path is not a field of this file: name, fields",
    ],
    [
      "a number for a text",
      { "layouts/a.liquid": "---\nname: 5\n---\n" },
      "layouts/a.liquid:2: name must be text (in double quotes)",
    ],
    [
      "null for a text that must be there",
      { "layouts/a.liquid": "---\nname: null\n---\n" },
      "layouts/a.liquid:2: name can't be null",
    ],
    [
      "a word for a flag",
      { "domains/a.pl.yaml": 'primary: "yes"\n' },
      "domains/a.pl.yaml:1: primary must be true or false",
    ],
    [
      "half a number",
      { "pages/a.liquid": "---\nname: A\npath: a\nposition: 1.5\n---\n" },
      "pages/a.liquid:4: position must be a whole number",
    ],
    [
      "a text for a map",
      { "layouts/a.liquid": "---\nname: A\nfields: x\n---\n" },
      "layouts/a.liquid:3: fields must be a map",
    ],
    [
      "a number for a list",
      { "articles/a.liquid": "---\ntitle: A\npath: a\ncategories: 5\n---\n" },
      'articles/a.liquid:4: categories must be a list: ["a", "b"]',
    ],
    [
      "a layout without a file",
      { "pages/a.liquid": "---\nname: A\npath: a\nlayout_code: main\n---\n" },
      "pages/a.liquid:4: layout_code: there is no file layouts/main.liquid",
    ],
    [
      "a category without a file",
      { "articles/a.liquid": '---\ntitle: A\npath: a\ncategories: ["x"]\n---\n' },
      "articles/a.liquid:4: categories: there is no file categories/x.yaml",
    ],
  ];
  test.each(wrong)("with %s are told at their line", (_, files, told) => {
    const [mistake, ...more] = tree(files).mistakes;
    expect(`${mistake?.file}:${mistake?.line}: ${mistake?.message}`).toStartWith(told);
    expect(more).toEqual([]);
  });

  test("without site.yaml are not a site", () => {
    expect(readTree(new Map()).mistakes).toEqual([{ file: "site.yaml", line: 1, message: "is missing" }]);
  });

  test("may stand beside a README and a licence", () => {
    expect(tree({ "README.md": "x", LICENSE: "x" }).mistakes).toEqual([]);
  });
});
