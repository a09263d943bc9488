import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  applyWrite,
  fillIn,
  parsePublicMethods,
  scopeValue,
  visibleFields,
  type PublicMethods,
} from "./public-methods.ts";
import type { Data } from "../records/record.ts";
import { noTable, parseSchema } from "./schema.ts";

const parsed = (value: unknown): PublicMethods => {
  const result = parsePublicMethods(value);
  if ("mistakes" in result) throw new Error(result.mistakes.join("; "));
  return result.publicMethods;
};
const values = { ip: "1.2.3.4", cookie_key: "K", user_id: "7", user_name: "Ann" };
const nobody = { ...values, user_id: "", user_name: "" };
const write = (operation: "create" | "update", methods: unknown, given: Data, variables = values) =>
  applyWrite(operation, parsed(methods), noTable, given, variables);

describe("a configuration", () => {
  test.each<[string, unknown, RegExp]>([
    ["of another type", [], /^must be an object/],
    ["with an unknown operation", { drop: true }, /^drop: is not an operation/],
    ["with an operation as text", { list: "yes" }, /^list: must be true or an object/],
    ["with an unknown option", { list: { fields: [] } }, /^list\.fields: is not an option/],
    ["with names as text", { create: { allowed_fields: "a" } }, /^create\.allowed_fields: must be an array/],
    ["with names that are none", { create: { required_fields: [1] } }, /^create\.required_fields: must be an array/],
    ["with defaults as a list", { create: { default_values: [] } }, /^create\.default_values: must be an object/],
    [
      "with an unknown variable",
      { create: { auto_fields: { a: "by {user}" } } },
      /^create\.auto_fields\.a: \{user\} is not a variable/,
    ],
    ["with a scope without its variable", { list: { scope_by: "owner" } }, /^list\.scope_by: `owner` needs a variable/],
    [
      "with a scope by what is the same for all",
      { create: { auto_fields: { v: "literal" } }, list: { scope_by: "v" } },
      /^list\.scope_by: `v` needs a variable/,
    ],
    [
      "with a scope by a number",
      { list: { scope_by: "v", auto_fields: { v: 5 } } },
      /^list\.scope_by: `v` needs a variable/,
    ],
    ["with a scope of another type", { list: { scope_by: ["a"] } }, /^list\.scope_by: must be a field name/],
    [
      "with too many names",
      { list: { allowed_fields: Array.from({ length: 201 }, (_, i) => `f${i}`) } },
      /at most 200 names/,
    ],
  ])("%s is refused with the place", (_, value, message) => {
    const result = parsePublicMethods(value);
    expect("mistakes" in result && result.mistakes.join("\n")).toMatch(message);
  });

  test("may be missing, and an operation may be switched off", () => {
    for (const none of [null, undefined, {}, { list: false, get: null }]) expect(parsed(none).methods.size).toBe(0);
  });

  test("takes a scope's variable from its own operation, else from create", () => {
    const own = parsed({
      list: { scope_by: "o", auto_fields: { o: "{ip}" } },
      create: { auto_fields: { o: "{cookie_key}" } },
    });
    expect(own.methods.get("list")?.scope).toEqual({ field: "o", value: "{ip}" });
    const ofCreate = parsed({ list: { scope_by: "o" }, create: { auto_fields: { o: "{cookie_key}" } } });
    expect(ofCreate.methods.get("list")?.scope).toEqual({ field: "o", value: "{cookie_key}" });
    const literal = parsed({
      list: { scope_by: "o", auto_fields: { o: "x" } },
      create: { auto_fields: { o: "shop {ip}" } },
    });
    expect(literal.methods.get("list")?.scope).toEqual({ field: "o", value: "shop {ip}" });
    expect([ofCreate.methods.get("list")?.usesCookie, ofCreate.methods.get("create")?.usesCookie]).toEqual([
      true,
      true,
    ]);
  });

  test("is parsed or refused, whatever JSON it is", () => {
    const options = [
      "allowed_fields",
      "required_fields",
      "default_values",
      "auto_fields",
      "allowed_params",
      "scope_by",
    ];
    const shape = fc.dictionary(
      fc.constantFrom("list", "create", "search"),
      fc.dictionary(fc.constantFrom(...options), fc.jsonValue()),
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), shape), fc.dictionary(fc.string(), fc.jsonValue()), (value, given) => {
        const result = parsePublicMethods(value);
        if ("publicMethods" in result) applyWrite("create", result.publicMethods, noTable, given, values);
        else expect(result.mistakes.length).toBeGreaterThan(0);
      }),
    );
  });
});

