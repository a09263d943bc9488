import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isMap } from "../resources/values.ts";
import { isLongNumber, numberOf, parseJson } from "./exact.ts";

describe("JSON of the server", () => {
  test.each([
    ["7615917337495251231", true],
    ["-12345678901234567890.5", true],
    ["0.1234567890123456789", true],
    ["9007199254740993", true],
    ["9007199254740992", false],
    ["9.50", false],
    ["0.1", false],
    ["1e21", false],
    ["1e300", false],
    ["123456789012345680000", false],
    ["0", false],
  ])("keeps %s", (number, isLong) => {
    const read = parseJson(`{"a":[${number}],"id":"8e4f5a6b-7c8d-9e0f-1a2b-3c4d5e6f7a8b"}`);
    const { a } = read as { a: unknown[] };
    expect([isLongNumber(a[0]), isMap(a[0])]).toEqual([isLong, false]);
    expect(JSON.stringify(a[0])).toBe(isLong ? number : JSON.stringify(Number(number)));
  });

  test("is what JSON.parse reads, but for such numbers", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.stringify(parseJson(text))).toBe(text);
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
    fc.assert(
      fc.property(fc.bigInt(), (value) => {
        expect(JSON.stringify(parseJson(`[${value}]`))).toBe(`[${value}]`);
        expect(JSON.stringify(numberOf(`${value}`))).toBe(`${value}`);
      }),
    );
  });
});
