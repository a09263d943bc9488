import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { localOf, timeOf } from "../../zoned.ts";
import { bodyFor, isSame, parameterOf, pathValues } from "../action.ts";
import { faultsOf, jsonFault, languageOf, offsetOf, placeOf } from "./faults.ts";
import { diffRows, type DiffRow } from "../show/diff.ts";
import { jsonPlace } from "./json-place.ts";
import { headOf, shortId, summaryOf } from "../show/value.ts";

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
  expect(languageOf({ name, kind }, value)).toBe(language);
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

describe("the place of a message in JSON", () => {
  const program = `[
  { "type": "if", "note": "a ] in a text", "then": [
    { "type": "connector" }
  ] },
  { "type": "nonsense" }
]`;
  test.each([
    ["program[0].then[0].connector is required", "program", 3, 5],
    ["program[0].then[0].type must be one of", "program", 3, 7],
    ["program[1].type must be one of", "program", 5, 5],
    ["0.then: must be an array", "program", 2, 44],
    ["program must be an array of steps", "program", undefined, undefined],
    ["is required", "program", undefined, undefined],
    ["program[7].type must be one of", "program", undefined, undefined],
  ])("%s of %s is at %p, %p", (message, field, line, column) => {
    const fault = jsonPlace(program, message, field);
    expect([fault?.line, fault?.column]).toEqual([line, column]);
    if (fault) expect(fault.message).toBe(message);
  });

  test.each([
    ["methods.current.method must be one of", '{"methods":{"current":{"method":1}}}', 24],
    ["a.b is wrong", '{"a": 1', 2],
    ["a is wrong", "no json {{{", undefined],
    ["a is wrong", "", undefined],
    ["a.b is wrong", '{"x": "\\"", "a": {"b": 2}}', 19],
  ])("%s in %s is at column %p", (message, text, column) => {
    expect(jsonPlace(text, message, "fields")?.column).toBe(column);
  });
});

describe("times in the account's zone", () => {
  test.each([
    ["2026-01-31T10:00:00Z", "Europe/Warsaw", "2026-01-31T11:00"],
    ["2026-07-31T22:30:00Z", "Europe/Warsaw", "2026-08-01T00:30"],
    ["2026-01-31T10:00:00Z", "America/New_York", "2026-01-31T05:00"],
    ["2026-01-31T10:00:00Z", "Asia/Kathmandu", "2026-01-31T15:45"],
  ])("%s in %s is typed as %s", (time, zone, local) => {
    expect(localOf(time, zone)).toBe(local);
    expect(Date.parse(timeOf(local, zone))).toBe(Date.parse(time));
  });
  test("that clocks skip are an hour later", () => {
    expect(timeOf("2026-03-29T02:30", "Europe/Warsaw")).toBe("2026-03-29T01:30:00.000Z");
  });
  test("are none if nothing is typed", () => {
    expect([timeOf("", "UTC"), localOf("soon", "UTC")]).toEqual(["", ""]);
  });
});

describe("values to be read", () => {
  test.each([
    [{ pl: { state: "own", page: "x" }, de: { state: "missing" } }, "pl: own, de: missing"],
    [{ en: { page: "x", state: "stale" } }, "en: stale"],
    [{ a: 1, b: null, c: [1, 2] }, "a: 1, b: –, c: [2]"],
    [["x", { name: "y" }], "x, y"],
    [[], ""],
  ])("%p is in one line %p", (value, line) => expect(summaryOf(value)).toBe(line));

  test.each([
    ["id", "01a20495-adad-7453-ac90-2827e5e3eaf3", "…e5e3eaf3"],
    ["app_id", "01a20495-adad-7453-ac90-2827e5e3eaf3", undefined],
    ["id", "7", undefined],
  ])("%s %s is short as %p", (name, value, short) => expect(shortId(name, value)).toBe(short));

  test.each([
    [{ id: "2.then.0", type: "each", status: "finished", output: {} }, "2.then.0 · each · finished"],
    [{ question: "why" }, "question: why"],
  ])("%p is headed %p", (one, head) => expect(headOf(one)).toBe(head));
});

describe("an action", () => {
  test.each([
    ["/connect/connectors/{code}/{method_name}.json", "method_name"],
    ["/account/crons/{id}/run.json", undefined],
    ["/core/prompts/{id}.json", undefined],
  ])("at %s takes %p", (path, name) => expect(parameterOf({ path })).toBe(name));

  test.each([
    [{ id: 1, kind: "x" }, { id: 1, kind: "y" }, true],
    [{ id: 2, kind: "x" }, { id: 1, kind: "y" }, false],
    [{ id: 1, status: "x" }, { id: 1, kind: "y" }, false],
    [{ id: 1, kind: "x" }, { id: 1, kind: "y", body: {} }, true],
    [{ flow_process_id: "p" }, { id: 1 }, false],
    [null, { id: 1 }, false],
  ])("that answers %p of %p shows the same: %p", (json, record, same) => expect(isSame(json, record)).toBe(same));

  test.each([
    ["/connect/connectors/{code}/{method_name}.json", ["u1"], { id: "u1", code: "crm" }, ["crm"]],
    ["/account/crons/{id}/run.json", ["7"], { id: 7 }, ["7"]],
    ["/account/webhooks/{id}/deliveries/{delivery_id}/redeliver.json", ["1", "2"], { id: 2 }, ["1", "2"]],
    ["/connect/flows/{code}/run.json", ["u1"], undefined, ["u1"]],
  ])("at %s of %p is asked of %p at %p", (path, values, record, found) => {
    expect(pathValues({ path }, values, record)).toEqual(found);
  });

  test("begins with the names of its parameters", () => {
    expect(JSON.parse(bodyFor(["city", "days"]))).toEqual({ city: "", days: "" });
    expect(bodyFor(undefined)).toBe("{}");
  });
});
