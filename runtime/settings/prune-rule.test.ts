import { describe, expect, test } from "bun:test";
import { readConfig } from "./config.ts";
import { lossWithDisk } from "../operations/backups/backup-schedule.ts";
import { parseKeepRule, toPrune } from "./prune-rule.ts";

const s3 = { S3_ENDPOINT: "https://s3.test", S3_ACCESS_KEY_ID: "a", S3_SECRET_ACCESS_KEY: "b" };

describe("the rule", () => {
  test.each([
    ["7d 4w 6m", { hours: 0, days: 7, weeks: 4, months: 6 }],
    ["24h 7d 4w 6m", { hours: 24, days: 7, weeks: 4, months: 6 }],
    ["6m  7d", { hours: 0, days: 7, weeks: 0, months: 6 }],
    ["1w", { hours: 0, days: 0, weeks: 1, months: 0 }],
    ["48h", { hours: 48, days: 0, weeks: 0, months: 0 }],
    ["1d 0w", { hours: 0, days: 1, weeks: 0, months: 0 }],
  ])("%s is read", (text, rule) => {
    expect(parseKeepRule(text)).toEqual(rule);
  });

  test.each(["", "7", "d", "0d", "0h 0d 0w 0m", "24h 24h", "24H", "7d 7d", "7y", "-1d", "1.5d", "7d,4w", "99999d"])(
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
    at: new Date(`${name.replace(/[!?]/, "").padEnd(13, "T03").padEnd(16, ":00")}:00Z`),
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
    [
      "the newest of each hour, and of days beyond them",
      "3h 2d",
      ["2026-01-01T03", "2026-01-01T23", "2026-01-02T05:00", "2026-01-02T05:30", "2026-01-02T06", "2026-01-02T09:15"],
      ["2026-01-01T23", "2026-01-02T05:30", "2026-01-02T06", "2026-01-02T09:15"],
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

test.each([
  [{}, "no backups are scheduled: set BACKUP_DIR, or a lost disk takes all data with it"],
  [{ BACKUP_DIR: "/b" }, "the changes of up to 24 hours with it; with BACKUP_WAL=on, of about a minute"],
  [{ BACKUP_DIR: "/b", BACKUP_CRON: "0 2 * * 1-5" }, "the changes of up to 72 hours"],
  [{ BACKUP_DIR: "/b", BACKUP_CRON: "*/15 * * * *" }, "the changes of up to 15 minutes"],
  [{ BACKUP_DIR: "/b", DATABASE_URL: "postgres://db.test/core" }, /up to 24 hours with it$/],
  [{ BACKUP_DIR: "/b", BACKUP_WAL: "on" }, "those of about a minute with it, and media files of up to 24 hours"],
  [{ BACKUP_DIR: "/b", BACKUP_WAL: "on", FILES_BUCKET: "s3://media", ...s3 }, /those of about a minute with it$/],
])("%j: a start says what a lost disk takes", (env, expected) => {
  const told = lossWithDisk(readConfig(env), new Date("2026-01-01T00:00:00Z"));
  if (typeof expected === "string") expect(told).toContain(expected);
  else expect(told).toMatch(expected);
});
