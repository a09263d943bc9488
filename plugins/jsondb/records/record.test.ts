import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fieldTypes, type FieldType } from "../databases/columns.ts";
import { checkPatch, checkRecord } from "./record.ts";
import { fits } from "../databases/kinds.ts";
import { parseSchema, noTable } from "../databases/schema.ts";

const tableOf = (fields: Record<string, unknown>) => {
  const result = parseSchema({ fields });
  return ("schema" in result ? result.schema.tables.get("") : undefined) ?? noTable;
};

describe("the type of a value", () => {
  const good: Record<FieldType, unknown[]> = {
    string: ["", "x", "x".repeat(100_000), "zażółć"],
    text: ["", "a\nb"],
    integer: [0, -5, 2 ** 53 - 1, -(2 ** 53) + 1, "9007199254740992", "-9223372036854775808", "9223372036854775807"],
    number: [0, 1.5, -1e300, 2 ** 60],
    boolean: [true, false],
    datetime: [
      "2026-01-31T10:00:00Z",
      "2026-01-31T10:00+02:00",
      "2026-01-31T10:00:00.123456789-0530",
      "2024-02-29T23:59:59",
      "2026-01-31T10:00:00+02",
    ],
    date: ["2026-01-31", "2024-02-29", "0001-01-01", "9999-12-31", "2000-02-29"],
    time: ["00:00", "23:59", "23:59:59"],
    list: [[], ["a", "", 1, -2.5], Array.from({ length: 100 }, () => "x")],
  };
  const bad: Record<FieldType, unknown[]> = {
    string: [1, true, {}, []],
    text: [1],
    integer: [
      1.5,
      2 ** 53,
      Number.NaN,
      "5",
      "007",
      "9007199254740991",
      "9223372036854775808",
      "-9223372036854775809",
      "1e20",
      true,
      [],
    ],
    number: ["1.5", Number.POSITIVE_INFINITY, Number.NaN, true],
    boolean: ["true", 0, 1],
    datetime: [
      "2026-01-31",
      "2026-02-30T10:00:00Z",
      "2026-01-31 10:00:00",
      "2026-01-31T24:00:00Z",
      "2026-01-31T10:60:00Z",
      "2026-01-31T10:00:00+16:00",
      "now",
      0,
    ],
    date: [
      "2026-1-1",
      "2026-02-29",
      "1900-02-29",
      "0000-01-01",
      "2026-13-01",
      "2026-00-10",
      "2026-01-31T10:00:00Z",
      20260131,
    ],
    time: ["24:00", "1:00", "10:60", "10:00:60", "10:00Z", 10],
    list: ["a", 1, {}, [null], [true], [[]], [{}], [Number.NaN], Array.from({ length: 101 }, () => "x")],
  };
  for (const type of fieldTypes) {
    test(`${type} takes its own and nothing else`, () => {
      for (const value of good[type]) expect([value, fits(type, value)]).toEqual([value, true]);
      for (const value of bad[type]) expect([value, fits(type, value)]).toEqual([value, false]);
    });
  }

  test("datetimes of every instant are taken, in any offset", () => {
    const instants = fc.date({ min: new Date("0001-01-02"), max: new Date("9999-12-30"), noInvalidDate: true });
    fc.assert(fc.property(instants, (date) => expect(fits("datetime", date.toJSON())).toBe(true)));
  });

  test("a date is taken exactly where the calendar has it", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9999 }),
        fc.integer({ min: 0, max: 13 }),
        fc.integer({ min: 0, max: 32 }),
        (y, m, d) => {
          const text = `${`${y}`.padStart(4, "0")}-${`${m}`.padStart(2, "0")}-${`${d}`.padStart(2, "0")}`;
          const date = new Date(`${text}T00:00:00Z`);
          const real = !Number.isNaN(date.getTime()) && date.toJSON().startsWith(text);
          expect([text, fits("date", text)]).toEqual([text, real]);
        },
      ),
    );
  });
});

describe("a record", () => {
  const table = tableOf({ email: { type: "string", required: true }, age: "integer" });

  test.each<[string, Record<string, unknown>, string[]]>([
    ["with all that is required passes", { email: "a" }, []],
    ["with a field that the schema does not know passes", { email: "a", other: { deep: [1] } }, []],
    ["with null where nothing is required passes", { email: "a", age: null }, []],
    ["without a required field is refused", {}, ["email"]],
    ["with null in a required field is refused", { email: null }, ["email"]],
    ["with an empty string in a required field is refused", { email: "" }, ["email"]],
    ["with two mistakes is told both", { age: "5" }, ["age", "email"]],
    [
      "with a number beyond all bounds in an unknown field is refused",
      { email: "a", x: { y: [Number.POSITIVE_INFINITY] } },
      ["x"],
    ],
    ["with a very long field name is refused", { email: "a", ["k".repeat(256)]: 1 }, ["k".repeat(60)]],
    [
      "with too many fields is refused",
      { email: "a", ...Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f${i}`, 1])) },
      ["data"],
    ],
  ])("%s", (_, data, fields) => {
    expect(Object.keys(checkRecord(table, data) ?? {}).toSorted()).toEqual(fields.toSorted());
  });

  test("that is changed need not bring its required fields, but may not lose them", () => {
    expect(checkPatch(table, { age: 5 })).toBeUndefined();
    expect(checkPatch(table, { email: null })).toEqual({ email: ["is required"] });
    expect(checkPatch(table, { age: "x" })).toHaveProperty("age");
  });

  test("of any JSON is checked without a fault of ours", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (data) => {
        const faults = checkRecord(table, data) ?? {};
        for (const messages of Object.values(faults)) expect(messages.length).toBeGreaterThan(0);
        expect(checkRecord(noTable, data)).toBeUndefined();
      }),
    );
  });

  test("of thousands of wrong entries is refused without a long list of mistakes", () => {
    const data = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`${"k".repeat(300)}${i}`, 1]));
    expect(Object.keys(checkRecord(table, data) ?? {}).length).toBeLessThanOrEqual(60);
  });
});

describe("a required field", () => {
  const table = tableOf({
    s: { type: "string", required: true },
    t: { type: "text", required: true },
    n: { type: "integer", required: true },
    free: "string",
  });
  const whole = { s: "x", t: " x ", n: 0, free: "" };
  const faults = (field: string) => ({ [field]: ["is required"] });

  test("has a value, and of texts more than blanks", () => {
    expect(checkRecord(table, whole)).toBeUndefined();
    expect(checkPatch(table, {})).toBeUndefined();
    for (const field of ["s", "t", "n"])
      for (const empty of [null, undefined, "", " ", "\t\r\n\u00a0\u2003\u3000"]) {
        expect([empty, checkRecord(table, { ...whole, [field]: empty })]).toEqual([empty, faults(field)]);
        expect([empty, checkPatch(table, { [field]: empty })]).toEqual([empty, faults(field)]);
      }
  });
});
