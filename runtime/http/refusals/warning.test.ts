import { describe, expect, test } from "bun:test";
import { ok } from "../answers/reply.ts";
import { warned, warningLimits, withWarnings } from "./warning.ts";

describe("a warning", () => {
  test.each<[string, string]>([
    ["plain words", '299 - "plain words"'],
    ['a "quoted" \\ text', String.raw`299 - "a \"quoted\" \\ text"`],
    ["Łódź", '299 - "%C5%81%C3%B3d%C5%BA"'],
    ["a\r\nb\0\u007f", '299 - "a%0D%0Ab%00%7F"'],
    ["half a pair \ud83d", '299 - "half a pair %EF%BF%BD"'],
    ["x".repeat(warningLimits.characters), `299 - "${"x".repeat(warningLimits.characters)}"`],
    ["x".repeat(100_000), `299 - "${"x".repeat(warningLimits.characters)}..."`],
    [`${"x".repeat(warningLimits.characters - 1)}"`, `299 - "${"x".repeat(warningLimits.characters - 1)}..."`],
  ])("is ASCII, quoted and bounded", (text, header) => {
    expect(withWarnings(undefined, [text])).toBe(header);
    expect(new Headers({ warning: header }).get("warning")).toBe(header);
  });

  test("stands beside others, as many as fit a header", () => {
    expect(withWarnings(undefined, [])).toBeUndefined();
    expect(withWarnings('299 - "a"', [])).toBe('299 - "a"');
    expect(withWarnings('299 - "a"', ["b", "c"])).toBe('299 - "a", 299 - "b", 299 - "c"');
    const many = withWarnings(
      undefined,
      Array.from({ length: 1000 }, () => "ż".repeat(1000)),
    );
    expect(many).toEndWith(`299 - "and ${1000 - warningLimits.texts} more"`);
    expect(many?.length).toBeLessThan(2000);
  });

  test("leaves the rest of an answer as it is", () => {
    const reply = ok({ a: 1 }, { etag: '"1"' });
    expect(warned(reply, [])).toBe(reply);
    expect(warned(reply, ["b"])).toEqual({ ...reply, headers: { ...reply.headers, warning: '299 - "b"' } });
  });
});
