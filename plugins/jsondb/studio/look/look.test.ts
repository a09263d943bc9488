import { describe, expect, test } from "bun:test";
import { parseSchema } from "../../databases/schema.ts";
import { plainText } from "../cells.ts";
import { draftOf, schemaOf } from "../schema.ts";
import { withField } from "../schema/changes.ts";
import { offered, definitionOf, foundKinds, nameFor } from "../schema/kind-words.ts";
import en from "../schema/text/en.json" with { type: "json" };
import { choiceAt, kindOf, lookOf, titleIn, type Labelled } from "./kinds.ts";
import {
  addressIn,
  dayText,
  fullDay,
  moneyText,
  numberText,
  percentStored,
  percentText,
  percentTyped,
  shownText,
  type Reading,
} from "./values.ts";

const words = (name: string) => `<${name}>`;
const look = (type: Labelled["type"], more: Record<string, unknown> = {}, name = "f") =>
  lookOf({ name, type, more }, "de", words);

describe("a field", () => {
  test.each<[Labelled["type"], Record<string, unknown>, string]>([
    ["string", {}, "text"],
    ["text", {}, "long"],
    ["string", { format: "markdown" }, "long"],
    ["string", { format: "time_zone" }, "text"],
    ["number", { format: "money" }, "money"],
    ["integer", { format: "rating" }, "rating"],
    ["integer", { format: "user" }, "person"],
    ["list", { format: "user" }, "person"],
    ["string", { choices: ["a"], format: "email" }, "choice"],
    ["list", { choices: ["a"] }, "choices"],
    ["list", {}, "list"],
    ["list", { link: "a" }, "link"],
    ["string", { link: "a" }, "link"],
    ["number", { rollup: {} }, "rollup"],
    ["boolean", {}, "yesno"],
    [undefined, {}, "none"],
  ])("of %s with %j is of the kind %s", (type, more, kind) => {
    expect(kindOf({ name: "f", type, more })).toBe(kind as never);
  });

  test("has its label in the language, else in English, else any, else its name", () => {
    const label = (value: unknown) => look("string", { label: value }).label;
    expect([
      label({ de: "D", en: "E" }),
      label({ en: "E", pl: "P" }),
      label({ pl: "P" }),
      label("S"),
      label(7),
    ]).toEqual(["D", "E", "P", "S", "<f>"]);
  });

  test("has choices with words and colours, and shows a value that is none of them", () => {
    const { choices } = look("string", { choices: ["a", { value: 2, label: { de: "Zwei" }, color: "red" }, { x: 1 }] });
    expect(choices).toEqual([
      { value: "a", label: "a", color: "" },
      { value: 2, label: "Zwei", color: "red" },
    ]);
    expect([choiceAt(choices, 2).label, choiceAt(choices, "2").label, choiceAt(choices, ["x"]).label]).toEqual([
      "Zwei",
      "2",
      '["x"]',
    ]);
  });

  test.each([
    ["shop", { db: "shop", table: undefined }],
    ["shop.orders", { db: "shop", table: "orders" }],
  ])("that links to %s knows its target", (link, target) => {
    expect(look("string", { link }).target).toEqual(target);
  });

  test("that is worked out is shown as what it comes to, and a name that every object has is only a name", () => {
    expect(look("number", { rollup: {}, format: "money" }).shown).toBe("money");
    expect(look("string", {}, "toString")).toMatchObject({ kind: "text", label: "<toString>" });
  });
});

test.each([
  ["2026-11-29", "Nov 29, 2026", "Sunday, November 29, 2026 (today)"],
  ["2026-11-26", "Nov 26, 2026", "Thursday, November 26, 2026 (3 days ago)"],
  ["2027-01-31", "Jan 31, 2027", "Sunday, January 31, 2027"],
  ["nonsense", "nonsense", ""],
])("the day %s is %s", (day, text, title) => {
  expect([dayText(day, "en"), fullDay(day, "2026-11-29", "en")]).toEqual([text, title]);
});

