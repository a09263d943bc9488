import { describe, expect, test } from "bun:test";
import { columnsOf, filterOf, nextFor, progressOf, rowsFor, workOf, type Cell, type Row } from "./rows.ts";
import { de, en, pl } from "./text.ts";
import { changesOf, clashesOf, mistaken, pathFor, unitsOf, wayOf, type Entry, type Group } from "./units.ts";

test("every message is in three languages, with the same values", () => {
  const values = (all: object) =>
    Object.entries(all).map(([name, message]) => [name, String(message).match(/\{\w{1,20}\}/g) ?? []]);
  expect(values(pl)).toEqual(values(en));
  expect(values(de)).toEqual(values(en));
});

const cell = (state: Cell["state"], page: string | null, more: Partial<Cell> = {}): Cell => {
  return { state, page, missing: [], stale: [], ...more };
};
const row = (page: string, fr: Cell): Row => {
  return { page, name: page, path: page, locales: { pl: cell("own", page), fr } };
};

describe("the matrix", () => {
  const rows = [
    row("a", cell("own", "a-fr")),
    row("b", cell("missing", null)),
    row("c", cell("inherited", "c")),
    row("d", cell("inherited", "d-fr")),
    row("e", cell("fields", "e", { missing: ["x"] })),
    row("f", cell("stale", "f-fr", { stale: ["content"] })),
  ];
  test("knows what each cell needs", () => {
    expect(rows.map((one) => workOf(one, one.locales.fr))).toEqual([
      undefined,
      "missing",
      undefined,
      "missing",
      "missing",
      "stale",
    ]);
    expect(progressOf(rows, "fr")).toEqual({ done: 2, all: 6 });
  });
  test("is filtered by the address", () => {
    const shown = (query: string) =>
      rowsFor(rows, filterOf(new URLSearchParams(query)))
        .map(({ page }) => page)
        .join("");
    expect(["missing=fr", "stale=fr", "missing=it", ""].map(shown)).toEqual(["bde", "f", "abcdef", "abcdef"]);
  });
  test.each([
    ["a", "b"],
    ["e", "f"],
    ["f", "b"],
    ["gone", "b"],
  ])("goes on from %s with %s", (from, to) => expect(nextFor(rows, from, "fr")?.page).toBe(to));
  test("ends when nothing is left", () => expect(nextFor(rows.slice(0, 2), "b", "fr")).toBeUndefined());
  test("has the site's language first", () => expect(columnsOf(rows, "fr")).toEqual(["fr", "pl"]));
});

const page = (id: number, more: Readonly<Record<string, unknown>> = {}): Entry => {
  return { id, code: `p${id}`, locale: null, path: `p${id}`, content: "", fields: {}, based_on_page_id: null, ...more };
};
const keyed = { pl: { title: "Tytuł", lead: "Wstęp" }, en: { title: "Title" } };
const master = page(1, { locale: "pl", fields: keyed, html_title: "T" });
const group = (root: Entry, own?: Entry): Group => ({ root, own, locale: "fr", site: "pl" });
const places = (of: Group) =>
  unitsOf(of, { locale: "pl", record: of.root }).map(({ name, source, value, place }) => [name, source, value, place]);

