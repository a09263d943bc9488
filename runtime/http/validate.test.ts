import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { ValidationError } from "../base/errors.ts";
import { exactly } from "../base/exact-number.ts";
import { field } from "./answers/fields.ts";
import { checkerOf, givenFields, mayBeUnstorable } from "./validate.ts";

const schema = Type.Object({
  name: field.name(),
  kind: Type.Optional(field.oneOf(["chat", "agent"])),
  role: Type.Optional(field.nullable(field.oneOf(["admin", "guest"]))),
  token_kind: Type.Optional(Type.Union([Type.Literal("web_token"), Type.Literal(""), Type.Null()])),
  line: Type.Optional(field.line(5)),
  tags: Type.Optional(field.nullable(field.names(2))),
  ids: Type.Optional(field.ids()),
  size: Type.Optional(field.nullable(Type.Integer({ minimum: 1 }))),
  active: Type.Optional(field.flag()),
  any: Type.Optional(Type.Unknown()),
  map: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
const check = checkerOf(schema);

function mistakesIn(fields: object): unknown {
  try {
    return check({ name: "x", ...fields });
  } catch (error) {
    return error instanceof ValidationError ? error.fields : error;
  }
}

describe("a field that does not fit", () => {
  test.each<[object, object]>([
    [{ kind: "x" }, { kind: ["must be one of chat, agent"] }],
    [{ kind: 5 }, { kind: ["must be one of chat, agent"] }],
    [{ role: "x" }, { role: ["must be one of admin, guest"] }],
    [{ token_kind: "x" }, { token_kind: ["must be one of web_token, empty"] }],
    [{ line: "123456" }, { line: ["may have at most 5 characters"] }],
    [{ line: 5 }, { line: ["must be a string"] }],
    [{ tags: [5] }, { tags: ["0 must be a string"] }],
    [{ tags: ["a", ""] }, { tags: ["1 can't be blank"] }],
    [{ tags: ["a", "b", "c"] }, { tags: ["may have at most 2 elements"] }],
    [{ tags: "a" }, { tags: ["must be an array"] }],
    [{ ids: [1, "x"] }, { ids: ["1 must be a whole number"] }],
    [{ size: 0 }, { size: ["must be at least 1"] }],
    [{ size: "1" }, { size: ["must be a whole number"] }],
    [{ size: exactly("9007199254740993") }, { size: ["must be a whole number of at most 15 digits"] }],
    [{ line: exactly("9007199254740993") }, { line: ["must be a string"] }],
    [{ map: exactly("9007199254740993") }, { map: ["must be an object"] }],
  ])("%j says %j", (fields, messages) => expect(mistakesIn(fields)).toEqual(messages));
});

describe("null in a new object", () => {
  test("is as good as left out where the field may be left out and null has no meaning", () => {
    const nothing = Object.fromEntries(Object.keys(schema.properties).map((key) => [key, null]));
    expect(givenFields(schema, { ...nothing, other: null })).toEqual({
      name: null,
      role: null,
      token_kind: null,
      line: null,
      tags: null,
      size: null,
      any: null,
      other: null,
    });
  });

  test.each([null, 5, "x", [null], { name: "x" }, JSON.parse('{"__proto__":null}')])("%j stays as it is", (value) => {
    expect(givenFields(schema, value)).toEqual(value);
  });
});

describe("numbers that are too long", () => {
  const digits = (count: number) => "7".repeat(count);

  test.each([0, 1, 199, 200, 201, 399])("are found wherever they stand: after %d characters", (before) => {
    expect(mayBeUnstorable(" ".repeat(before) + digits(200))).toBe(true);
    expect(mayBeUnstorable(`${" ".repeat(before)}${digits(200)} `)).toBe(true);
    expect(mayBeUnstorable(" ".repeat(before) + digits(1_000))).toBe(true);
  });

  test.each([0, 1, 199, 200, 201, 399])("are not seen in shorter ones after %d characters", (before) => {
    expect(mayBeUnstorable(" ".repeat(before) + digits(199))).toBe(false);
    expect(mayBeUnstorable(" ".repeat(before) + `${digits(199)}a`.repeat(50))).toBe(false);
  });
});
