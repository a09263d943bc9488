import { describe, expect, test } from "bun:test";
import { field, Type } from "platform";
import { briefSchema, sectionOf, sectionsOf } from "./guide.ts";

describe("a schema in fewer words", () => {
  test.each<[unknown, unknown]>([
    [field.oneOf(["a", "b"]), { enum: ["a", "b"] }],
    [field.nullable(field.oneOf(["a", "b"])), { enum: ["a", "b", null] }],
    [field.line(), { type: ["string", "null"] }],
    [field.nullable(field.nullable(Type.Integer())), { type: ["integer", "null"] }],
    [Type.Union([Type.String({ minLength: 1 }), Type.Integer()]), { type: ["string", "integer"] }],
    [
      Type.Union([Type.String(), Type.Integer({ minimum: 1 })]),
      { anyOf: [{ type: "string" }, { type: "integer", minimum: 1 }] },
    ],
    [Type.Record(Type.String(), Type.Unknown()), { type: "object" }],
    [Type.Record(Type.String(), Type.Integer()), { type: "object", additionalProperties: { type: "integer" } }],
    [Type.Record(Type.String(), Type.Integer(), { description: "ages" }), { type: "object", description: "ages" }],
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
  test("has parts by their headings", () => {
    const text = "# T\n\nx\n\n## One two\n\ny\n\n### Deeper\n\n## Three\nz";
    expect(sectionsOf(text)).toEqual(["One two", "Three"]);
    expect(sectionOf(text, "one TWO")).toBe("## One two\n\ny\n\n### Deeper\n\n");
    expect(sectionOf(text, "Four")).toBeUndefined();
  });
});
