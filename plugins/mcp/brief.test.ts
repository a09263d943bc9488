import { describe, expect, test } from "bun:test";
import { field, Type } from "platform";
import { briefInstruction, briefSchema, sectionOf, sectionsOf } from "./brief.ts";

describe("a schema in fewer words", () => {
  test.each<[unknown, unknown]>([
    [field.oneOf(["a", "b"]), { enum: ["a", "b"] }],
    [field.nullable(field.oneOf(["a", "b"])), { enum: ["a", "b", null] }],
    [field.line(), { type: ["string", "null"], maxLength: 255 }],
    [field.nullable(field.nullable(Type.Integer())), { type: ["integer", "null"] }],
    [Type.Union([Type.String(), Type.Integer()]), { anyOf: [{ type: "string" }, { type: "integer" }] }],
    [Type.String({ pattern: "^a$" }), { type: "string", pattern: "^a$" }],
    [Type.String({ pattern: "^a$", description: "an a" }), { type: "string", description: "an a" }],
    [field.from(Type.String(), { path: "/a.json" }), { type: "string" }],
    [
      Type.Array(Type.Object({ pattern: field.nullable(Type.String()) })),
      {
        type: "array",
        items: { type: "object", required: ["pattern"], properties: { pattern: { type: ["string", "null"] } } },
      },
    ],
    ["a text", "a text"],
  ])("%j is %j", (schema, expected) => {
    expect(JSON.parse(JSON.stringify(briefSchema(schema)))).toEqual(expected);
  });
});

describe("an instruction", () => {
  const headers = "Every request carries these headers:\n\n```\nAuthorization: Bearer x\n```\n\n";
  test.each([
    [`Address: a\n${headers}You need`, "Address: a\n\nYou need"],
    ['curl -X POST a -H "Authorization: Bearer x" -H "Content-Type: b" -d c', "curl -X POST a -d c"],
    ['curl -H "If-Match: a"', 'curl -H "If-Match: a"'],
    ["| a    | b |\n| ---- | --- |\n| c -- d  | e |", "| a | b |\n| - | - |\n| c -- d | e |"],
    ["a    b", "a    b"],
  ])("%j is %j", (text, expected) => {
    expect(briefInstruction(text)).toBe(expected);
  });

  test("has parts by their headings", () => {
    const text = "# T\n\nx\n\n## One two\n\ny\n\n### Deeper\n\n## Three\nz";
    expect(sectionsOf(text)).toEqual(["One two", "Three"]);
    expect(sectionOf(text, "one TWO")).toBe("## One two\n\ny\n\n### Deeper\n\n");
    expect(sectionOf(text, "Four")).toBeUndefined();
  });
});
