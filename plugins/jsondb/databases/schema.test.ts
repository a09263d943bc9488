import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseSchema, schemaLimits, schemaHints } from "./schema.ts";

const parsed = (value: unknown) => {
  const result = parseSchema(value);
  if ("mistakes" in result) throw new Error(result.mistakes.join("; "));
  return result.schema;
};
const mistakesOf = (value: unknown) => {
  const result = parseSchema(value);
  return "mistakes" in result ? result.mistakes : [];
};

describe("a schema", () => {
  test("may be missing: then anything may be stored", () => {
    for (const none of [null, undefined, {}]) {
      expect(parsed(none).multiTable).toBe(false);
      expect(parsed(none).tables.get("")?.fields.size).toBe(0);
    }
  });

  test("takes fields in short and full form", () => {
    const table = parsed({ fields: { a: "string", b: { type: "integer", required: true } } }).tables.get("");
    expect([...(table?.fields ?? [])]).toEqual([
      ["a", { type: "string", required: false }],
      ["b", { type: "integer", required: true }],
    ]);
    expect(table?.required).toEqual(["b"]);
  });

  test("with tables has the null table, without rules, beside them", () => {
    const schema = parsed({ tables: { orders: { fields: { no: "string" }, indexed_fields: ["no"] } } });
    expect(schema.multiTable).toBe(true);
    expect([...schema.tables.keys()]).toEqual(["", "orders"]);
    expect(schema.tables.get("")?.fields.size).toBe(0);
    expect(schema.tables.get("orders")?.indexFields[0]).toBe("no");
  });

  test("gives every table all of the columns", () => {
    const table = { fields: { a: "string", b: "string", c: "string" }, indexed_fields: ["a", "b", "c"] };
    const { tables } = parsed({ tables: { x: table, y: table } });
    expect([...tables.values()].map(({ indexes }) => indexes.size)).toEqual([0, 3, 3]);
  });

  test("takes sorts; both directions of one are the same", () => {
    const table = { fields: { a: "string", n: "integer" }, indexed_fields: ["a", "n"] };
    const sorts = [
      ["a", "-n"],
      ["a", "n"],
      ["n", "a"],
    ];
    const { tables } = parsed({ ...table, sorts });
    expect(tables.get("")?.sorts).toEqual([
      { filter: "idx_str_1", order: "idx_int_1" },
      { filter: "idx_str_1", order: "idx_int_1" },
      { filter: "idx_int_1", order: "idx_str_1" },
    ]);
    expect(schemaHints({ ...table, sorts })).toEqual([]);
    expect(parsed({ ...table, sorts: null }).tables.get("")?.sorts).toEqual([]);
  });

  const fields = { name: "string", age: "integer", at: "datetime", ok: "boolean" };
  test.each<[string, unknown, RegExp]>([
    ["of another type", "x", /^must be an object/],
    ["that is an array", [], /^must be an object/],
    ["with an unknown type", { fields: { age: "float" } }, /^fields\.age: must be one of string, .* not "float"/],
    ["with an unknown type in full form", { fields: { age: { type: "float" } } }, /^fields\.age\.type: must be one of/],
    ["with a field without a type", { fields: { age: {} } }, /^fields\.age\.type: .*not nothing/],
    [
      "with `required` that is no flag",
      { fields: { age: { type: "integer", required: "yes" } } },
      /^fields\.age\.required:/,
    ],
    ["with fields as a list", { fields: ["age"] }, /^fields: must be an object/],
    ["with tables and fields", { tables: {}, fields }, /^fields: has both `tables` and `fields`/],
    ["with tables and indexes", { tables: {}, indexes: {} }, /both/],
    ["with tables as a list", { tables: [] }, /^tables: must be an object/],
    ["with a table that is none", { tables: { a: "b" } }, /^tables\.a: must be an object/],
    ["with a wrong field in a table", { tables: { a: { fields: { x: 1 } } } }, /^tables\.a\.fields\.x: must be one of/],
    [
      "with an index of no field",
      { fields, indexes: { nope: "idx_str_1" } },
      /^indexes\.nope: is not one of the fields/,
    ],
    ["with sorts that are no list", { fields, sorts: { name: "age" } }, /^sorts: must be an array of pairs/],
    ["with a sort that is no pair", { fields, sorts: [["name"]] }, /^sorts\[0\]: must be a pair/],
    ["with a sort of three", { fields, sorts: [["name", "age", "at"]] }, /^sorts\[0\]: must be a pair/],
    [
      "with a filter of no field",
      { fields, indexed_fields: ["age"], sorts: [["nope", "-age"]] },
      /^sorts\[0\]\[0\]: "nope" is not one of the fields/,
    ],
    [
      "with an order of no field",
      { fields, indexed_fields: ["name"], sorts: [["name", "-score"]] },
      /^sorts\[0\]\[1\]: "score" is not one of the fields/,
    ],
    [
      "with a filter that is no name",
      { fields, indexed_fields: ["age"], sorts: [[7, "age"]] },
      /^sorts\[0\]\[0\]: 7 is not one of the fields/,
    ],
    [
      "with a sort by a field without an index",
      { fields, indexed_fields: ["name"], sorts: [["name", "-age"]] },
      /^sorts\[0\]\[1\]: "age" has no index column: `indexed_fields` gives one/,
    ],
    [
      "with a filter that no index holds",
      { fields, indexed_fields: ["ok", "age"], sorts: [["ok", "age"]] },
      /^sorts\[0\]\[0\]: "ok" has no index column/,
    ],
    [
      "with a filter and an order that are one",
      { fields, indexed_fields: ["name"], sorts: [["name", "-name"]] },
      /^sorts\[0\]\[1\]: must be another field/,
    ],
    [
      "with a wrong sort in a table",
      {
        tables: {
          a: {
            fields,
            indexed_fields: ["name", "age"],
            sorts: [
              ["name", "age"],
              ["name", "at"],
            ],
          },
        },
      },
      /^tables\.a\.sorts\[1\]\[1\]: "at" has no index column/,
    ],
    ["with tables and sorts", { tables: {}, sorts: [] }, /^sorts: has both/],
    [
      "with too many sorts",
      {
        fields,
        indexed_fields: ["name", "age", "at"],
        sorts: [
          ["name", "age"],
          ["name", "at"],
          ["age", "at"],
          ["age", "name"],
          ["at", "name"],
        ],
      },
      /^sorts: a database may have at most 4/,
    ],
    ["with an unknown column", { fields, indexes: { name: "idx_str_9" } }, /^indexes\.name: must be an index column/],
    [
      "with a column of another type",
      { fields, indexes: { name: "idx_int_1" } },
      /^indexes\.name: idx_int_1 cannot hold/,
    ],
    ["with an indexed boolean", { fields, indexes: { ok: "idx_str_1" } }, /^indexes\.ok: idx_str_1 cannot hold/],
    [
      "with two fields on one column",
      { fields: { a: "string", b: "string" }, indexes: { a: "idx_str_1", b: "idx_str_1" } },
      /^indexes\.b: idx_str_1 is taken by a/,
    ],
    ["with `indexes` as a list", { fields, indexes: ["name"] }, /^indexes: must be an object/],
    [
      "that lists an unknown field",
      { fields, indexed_fields: ["name", "nope"] },
      /^indexed_fields\[1\]: "nope" is not one/,
    ],
    ["that lists no array", { fields, indexed_fields: "name" }, /^indexed_fields: must be an array/],
    ["with an empty name", { fields: { "": "string" } }, /1 to 100 characters/],
    ["with a control character in a name", { fields: { "a\u0007": "string" } }, /control character/],
    ["with a long name", { fields: { ["x".repeat(101)]: "string" } }, /1 to 100 characters/],
    [
      "with too many fields",
      { fields: Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`f${i}`, "string"])) },
      /at most 200 fields/,
    ],
    [
      "with too many tables",
      { tables: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`t${i}`, { fields }])) },
      /at most 100 tables/,
    ],
  ])("%s is refused with the place", (_, schema, message) => {
    expect(mistakesOf(schema).join("\n")).toMatch(message);
  });

  test("may have fields named like properties of objects", () => {
    const names = ["constructor", "toString", "hasOwnProperty", "length"];
    const source = {
      fields: Object.fromEntries(names.map((name) => [name, "string"])),
      indexed_fields: ["constructor"],
    };
    expect([...(parsed(source).tables.get("")?.fields.keys() ?? [])]).toEqual(names);
    const proto = parsed(JSON.parse('{"fields":{"__proto__":"string"},"indexed_fields":["__proto__"]}'));
    expect(proto.tables.get("")?.indexes.get("__proto__")).toBe("idx_str_1");
  });

  test("is parsed or refused, whatever JSON it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (whole, part) => {
        for (const value of [
          whole,
          { fields: part },
          { tables: part },
          { tables: { t: part } },
          { fields: { a: "string" }, indexes: part, indexed_fields: part },
        ])
          expect(mistakesOf(value).length).toBeLessThanOrEqual(schemaLimits.tables);
      }),
    );
  });
});
