/** Values and conditions of a program. */
import { describe, expect, test } from "bun:test";
import { createLiquid } from "../../../runtime/liquid/liquid.ts";
import { StepFault } from "../engine/fault.ts";
import { createTemplates, elementsOf, type Condition } from "./template.ts";

const templates = createTemplates(createLiquid());
const variables = {
  input: {
    name: "Ada",
    age: 36,
    tags: ["a", "b"],
    none: null,
    yes: true,
    zero: 0,
    blank: "",
    text: "{{ input.name }}",
  },
  at: new Date("2026-01-31T10:00:00Z"),
};

const values: [template: unknown, value: unknown][] = [
  // One expression alone keeps its type.
  ["{{ input.age }}", 36],
  ["{{input.yes}}", true],
  ["{{- input.tags -}}", ["a", "b"]],
  ["{{ input.none }}", null],
  ["{{ input.zero }}", 0],
  ["{{ input.nothing }}", null],
  ["{{ input.nothing.deeper }}", null],
  ["{{ input.tags | size }}", 2],
  ["{{ at }}", "2026-01-31T10:00:00.000Z"],
  ["{{ input.age | divided_by: 0.0 }}", null],
  // Anything else is text.
  [" {{ input.age }}", " 36"],
  ["{{ input.age }} ", "36 "],
  ["{{ input.name }}-{{ input.age }}", "Ada-36"],
  ["{{ input.none }}!", "!"],
  ["{% if input.yes %}on{% endif %}", "on"],
  // Nothing is rendered twice.
  ["{{ input.text }}", "{{ input.name }}"],
  ["<{{ input.text }}>", "<{{ input.name }}>"],
  // Without braces it stays as it is.
  ["input.age", "input.age"],
  ["{ input.age }", "{ input.age }"],
  ["", ""],
  [7, 7],
  [null, null],
  [false, false],
  // Lists and objects are filled in depth; keys stay.
  [
    ["{{ input.age }}", ["{{ input.name }}"]],
    [36, ["Ada"]],
  ],
  [{ "{{ input.name }}": { deep: "{{ input.yes }}" } }, { "{{ input.name }}": { deep: true } }],
];
test.each(values)("the value of %j is %j", (template, value) => {
  expect(templates.value(template, variables)).toEqual(value);
});

const conditions: [condition: Condition, holds: boolean][] = [
  [true, true],
  [false, false],
  ["input.yes", true],
  ["{{ input.yes }}", true],
  ["  {{ input.none }}  ", false],
  ["input.nothing", false],
  ["input.age > 30", true],
  ["input.age > 36", false],
  ["{{ input.name == 'Ada' and input.age >= 36 }}", true],
  ["input.tags contains 'b'", true],
  [{ left: "{{ input.age }}", op: "==", right: 36 }, true],
  [{ left: "{{ input.age }}", op: "==", right: "36" }, false],
  [{ left: "{{ input.age }}", op: "!=", right: 37 }, true],
  [{ left: "{{ input.age }}", op: "<", right: 36 }, false],
  [{ left: "{{ input.age }}", op: "<=", right: 36 }, true],
  [{ left: "{{ input.age }}", op: ">", right: 35.5 }, true],
  [{ left: "{{ input.nothing }}", op: "<", right: 5 }, false],
  [{ left: "{{ input.none }}", op: ">=", right: 0 }, false],
  [{ left: 5, op: ">", right: "" }, false],
  [{ left: 36, op: ">=", right: "{{ input.age }}" }, true],
  [{ left: "{{ input.tags }}", op: "contains", right: "a" }, true],
  [{ left: "{{ input.name }}", op: "contains", right: "da" }, true],
  [{ left: "{{ input.tags }}", op: "contains", right: "c" }, false],
  // What a side comes to is a value, never a part of the expression.
  [{ left: "{{ input.text }}", op: "==", right: "Ada" }, false],
  [{ left: "x' or true or '", op: "==", right: "y" }, false],
];
test.each(conditions)("%j holds: %j", (condition, holds) => {
  expect(templates.holds(condition, variables)).toBe(holds);
});

const mistaken: [template: unknown, places: string[]][] = [
  ["plain", []],
  ["{{ input.name }}", []],
  ["{{ input.name", [""]],
  ["{% if input.yes %}", [""]],
  ["{{ input.name | no_such_filter }}", [""]],
  [{ user: { name: "{{ | }}" }, ok: "{{ input.age }}" }, [".user.name"]],
  [["{{ input.age }}", { a: ["{% nope %}"] }], ["[1].a[0]"]],
  [{ a: "{{ x", b: ["{{ y"] }, [".a", ".b[0]"]],
  [{ a: null, b: 7, c: true }, []],
];
test.each(mistaken)("the mistakes of %j are at %j", (template, places) => {
  const found = templates.mistakes(template);
  expect(found.map(({ place }) => place)).toEqual(places);
  for (const { message } of found) expect(message).not.toBe("");
});

test.each([
  ["input.age > 3", false],
  ["{{ input.age > 3 }}", false],
  ["input.age >", true],
  ["{{ input.age", true],
  ["", true],
])("the condition %j is a mistake: %j", (condition, wrong) => {
  expect(templates.conditionMistake(condition) !== undefined).toBe(wrong);
});

test.each([
  ["input.tags", "{{ input.tags }}"],
  ["{{ input.tags }}", "{{ input.tags }}"],
  ["{% assign a = 1 %}", "{% assign a = 1 %}"],
  [["a"], ["a"]],
  [null, null],
])("the elements %j are %j", (given, elements) => {
  expect(elementsOf(given)).toEqual(elements);
});

describe("a mistake while it runs", () => {
  const endless = "{% for a in (1..100000) %}{% for b in (1..100000) %}x{% endfor %}{% endfor %}";
  test.each([
    ["in a value", () => templates.value(endless, variables)],
    ["in a value far inside", () => templates.value({ a: [{ b: endless }] }, variables)],
    ["in a side of a condition", () => templates.holds({ left: endless, op: "==", right: 1 }, variables)],
  ])("%s is the step's fault", (_, run) => {
    expect(run).toThrow(StepFault);
  });
});

test("dates are printed in the account's time zone", () => {
  const tokyo = templates.at({ timezone: "Asia/Tokyo", locale: "en" });
  expect(tokyo.value("{{ at | date: '%H:%M' }}!", variables)).toBe("19:00!");
  expect(tokyo.value("{{ at | date: '%H:%M' }}", variables)).toBe("19:00");
  expect(tokyo.holds("{{ at | date: '%H' }}", variables)).toBe(true);
});
