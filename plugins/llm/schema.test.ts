import { expect, test } from "bun:test";
import { exactly } from "../../runtime/base/exact-number.ts";
import { answerMistake, schemaMistake } from "./schema.ts";

const person = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2, maxLength: 5 },
    age: { type: ["integer", "null"], minimum: 0, exclusiveMaximum: 150 },
    tags: { type: "array", items: { enum: ["a", { b: 1 }] }, minItems: 1, maxItems: 2 },
    either: { anyOf: [{ type: "string" }, { const: null }] },
    one: { oneOf: [{ type: "number" }, { type: "integer" }] },
    all: { allOf: [{ type: "number" }, { maximum: 3 }] },
  },
  required: ["name"],
  additionalProperties: { type: "boolean" },
};
const cases: [value: unknown, mistake: string | undefined][] = [
  [{ name: "Ewa" }, undefined],
  [{ name: "Ewa", age: null, tags: ["a", { b: 1 }], either: null, one: 0.5, all: 3, other: true }, undefined],
  [[], "the answer must be of type object, not array"],
  [{}, "name is required"],
  [{ name: "E" }, "name breaks minLength 2"],
  [{ name: "Ewelina" }, "name breaks maxLength 5"],
  [{ name: "Ewa", age: 1.5 }, "age must be of type integer or null, not number"],
  [{ name: "Ewa", age: -1 }, "age breaks minimum 0"],
  [{ name: "Ewa", age: 150 }, "age breaks exclusiveMaximum 150"],
  [{ name: "Ewa", tags: [] }, "tags breaks minItems 1"],
  [{ name: "Ewa", tags: ["a", "c"] }, 'tags[1] must be one of ["a",{"b":1}]'],
  [{ name: "Ewa", either: 7 }, "either fits none of anyOf"],
  [{ name: "Ewa", one: 7 }, "one must fit exactly one of oneOf"],
  [{ name: "Ewa", all: 4 }, "all breaks maximum 3"],
  [{ name: "Ewa", one: exactly("0.12345678901234567890") }, undefined],
  [{ name: "Ewa", age: exactly("12345678901234567890") }, "age breaks exclusiveMaximum 150"],
  [{ name: "Ewa", age: exactly("1.2345678901234567890") }, "age must be of type integer or null, not number"],
  [{ name: "Ewa", other: "x" }, "other must be of type boolean, not string"],
  [JSON.parse('{"name":"Ewa","__proto__":1}'), "__proto__ must be of type boolean, not integer"],
];
test.each(cases)("%j gives %p", (value, mistake) => {
  expect(answerMistake(person, value)).toBe(mistake);
});

const schemas: [mistake: string | undefined, schema: unknown][] = [
  [undefined, person],
  [undefined, true],
  ["schema must be a schema", "text"],
  ["schema.type must be of object, array, string, number, integer, boolean, null", { type: "text" }],
  ["schema.properties.a.pattern is not supported here", { properties: { a: { pattern: "(x+)+$" } } }],
  ["schema.$ref is not supported here", { $ref: "https://example.com" }],
  ["schema.items.minimum must be a number", { items: { minimum: "1" } }],
  ["schema.anyOf must be a list of schemas", { anyOf: [] }],
  ["has more than 500 parts", { anyOf: Array.from({ length: 501 }, () => ({})) }],
];
test.each(schemas)("a schema: %p", (mistake, schema) => {
  expect(schemaMistake(schema)).toBe(mistake);
});

test("a schema that nests endlessly is refused", () => {
  let schema: object = {};
  for (let depth = 0; depth < 40; depth++) schema = { items: schema };
  expect(schemaMistake(schema)).toContain("deeper than 32");
});
