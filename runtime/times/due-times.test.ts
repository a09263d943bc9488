import { expect, test } from "bun:test";
import { dueTimes, parseCron } from "./due-times.ts";

const day = (time: string) => new Date(`2026-03-10T${time}Z`);
const hourly = "0 * * * *";
const everyTen = "*/10 * * * * *";

test.each<[string, string, "skip" | "latest", string, string, string[]]>([
  ["nothing before the next due time", hourly, "latest", "10:00:00", "10:59:59", []],
  ["what is due now", hourly, "skip", "10:30:00", "11:00:00", ["11:00:00"]],
  ["nothing twice", hourly, "latest", "11:00:00", "11:00:30", []],
  ["what is late by less than a minute", hourly, "skip", "10:30:00", "11:00:59", ["11:00:00"]],
  ["nothing that was missed where it is to be left out", hourly, "skip", "08:30:00", "11:30:00", []],
  ["the latest that was missed where that is wanted", hourly, "latest", "08:30:00", "11:30:00", ["11:00:00"]],
  ["only what is late where both are there", hourly, "latest", "08:30:00", "11:00:10", ["11:00:00"]],
  ["each that is late, oldest first", everyTen, "skip", "10:00:05", "10:00:31", ["10:00:10", "10:00:20", "10:00:30"]],
  [
    "of a long silence the last minute",
    everyTen,
    "skip",
    "09:00:00",
    "10:00:25",
    ["09:59:30", "09:59:40", "09:59:50", "10:00:00", "10:00:10", "10:00:20"],
  ],
  ["nothing where the clock stands before what is dealt with", hourly, "latest", "11:30:00", "11:10:00", []],
])("%s is fired", (_, cron, missed, checkedTo, at, expected) => {
  const due = dueTimes({ cron: parseCron(cron, "UTC"), checkedTo: day(checkedTo), missed }, day(at));
  expect(due).toEqual(expected.map(day));
});

test.each([
  ["x * * * *", "UTC"],
  ["61 * * * *", "UTC"],
  ["0 3 * * *", "Europe/Nowhere"],
])("%p in %p is refused", (cron, timezone) => {
  expect(() => parseCron(cron, timezone)).toThrow();
});
