import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { faultsOf, jsonFault, languageOf, offsetOf, placeOf } from "./code.ts";
import { diffRows, type DiffRow } from "./diff.ts";

test.each([
  [["line 3, column 5: undefined filter: x"], [{ line: 3, column: 5, message: "undefined filter: x" }], []],
  [["12:1 Unexpected token"], [{ line: 12, column: 1, message: "Unexpected token" }], []],
  [["can't be blank", "1:2 a\nb"], [{ line: 1, column: 2, message: "a\nb" }], ["can't be blank"]],
  [
    ["12:30 is no place? 12:30", "line 1: x", ""],
    [{ line: 12, column: 30, message: "is no place? 12:30" }],
    ["line 1: x", ""],
  ],
])("of the messages %p the places are found", (messages, faults, others) => {
  expect(faultsOf(messages)).toEqual({ faults, others });
});

test.each([
  ["content", "text", "", "markdown"],
  ["source_code", "text", " <p>", "html"],
  ["source_code", "text", "export default 1", "tsx"],
  ["description", "text", "", undefined],
  ["program", "json", "", "json"],
  ["content", "line", "", undefined],
] as const)("the field %s of kind %s with %p holds %p", (name, kind, value, language) => {
  expect(languageOf(name, kind, value)).toBe(language);
});

describe("places", () => {
  test.each([
    ["ab\ncd", 1, 1, 0],
    ["ab\ncd", 2, 2, 4],
    ["ab\ncd", 1, 99, 2],
    ["ab\ncd", 9, 1, 5],
    ["", 1, 1, 0],
    ["a", 1, 0, 0],
  ])("%p, line %d, column %d is at %d", (text, line, column, offset) => {
    expect(offsetOf(text, { line, column })).toBe(offset);
  });

  test("are the inverse of offsets", () => {
    const texts = fc.array(fc.constantFrom("a", "\n", "😀"), { maxLength: 30 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(texts, fc.nat(60), (text, wanted) => {
        const offset = Math.min(wanted, text.length);
        expect(offsetOf(text, placeOf(text, offset))).toBe(offset);
      }),
    );
  });

  test.each([
    ['{"a": 1}', undefined],
    ['{"a":\n  1,\n}', true],
    ["", true],
    ['{"a": ', true],
  ])("JSON %p is wrong somewhere inside: %p", (text, isWrong) => {
    const fault = jsonFault(text, "This is not JSON.");
    expect(fault !== undefined).toBe(isWrong === true);
    if (fault) expect(offsetOf(text, fault)).toBeLessThanOrEqual(text.length);
  });
});

describe("a comparison", () => {
  const shown = (rows: readonly DiffRow[]): string[] =>
    rows.map((row) =>
      row.kind === "folded" ? `(${row.rows.length})` : `${{ same: " ", before: "-", after: "+" }[row.kind]}${row.line}`,
    );
  const numbers = "1 2 3 4 5 6 7 8 9 10 11 12".split(" ");

  test.each([
    ["a\nb", "a\nb", []],
    ["a\r\nb", "a\nb", []],
    ["a\nb", "a\nc", [" a", "-b", "+c"]],
    ["a", "a\nb", [" a", "+b"]],
    ["", "a", ["-", "+a"]],
    ["a\nb\nc", "b\nc", ["-a", " b", " c"]],
    [numbers.join("\n"), numbers.with(11, "x").join("\n"), ["(8)", " 9", " 10", " 11", "-12", "+x"]],
    [numbers.join("\n"), numbers.with(0, "x").join("\n"), ["-1", "+x", " 2", " 3", " 4", "(8)"]],
  ])("of %p and %p", (before, after, rows) => expect(shown(diffRows(before, after))).toEqual(rows));

  test("holds every line of both, each with its number", () => {
    const texts = fc.array(fc.constantFrom("a", "b", "c", ""), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const rows = diffRows(before.join("\n"), after.join("\n")).flatMap((row) =>
          row.kind === "folded" ? row.rows : [row],
        );
        if (rows.length === 0) return expect(before).toEqual(after);
        const of = (side: "from" | "to") =>
          rows.flatMap((row) => (row[side] !== undefined ? [[row[side], row.line]] : []));
        expect(of("from")).toEqual(before.map((line, at) => [at + 1, line]));
        expect(of("to")).toEqual(after.map((line, at) => [at + 1, line]));
      }),
    );
  });
});
