import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseExpiry } from "./expiry.ts";

test.each([
  ["2030-06-30", "UTC", "2030-06-30T23:59:59.999Z"],
  ["2030-06-30", "Europe/Warsaw", "2030-06-30T21:59:59.999Z"],
  ["2030-12-31", "Europe/Warsaw", "2030-12-31T22:59:59.999Z"],
  ["2030-06-30", "America/New_York", "2030-07-01T03:59:59.999Z"],
  ["2030-06-30", "Asia/Kolkata", "2030-06-30T18:29:59.999Z"],
  // The day on which clocks go forward there has 23 hours, and the one on which they go back 25.
  ["2030-03-31", "Europe/Warsaw", "2030-03-31T21:59:59.999Z"],
  ["2030-03-30", "Europe/Warsaw", "2030-03-30T22:59:59.999Z"],
  ["2030-10-27", "Europe/Warsaw", "2030-10-27T22:59:59.999Z"],
  ["2028-02-29", "UTC", "2028-02-29T23:59:59.999Z"],
  ["9999-12-31", "UTC", "9999-12-31T23:59:59.999Z"],
  ["9999-12-31", "America/New_York", "9999-12-31T23:59:59.999Z"],
  ["2030-06-30T12:00:00Z", "Europe/Warsaw", "2030-06-30T12:00:00.000Z"],
  ["2030-06-30T12:00:00.25+02:00", "UTC", "2030-06-30T10:00:00.250Z"],
  ["2030-06-30T12:00:00-0530", "UTC", "2030-06-30T17:30:00.000Z"],
  ["2030-06-30 12:00", "Europe/Warsaw", "2030-06-30T10:00:00.000Z"],
  ["2030-06-30T12:00:00", "UTC", "2030-06-30T12:00:00.000Z"],
])("%s in %s is %s", (text, zone, instant) => {
  expect(parseExpiry(text, zone)?.toISOString()).toBe(instant);
});

test.each(
  [
    "",
    "tomorrow",
    "2030",
    "2030-6-1",
    "2030-02-30",
    "2029-02-29",
    "2030-13-01",
    "2030-00-10",
    "0000-01-01",
    "0099-01-01",
  ].concat(
    [
      "2030-06-30T24:00:00Z",
      "2030-06-30T12:60Z",
      "2030-06-30T12:00:61Z",
      "2030-06-30T12:00Z+1",
      "2030-06-30T12:00+24:00",
    ],
    ["2030-06-30T", "+012030-06-30", "1e9", "2030-06-30\0", "12030-06-30"],
  ),
)("%j is no time", (text) => {
  expect(parseExpiry(text, "UTC")).toBeUndefined();
});

test("any instant that ISO 8601 can write comes back", () => {
  const date = fc.date({ min: new Date("1970-01-01"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true });
  const zone = fc.constantFrom("UTC", "Europe/Warsaw", "America/St_Johns", "Pacific/Kiritimati");
  fc.assert(
    fc.property(date, zone, (at, timezone) => {
      expect(parseExpiry(at.toISOString(), timezone)?.getTime()).toBe(at.getTime());
    }),
  );
});

test("the end of a day is on that day by the clocks of its zone", () => {
  const day = fc.date({ min: new Date("1971-01-01"), max: new Date("2090-01-01"), noInvalidDate: true });
  const zone = fc.constantFrom(
    "UTC",
    "Europe/Warsaw",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Pacific/Kiritimati",
  );
  fc.assert(
    fc.property(day, zone, (at, timezone) => {
      const text = at.toISOString().slice(0, 10);
      const end = parseExpiry(text, timezone);
      const shown = (instant: number) => new Intl.DateTimeFormat("sv-SE", { timeZone: timezone }).format(instant);
      // Kiritimati left out the last day of 1994: there is no end of it.
      if (timezone === "Pacific/Kiritimati" && text === "1994-12-31") return;
      expect(end && shown(end.getTime())).toBe(text);
      expect(end && shown(end.getTime() + 1)).not.toBe(text);
    }),
  );
});

test("no text is an error", () => {
  fc.assert(fc.property(fc.string(), (text) => void parseExpiry(text, "Europe/Warsaw")));
});
