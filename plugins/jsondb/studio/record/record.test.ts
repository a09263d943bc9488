/** What the panel of a record decides. */
import { expect, test } from "bun:test";
import { draftOf } from "../schema.ts";
import { choicesOf, itemsOf, kindOf, labelOf, percentText, percentValue, targetOf, titleIn } from "./kinds.ts";
import { mentionAt, partsOf, withMention } from "./mentions.ts";
import { addressOfValue, dayText, moneyText } from "./show.ts";

const table = draftOf({
  fields: {
    no: "string",
    name: { type: "string", label: { en: "Name", de: "Bezeichnung" } },
    stage: { type: "string", choices: ["new", { value: "won", label: { en: "Won", pl: "Wygrana" }, color: "green" }] },
    likes: { type: "list", choices: ["tea"] },
    customer: { type: "string", link: "shop.customers" },
    orders: { type: "list", link: "orders" },
    price: { type: "number", format: "money", currency: "EUR" },
    total: { type: "number", rollup: { of: "orders.customer", op: "count" } },
    photo: { type: "list", format: "file" },
    about: { type: "string", format: "markdown" },
    colour: { type: "string", format: "color" },
    note: "text",
    toString: "string",
  },
  title_field: "name",
}).tables[0];
const fieldOf = (name: string) =>
  table?.fields.find((field) => field.name === name) ?? { name, type: "string", required: false };

test.each([
  ["no", "text"],
  ["stage", "choice"],
  ["likes", "choices"],
  ["customer", "link"],
  ["orders", "links"],
  ["price", "money"],
  ["total", "rollup"],
  ["photo", "files"],
  ["about", "long"],
  ["colour", "text"],
  ["note", "long"],
  ["toString", "text"],
])("the field %p is of the kind %p", (name, kind) => {
  expect<string>(kindOf(fieldOf(name))).toBe(kind);
});

test("labels, choices and titles have the words of a language, or of another one", () => {
  const named = (name: string) => name.toUpperCase();
  expect(["en", "de", "pl"].map((language) => labelOf(fieldOf("name"), language, named))).toEqual([
    "Name",
    "Bezeichnung",
    "Name",
  ]);
  expect(labelOf(fieldOf("no"), "en", named)).toBe("NO");
  expect(choicesOf(fieldOf("stage"), "pl")).toEqual([
    { value: "new", label: "new", color: undefined },
    { value: "won", label: "Wygrana", color: "green" },
  ]);
  expect(targetOf(fieldOf("customer"))).toEqual({ db: "shop", table: "customers" });
  expect(titleIn({ no: "1", name: "Ann" }, table)).toBe("Ann");
  expect(titleIn({ no: "1" }, table)).toBe("");
});

test.each([
  ["25", "0.25"],
  ["7", "0.07"],
  ["12.5 %", "0.125"],
  ["", ""],
  ["half", "half"],
])("%p per cent is stored as %p, and back", (typed, stored) => {
  expect(percentValue(typed)).toBe(stored);
  expect(percentText(stored)).toBe(typed.replace(" %", ""));
});

test("a list is read as JSON, or with commas", () => {
  expect([itemsOf('["a","b"]'), itemsOf("a, b,,"), itemsOf("")]).toEqual([["a", "b"], ["a", "b"], []]);
});

test.each([
  ["2026-11-29", "Today"],
  ["2026-11-30", "Tomorrow"],
  ["2026-12-04", "Fri, Dec 4"],
  ["2026-11-11", "Nov 11"],
  ["2025-11-11", "Nov 11, 2025"],
  ["no day", "no day"],
])("the day %p is shown as %p", (day, shown) => {
  expect(dayText(day, "2026-11-29", "en")).toBe(shown);
});

test("amounts have their currency, and only safe addresses lead anywhere", () => {
  expect(moneyText(1284.4, "EUR", "en")).toBe("€1,284.40");
  expect(moneyText(2, undefined, "en")).toBe("2.00");
  expect(addressOfValue("url", "javascript:alert(1)")).toBeUndefined();
  expect(addressOfValue("url", "https://example.com")).toBe("https://example.com");
  expect(addressOfValue("email", 'a"b@example.com')).toBe("mailto:a%22b@example.com");
});

test.each([
  ["Hi @an", 6, { from: 3, typed: "an" }],
  ["@", 1, { from: 0, typed: "" }],
  ["mail@example", 12, undefined],
  ["@ann is", 7, undefined],
])("of %p, written up to %p, the mention %p is typed", (text, caret, found) => {
  expect(mentionAt(text, caret)).toEqual(found);
});

test("a mention takes the place of what was typed of it, and is shown as one", () => {
  expect(withMention("Hi @an!", { from: 3, typed: "an" }, "anna")).toEqual({ text: "Hi @anna !", caret: 9 });
  expect(partsOf("Hi @anna, see\n@ben")).toEqual([
    { text: "Hi ", isMention: false },
    { text: "@anna,", isMention: true },
    { text: " see\n", isMention: false },
    { text: "@ben", isMention: true },
  ]);
});
