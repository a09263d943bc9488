import { describe, expect, test } from "bun:test";
import type { Fields } from "../../rows.ts";
import { inherit, mergeFields, type Inherited } from "./fields.ts";

const master: Inherited = {
  content: "M",
  layoutId: 1,
  htmlTitle: "MT",
  htmlDescription: "MD",
  htmlKeywords: "MK",
  fields: { title: "M" },
};
const empty: Inherited = {
  content: "",
  layoutId: null,
  htmlTitle: null,
  htmlDescription: null,
  htmlKeywords: null,
  fields: {},
};

describe("a slave takes from its master what is empty in it (behaviour A.4.1):", () => {
  const table: [string, Partial<Inherited>, Partial<Inherited>][] = [
    ["everything", {}, master],
    ["blanks are empty", { content: " \n", htmlTitle: "" }, { content: "M", htmlTitle: "MT" }],
    ["its own content", { content: "S" }, { content: "S", layoutId: 1 }],
    ["its own layout", { layoutId: 2 }, { layoutId: 2, content: "M" }],
    [
      "its own titles",
      { htmlTitle: "ST", htmlDescription: "SD" },
      { htmlTitle: "ST", htmlDescription: "SD", htmlKeywords: "MK" },
    ],
    ["fields per key", { fields: { lead: "S" } }, { fields: { title: "M", lead: "S" } }],
  ];
  test.each(table)("%s", (_, slave, expected) => {
    expect(inherit({ ...empty, ...slave }, master)).toMatchObject(expected);
  });

  test("a page without a master stands as it is", () => expect(inherit(empty, undefined)).toBe(empty));
});

describe("fields are merged per key:", () => {
  const table: [string, Fields, Fields, Fields][] = [
    ["the slave overrides", { a: 1 }, { a: 2, b: 3 }, { a: 1, b: 3 }],
    ["an empty string is a value", { a: "" }, { a: "M" }, { a: "" }],
    ["null is absent", { a: null }, { a: "M" }, { a: "M" }],
    [
      "locale-keyed sub-objects are merged too",
      { en: { a: 1 } },
      { en: { a: 2, b: 3 }, de: { c: 4 } },
      { en: { a: 1, b: 3 }, de: { c: 4 } },
    ],
    ["null in a sub-object is absent", { en: { a: null } }, { en: { a: 2 } }, { en: { a: 2 } }],
    ["other objects are values", { menu: { a: 1 } }, { menu: { b: 2 } }, { menu: { a: 1 } }],
    ["what is no object is not merged", { en: "x" }, { en: { a: 1 } }, { en: "x" }],
  ];
  test.each(table)("%s", (_, slave, from, expected) => expect(mergeFields(slave, from)).toEqual(expected));

  test("a key like __proto__ is a plain key", () => {
    const merged = mergeFields(JSON.parse('{"__proto__": {"a": 1}}'), {});
    expect(Object.hasOwn(merged, "__proto__")).toBe(true);
    expect(Reflect.get({}, "a")).toBeUndefined();
  });
});
