import { describe, expect, test } from "bun:test";
import { parseKeepRule, toPrune } from "./prune-rule.ts";

describe("the rule", () => {
  test.each([
    ["7d 4w 6m", { days: 7, weeks: 4, months: 6 }],
    ["6m  7d", { days: 7, weeks: 0, months: 6 }],
    ["1w", { days: 0, weeks: 1, months: 0 }],
    ["1d 0w", { days: 1, weeks: 0, months: 0 }],
  ])("%s is read", (text, rule) => {
    expect(parseKeepRule(text)).toEqual(rule);
  });

  test.each(["", "7", "d", "0d", "0d 0w 0m", "7d 7d", "7y", "-1d", "1.5d", "7d,4w", "99999d"])(
    "%p is refused",
    (text) => {
      expect(() => parseKeepRule(text)).toThrow("must say how many");
    },
  );
});

const states = { "!": "bad", "?": "unknown" } as const;
/** A backup is named by its time here; a "!" marks a bad one, and a "?" one of which nothing is known. */
const kept = (rule: string, names: readonly string[]) => {
  const candidates = names.map((name) => ({
    name,
    at: new Date(`${name.replace(/[!?]/, "").padEnd(13, "T03").slice(0, 13)}:00:00Z`),
    state: name.endsWith("!") ? states["!"] : name.endsWith("?") ? states["?"] : ("good" as const),
  }));
  const gone = new Set(toPrune(candidates, parseKeepRule(rule)));
  return names.filter((name) => !gone.has(name));
};
/** 2026-01-01, a Thursday, and the days after it. */
const days = Array.from({ length: 100 }, (_, day) => new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10));

describe("pruning keeps", () => {
  test.each<[string, string, string[], string[]]>([
    ["nothing where nothing is", "7d", [], []],
    [
      "the newest of each day",
      "2d",
      ["2026-01-01T01", "2026-01-01T23", "2026-01-02T05"],
      ["2026-01-01T23", "2026-01-02T05"],
    ],
    [
      "days that have a backup, however old",
      "2d",
      ["2020-01-01", "2021-01-01", "2026-01-01"],
      ["2021-01-01", "2026-01-01"],
    ],
    ["the newest of each week, which begins on Monday", "2w", days.slice(0, 12), ["2026-01-11", "2026-01-12"]],
    ["the newest of each month", "3m", days, ["2026-02-28", "2026-03-31", "2026-04-10"]],
    ["one that is good for several reasons once", "1d 1w 1m", days, ["2026-04-10"]],
    [
      "the last good one, though newer ones are bad",
      "1d",
      ["2026-01-01", "2026-01-02", "2026-01-03!"],
      ["2026-01-02", "2026-01-03!"],
    ],
    ["no bad one that is older than a good one", "9d", ["2026-01-01!", "2026-01-02"], ["2026-01-02"]],
    [
      "a good one of a day that has a later bad one",
      "9d",
      ["2026-01-01T03", "2026-01-01T04!", "2026-01-02"],
      ["2026-01-01T03", "2026-01-02"],
    ],
    [
      "a good one rather than a later unknown one of the same day",
      "9d",
      ["2026-01-01T03", "2026-01-01T04?", "2026-01-02"],
      ["2026-01-01T03", "2026-01-02"],
    ],
    [
      "an unknown one of a day without a good one",
      "2d",
      ["2026-01-01?", "2026-01-02?", "2026-01-03"],
      ["2026-01-02?", "2026-01-03"],
    ],
    [
      "what is newer than the last good one, unknown or not",
      "1d",
      ["2026-01-01", "2026-01-02?"],
      ["2026-01-01", "2026-01-02?"],
    ],
    [
      "everything as long as only unknown ones are there",
      "1d",
      ["2026-01-01?", "2026-01-02?"],
      ["2026-01-01?", "2026-01-02?"],
    ],
    ["everything as long as none is good", "1d", ["2026-01-01!", "2026-01-02!"], ["2026-01-01!", "2026-01-02!"]],
  ])("%s", (_, rule, names, expected) => {
    expect(kept(rule, names)).toEqual(expected);
    expect(kept(rule, names.toReversed()).toReversed()).toEqual(expected);
  });

  test("what it kept yesterday too, so that weeks and months fill up day by day", () => {
    let stored: string[] = [];
    for (const day of days) stored = kept("7d 4w 6m", [...stored, day]);
    expect(stored).toEqual(kept("7d 4w 6m", days));
    expect(stored).toHaveLength(7 + 3 + 2);
  });
});