describe("a visitor's write", () => {
  test("goes through allowed_fields, default_values, auto_fields and required_fields in this order", () => {
    const create = {
      allowed_fields: ["a", "auto", "missing"],
      default_values: { d: "default", auto: "default", e: 5 },
      auto_fields: { auto: "{ip}" },
      required_fields: ["a", "d", "auto"],
    };
    expect(write("create", { create }, { a: 1, x: "dropped", auto: "client" })).toEqual({
      data: { d: "default", auto: "1.2.3.4", e: 5, a: 1 },
    });
    for (const a of [undefined, null, ""])
      expect(write("create", { create }, a === undefined ? {} : { a })).toEqual({ missing: ["a"] });
    expect(write("create", { create }, { a: 0 })).toHaveProperty("data");
  });

  test("gets no defaults when it is an update", () => {
    const update = { default_values: { d: 1 }, auto_fields: { by: "{user_name}" } };
    expect(write("update", { update }, { a: 1 })).toEqual({ data: { a: 1, by: "Ann" } });
  });

  test("cannot say whose a record is", () => {
    const methods = { create: { auto_fields: { owner: "{cookie_key}" } }, update: true, list: { scope_by: "owner" } };
    expect(write("create", methods, { owner: "other", a: 1 })).toEqual({ data: { a: 1, owner: "K" } });
    expect(write("update", methods, { owner: "other", a: 1 })).toEqual({ data: { a: 1 } });
    const elsewhere = { create: true, list: { scope_by: "owner", auto_fields: { owner: "{ip}" } } };
    expect(write("create", elsewhere, { owner: "other" })).toEqual({ data: { owner: "1.2.3.4" } });
  });

  test("may not bring a prototype", () => {
    const done = write("create", { create: { allowed_fields: ["a"] } }, JSON.parse('{"__proto__":{"x":1},"a":1}'));
    expect(done).toEqual({ data: { a: 1 } });
  });
});

describe("variables", () => {
  const fields = parseSchema({ fields: { n: "integer" } });
  const table = "schema" in fields ? (fields.schema.tables.get("") ?? noTable) : noTable;

  test.each<[unknown, typeof values, string | undefined, unknown]>([
    ["{ip}", values, undefined, "1.2.3.4"],
    ["{user_name} <{user_id}>", values, undefined, "Ann <7>"],
    ["{user_id}", values, undefined, 7],
    ["{user_id}", values, "text", "7"],
    ["{user_id}", nobody, undefined, ""],
    ["{user_id}0", values, undefined, "70"],
    ["{user_id}", values, "integer", 7],
    ["{user_id}", nobody, "integer", null],
    ["{user_id}", nobody, "string", ""],
    ["plain {} text", values, undefined, "plain {} text"],
    [5, values, undefined, 5],
    [{ a: "{ip}" }, values, undefined, { a: "{ip}" }],
  ])("%p is filled in", (value, variables, type, expected) => {
    expect(fillIn(value, variables, type)).toEqual(expected);
  });

  test("fit the type of their field", () => {
    const methods = parsed({ create: { auto_fields: { n: "{user_id}", s: "{user_id}" } } });
    expect(applyWrite("create", methods, table, {}, values)).toEqual({ data: { n: 7, s: 7 } });
  });

  test("that are empty show nothing", () => {
    expect(scopeValue({ field: "o", value: "{user_id}" }, values)).toBe("7");
    expect(scopeValue({ field: "o", value: "{user_id}" }, nobody)).toBeUndefined();
    expect(scopeValue({ field: "o", value: "u{user_id}" }, nobody)).toBeUndefined();
    expect(scopeValue({ field: "o", value: "shop {ip}" }, nobody)).toBe("shop 1.2.3.4");
  });

  test("whatever a visitor is called, is text and no further variable", () => {
    const odd = { ...values, user_name: "$& {ip} $1" };
    expect(fillIn("by {user_name}", odd)).toBe("by $& {ip} $1");
  });
});

test("what is shown is the allowed_fields of a reading operation, and of a write what get shows", () => {
  const methods = parsed({
    list: { allowed_fields: ["a"] },
    get: { allowed_fields: ["b"] },
    search: true,
    create: { allowed_fields: ["c"] },
    update: true,
  });
  const shown = (of: PublicMethods, operation: Parameters<typeof visibleFields>[1]) => {
    const fields = visibleFields(of, operation);
    return fields && [...fields];
  };
  expect(shown(methods, "list")).toEqual(["a"]);
  expect(shown(methods, "search")).toBeUndefined();
  expect(shown(methods, "create")).toEqual(["b"]);
  expect(shown(methods, "update")).toEqual(["b"]);
  expect(shown(parsed({ list: { allowed_fields: ["a"] }, update: true }), "update")).toEqual(["a"]);
  expect(shown(parsed({ update: { allowed_fields: ["a"] } }), "update")).toBeUndefined();
});
