import { expect, test } from "bun:test";
import { nextOf, nextPath, usual } from "./next.ts";
import { speechIn } from "./speech.ts";

test.each([
  ["0 7 * * *", ["At 07:00 AM", "O 07:00", "Um 07:00"]],
  ["*/15 * * * *", ["Every 15 minutes", "Co 15 minut", "Alle 15 Minuten"]],
  ["a b c d e", [undefined, undefined, undefined]],
  ["0 7 * *", [undefined, undefined, undefined]],
  ["0 7 * * * *", [undefined, undefined, undefined]],
  ["", [undefined, undefined, undefined]],
])("%p is in words %j", async (schedule, words) => {
  const all = await Promise.all((["en", "pl", "de"] as const).map((language) => speechIn(language)));
  expect(all.map((speech) => speech(schedule))).toEqual(words);
});

test("every usual schedule has words", async () => {
  const speech = await speechIn("de");
  expect(usual.filter((one) => speech(one) === undefined)).toEqual([]);
});

test("the server is asked for what is typed", () => {
  expect(nextPath(" ", "")).toBeUndefined();
  expect(nextPath(" 0 7 * * * ", "")).toBe("/account/crons/next.json?schedule=0+7+*+*+*&count=5");
  expect(nextPath("0 7 * * *", "Europe/Warsaw")).toEndWith("&timezone=Europe%2FWarsaw");
  expect(nextOf({ timezone: "UTC", next_runs: ["a", 7] })).toEqual({ timezone: "UTC", times: ["a"] });
  expect(nextOf(null)).toEqual({ timezone: "", times: [] });
});
