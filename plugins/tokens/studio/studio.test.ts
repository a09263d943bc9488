import { describe, expect, test } from "bun:test";
import { choiceOf, dayIn, dayOf, endsOf, relative, signInAddress } from "./ends.ts";

const now = Date.parse("2026-03-10T12:00:00Z");
const clock = (language = "en", timezone = "UTC") => ({ now, timezone, language });

describe("an end in words", () => {
  test.each([
    ["2026-03-22T12:00:00Z", "en", "in 12 days"],
    ["2026-03-22T12:00:00Z", "pl", "za 12 dni"],
    ["2026-03-22T12:00:00Z", "de", "in 12 Tagen"],
    ["2026-03-09T23:59:59Z", "en", "yesterday"],
    ["2026-03-09T23:59:59Z", "pl", "wczoraj"],
    ["2026-03-09T23:59:59Z", "de", "gestern"],
    ["2026-03-11T00:00:00Z", "en", "tomorrow"],
    ["2026-03-10T12:30:00Z", "en", "in 30 minutes"],
    ["2026-03-10T11:30:00Z", "en", "30 minutes ago"],
    ["2026-03-10T23:59:59Z", "en", "in 11 hours"],
    ["2026-05-31T12:00:00Z", "en", "in 3 months"],
    ["2029-03-10T12:00:00Z", "en", "in 3 years"],
    ["2020-03-10T12:00:00Z", "en", "6 years ago"],
  ])("%s in %s is %p", (at, language, words) => {
    expect(relative(Date.parse(at), clock(language))).toBe(words);
  });

  test("counts the days of the account's time zone", () => {
    const at = Date.parse("2026-03-10T23:30:00Z"); // the 11th in Warsaw
    expect(relative(at, clock("en", "Europe/Warsaw"))).toBe("tomorrow");
    expect(relative(at, clock("en", "UTC"))).toBe("in 11 hours");
  });

  test.each([
    [
      { active: true, expires_at: null },
      { kind: "never", when: "" },
    ],
    [
      { active: false, expires_at: null },
      { kind: "off", when: "" },
    ],
    [
      { active: true, expires_at: "2026-03-11T12:00:00Z" },
      { kind: "ahead", when: "tomorrow" },
    ],
    [
      { active: true, expires_at: "2026-03-09T12:00:00Z" },
      { kind: "past", when: "yesterday" },
    ],
    [
      { active: false, expires_at: "2026-03-09T12:00:00Z" },
      { kind: "off", when: "yesterday" },
    ],
    [
      { active: true, expires_at: "nonsense" },
      { kind: "never", when: "" },
    ],
  ] as const)("%j is %j", (token, ends) => expect(endsOf(token, clock())).toEqual(ends));
});

describe("an end that is chosen", () => {
  test.each([
    ["", "never"],
    ["2026-03-17", "7"],
    ["2026-04-09", "30"],
    ["2026-06-08", "90"],
    ["2026-03-18", "date"],
    ["2026-03-17T23:59:59.999Z", "date"],
  ])("%p is the choice %p", (input, choice) => expect(choiceOf(input, clock())).toBe(choice));

  test.each([
    [7, "UTC", "2026-03-17"],
    [30, "UTC", "2026-04-09"],
    [1, "Pacific/Kiritimati", "2026-03-12"],
  ])("in %d days in %s is %s", (days, timezone, day) => expect(dayIn(days, { now, timezone })).toBe(day));

  test("has no day if it is no time", () => expect(dayOf("", "UTC")).toBe(""));
});

test("the sign-in address leads to the Studio, whatever the token has in it", () => {
  expect(signInAddress("https://core.test", "core_a&b")).toBe(
    "https://core.test/account/auto_login?token=core_a%26b&return_to=%2Fstudio",
  );
});
