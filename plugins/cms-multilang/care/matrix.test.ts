import { describe, expect, test } from "bun:test";
import type { Locale } from "../locales.ts";
import { matrixRow, type Cell, type MatrixPage } from "./matrix.ts";
import { rowFindings } from "./pages.ts";

const page = (id: number, more: Partial<MatrixPage> = {}): MatrixPage => ({
  id,
  code: `p${id}`,
  name: `Page ${id}`,
  path: `path-${id}`,
  locale: null,
  content: "",
  fields: {},
  htmlTitle: null,
  htmlDescription: null,
  htmlKeywords: null,
  basedOnPageId: null,
  fieldTimes: {},
  ...more,
});
const [early, late] = ["2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"];
const cell = (state: Cell["state"], code: string | null, missing: string[] = [], stale: string[] = []): Cell => {
  return { state, page: code, missing, stale };
};
const none = cell("missing", null);

describe("a page in the languages of its site, whose own is Polish", () => {
  const keyed = { pl: { a: "1", b: "2" }, en: { a: "1" } };
  const master = page(1, { locale: "pl", fields: keyed });
  const slave = (more: Partial<MatrixPage> = {}) => page(2, { locale: "en", basedOnPageId: 1, ...more });
  const table: [what: string, group: MatrixPage[], pl: Cell, en: Cell][] = [
    ["without a locale and fields", [page(1)], cell("own", "p1"), cell("inherited", "p1")],
    [
      "without a locale, with plain fields",
      [page(1, { fields: { a: "x" } })],
      cell("own", "p1"),
      cell("inherited", "p1"),
    ],
    [
      "without a locale, with fields of both languages",
      [page(1, { fields: { pl: { a: "1" }, en: { a: "2" } } })],
      cell("own", "p1"),
      cell("fields", "p1"),
    ],
    [
      "without a locale, with fields of one language",
      [page(1, { fields: { pl: { a: "1" } } })],
      cell("own", "p1"),
      cell("missing", "p1", ["a"]),
    ],
    [
      "without a locale, with a key that one language lacks",
      [page(1, { fields: keyed })],
      cell("own", "p1"),
      cell("fields", "p1", ["b"]),
    ],
    [
      "without a locale, with a key that the site's own language lacks",
      [page(1, { fields: { en: { c: "3" } } })],
      cell("own", "p1", ["c"]),
      cell("fields", "p1"),
    ],
    [
      "whose plain values are in the site's language",
      [page(1, { fields: { a: "1", en: { a: "2" } } })],
      cell("own", "p1"),
      cell("fields", "p1"),
    ],
    [
      "whose null values are missing",
      [page(1, { fields: { pl: { a: "1" }, en: { a: null } } })],
      cell("own", "p1"),
      cell("fields", "p1", ["a"]),
    ],
    ["of one language alone", [page(1, { locale: "pl" })], cell("own", "p1"), none],
    ["of another language alone", [page(1, { locale: "en" })], none, cell("own", "p1")],
    [
      "in one version for each language",
      [page(1, { locale: "pl" }), page(2, { locale: "en" })],
      cell("own", "p1"),
      cell("own", "p2"),
    ],
    [
      "with a slave that says nothing",
      [page(1, { locale: "pl" }), slave()],
      cell("own", "p1"),
      cell("inherited", "p2"),
    ],
    [
      "with a slave of its own content",
      [page(1, { locale: "pl" }), slave({ content: "x" })],
      cell("own", "p1"),
      cell("own", "p2"),
    ],
    [
      "with a slave of blank content",
      [page(1, { locale: "pl" }), slave({ content: " \n" })],
      cell("own", "p1"),
      cell("inherited", "p2"),
    ],
    [
      "with a slave that its master's fields translate",
      [master, slave()],
      cell("own", "p1"),
      cell("fields", "p2", ["b"]),
    ],
    [
      "with a slave that has the missing key",
      [master, slave({ fields: { b: "2" } })],
      cell("own", "p1"),
      cell("own", "p2"),
    ],
    [
      "with a slave that has the missing key by its language",
      [master, slave({ fields: { en: { b: "2" } } })],
      cell("own", "p1"),
      cell("own", "p2"),
    ],
    [
      "with a slave whose title is behind",
      [
        page(1, { locale: "pl", fieldTimes: { html_title: late } }),
        slave({ htmlTitle: "x", fieldTimes: { html_title: early } }),
      ],
      cell("own", "p1"),
      cell("stale", "p2", [], ["html_title"]),
    ],
    [
      "with a slave whose title is newer",
      [
        page(1, { locale: "pl", fieldTimes: { html_title: early } }),
        slave({ htmlTitle: "x", fieldTimes: { html_title: late } }),
      ],
      cell("own", "p1"),
      cell("own", "p2"),
    ],
    [
      "with a slave whose field is behind",
      [
        page(1, { locale: "pl", fields: { a: "1" }, fieldTimes: { "fields.a": late } }),
        slave({ fields: { a: "2" }, fieldTimes: { "fields.a": early } }),
      ],
      cell("own", "p1"),
      cell("stale", "p2", [], ["fields.a"]),
    ],
    [
      "with a value by its language that is behind",
      [
        page(1, {
          fields: { pl: { a: "1" }, en: { a: "2" } },
          fieldTimes: { "fields.pl.a": late, "fields.en.a": early },
        }),
      ],
      cell("own", "p1"),
      cell("stale", "p1", [], ["fields.en.a"]),
    ],
    [
      "with times of one side alone",
      [page(1, { fields: { pl: { a: "1" }, en: { a: "2" } }, fieldTimes: { "fields.pl.a": late } })],
      cell("own", "p1"),
      cell("fields", "p1"),
    ],
  ];
  test.each(table)("%s", (_, group, pl, en) => {
    const [root] = group;
    if (!root) throw new Error("a group has a page");
    const row = matrixRow(root, group, ["pl", "en"], "pl");
    expect(row).toEqual({ page: "p1", name: "Page 1", path: "path-1", locales: { pl, en } });
  });
});

describe("what a row lacks is found", () => {
  const found = (locale: Locale, one: Cell) =>
    rowFindings({ page: "p1", name: "", path: "", locales: { [locale]: one } }).map(({ code, page: at, field }) => [
      code,
      at,
      field,
    ]);
  const table: [what: string, found: unknown[], expected: unknown[]][] = [
    ["nothing where all is said", found("pl", cell("own", "p1")), []],
    ["nothing of what is inherited", found("en", cell("inherited", "p1")), []],
    ["a language without a page", found("en", none), [["missing_translation", "p1", undefined]]],
    [
      "keys without a value, at the page that is shown",
      found("en", cell("own", "p2", ["a", "b"])),
      [
        ["missing_keys", "p2", "fields.a"],
        ["missing_keys", "p2", "fields.b"],
      ],
    ],
    [
      "fields that are behind",
      found("en", cell("stale", "p2", [], ["content"])),
      [["stale_translation", "p2", "content"]],
    ],
    [
      "both",
      found("en", cell("stale", "p2", ["a"], ["content"])),
      [
        ["missing_keys", "p2", "fields.a"],
        ["stale_translation", "p2", "content"],
      ],
    ],
  ];
  test.each(table)("%s", (_, actual, expected) => expect(actual).toEqual(expected));
});
