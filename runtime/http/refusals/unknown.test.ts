import { Type } from "@sinclair/typebox";
import { describe, expect, test } from "bun:test";
import { ValidationError, type FieldErrors } from "../../base/errors.ts";
import { nearest } from "../../base/text.ts";
import { bodyHints, queryHints, refuseUnlisted, unknownNames } from "./unknown.ts";

describe("the nearest name", () => {
  test.each<[string, string[], string[]]>([
    ["limt", ["limit", "offset"], ["limit"]],
    ["ofset", ["limit", "offset"], ["offset"]],
    ["naem", ["name", "code"], ["name"]],
    ["layout", ["name", "layout_code", "locale"], ["layout_code"]],
    ["layout", ["name", "layout_id", "layout_code"], ["layout_id", "layout_code"]],
    ["tableName", ["table_name", "data"], ["table_name"]],
    ["table-name", ["table_name", "data"], ["table_name"]],
    ["TABLE_NAME", ["table_name"], ["table_name"]],
    ["filters[city]", ["q", "filter[city]"], ["filter[city]"]],
    ["colour", ["name", "code"], []],
    ["x", ["q"], []],
    ["", ["q"], []],
    ["anything", [], []],
    ["a".repeat(100_000), ["a".repeat(99)], []],
  ])("to %p among %p is %p", (name, known, expected) => {
    expect(nearest(name, known)).toEqual(expected);
  });
});

describe("what is told", () => {
  const told = (name: string) => `unknown "${name}"`;

  test("is each name once, with the nearest or all that are known", () => {
    expect(unknownNames(["limt", "limit", "limt", "foo"], ["limit", "q"], told)).toEqual([
      'unknown "limt": did you mean "limit"?',
      'unknown "foo": known are limit, q',
    ]);
    expect(unknownNames(["foo"], [], told)).toEqual(['unknown "foo": none is known here']);
    expect(unknownNames(["x".repeat(1000)], [], told)).toEqual([`unknown "${"x".repeat(60)}...": none is known here`]);
  });

  test("is bounded, however many there are", () => {
    const many = Array.from({ length: 300_000 }, (_, at) => `n${at}`);
    const texts = unknownNames(many, ["limit"], told);
    expect([texts.length, texts.at(-1)]).toEqual([6, "and 299995 more unknown names"]);
  });
});

describe("of an address", () => {
  const declared = { limit: "how many", "filter[<field>]": "exactly" };
  const page = { limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }), offset: Type.Integer({ default: 0 }) };
  test.each<[object | undefined, string, string[]]>([
    [declared, "limit=1&filter[a]=1&filter[b][gt]=2", []],
    [declared, "limits=1", ['unknown query parameter "limits": did you mean "limit"?']],
    [{ ...declared, "*": "variables" }, "limits=1&anything=2", []],
    [{}, "a=1", ['unknown query parameter "a": none is known here']],
    [undefined, "a=1", ['unknown query parameter "a": none is known here']],
    [undefined, "", []],
    [page, "limit=100&offset=%2B7", []],
    [page, "limit=&offset=", []],
    [page, "limit=101", ["limit: 101 is out of range, 100 is taken"]],
    [page, "limit=0", ["limit: 0 is out of range, 1 is taken"]],
    [page, "limit=ten", ["limit: ten is no whole number, 20 is taken"]],
    [
      page,
      "offset=-1&page=2",
      ["offset: -1 is out of range, 0 is taken", 'unknown query parameter "page": known are limit, offset'],
    ],
  ])("declared as %p, %p", (given, query, expected) => {
    expect(queryHints(given as Record<string, unknown>, new URLSearchParams(query))).toEqual(expected);
  });
});

test.each<[query: string, mistakes: FieldErrors | undefined]>([
  ["status=open&sort=any&names=a&names[]=b", undefined],
  ["status=", undefined],
  ["status=opn", { status: ["must be one of open, closed"] }],
  ["status=open&status=shut", { status: ["must be one of open, closed"] }],
  ["kind=c", { kind: ["must be one of a, b"] }],
])("of an address, %p is refused with %p", (query, mistakes) => {
  const kind = Type.Union([Type.Literal("a"), Type.Literal("b")]);
  const names = Type.Union([Type.String(), Type.Array(Type.String())]);
  const declared = { status: Type.String({ enum: ["open", "closed"] }), kind, names, sort: "as a text" };
  let found: unknown;
  try {
    refuseUnlisted(declared, new URLSearchParams(query));
  } catch (error) {
    found = error;
  }
  expect(found instanceof ValidationError ? found.fields : undefined).toEqual(mistakes);
});

describe("of a body", () => {
  const schema = Type.Object({ name: Type.String(), table_name: Type.Optional(Type.String()) });
  const hints = (whole: Record<string, object>) => bodyHints({ key: "note", schema }, whole, whole["note"] ?? {});

  test("names what is not in the schema, at its place", () => {
    expect(hints({ note: { name: "x" } })).toEqual([]);
    expect(hints({ note: { naem: "x", constructor: 1 } })).toEqual([
      'unknown field "naem": did you mean "name"?',
      'unknown field "constructor": known are name, table_name',
    ]);
    expect(hints({ table_name: {}, notes: {}, note: {} })).toEqual([
      '"table_name" is not read beside "note": put it inside',
      'unknown field "notes" beside "note": did you mean "note"?',
    ]);
    expect(bodyHints({ schema }, { nmae: 1 }, { nmae: 1 })).toEqual(['unknown field "nmae": did you mean "name"?']);
  });
});
