import { describe, expect, test } from "bun:test";
import { firstVersion, partSeparator, readRaw, versionOf, versionTime } from "./print.ts";

const raw = (updatedAt: string) => ["id", "2026-01-31 10:00:00+00", updatedAt, "", "{}"].join(partSeparator);

test.each([
  ["2026-01-31 10:00:00+00", "2026-01-31T10:00:00.000Z"],
  ["2026-01-31 10:00:00.5+00", "2026-01-31T10:00:00.500Z"],
  ["2026-01-31 10:00:00.05+00", "2026-01-31T10:00:00.050Z"],
  ["2026-01-31 10:00:00.123+00", "2026-01-31T10:00:00.123Z"],
  ["2026-01-31 10:00:00.1239+00", "2026-01-31T10:00:00.123Z"],
  ["2026-01-31 10:00:00.123999+00", "2026-01-31T10:00:00.123Z"],
])("the time %j is shown in milliseconds", (stored, time) => {
  expect(readRaw(raw(stored))).toEqual({
    id: "id",
    createdAt: "2026-01-31T10:00:00.000Z",
    updatedAt: time,
    tableName: "",
    data: "{}",
  });
});

describe("the version of a record", () => {
  test.each([
    ["2026-01-31 10:00:00+00", "2026-01-31T10:00:00.000000Z"],
    ["2026-01-31 10:00:00.5+00", "2026-01-31T10:00:00.500000Z"],
    ["2026-01-31 10:00:00.123456+00", "2026-01-31T10:00:00.123456Z"],
    ["2026-01-31 10:00:00.000001+00", "2026-01-31T10:00:00.000001Z"],
    ["2100-12-31 23:59:59.999999+00", "2100-12-31T23:59:59.999999Z"],
  ])("of %j is that microsecond", (stored, time) => {
    expect(versionTime(versionOf(raw(stored)))).toBe(time);
  });

  test("that was just made is the millisecond of its making", () => {
    const createdAt = new Date("2026-01-31T10:00:00.123Z");
    expect(firstVersion(createdAt)).toBe(versionOf(raw("2026-01-31 10:00:00.123+00")));
  });
});
