import { describe, expect, test } from "bun:test";
import { difference, printDifference } from "./diff.ts";
import type { SiteRecord } from "./kinds.ts";
import type { Values } from "./yaml.ts";

const layout = (code: string, values: Values = {}): SiteRecord => ({
  kind: "layout",
  code,
  values: { name: code, content: "", fields: {}, ...values },
});
const site: SiteRecord = { kind: "site", code: "", values: { name: "Acme", locale: "pl" } };
const codes = (records: readonly SiteRecord[]) => records.map(({ code }) => code);

describe("the difference between records and files", () => {
  const [a, b] = [layout("a"), layout("b")];
  const table: [
    what: string,
    now: SiteRecord[],
    wanted: SiteRecord[],
    create: string[],
    update: string[],
    extra: string[],
  ][] = [
    ["of nothing and nothing", [], [], [], [], []],
    ["of equals", [a, b], [b, a], [], [], []],
    ["of a new record", [a], [a, b], ["b"], [], []],
    ["of a record without a file", [a, b], [a], [], [], ["b"]],
    ["of a changed record", [a], [layout("a", { name: "A" })], [], ["a"], []],
    [
      "of the keys of a map in another order",
      [layout("a", { fields: { x: 1, y: 2 } })],
      [layout("a", { fields: { y: 2, x: 1 } })],
      [],
      [],
      [],
    ],
    [
      "of the items of a list in another order",
      [layout("a", { fields: { x: [1, 2] } })],
      [layout("a", { fields: { x: [2, 1] } })],
      [],
      ["a"],
      [],
    ],
    ["of null and an empty text", [layout("a", { content: null })], [layout("a", { content: "" })], [], ["a"], []],
    ["of two kinds with one code", [a], [{ ...a, kind: "paragraph" }], ["a"], [], ["a"]],
    ["of a record with another code", [a], [b], ["b"], [], ["a"]],
  ];
  test.each(table)("%s", (_, now, wanted, create, update, extra) => {
    const found = difference(now, wanted);
    expect([codes(found.create), found.update.map(({ after }) => after.code), codes(found.extra)]).toEqual([
      create,
      update,
      extra,
    ]);
  });

  test("holds the fields that differ alone, with the values to come", () => {
    const [update] = difference([layout("a", { name: "A" })], [layout("a", { name: "B", content: "" })]).update;
    expect(update?.changes).toEqual({ name: "B" });
  });
});

describe("the difference in lines", () => {
  const lines = (now: SiteRecord[], wanted: SiteRecord[], deletes = false) =>
    printDifference(difference(now, wanted), deletes);
  const table: [what: string, lines: string[], expected: string[]][] = [
    ["of nothing", lines([], []), ["0 to create, 0 to change, 0 to delete"]],
    ["of a new record", lines([], [layout("a")]), ["+ layouts/a.liquid", "1 to create, 0 to change, 0 to delete"]],
    [
      "of a record that stays on the server",
      lines([layout("a")], []),
      ["? layouts/a.liquid (only on the server; --delete removes it)", "0 to create, 0 to change, 0 to delete"],
    ],
    [
      "of a record that goes",
      lines([layout("a")], [], true),
      ["- layouts/a.liquid", "0 to create, 0 to change, 1 to delete"],
    ],
    [
      "of one field",
      lines([layout("a")], [layout("a", { name: "B" })]),
      ["~ layouts/a.liquid", '    name: "a" -> "B"', "0 to create, 1 to change, 0 to delete"],
    ],
    [
      "of text of several lines",
      lines([layout("a", { content: "a\nb" })], [layout("a", { content: "c" })]),
      ["~ layouts/a.liquid", '    content: (3 characters) -> "c"', "0 to create, 1 to change, 0 to delete"],
    ],
    [
      "of long text",
      lines([layout("a")], [layout("a", { content: "x".repeat(100) })]),
      ["~ layouts/a.liquid", `    content: "" -> "${"x".repeat(66)}…`, "0 to create, 1 to change, 0 to delete"],
    ],
    [
      "of maps, key by key",
      lines(
        [layout("a", { fields: { pl: { t: "1", u: "2" }, v: 1 } })],
        [layout("a", { fields: { pl: { t: "1" }, w: [2] } })],
      ),
      [
        "~ layouts/a.liquid",
        '    fields.pl.u: "2" -> null',
        "    fields.v: 1 -> null",
        "    fields.w: null -> [2]",
        "0 to create, 1 to change, 0 to delete",
      ],
    ],
    [
      "of a map that becomes a list",
      lines([layout("a", { fields: { m: { x: 1 } } })], [layout("a", { fields: { m: [1] } })]),
      ["~ layouts/a.liquid", '    fields.m: {"x":1} -> [1]', "0 to create, 1 to change, 0 to delete"],
    ],
    [
      "in the order of the kinds and the codes",
      lines([layout("c")], [layout("b"), layout("a"), site, { kind: "domain", code: "acme.test:8080", values: {} }]),
      [
        "+ site.yaml",
        "+ domains/acme.test%3A8080.yaml",
        "+ layouts/a.liquid",
        "+ layouts/b.liquid",
        "? layouts/c.liquid (only on the server; --delete removes it)",
        "4 to create, 0 to change, 0 to delete",
      ],
    ],
  ];
  test.each(table)("%s", (_, found, expected) => expect(found).toEqual(expected));
});