describe("the texts to translate", () => {
  test.each([
    ["fields", group(page(1))],
    ["slave", group(page(1, { locale: "pl" }))],
    ["home", group(page(1, { locale: "pl", path: "" }))],
    ["own", group(page(1, { locale: "pl" }), page(2, { locale: "fr" }))],
  ])("are kept by %s", (way, of) => expect(wayOf(of)).toBe(way as never));

  test("of a page without a language stand in its fields", () => {
    expect(places(group(page(1, { fields: keyed, html_title: "T" })))).toEqual([
      ["fields.title", "Tytuł", "", { record: "root", key: "title", locale: "fr" }],
      ["fields.lead", "Wstęp", "", { record: "root", key: "lead", locale: "fr" }],
    ]);
  });
  test("of a new page stand in its columns, and in its master's fields where those are by language", () => {
    expect(places(group(master))).toEqual([
      ["html_title", "T", "", { record: "own", column: "html_title" }],
      ["fields.title", "Tytuł", "", { record: "root", key: "title", locale: "fr" }],
      ["fields.lead", "Wstęp", "", { record: "root", key: "lead", locale: "fr" }],
    ]);
  });
  test("of a page whose master's fields are plain are its own", () => {
    const slave = page(2, { locale: "fr", based_on_page_id: 1, fields: { title: "Titre", n: 7 } });
    expect(places(group(page(1, { locale: "pl", fields: { title: "Tytuł", n: 5 } }), slave))).toEqual([
      ["fields.title", "Tytuł", "Titre", { record: "own", key: "title" }],
      ["fields.n", "5", "7", { record: "own", key: "n" }],
    ]);
  });
  test("of a page of its own are its own, whatever the other one has", () => {
    const other = page(2, { locale: "fr", fields: { title: "Titre" } });
    expect(places(group(master, other)).map(([name, , value, place]) => [name, value, place])).toEqual([
      ["html_title", "", { record: "own", column: "html_title" }],
      ["fields.title", "Titre", { record: "own", key: "title" }],
      ["fields.lead", "", { record: "own", key: "lead" }],
    ]);
  });
  test("may be read in any language that has them", () => {
    const [title] = unitsOf(group(page(1, { fields: keyed })), { locale: "en", record: page(1, { fields: keyed }) });
    expect(title?.source).toBe("Title");
  });
  test("named like what every object has are found only where they are", () => {
    const fields = JSON.parse('{"pl":{"constructor":"A","__proto__":"B"}}') as object;
    const units = unitsOf(group(page(1, { fields })), { locale: "pl", record: page(1, { fields }) });
    expect(units.map(({ name, source, value }) => [name, source, value])).toEqual([
      ["fields.constructor", "A", ""],
      ["fields.__proto__", "B", ""],
    ]);
  });
});

describe("a save", () => {
  const of = group(master, page(2, { locale: "fr", based_on_page_id: 1, html_title: "Ancien" }));
  const units = unitsOf(of, { locale: "pl", record: master });
  test("has only what was typed, by the record that keeps it; an empty text takes the value away", () => {
    expect(changesOf(of, units, {})).toEqual([]);
    expect(changesOf(of, units, { html_title: "", "fields.title": "Titre", "fields.lead": "" })).toEqual([
      { record: "own", values: { html_title: null } },
      { record: "root", values: { fields: { ...keyed, fr: { title: "Titre" } } } },
    ]);
  });
  test("leaves no empty language behind", () => {
    const root = page(1, { fields: { pl: { a: "1" }, fr: { a: "2" } } });
    const all = unitsOf(group(root), { locale: "pl", record: root });
    expect(changesOf({ root, own: undefined }, all, { "fields.a": "" })).toEqual([
      { record: "root", values: { fields: { pl: { a: "1" } } } },
    ]);
  });
  test("knows what is no JSON, and keeps what is", () => {
    const root = page(1, { fields: { pl: { list: ["a"] } } });
    const all = unitsOf(group(root), { locale: "pl", record: root });
    expect(mistaken(all, { "fields.list": "[" })).toEqual(["fields.list"]);
    expect(mistaken(all, { "fields.list": '["b"]' })).toEqual([]);
    expect(changesOf({ root, own: undefined }, all, { "fields.list": '["b"]' })[0]?.values).toEqual({
      fields: { pl: { list: ["a"] }, fr: { list: ["b"] } },
    });
  });
  test("clashes only with another text that somebody else has written meanwhile", () => {
    const now = units.map((unit) => (unit.name === "html_title" ? { ...unit, value: "Leur" } : unit));
    expect(clashesOf(units, now, { html_title: "Mien" })).toEqual(["html_title"]);
    expect(clashesOf(units, now, { html_title: "Leur", "fields.title": "Titre" })).toEqual([]);
  });
});

test.each([
  ["Über uns", "o-nas", "ueber-uns"],
  ["À propos de l’atelier", "o-nas", "a-propos-de-l-atelier"],
  ["Łódź", "o-nas", "lodz"],
  ["Kontakt", "kontakt", "fr/kontakt"],
  ["", "o-nas", "fr/o-nas"],
])("the path of %j beside %j is %j", (name, path, expected) => expect(pathFor(name, path, "fr")).toBe(expected));
