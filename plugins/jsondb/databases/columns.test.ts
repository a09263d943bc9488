import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  columnKindOf,
  fieldTypes,
  indexColumns,
  kindOf,
  planFields,
  planIndexes,
  type FieldType,
  type IndexColumn,
} from "./columns.ts";

const fieldsOf = (types: Record<string, FieldType>) =>
  new Map(Object.entries(types).map(([name, type]) => [name, { type, required: false }]));

const plan = (types: Record<string, FieldType>, listed: string[], explicit: Record<string, IndexColumn> = {}) =>
  Object.fromEntries(planIndexes(fieldsOf(types), { listed, explicit: new Map(Object.entries(explicit)) }));

describe("planning index columns", () => {
  const many = { a: "string", b: "text", c: "string", d: "string", i: "integer", n: "number", m: "integer" } as const;
  const times = { day: "date", at: "datetime", clock: "time", flag: "boolean" } as const;
  test.each([
    ["nothing is indexed unless it is listed", many, [], {}, {}],
    ["columns are given by type", many, ["a", "i"], {}, { a: "idx_str_1", i: "idx_int_1" }],
    ["text is a string, number an integer", many, ["b", "n"], {}, { b: "idx_str_1", n: "idx_int_1" }],
    ["the list's order counts", many, ["c", "a"], {}, { c: "idx_str_1", a: "idx_str_2" }],
    [
      "what does not fit is left out",
      many,
      ["a", "b", "c", "d"],
      {},
      { a: "idx_str_1", b: "idx_str_2", c: "idx_str_3" },
    ],
    ["a third integer is left out", many, ["i", "n", "m", "a"], {}, { i: "idx_int_1", n: "idx_int_2", a: "idx_str_1" }],
    [
      "dates and times share the time columns",
      times,
      ["day", "clock", "at"],
      {},
      { day: "idx_time_1", clock: "idx_time_2" },
    ],
    ["a boolean has no column", times, ["flag", "at"], {}, { at: "idx_time_1" }],
    ["a field listed twice takes one column", many, ["a", "a", "b"], {}, { a: "idx_str_1", b: "idx_str_2" }],
    ["explicit columns stand", many, [], { a: "idx_str_3" }, { a: "idx_str_3" }],
    [
      "listed fields take what explicit ones leave",
      many,
      ["b", "a"],
      { a: "idx_str_1" },
      { a: "idx_str_1", b: "idx_str_2" },
    ],
  ] as const)("%s", (_, types, listed, explicit, expected) => {
    expect(plan(types, [...listed], explicit)).toEqual(expected);
  });

  test("any list gives each field at most one column of its kind, and each column at most one field", () => {
    const types = fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), fc.constantFrom(...fieldTypes));
    fc.assert(
      fc.property(types, fc.array(fc.string({ maxLength: 3 })), (given, others) => {
        const fields = fieldsOf(given);
        const listed = [...others, ...fields.keys()];
        const found = planIndexes(fields, { listed, explicit: new Map() });
        for (const [name, column] of found) expect(columnKindOf(fields.get(name)?.type)).toBe(kindOf(column));
        expect(new Set(found.values()).size).toBe(found.size);
        expect(planFields(found)).toHaveLength(indexColumns.length);
      }),
    );
  });
});