test("numbers are those of the language, and none loses a digit", () => {
  const long: unknown = "rawJSON" in JSON ? JSON.rawJSON("76159173374952512.31") : 1;
  expect([moneyText(1240, "EUR", "de"), moneyText(1240, "JPY", "en"), moneyText(0.5, "", "en")]).toEqual([
    "1.240,00",
    "1,240",
    "0.50",
  ]);
  expect(moneyText(1240, "EUR", "en", true)).toBe("€1,240.00");
  expect(percentText(0.075, "en")).toBe("7.5%");
  expect([2026, 12_026, 12.5, "9007199254740993"].map((value) => numberText(value, "de"))).toEqual([
    "2026",
    "12.026",
    "12,5",
    "9007199254740993",
  ]);
  expect(numberText(long, "en")).toBe("76159173374952512.31");
});

test.each([
  ["25", "0.25", "en"],
  ["7", "0.07", "en"],
  ["12.5 %", "0.125", "en"],
  ["", "", "en"],
  ["half", "half", "en"],
  ["312,5", "3,125", "de"],
])("%p per cent is stored as %p, and back", (typed, stored, language) => {
  expect(percentStored(typed, language)).toBe(stored);
  expect(percentTyped(stored, language)).toBe(typed.replace(" %", ""));
});

test("a record is called by the field that its table names, and only safe addresses lead anywhere", () => {
  const table = draftOf({ fields: { no: "string", name: "string" }, title_field: "name" }).tables[0];
  expect([titleIn({ no: "1", name: "Ann" }, table), titleIn({ no: "1" }, table)]).toEqual(["Ann", ""]);
  const lead = (format: string, value: string) => addressIn(look("string", { format }), value);
  expect(lead("url", "javascript:alert(1)")).toBeUndefined();
  expect(lead("url", "https://example.com")).toBe("https://example.com");
  expect(lead("email", 'a"b@example.com')).toBe("mailto:a%22b@example.com");
});

test("a value is a text by its kind", () => {
  const reading: Reading = {
    language: "en",
    today: "2026-11-29",
    yes: "Yes",
    no: "No",
    files: (count: number) => `${count} files`,
    time: (value) => `at ${value}`,
    title: (_, id) => `Title of ${id}`,
  };
  const text = (type: Labelled["type"], more: Record<string, unknown>, value: unknown) =>
    shownText(look(type, more), value, reading);
  expect([
    text("list", { choices: [{ value: "a", label: "A" }] }, ["a", "b"]),
    text("list", { link: "x" }, ["1", "2"]),
    text("boolean", {}, false),
    text("datetime", {}, "2026"),
    text("list", {}, ["x", 2]),
    text("string", {}, null),
  ]).toEqual(["A, b", "Title of 1, Title of 2", "No", "at 2026", "x, 2", ""]);
});

describe("a field that is added", () => {
  const wishes = {
    label: " Price ",
    language: "en",
    values: ["a", " ", "b", "a"],
    currency: "EUR",
    target: "x",
    several: true,
  };

  test.each(offered.map((kind) => [kind]))("of the kind %s is right to the server, and read as that kind", (kind) => {
    const schema = schemaOf(withField(draftOf({ fields: { a: "string" } }), "", "price", definitionOf(kind, wishes)));
    expect(parseSchema(schema)).toBeDefined();
    const [, field] = draftOf(schema).tables[0]?.fields ?? [];
    expect([field && kindOf(field), field && lookOf(field, "en", words).label]).toEqual([kind, "Price"]);
  });

  test("is found by everyday words", () => {
    const texts: Readonly<Record<string, unknown>> = en;
    const speak = (word: string) => plainText(texts[word]);
    expect([foundKinds("price", speak), foundKinds("DEAD", speak), foundKinds("zzz", speak)]).toEqual([
      ["money"],
      ["date"],
      [],
    ]);
    expect(foundKinds("", speak)).toHaveLength(offered.length);
  });

  test.each([
    ["Wanted by", "wanted_by"],
    ["Größe (cm)", "grosse_cm"],
    ["Łódź", "lodz"],
    ["价格", "field"],
    ["price", "price_3"],
  ])("called %s is named %s", (label, name) => {
    expect(nameFor(label, ["price", "price_2"])).toBe(name);
  });
});
