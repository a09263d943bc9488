import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { csvReader, csvLine, detectSeparator, withoutFormula, type CsvRow } from "./csv.ts";

function readAll(pieces: readonly string[], separator = ",", maxLength = 1000): CsvRow[] {
  const reader = csvReader(separator, maxLength);
  return [...pieces.flatMap((piece) => [...reader.push(piece)]), ...reader.end()];
}

const cells = (text: string, separator?: string) => readAll([text], separator).map((row) => row.cells);

describe("the CSV reader", () => {
  const cases: [string, string, (string | null)[][]][] = [
    [
      "rows that end in CRLF",
      "a,b\r\n1,2\r\n",
      [
        ["a", "b"],
        ["1", "2"],
      ],
    ],
    [
      "rows that end in LF, the last one in nothing",
      "a,b\n1,2",
      [
        ["a", "b"],
        ["1", "2"],
      ],
    ],
    ["rows that end in CR", "a\r1\r", [["a"], ["1"]]],
    ["quoted cells with separators, line breaks and quotes", '"a,b","c\r\nd","e""f"\n', [["a,b", "c\r\nd", 'e"f']]],
    ["an empty cell as null and a quoted empty one as text", 'a,,""\n', [["a", null, ""]]],
    ["an empty cell at the end", "a,\n", [["a", null]]],
    ["no row of empty cells alone, but one of quoted ones", ',\n ,\n"",\n', [["", null]]],
    ["the null of MySQL as an empty cell, unless it is quoted", '\\N,"\\N"\n', [[null, String.raw`\N`]]],
    [
      "no line that only names the separator",
      "sep=,\na,b\nsep=,\n",
      [
        ["a", "b"],
        ["sep=", null],
      ],
    ],
    ["a cell that is two quotes", '""\n', [[""]]],
    ["a cell of one quote", '""""', [['"']]],
    ["quotes inside of a cell as they are", '5" pipe,x\n', [['5" pipe', "x"]]],
    ["no row where a line is blank", "\n\na\r\n\r\nb\n\n", [["a"], ["b"]]],
    ["nothing", "", []],
  ];
  for (const [what, text, rows] of cases) test(`reads ${what}`, () => expect(cells(text)).toEqual(rows));

  test("takes another separator where it is told so", () => {
    expect(cells('a;"b;c";d,e\n', ";")).toEqual([["a", "b;c", "d,e"]]);
    expect(cells("a\tb\n", "\t")).toEqual([["a", "b"]]);
  });

  test("says on which line a row begins", () => {
    expect(readAll(['a\r\n"b\nb"\r\n\r\nc\n']).map(({ line }) => line)).toEqual([1, 2, 5]);
  });

  test("says what is wrong with a row, and goes on", () => {
    const [first, second, third] = readAll(['"a"b,c\nd\n"e\nf']);
    expect(first?.fault).toContain("after a closing quote");
    expect(second).toEqual({ cells: ["d"], quoted: [false], line: 2 });
    expect(third?.fault).toContain("not closed");
  });

  test("ends at a row that is too long, whether it comes in one piece or many", () => {
    for (const pieces of [
      [`a\n"${"x".repeat(2000)}"\nb\n`],
      ["a\n", '"', ...Array(200).fill("xxxxxxxxxx"), '"\nb\n'],
    ]) {
      const rows = readAll(pieces);
      expect(rows.map(({ last }) => last)).toEqual([undefined, true]);
      expect(rows[1]?.fault).toContain("1000 characters");
    }
  });

  test("reads back what the writer wrote, however it is cut", () => {
    const cell = fc.option(
      fc.string({ unit: fc.constantFrom("a", ",", '"', "\r", "\n", " ", ";", "\t", "\\", "N", "ż", "😀") }),
    );
    const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 5 });
    fc.assert(
      fc.property(rows, fc.array(fc.nat(100)), (given, cuts) => {
        const text = given.map((row) => csvLine(row)).join("");
        const filled = given.filter((row) => row.some((one) => one !== null));
        const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((a, b) => a - b), text.length];
        const pieces = places.slice(1).map((place, at) => text.slice(places[at], place));
        expect(readAll(pieces).map((row) => row.cells)).toEqual(filled);
      }),
      { numRuns: 500 },
    );
  });

  test("never fails, and gives the same rows however the text is cut", () => {
    const text = fc.string({ unit: fc.constantFrom("a", ",", '"', "\r", "\n", "b") });
    fc.assert(
      fc.property(text, fc.nat(20), (given, cut) => {
        const whole = readAll([given]);
        expect(readAll([given.slice(0, cut), given.slice(cut)])).toEqual(whole);
        expect(readAll(given.split(""))).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });
});

test("the separator is the one that the first line has most of, outside of quotes", () => {
  const cases: [string, string][] = [
    ["a,b,c", ","],
    ["a;b;c\n1,5;2,5;3,5", ";"],
    ["a\tb\r\n", "\t"],
    ['"a,b,c";d', ";"],
    ["alone", ","],
    ["", ","],
    ["\r\n\na;b", ";"],
    ["sep=|\r\na,b,c", "|"],
    ['"SEP=;"\na,b,c', ";"],
    ["sep=x,y", ","],
  ];
  for (const [text, separator] of cases) expect(detectSeparator(text)).toBe(separator);
});

test("texts that a spreadsheet takes for a formula get an apostrophe", () => {
  for (const text of ["=1+1", "+A1", "-1+cmd|' /C calc'!A0", "@x", "\tx", "\rx", "-x", "＝1", "+1e5"])
    expect(withoutFormula(text)).toBe(`'${text}`);
  const harmless = ["", "a=1", "1", " =1", "'x", "+49 (0)30 / 123-45", "+48123456789", "-1", "-1,234.50", "-5 %", "-"];
  for (const text of harmless) expect(withoutFormula(text)).toBe(text);
});
