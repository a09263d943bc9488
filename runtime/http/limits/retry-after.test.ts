import { expect, test } from "bun:test";
import { parseRetryAfter } from "./rate-limit.ts";

test.each([
  ["120", 120],
  [" 7 ", 7],
  ["Wed, 21 Oct 2026 07:28:00 GMT", 60],
  ["Wed, 21 Oct 2020 07:28:00 GMT", 0],
  ["", null],
  [null, null],
  ["1.5", null],
  ["-5", null],
  ["1e3", null],
  ["tomorrow", null],
  ["Mon, nonsense", null],
])("Retry-After %j is %p", (text, seconds) => {
  expect(parseRetryAfter(text, Date.parse("2026-10-21T07:27:00Z"))).toBe(seconds);
});
