import { describe, expect, test } from "bun:test";
import { arranged, fieldsOf } from "../resources/forms.ts";
import { isQuick } from "../resources/list.ts";
import { pictureOf, wordOf } from "./action.ts";
import { fitting } from "./forms/chips.ts";
import { docOf, grouped } from "./forms/privileges.ts";
import { hasShortWords, pictureOfTone, toneOf } from "./show/value.ts";

describe("a box of chips", () => {
  const options = [
    { value: "1", label: "Sales North" },
    { value: "2", label: "Sales South" },
    { value: "3", label: "Support" },
  ];

  test.each([
    ["", [], ["1", "2", "3"]],
    ["sal", [], ["1", "2"]],
    ["south sales", [], ["2"]],
    ["", ["2"], ["1", "3"]],
    ["x", [], []],
  ])("offers for %p without %j: %j", (typed, chosen, values) => {
    expect(fitting(options, chosen, typed).map(({ value }) => value)).toEqual(values);
  });

  test("offers at most fifty at once", () => {
    const many = Array.from({ length: 200 }, (_, at) => ({ value: `${at}`, label: `Team ${at}` }));
    expect(fitting(many, [], "team")).toHaveLength(50);
  });
});

describe("privileges", () => {
  const privilege = (name: string) => ({ name, plugin: "p", doc: `what ${name} allows`, roles: ["admin"] });

  test("stand by what they are for, unknown ones last, empty groups not at all", () => {
    const groups = grouped(["shopping", "dbs", "prompts", "users"].map(privilege), "en");
    expect(groups.map(({ title, privileges }) => [title, privileges.map(({ name }) => name)])).toEqual([
      ["Build", ["prompts", "dbs"]],
      ["Manage", ["users"]],
      ["Plugins", ["shopping"]],
    ]);
  });

  test("say what they allow in the language of the Studio, as far as it knows them", () => {
    expect(docOf(privilege("dbs"), "pl")).toBe("tabele i ich rekordy");
    expect(docOf(privilege("apps"), "en")).toBe("create and change web apps");
    expect(docOf(privilege("shopping"), "de")).toBe("what shopping allows");
  });
});

test("a form shows the fields that its page names, in that order, and folds the others away", () => {
  const text = { type: "string" };
  const schema = { properties: { a: text, b: { ...text, description: "old" }, c: text } };
  const fields = fieldsOf(schema, { resources: [], privileges: [] });
  const form = arranged(fields, ["c", "b", "gone"], { b: "new" });
  expect(form.shown.map(({ name, help }) => [name, help])).toEqual([
    ["c", ""],
    ["b", "new"],
  ]);
  expect(form.more.map(({ name }) => name)).toEqual(["a"]);
  expect(arranged(fields, undefined).more).toEqual([]);
});

test.each([
  ["", {}, true],
  ["ended=true", {}, false],
  ["ended=true", { ended: "true" }, true],
  ["ended=true&q=x", { ended: "true" }, true],
  ["ended=true&for_account=yes", { ended: "true" }, false],
])("the address %p asks for the quick filter %j: %p", (address, one, is) => {
  const all = [{ query: {} }, { query: { ended: "true" } }, { query: { for_account: "yes" } }];
  expect(isQuick(new URLSearchParams(address), all, one)).toBe(is);
});

test.each([
  ["status", "finished", "good"],
  ["status", "error", "wrong"],
  ["severity", "warning", "warn"],
  ["status", "constructor", "plain"],
  ["status", 200, undefined],
  ["status", "", undefined],
  ["name", "finished", undefined],
] as const)("%s %p is a state that is %p", (name, value, tone) => expect(toneOf(name, value)).toBe(tone));

test.each([
  ["good", "finished", "good"],
  ["wrong", "failed", "wrong"],
  ["warn", "running", "waiting"],
  ["warn", "warning", "warn"],
  ["plain", "draft", undefined],
] as const)("a state that is %s has a picture: %s has %p", (tone, value, picture) =>
  expect(pictureOfTone(tone, value)).toBe(picture),
);

test.each([
  ["/account/crons/{id}/run.json", "run", "play"],
  ["/connect/connectors/{code}/{method_name}", "call", "play"],
  ["/crm/contacts/{id}/greet.json", "greet", undefined],
] as const)("the action %s is %p, and its picture %p", (path, word, picture) => {
  expect([wordOf({ path }), pictureOf({ path })]).toEqual([word, picture]);
});

test.each([
  ["core/custom_connector", true],
  ["Nov 22, 2026, 10:45 PM and many more words", true],
  ["nightly_clean_up_of_everything", false],
] as const)("a word of %p fits into a column: %p", (value, fits) => expect(hasShortWords(value)).toBe(fits));
