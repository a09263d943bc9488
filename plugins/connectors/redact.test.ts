import { describe, expect, test } from "bun:test";
import { parseExactly } from "../../runtime/base/exact-number.ts";
import { redact, redactText, Unkept } from "./redact.ts";

const secret = "s3cret/+ key";
const cases: [what: string, value: unknown, cleared: unknown][] = [
  ["as it is", `key=${secret}!`, "key=[secret]!"],
  ["twice", `${secret}${secret}`, "[secret][secret]"],
  ["URL-encoded", `?key=${encodeURIComponent(secret)}`, "?key=[secret]"],
  ["in base64", btoa(secret), "[secret]"],
  ["deep inside", { a: [{ b: secret }] }, { a: [{ b: "[secret]" }] }],
  ["as a key", { [secret]: 1 }, { "[secret]": 1 }],
  ["nowhere", { a: ["secret", 1, null, true] }, { a: ["secret", 1, null, true] }],
];
test.each(cases)("a secret that came back %s is hidden", (_, value, cleared) => {
  expect(redact(value, secret)).toEqual(cleared);
});

const asJson: [value: unknown, json: unknown][] = [
  [new Date("2026-01-31T10:00:00Z"), "2026-01-31T10:00:00.000Z"],
  [new Date(Number.NaN), null],
  [5n, 5],
  [9007199254740993n, "9007199254740993"],
  [{ toJSON: () => ({ at: new Date(0) }) }, { at: "1970-01-01T00:00:00.000Z" }],
  ["text", "text"],
];
test.each(asJson)("%p is given as JSON has it", (value, json) => {
  expect(redact(value, null)).toEqual(json);
});

test.each([
  ["on 2026-01-31, order A2026", "on 2026-01-31, order A2026"],
  ["key=2026!", "key=[secret]!"],
  ["2026", "[secret]"],
  ["2026 2026", "[secret] [secret]"],
])("a short secret is hidden as a word alone: %s", (text, cleared) => {
  expect(redact({ text }, "2026")).toEqual({ text: cleared });
});

describe("what is no secret stays", () => {
  test.each([null, "", "abc"])("%p", (none) => {
    expect(redactText("abc abc", none)).toBe("abc abc");
  });
});

test("a long number stays as it is, unless it is the secret", () => {
  const answer = parseExactly('{"id":7615917337495251231,"key":1234567890123456789}');
  expect(JSON.stringify(redact(answer, "1234567890123456789"))).toBe('{"id":7615917337495251231,"key":"[secret]"}');
});

test("what nests deeper than can be stored is refused", () => {
  let deep: unknown = 1;
  for (let level = 0; level < 200; level++) deep = [deep];
  expect(() => redact(deep, secret)).toThrow(Unkept);
});

test("an own key `__proto__` is an ordinary one", () => {
  const cleared = redact(JSON.parse('{"__proto__":{"a":1}}'), secret);
  expect(JSON.stringify(cleared)).toBe('{"__proto__":{"a":1}}');
});
