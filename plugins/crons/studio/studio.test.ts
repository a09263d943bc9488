import { expect, test } from "bun:test";
import { nextOf, nextPath } from "./next.ts";

test("the server is asked for what is typed", () => {
  expect(nextPath(" ", "")).toBeUndefined();
  expect(nextPath(" 0 7 * * * ", "")).toBe("/account/crons/next.json?schedule=0+7+*+*+*&count=3");
  expect(nextPath("0 7 * * *", "Europe/Warsaw")).toEndWith("&timezone=Europe%2FWarsaw");
  expect(nextOf({ timezone: "UTC", next_runs: ["a", 7] })).toEqual({ timezone: "UTC", times: ["a"] });
  expect(nextOf(null)).toEqual({ timezone: "", times: [] });
});
