import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { replaceInJson } from "../api.ts";

const value = { fields: { a: "string", b: "string" } };

describe("replacing text in JSON", () => {
  test.each<[string, string, string, boolean, unknown]>([
    ["changes the first occurrence", '"string"', '"text"', false, { fields: { a: "text", b: "string" } }],
    ["changes all with replace_all", '"string"', '"text"', true, { fields: { a: "text", b: "text" } }],
    ["works on the compact text", '"a":"string",', "", false, { fields: { b: "string" } }],
    ["works on text indented by two", '"a": "string",\n    ', "", false, { fields: { b: "string" } }],
    ["takes $ literally", '"string"', '"$&$1"', false, { fields: { a: "$&$1", b: "string" } }],
  ])("%s", (_, oldString, newString, all, expected) => {
    expect(replaceInJson(value, { oldString, newString, all })).toEqual({ value: expected });
  });

  test("says what cannot be done", () => {
    expect(replaceInJson(value, { oldString: "nope", newString: "", all: false })).toHaveProperty(
      "field",
      "old_string",
    );
    expect(replaceInJson(value, { oldString: "{", newString: "", all: false })).toHaveProperty("field", "new_string");
    const flood = { oldString: '"', newString: '"'.repeat(200_000), all: true };
    expect(replaceInJson(value, flood)).toHaveProperty("mistake", "makes the value too large");
  });

  test("gives valid JSON or a mistake, whatever is replaced", () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.string({ minLength: 1 }),
        fc.string(),
        fc.boolean(),
        (given, oldString, newString, all) => {
          const done = replaceInJson(given, { oldString, newString, all });
          if (!("value" in done)) return;
          const printed = JSON.stringify(done.value);
          expect(JSON.stringify(JSON.parse(printed))).toBe(printed);
        },
      ),
    );
  });
});
