import { describe, expect, test } from "bun:test";
import { isDateTime, isDay, parseWords } from "./dates.ts";

describe("a day", () => {
  test.each(["2026-01-31", "2024-02-29", "2000-02-29", "0001-01-01", "0099-12-31", "9999-12-31"])(
    "%p is one",
    (text) => {
      expect(isDay(text)).toBe(true);
    },
  );
  test.each([
    "2026-02-31",
    "2026-02-29",
    "1900-02-29",
    "2026-04-31",
    "2026-00-10",
    "2026-13-01",
    "2026-01-00",
    "2026-01-32",
  ])("%p is none", (text) => expect(isDay(text)).toBe(false));
  test.each([
    "0000-01-01",
    "2026-1-1",
    "20260131",
    "2026-01-31 ",
    "31/01/2026",
    "",
    "now",
    `${"2".repeat(100_000)}-01-01`,
  ])("%p is none either", (text) => expect(isDay(text)).toBe(false));
});

describe("a date and time", () => {
  test.each([
    "2026-01-31T10:00:00Z",
    "2026-01-31t10:00:00z",
    "2026-01-31 10:00:00.123456789+02:00",
    "2026-01-31T10:00Z",
    "2026-01-31T23:59:59-0530",
    "2024-02-29T00:00:00Z",
  ])("%p is one", (text) => expect(isDateTime(text)).toBe(true));
  test.each([
    "2026-02-31T10:00:00Z",
    "2025-02-29T10:00:00+01:00",
    "2026-01-31T24:00:00Z",
    "2026-01-31T10:60:00Z",
    "2026-01-31T10:00:60Z",
    "2026-01-31T10:00:00",
    "2026-01-31T10:00:00+16:00",
    "2026-01-31",
    "Sat Jan 31 2026 10:00:00 GMT+0000 (UTC)",
    '"2026-01-31T10:00:00Z"',
    "x2026-01-31T10:00:00Z",
    "31/01/2026 10:00:00",
    `2026-01-31T10:00:00.${"0".repeat(100_000)}Z`,
    "",
  ])("%p is none", (text) => expect(isDateTime(text)).toBe(false));
});

test.each<[string, string | undefined]>([
  ["Feb 31, 2026", undefined],
  ["31 February 2026", undefined],
  ["2026/02/31", undefined],
  ["30 Feb 2024 10:00:00", undefined],
  ["February 29, 2026 10:30", undefined],
  ["31 Apr 2026", undefined],
  ["February 29, 2024 10:30", "2024-02-29T10:30:00.000Z"],
  ["31-Dec-2026", "2026-12-31T00:00:00.000Z"],
  ["January 2026", "2026-01-01T00:00:00.000Z"],
  ["Feb 1 2026 10:30:31", "2026-02-01T10:30:31.000Z"],
  ["Feb 1 2031", "2031-02-01T00:00:00.000Z"],
  ["garbage 31", undefined],
])("%p in words is %p", (text, expected) => {
  const instant = parseWords(text, " UTC");
  expect(Number.isNaN(instant) ? undefined : new Date(instant).toJSON()).toBe(expected);
});

test.each<[string, boolean]>([
  ["Sat, 31 Jan 2026 23:30:00 -1100", true],
  ["Sat, 31 Jan 2026 00:30:00 +1400", true],
  ["Sat, 31 Feb 2026 10:00:00 GMT", false],
  ["Thu, 29 Feb 2024 23:30:00 -1100", true],
])("%p with its zone: %p", (text, isDate) => {
  expect(Number.isNaN(parseWords(text))).toBe(!isDate);
});
