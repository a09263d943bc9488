import { expect, test } from "bun:test";
import { de, en, pl } from "./text.ts";

test("every message is in three languages", () => {
  const names = Object.keys(en);
  expect([Object.keys(pl), Object.keys(de)]).toEqual([names, names]);
  for (const all of [en, pl, de]) expect(Object.values(all).filter((message) => !message.trim())).toEqual([]);
});
