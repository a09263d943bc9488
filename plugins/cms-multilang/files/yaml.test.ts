import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { exactly, parseExactly } from "../../../runtime/base/exact-number.ts";
import { numberLiteral } from "../../../tests/number-literals.ts";
import { parseYaml, printYaml, type Values } from "./yaml.ts";

const key = fc.oneof(
  fc.stringMatching(/^[a-z_]{1,8}$/),
  fc.constantFrom("pl", "en", "__proto__", "constructor", "no", "a b", "", 'q"', "ź", "1"),
  fc.string({ maxLength: 8 }),
);
const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc
    .array(fc.constantFrom("word", "a: b", "x # y", "", " ", "  in", "#", "---", "|", "\t", "end ", "\r", "zażółć"), {
      maxLength: 6,
    })
    .map((words) => words.join("\n")),
  fc.constantFrom(
    "true",
    "No",
    "null",
    "2026-10-01",
    "2026-10-01T10:00:00Z",
    "12",
    "1e5",
    "a:",
    "- a",
    "~",
    "/",
    "\u2028",
  ),
);
const leaf = fc.oneof(
  text,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
  numberLiteral.map(exactly),
);
const { map } = fc.letrec<{ value: unknown; map: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie("value"), { maxLength: 3 }), tie("map")),
  map: fc.array(fc.tuple(key, tie("value")), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
}));

describe("front matter", () => {
  test("reads back whatever it prints", () => {
    fc.assert(
      fc.property(map, (given) => {
        const values = parseExactly(JSON.stringify(given)) as Values;
        const { values: read, mistakes } = parseYaml(printYaml(values));
        expect(mistakes).toEqual([]);
        expect(JSON.stringify(read)).toBe(JSON.stringify(values));
      }),
      { numRuns: 500 },
    );
  });

  test("is YAML: another reader finds the same", () => {
    const values: Values = {
      name: "O nas",
      path: "",
      position: 3,
      active: false,
      layout: null,
      published_at: "2026-10-01T10:00:00Z",
      quoted: "a: b # c",
      fields: {
        pl: { title: "Zażółć", lead: "one\n\n  two\nthree", kept: "a\nb\n" },
        tags: ["a", { b: 1 }],
        empty: {},
      },
    };
    const printed = printYaml(values);
    expect(Bun.YAML.parse(printed.replace(/^(published_at: )(.*)$/m, '$1"$2"'))).toEqual(values);
  });

  const mistakes: [string, string, number, RegExp][] = [
    ["a line that is no key and value", "name: A\nhello\n", 2, /key: value/],
    ["a key that stands twice", "a: b\na: c\n", 2, /twice/],
    ["wrong indentation", "fields:\n  a: b\n   c: d\n", 3, /indented/],
    ["a tab", "fields:\n\ta: b\n", 1, /no value/],
    ["a colon in a plain text", "a: b: c\n", 1, /double quotes/],
    ["a comment behind a value", "a: b # c\n", 1, /double quotes/],
    ["a broken quote", 'a: "b\n', 1, /double quotes/],
    ["a list", "a:\n  - b\n", 2, /key: value/],
    ["a key without a value", "a:\nb: c\n", 1, /no value/],
    ["an anchor", "a: &x b\n", 1, /double quotes/],
    ["too deep a map", Array.from({ length: 40 }, (_, n) => `${"  ".repeat(n)}a:`).join("\n"), 31, /deeply/],
  ];
  test.each(mistakes)("names the line of %s", (_, source, line, message) => {
    const [first] = parseYaml(source).mistakes;
    expect(first?.line).toBe(line);
    expect(first?.message).toMatch(message);
  });

  test("ends in time, whatever it is given", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 300 }), (source) => void parseYaml(source)));
    parseYaml("a:\n".repeat(100_000));
    parseYaml(`a: ${"[".repeat(100_000)}`);
  });

  test("accepts Windows line ends, comments and blank lines", () => {
    expect(parseYaml("# note\r\n\r\nname: A\r\nfields:\r\n  # inner\r\n  b: 1\r\n").values).toEqual({
      name: "A",
      fields: { b: 1 },
    });
  });
});
