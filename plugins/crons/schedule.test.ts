import { describe, expect, test } from "bun:test";
import { isTimezone, lateMs, nextRuns, scheduleMistake, toFire } from "./schedule.ts";

const schedules: [schedule: string, mistake: string | undefined][] = [
  ["* * * * *", undefined],
  ["  0 7 * * 1-5 ", undefined],
  ["*/15 8-18 1,15 jan-mar mon", undefined],
  ["0 0 29 2 *", undefined],
  ["0 9 0 * *", "0 is no day of month (1 to 31)"],
  ["0 9 * 13 *", "13 is no month (1 to 12)"],
  ["0 25 * * *", "25 is no hour (0 to 23)"],
  ["", "must have five fields"],
  ["* * * *", "must have five fields"],
  ["0 0 0 1 1 *", "must have five fields"],
  ["0 0 ? * *", "? is not supported"],
  ["0 0 30 2 *", "is never due"],
  ["61 * * * *", "is not a cron expression"],
  ["* * * * nobody", "is not a cron expression: nobody is no day of week (0 to 7)"],
  ["a 7 * * *", "is not a cron expression: a is no minute (0 to 59)"],
  ["5-1 7 * * *", "is not a cron expression: From value is larger than to value"],
];
test.each(schedules)("the schedule %j: %p", (schedule, mistake) => {
  const found = scheduleMistake(schedule);
  if (mistake === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(mistake);
});

const timezones: [timezone: string, known: boolean][] = [
  ["Europe/Warsaw", true],
  ["UTC", true],
  ["Warsaw", false],
  ["+02:00", false],
  ["", false],
  ["Europe/Warsaw\0", false],
];
test.each(timezones)("%j is a time zone: %p", (timezone, known) => {
  expect(isTimezone(timezone)).toBe(known);
});

const due: [schedule: string, timezone: string, after: string, times: string[]][] = [
  ["0 7 * * *", "UTC", "2026-01-31T10:00:00Z", ["2026-02-01T07:00:00.000Z", "2026-02-02T07:00:00.000Z"]],
  ["0 7 * * *", "Europe/Warsaw", "2026-01-31T10:00:00Z", ["2026-02-01T06:00:00.000Z", "2026-02-02T06:00:00.000Z"]],
  // Summer time begins on 29 March 2026.
  ["0 7 * * *", "Europe/Warsaw", "2026-03-28T00:00:00Z", ["2026-03-28T06:00:00.000Z", "2026-03-29T05:00:00.000Z"]],
  ["0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", ["2028-02-29T00:00:00.000Z", "2032-02-29T00:00:00.000Z"]],
];
const zone = "Europe/Warsaw";
// On 29 March 2026 the clocks of Warsaw skip 02:00 to 03:00, on 25 October they repeat it.
due.push(
  ["30 1 * * *", zone, "2026-03-28T12:00:00Z", ["2026-03-29T00:30:00.000Z", "2026-03-29T23:30:00.000Z"]],
  ["30 3 * * *", zone, "2026-03-28T12:00:00Z", ["2026-03-29T01:30:00.000Z", "2026-03-30T01:30:00.000Z"]],
  ["0 * * * *", zone, "2026-03-29T00:00:00Z", ["2026-03-29T01:00:00.000Z", "2026-03-29T02:00:00.000Z"]],
  ["*/30 * * * *", zone, "2026-03-29T00:30:00Z", ["2026-03-29T01:00:00.000Z", "2026-03-29T01:30:00.000Z"]],
  ["30 3 * * *", zone, "2026-10-24T12:00:00Z", ["2026-10-25T02:30:00.000Z", "2026-10-26T02:30:00.000Z"]],
  ["0 0 * * *", zone, "2026-10-24T12:00:00Z", ["2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"]],
  ["0 0 1 * *", "Pacific/Auckland", "2026-01-30T00:00:00Z", ["2026-01-31T11:00:00.000Z", "2026-02-28T11:00:00.000Z"]],
  ["0 9 * * *", "Asia/Kathmandu", "2026-01-01T00:00:00Z", ["2026-01-01T03:15:00.000Z", "2026-01-02T03:15:00.000Z"]],
);
test.each(due)("%s in %s after %s", (schedule, timezone, after, times) => {
  const found = nextRuns({ schedule, timezone }, 2, new Date(after));
  expect(found.map((time) => time.toJSON())).toEqual(times);
});

describe("through a change of the clocks", () => {
  const between = (schedule: string, from: string, to: string): string[] =>
    nextRuns({ schedule, timezone: zone }, 20, new Date(from))
      .map((time) => time.toJSON())
      .filter((time) => time < to);
  test.each<[schedule: string, from: string, times: string[]]>([
    ["0 2,14 31 10 *", "2027-10-30T12:00:00Z", ["2027-10-31T00:00:00.000Z", "2027-10-31T13:00:00.000Z"]],
    ["0,30 2 31 10 *", "2027-10-30T12:00:00Z", ["2027-10-31T00:00:00.000Z", "2027-10-31T00:30:00.000Z"]],
    [
      "0 1-3 31 10 *",
      "2027-10-30T12:00:00Z",
      ["2027-10-30T23:00:00.000Z", "2027-10-31T00:00:00.000Z", "2027-10-31T02:00:00.000Z"],
    ],
    [
      "0 0-4/2 31 10 *",
      "2027-10-30T12:00:00Z",
      ["2027-10-30T22:00:00.000Z", "2027-10-31T00:00:00.000Z", "2027-10-31T03:00:00.000Z"],
    ],
    ["0 2,14 28 3 *", "2027-03-27T12:00:00Z", ["2027-03-28T01:00:00.000Z", "2027-03-28T12:00:00.000Z"]],
    ["0 2 28 3 *", "2027-03-27T12:00:00Z", ["2027-03-28T01:00:00.000Z"]],
    ["30 2 28 3 *", "2027-03-27T12:00:00Z", ["2027-03-28T01:00:00.000Z"]],
    ["0,30 2 28 3 *", "2027-03-27T12:00:00Z", ["2027-03-28T01:00:00.000Z"]],
    ["0 2,3,4 28 3 *", "2027-03-27T12:00:00Z", ["2027-03-28T01:00:00.000Z", "2027-03-28T02:00:00.000Z"]],
  ])("%s after %s", (schedule, from, times) => {
    expect(between(schedule, from, "2027-12")).toEqual(times);
    const cron = { schedule, timezone: zone, missed: "latest" } as const;
    const last = new Date(times.at(-1) ?? "");
    // As seen an hour later, and also when that hour shows the same local time.
    const seen = new Date(last.getTime() + 3_600_000);
    expect(toFire(cron, new Date(from), seen)).toEqual(last);
  });
  test("in Lord Howe's half hour and in midnights that do not exist", () => {
    const of = (schedule: string, timezone: string, from: string) =>
      nextRuns({ schedule, timezone }, 2, new Date(from)).map((time) => time.toJSON());
    expect(of("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00Z")).toEqual([
      "2026-04-04T14:45:00.000Z",
      "2026-04-05T15:15:00.000Z",
    ]);
    expect(of("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z")).toEqual([
      "2026-10-03T15:30:00.000Z",
      "2026-10-04T15:15:00.000Z",
    ]);
    expect(of("30 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z")).toEqual([
      "2026-04-23T22:00:00.000Z",
      "2026-04-24T21:30:00.000Z",
    ]);
  });
  test("a daily time that the clocks skip is due once that day", () => {
    expect(between("30 2 * * *", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00")).toHaveLength(1);
  });
  test("a daily time that the clocks repeat is due once that day", () => {
    expect(between("30 2 * * *", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00")).toHaveLength(1);
  });
  test.each([
    ["no due time comes twice, and none out of order", "*/15 * * * *", "2026-10-24T23:00:00Z"],
    ["no due time comes twice in spring either", "*/15 * * * *", "2026-03-28T23:00:00Z"],
  ])("%s", (_, schedule, from) => {
    const times = nextRuns({ schedule, timezone: zone }, 40, new Date(from)).map((time) => time.toJSON());
    expect(times).toEqual([...new Set(times)].toSorted());
    expect(times).toHaveLength(40);
  });
});

describe("of the times that are due", () => {
  const at = (text: string) => new Date(`2026-01-31T${text}Z`);
  const cases: [
    what: string,
    missed: "skip" | "latest",
    dueAt: string,
    now: string,
    since: string,
    fired: string | null,
  ][] = [
    ["one that is just due is fired", "skip", "10:00:00", "10:00:00", "10:00:00", "10:00:00"],
    ["one that is late is fired", "skip", "10:00:00", "10:02:30", "10:02:30", "10:00:00"],
    ["one that was missed is left out", "skip", "10:00:00", "10:30:00", "10:30:00", null],
    ["the latest of the missed is made up for", "latest", "07:00:00", "10:30:00", "10:30:00", "10:00:00"],
    ["the latest of the missed is fired if it is only late", "skip", "07:00:00", "10:01:00", "10:01:00", "10:00:00"],
    ["what a running server could not store is fired", "skip", "10:00:00", "10:30:00", "09:59:00", "10:00:00"],
    ["what was due before it ran is left out", "skip", "09:00:00", "10:30:00", "10:10:00", null],
  ];
  test.each(cases)("%s", (_, missed, dueAt, now, since, fired) => {
    const cron = { schedule: "0 * * * *", timezone: "UTC", missed };
    expect(toFire(cron, at(dueAt), at(now), at(since))?.toJSON()).toBe(fired === null ? undefined : at(fired).toJSON());
  });

  test("late is two and a half minutes", () => {
    expect(lateMs).toBe(150_000);
  });
});
