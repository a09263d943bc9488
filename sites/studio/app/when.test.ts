import { expect, test } from "bun:test";
import { dayOf, whenOf } from "./when.ts";

const now = Date.parse("2026-03-10T12:00:00Z");
const clock = (language = "en", timezone = "UTC") => ({ now, timezone, language });

test.each([
  ["2026-03-10T12:30:00Z", "en", "in 30 min."],
  ["2026-03-10T11:30:00Z", "en", "30 min. ago"],
  ["2026-03-10T23:59:59Z", "en", "in 11 hr."],
  ["2026-03-09T23:59:59Z", "en", "yesterday"],
  ["2026-03-09T23:59:59Z", "pl", "wczoraj"],
  ["2026-03-09T23:59:59Z", "de", "gestern"],
  ["2026-03-11T00:00:00Z", "en", "tomorrow"],
  ["2026-03-16T12:00:00Z", "pl", "za 6 dni"],
  ["2026-03-17T12:00:00Z", "en", "17 Mar"],
  ["2026-01-05T12:00:00Z", "pl", "5 sty"],
  ["2026-05-31T12:00:00Z", "de", "31. Mai"],
  ["2029-03-10T12:00:00Z", "en", "10 Mar 2029"],
])("%s in %s is %p", (at, language, words) => expect(whenOf(Date.parse(at), clock(language))).toBe(words));

test("days are those of the time zone", () => {
  const at = Date.parse("2026-03-10T23:30:00Z"); // the 11th in Warsaw
  expect([whenOf(at, clock("en", "Europe/Warsaw")), whenOf(at, clock())]).toEqual(["tomorrow", "in 11 hr."]);
  expect([dayOf(at, "Europe/Warsaw"), dayOf("", "UTC")]).toEqual(["2026-03-11", ""]);
});
